"""Receipts go into atmem and come back as they were; what became of one is told as it is."""

import json
from dataclasses import replace

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import canonical_json
from services.common.errors import ServiceError
from services.vendors.atmem.model import NativeOperation, NativeOutcome, OperationStatus
from services.vendors.atmem.receipts import (
    answered,
    disposition_of,
    execution_of,
    native_receipt,
    question_of,
    receipt_message,
    same_receipt,
)
from tests.services.vendors.atmem.samples import native_operation, receipt, spec

SUCCEEDED = continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED
TOOL_ERROR = continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
COMPLETED = continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
REPEATED = continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
EVIDENCE = continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4))
def test_a_receipt_comes_back_as_it_was(result: dict[str, None]) -> None:
    asked = spec()
    sent = receipt(asked, result_json=canonical_json(result).decode())
    kept = json.loads(json.dumps(native_receipt(sent, native_operation(asked, "execute"))))
    assert receipt_message({**kept, "assurance": "host_reported"}) == sent


def test_only_a_confirmed_effect_has_atmems_word_for_it() -> None:
    asked, operation = spec(), native_operation(spec(), "execute")
    native = native_receipt(receipt(asked), operation)
    assert (native["outcome"], native["operation_id"]) == ("confirmed_succeeded", "op_1")
    assert native["effect_id"] == "effect-1"
    refused = native_receipt(receipt(asked, outcome=TOOL_ERROR), operation)
    assert refused["outcome"] == "tool_error"


@pytest.mark.parametrize(
    "presence",
    [
        common_pb2.EFFECT_PRESENCE_ABSENT_FINAL,
        common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
        common_pb2.EFFECT_PRESENCE_UNKNOWN,
    ],
)
def test_any_other_answer_to_a_question_is_unknown(
    presence: common_pb2.EffectPresence.ValueType,
) -> None:
    told = answered(presence, None, native_operation(spec(), "execute", "query"))
    assert told["outcome"] == "unknown"


def test_the_three_unknown_answers_are_told_apart_in_atmems_history() -> None:
    values = common_pb2.EffectPresence.values()
    known = [one for one in values if one > common_pb2.EFFECT_PRESENCE_PRESENT]
    operation = native_operation(spec(), "execute", "query")
    reasons = {str(answered(one, None, operation)["reason"]) for one in known}
    assert len(reasons) == len(known) == 3


def test_a_present_effect_is_a_receipt() -> None:
    asked, operation = spec(), native_operation(spec(), "execute", "query")
    told = answered(common_pb2.EFFECT_PRESENCE_PRESENT, receipt(asked), operation)
    assert told == native_receipt(receipt(asked), operation)


@pytest.mark.parametrize("native", [{}, {"contract": {}}, {"contract": "x", "outcome": "unknown"}])
def test_a_receipt_of_somebody_else_is_refused(native: dict[str, object]) -> None:
    with pytest.raises(ServiceError, match="not made by this adapter"):
        receipt_message(native)  # type: ignore[arg-type]  # what somebody else may have kept


def test_attempts_are_counted_over_executions() -> None:
    operation = native_operation(spec(), "execute", "query", "execute")
    assert execution_of(operation, 2).attempt_id == "attempt-3"
    for attempt in (0, 3):
        with pytest.raises(ServiceError) as refused:
            execution_of(operation, attempt)
        assert refused.value.code is grpc.StatusCode.FAILED_PRECONDITION


def test_a_question_is_the_latest_one_about_the_latest_attempt() -> None:
    operation = native_operation(spec(), "execute", "query", "query")
    assert question_of(operation, 1).attempt_id == "attempt-3"
    for asked, attempt in ((operation, 2), (native_operation(spec(), "execute"), 1)):
        with pytest.raises(ServiceError) as refused:
            question_of(asked, attempt)
        assert refused.value.code is grpc.StatusCode.FAILED_PRECONDITION


def _disposition(
    before: NativeOperation,
    outcome: NativeOutcome,
    *,
    attempt: int = 1,
    other: bool = False,
) -> continuity_pb2.ReceiptDisposition.ValueType:
    asked = spec()
    sent = native_receipt(
        receipt(asked, result_json='{"other":1}') if other else receipt(asked), before
    )
    return disposition_of(before, outcome, sent, execution_of(before, attempt))


def _completed() -> NativeOperation:
    operation = native_operation(spec(), "execute", status="completed")
    saved = {**native_receipt(receipt(spec()), operation), "assurance": "host_reported"}
    return replace(operation, receipt=saved)


def test_a_receipt_that_atmem_takes_completes_or_is_kept() -> None:
    before = native_operation(spec(), "execute")
    assert _disposition(before, NativeOutcome(True, OperationStatus.COMPLETED)) == COMPLETED
    assert _disposition(before, NativeOutcome(True, OperationStatus.UNCERTAIN)) == EVIDENCE


def test_a_stale_receipt_is_a_repeat_when_it_is_the_same() -> None:
    stale = NativeOutcome(False, OperationStatus.COMPLETED)
    assert _disposition(_completed(), stale) == REPEATED
    assert _disposition(_completed(), stale, other=True) == EVIDENCE


def test_a_stale_receipt_of_a_superseded_attempt_is_evidence() -> None:
    stale = NativeOutcome(False, OperationStatus.UNCERTAIN)
    for later in ("execute", "query"):
        assert _disposition(native_operation(spec(), "execute", later), stale) == EVIDENCE


def test_a_stale_receipt_of_the_latest_attempt_has_a_wrong_secret() -> None:
    with pytest.raises(ServiceError) as refused:
        _disposition(
            native_operation(spec(), "execute"), NativeOutcome(False, OperationStatus.UNCERTAIN)
        )
    assert refused.value.code is grpc.StatusCode.PERMISSION_DENIED


def test_a_receipt_differs_by_anything_but_how_sure_atmem_is() -> None:
    saved = _completed().receipt
    assert saved is not None
    sent = {name: value for name, value in saved.items() if name != "assurance"}
    assert same_receipt(saved, sent)
    assert not same_receipt(saved, {**sent, "effect_id": "another"})
    assert not same_receipt(None, sent)
