"""Refusals of atmem are the contract's statuses; what atmem said of content stays inside."""

import re

import grpc
import pytest

from services.vendors.atmem.model import NativeRefusal, RefusalKind
from services.vendors.atmem.refusals import (
    CLOCK_BEHIND,
    KEY_CONFLICT,
    known_rule,
    reason_code,
    service_error,
)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("controller clock moved backwards; recovery paused", grpc.StatusCode.UNAVAILABLE),
        ("receipt exceeds 64 KiB", grpc.StatusCode.RESOURCE_EXHAUSTED),
        ("lease renewal limit reached", grpc.StatusCode.RESOURCE_EXHAUSTED),
        ("stale lease", grpc.StatusCode.FAILED_PRECONDITION),
        ("workflow not found", grpc.StatusCode.NOT_FOUND),
        ("fact must contain 1 to 2,000 characters", grpc.StatusCode.RESOURCE_EXHAUSTED),
        ("proposal references an unknown related record", grpc.StatusCode.NOT_FOUND),
        ("record r is not active for alice", grpc.StatusCode.FAILED_PRECONDITION),
        ("something new", grpc.StatusCode.FAILED_PRECONDITION),
    ],
)
def test_a_refusal_is_a_status(words: str, code: grpc.StatusCode) -> None:
    assert service_error(NativeRefusal(RefusalKind.VALUE, words)).code is code


def test_a_permission_and_a_disk_are_told_apart() -> None:
    denied = service_error(NativeRefusal(RefusalKind.PERMISSION, "not for you"))
    assert denied.code is grpc.StatusCode.PERMISSION_DENIED
    broken = service_error(NativeRefusal(RefusalKind.STORAGE, "database is locked"))
    assert broken.code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("kind", list(RefusalKind))
def test_no_status_repeats_what_atmem_named(kind: RefusalKind) -> None:
    words = "record of Nordwind is not active for alice"
    told = service_error(NativeRefusal(kind, words)).message
    assert not any(name in told for name in ("Nordwind", "alice"))


def test_reason_codes_are_stable_lower_case_words() -> None:
    for rule in (KEY_CONFLICT, CLOCK_BEHIND):
        assert re.fullmatch(r"[a-z0-9][a-z0-9_.:/-]{0,63}", reason_code(rule))
        assert known_rule(NativeRefusal(RefusalKind.VALUE, f"well: {rule.text}!")) is rule
