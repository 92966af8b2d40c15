"""Ports of 127.0.0.1: below every ephemeral range, held until used, and all different."""

import socket

import pytest

from orchestrator.errors import StackError
from orchestrator.runtimes.addresses import Address
from orchestrator.runtimes.ports import FIRST_PORT, LAST_PORT, LOOPBACK, HeldPorts, port_is_free

MEMORY, AUDIT, AGENT = Address("memory", 7000), Address("memory", 7001), Address("agent", 7000)


def test_each_address_has_a_port_of_its_own_below_the_ephemeral_range() -> None:
    with HeldPorts([MEMORY, AUDIT, AGENT]) as held:
        assert len(set(held.ports.values())) == 3
        assert all(FIRST_PORT <= port <= LAST_PORT for port in held.ports.values())
        assert held.local(MEMORY) == f"{LOOPBACK}:{held.ports[MEMORY]}"
        assert held.local(Address("other", 1)) == "other:1"


def test_a_port_is_held_until_its_service_is_let_go() -> None:
    with HeldPorts([MEMORY, AUDIT, AGENT]) as held:
        held.let_go(["memory"])
        free = {address: port_is_free(port) for address, port in held.ports.items()}
    assert free == {MEMORY: True, AUDIT: True, AGENT: False}
    assert all(port_is_free(port) for port in held.ports.values())


def test_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        number = taken.getsockname()[1]
        free = iter([number, number, 31_999])
        monkeypatch.setattr("random.randint", lambda first, last: next(free))
        with HeldPorts([MEMORY]) as held:
            assert held.ports == {MEMORY: 31_999}


def test_no_free_port_is_said_and_nothing_stays_held(monkeypatch: pytest.MonkeyPatch) -> None:
    with HeldPorts([MEMORY]) as held:
        monkeypatch.setattr("random.randint", lambda first, last: held.ports[MEMORY])
        with pytest.raises(StackError, match="No free port"):
            HeldPorts([AGENT])
