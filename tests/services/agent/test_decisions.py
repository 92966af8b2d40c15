"""What the host takes for a decision, and what it refuses to act on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import continuity_pb2
from services.agent.decisions import (
    LEASE_MAX_MS,
    Confirmation,
    Grant,
    MalformedDecision,
    Query,
    Rejection,
    Reuse,
    Waiting,
    read_decision,
)
from services.common.canonical import sha256_hex
from tests.services.agent.fake_memory import decision

SPEC = continuity_pb2.OperationSpec(operation_id="op", arguments_digest="a" * 64)
RESULT = '{"done":1}'


def receipt(
    operation_id: str = "op",
    arguments_digest: str = "a" * 64,
    result_json: str = RESULT,
    result_digest: str = sha256_hex(RESULT.encode()),
) -> continuity_pb2.Receipt:
    return continuity_pb2.Receipt(
        operation_id=operation_id,
        attempt=3,
        arguments_digest=arguments_digest,
        result_json=result_json,
        result_digest=result_digest,
    )


def execute(
    attempt: int = 1, lease_token: str = "token", remaining_lease_ms: int = 5
) -> continuity_pb2.Execute:
    return continuity_pb2.Execute(
        attempt=attempt, lease_token=lease_token, remaining_lease_ms=remaining_lease_ms
    )


def test_every_kind_is_read() -> None:
    read = [
        read_decision(decision("why", execute=execute()), SPEC),
        read_decision(decision("why", wait=continuity_pb2.Wait(remaining_ms=7)), SPEC),
        read_decision(
            decision("why", query=continuity_pb2.Query(attempt=2, query_ticket="ticket")), SPEC
        ),
        read_decision(decision("why", reuse=continuity_pb2.Reuse(receipt=receipt())), SPEC),
        read_decision(decision("why", confirm=continuity_pb2.Confirm()), SPEC),
        read_decision(decision("why", reject=continuity_pb2.Reject()), SPEC),
    ]
    expected = [
        Grant(attempt=1, lease_token="token", remaining_lease_ms=5),
        Waiting(remaining_ms=7),
        Query(attempt=2, ticket="ticket"),
        Reuse(receipt=receipt()),
        Confirmation(),
        Rejection(),
    ]
    assert expected == read


@pytest.mark.parametrize(
    ("response", "cause"),
    [
        (continuity_pb2.BeginResponse(), "no kind of decision"),
        (decision("why"), "no kind of decision"),
        (decision("why", execute=execute(attempt=0)), "execute without a valid attempt"),
        (decision("why", execute=execute(attempt=2**60)), "execute without a valid attempt"),
        (decision("why", execute=execute(lease_token="")), "no lease token"),
        (
            decision("why", execute=execute(lease_token="x" * 129)),
            "lease token of more than 128 bytes",
        ),
        (
            decision("why", execute=execute(remaining_lease_ms=LEASE_MAX_MS + 1)),
            "execute with a lease of more than a century",
        ),
        (
            decision("why", query=continuity_pb2.Query(query_ticket="ticket")),
            "query without a valid attempt",
        ),
        (decision("why", query=continuity_pb2.Query(attempt=1)), "no query ticket"),
        (decision("why", reuse=continuity_pb2.Reuse()), "reuse without a receipt"),
        (
            decision("why", reuse=continuity_pb2.Reuse(receipt=receipt(operation_id=""))),
            "reuse with a receipt of no operation",
        ),
        (
            decision("why", reuse=continuity_pb2.Reuse(receipt=receipt(arguments_digest="b"))),
            "reuse with a receipt of other arguments",
        ),
        (
            decision("why", reuse=continuity_pb2.Reuse(receipt=receipt(result_json="{}"))),
            "reuse with a result that does not match its digest",
        ),
        (
            decision(
                "why",
                reuse=continuity_pb2.Reuse(
                    receipt=receipt(
                        result_json="x" * 65_537, result_digest=sha256_hex(b"x" * 65_537)
                    )
                ),
            ),
            "reuse with a result of more than 65536 bytes",
        ),
    ],
)
def test_what_is_no_decision_is_refused(response: continuity_pb2.BeginResponse, cause: str) -> None:
    with pytest.raises(MalformedDecision) as refused:
        read_decision(response, SPEC)
    assert cause == str(refused.value)


def test_a_kind_of_a_later_contract_is_refused() -> None:
    # Field 15 of Decision, a message without content, which this contract does not know.
    later = continuity_pb2.Decision.FromString(bytes([15 << 3 | 2, 0]))
    with pytest.raises(MalformedDecision, match="no kind of decision"):
        read_decision(continuity_pb2.BeginResponse(decision=later), SPEC)


@given(
    attempt=st.integers(0, 2**64 - 1),
    lease_token=st.text(max_size=140),
    remaining_lease_ms=st.integers(0, 2**64 - 1),
)
def test_whatever_is_granted_can_be_dispatched(
    attempt: int, lease_token: str, remaining_lease_ms: int
) -> None:
    response = decision("why", execute=execute(attempt, lease_token, remaining_lease_ms))
    usable = (
        1 <= attempt < 2**53
        and 1 <= len(lease_token.encode()) <= 128
        and remaining_lease_ms <= LEASE_MAX_MS
    )
    try:
        read = read_decision(response, SPEC)
    except MalformedDecision:
        assert not usable
    else:
        assert usable
        assert Grant(attempt, lease_token, remaining_lease_ms) == read


@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        response = continuity_pb2.BeginResponse.FromString(data)
    except Exception:
        return
    try:
        read = read_decision(response, SPEC)
    except MalformedDecision:
        return
    assert isinstance(read, Grant | Waiting | Query | Reuse | Confirmation | Rejection)
