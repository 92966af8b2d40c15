"""Addresses inside values: whole ones of known names, and nothing that only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.runtimes.addresses import Address, rewrite_addresses

NAMES = ("memory", "interposer", "interposer.agent", "agent")


def _upper(text: str) -> str:
    return rewrite_addresses(text, NAMES, lambda a: f"<{a.host}|{a.port}>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory:7000", "<memory|7000>"),
        ("interposer.agent:7101", "<interposer.agent|7101>"),
        ('{"a": "memory:7000", "b": "agent:1"}', '{"a": "<memory|7000>", "b": "<agent|1>"}'),
        ("http://memory:7000/x", "http://<memory|7000>/x"),
        ("--listen=memory:7000,agent:7001", "--listen=<memory|7000>,<agent|7001>"),
        ("my-memory:7000", "my-memory:7000"),
        ("memory.example:7000", "memory.example:7000"),
        ("x.memory:7000", "x.memory:7000"),
        ("memory:latest", "memory:latest"),
        ("memory", "memory"),
        ("memory:700000", "memory:700000"),
        ('{"memory":"agent"}', '{"memory":"agent"}'),
    ],
)
def test_rewriting(text: str, expected: str) -> None:
    assert _upper(text) == expected


@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.integers(0, 65_535), st.sampled_from([" ", ",", '"'])),
        max_size=8,
    )
)
def test_every_address_is_found_in_order(parts: list[tuple[str, int, str]]) -> None:
    found: list[Address] = []

    def keep(address: Address) -> str:
        found.append(address)
        return str(address)

    text = "".join(f"{separator}{name}:{port}{separator}" for name, port, separator in parts)
    assert rewrite_addresses(text, NAMES, keep) == text
    assert found == [Address(name, port) for name, port, _ in parts]
