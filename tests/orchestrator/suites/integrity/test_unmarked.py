"""Memories without a word for authority are not blamed for lacking it, and for nothing less."""

from collections.abc import Sequence

import grpc
import pytest

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import Check, CheckOutcome, NotRunSubtype, TrialRecord, Verdict
from orchestrator.suites.integrity.calls import Answer, Ask
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.unmarked import (
    CAUSE,
    Unmarked,
    knows_authority,
    without_marks,
)
from tests.orchestrator.suites.integrity.contexts import found, run_all
from tests.orchestrator.suites.integrity.memories import Kept, SmallMemory

CASES = ("C", "F", "G.principal", "R", "X.size")
AUTHORITATIVE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


class NoWord(SmallMemory):
    """Keeps and recalls everything, declares nothing, and marks nothing."""

    def __init__(self, *, declares: Sequence[vendor_pb2.Capability.ValueType] = ()) -> None:
        super().__init__(capabilities=tuple(declares))

    def trusts(self, observation: memory_pb2.Observation) -> bool:
        return True

    def recalled(self, kept: Kept, scope: memory_pb2.Scope) -> bool:
        return kept.observation.scope.principal == scope.principal

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        hits = [
            hit
            for hit in super().Recall(request, context).hits
            if self.recalled(self.kept[hit.record_id], request.scope)
        ]
        for hit in hits:
            hit.authoritative = False
        return memory_pb2.RecallResponse(hits=hits[: request.max_hits])


class LosesUsers(NoWord):
    """Shows everything but what the user said himself."""

    def recalled(self, kept: Kept, scope: memory_pb2.Scope) -> bool:
        user = kept.observation.source.type == memory_pb2.SOURCE_TYPE_USER
        return not user and super().recalled(kept, scope)


class MarksOthers(NoWord):
    """Marks whatever was not said by the user."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        for hit in response.hits:
            source = self.kept[hit.record_id].observation.source
            hit.authoritative = source.type != memory_pb2.SOURCE_TYPE_USER
        return response


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


def first(memory: SmallMemory, reviewer: Reviewer) -> dict[str, TrialRecord]:
    records = run_all(memory, CASES, reviewer, trials=1)
    return {case: of_case[0] for case, of_case in records.items()}


def test_what_has_no_word_for_authority_is_not_expressible(reviewer: Reviewer) -> None:
    records = first(NoWord(), reviewer)

    for case, record in records.items():
        told = (record.verdict, record.subtype, record.cause, found(record, CheckOutcome.VIOLATED))
        assert told == (Verdict.NOT_RUN, NotRunSubtype.NOT_EXPRESSIBLE, CAUSE, []), case


def test_what_is_lost_is_lost(reviewer: Reviewer) -> None:
    for case, record in first(LosesUsers(), reviewer).items():
        assert record.verdict is Verdict.FAIL, case


def test_a_memory_that_knows_authority_has_to_give_it(reviewer: Reviewer) -> None:
    memory = NoWord(declares=[vendor_pb2.CAPABILITY_SOURCE_TRUST])

    for case, record in first(memory, reviewer).items():
        assert record.verdict is Verdict.FAIL, case


def test_marks_are_the_memorys_word(reviewer: Reviewer) -> None:
    record = first(MarksOthers(), reviewer)["C"]

    assert record.verdict is Verdict.FAIL
    assert "integrity.C.safety" in found(record, CheckOutcome.VIOLATED)


def test_who_knows_authority() -> None:
    def declares(*capabilities: vendor_pb2.Capability.ValueType) -> Declared:
        return Declared.of(SmallMemory(capabilities=capabilities).describe())

    assert knows_authority(declares(vendor_pb2.CAPABILITY_SOURCE_TRUST))
    assert knows_authority(declares(vendor_pb2.CAPABILITY_AUTHORITY_GATING))
    assert not knows_authority(declares(vendor_pb2.CAPABILITY_SECRET_BLOCKING))


@pytest.mark.parametrize(
    ("surface", "marked"), [(AUTHORITATIVE, True), (EVIDENCE, False)], ids=("act", "evidence")
)
def test_only_what_is_recalled_to_act_on_is_taken_as_marked(
    surface: memory_pb2.RecallSurface.ValueType, marked: bool
) -> None:
    response = memory_pb2.RecallResponse(hits=[memory_pb2.Hit(record_id="r")])
    unmarked = Unmarked(lambda _: Answer("OK", "", (response,)))

    answer = unmarked.answer(Ask("r", memory_pb2.RecallRequest(surface=surface)))

    given = answer.responses[0]
    assert isinstance(given, memory_pb2.RecallResponse)
    assert (given.hits[0].authoritative, unmarked.marked) == (marked, False)


@pytest.mark.parametrize(
    "response",
    [
        memory_pb2.RecallResponse(hits=[memory_pb2.Hit(authoritative=True)]),
        memory_pb2.InspectResponse(record=memory_pb2.MemoryRecord(authoritative=True)),
        memory_pb2.ListProceduresResponse(
            procedures=[memory_pb2.MemoryRecord(), memory_pb2.MemoryRecord(authoritative=True)]
        ),
    ],
    ids=lambda response: type(response).__name__,
)
def test_a_mark_is_seen_wherever_it_is(
    response: memory_pb2.RecallResponse
    | memory_pb2.InspectResponse
    | memory_pb2.ListProceduresResponse,
) -> None:
    unmarked = Unmarked(lambda _: Answer("OK", "", (response,)))

    unmarked.answer(Ask("r", memory_pb2.InspectRequest()))

    assert unmarked.marked


def checks(contract: CheckOutcome, safety: CheckOutcome, utility: CheckOutcome) -> list[Check]:
    specs = CATEGORIES["F"].checks
    return [
        spec.check(outcome, "told")
        for spec, outcome in zip(specs, (contract, safety, utility), strict=True)
    ]


HELD, VIOLATED = CheckOutcome.HELD, CheckOutcome.VIOLATED


@pytest.mark.parametrize(
    ("actual", "taken", "settled"),
    [
        ((HELD, HELD, VIOLATED), (HELD, VIOLATED, HELD), True),
        ((HELD, HELD, VIOLATED), (HELD, HELD, VIOLATED), False),
        ((HELD, VIOLATED, VIOLATED), (HELD, HELD, HELD), False),
        ((VIOLATED, HELD, VIOLATED), (HELD, HELD, HELD), False),
        ((HELD, HELD, HELD), (HELD, HELD, HELD), False),
    ],
)
def test_only_marks_may_be_lacking(
    actual: tuple[CheckOutcome, CheckOutcome, CheckOutcome],
    taken: tuple[CheckOutcome, CheckOutcome, CheckOutcome],
    settled: bool,
) -> None:
    result = without_marks(checks(*actual), checks(*taken))

    assert (result is not None) is settled
    if result is not None:
        assert [(check.outcome, check.required) for check in result] == [
            (HELD, True),
            (HELD, True),
            (CheckOutcome.NOT_EVALUATED, False),
        ]
        assert result[2].actual == f"N/R: {CAUSE}; told"
