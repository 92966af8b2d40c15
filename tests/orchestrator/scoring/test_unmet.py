"""What limits and ends of challenges come to: met and kept, met and not kept, or never met."""

from types import SimpleNamespace
from typing import cast

import pytest
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, memory_pb2, vendor_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families import JUDGES
from orchestrator.scoring.families.facts import CaseFacts
from orchestrator.scoring.unmet import unmet
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.families.limits import CHALLENGED
from orchestrator.suites.continuity.families.resolve import BEYOND_CLOCKS
from orchestrator.suites.continuity.families.rollback import NO_REVIEW
from tests.orchestrator.oracle import tracing
from tests.orchestrator.oracle.tracing import CONTINUITY, Trace

OK, DENIED, EXHAUSTED, STATE, UNAVAILABLE = 0, 7, 8, 9, 14
PRESENTED = ("first", "after the restore", "after a restart")
MEMORY = "/memqual.v1.MemoryService/"
EXECUTE = tracing.execute(0, 2, "t2")


class Told:
    """One trial's labelled questions and what came of them."""

    def __init__(self, case: str, revisions: int = 2_000, attempts: int = 100) -> None:
        self.case = CASES[case]
        self.trace = Trace()
        limits = vendor_pb2.Limits(
            lease_seconds=120,
            max_attempts_per_operation=attempts,
            max_revisions_per_operation=revisions,
        )
        describe = vendor_pb2.DescribeResponse(limits=limits)
        self.facts = cast(BatchFacts, SimpleNamespace(trace=self.trace.records, describe=describe))
        cell = self.case.cells()[0]
        self.member = cast(Member, SimpleNamespace(cell=cell, workflow_id="w"))

    def asked(self, name: str, method: str, answer: Message | None, status: int = OK) -> None:
        """A labelled question; without an answer a refusal."""
        self.trace.put("MARK", mark_json=f'{{"kind":"probe","name":"{name}","workflow":"w"}}')
        request = {
            "Begin": tracing.begin(),
            "RecordReceipt": tracing.record_receipt(),
            "RequestResolve": continuity_pb2.RequestResolveRequest(),
            "Resolve": continuity_pb2.ResolveRequest(),
            "DecideReview": memory_pb2.DecideReviewRequest(),
        }[method]
        given = None if status else answer
        service = MEMORY if method == "DecideReview" else CONTINUITY
        self.trace.called(service + method, request, given, status=status, source="orchestrator")

    def judged(self) -> dict[str, CheckOutcome]:
        find = Finder()
        trial = SimpleNamespace(
            find=find, facts=self.facts, member=self.member, case=self.case, calls=[]
        )
        JUDGES[self.case.name](cast(CaseFacts, trial))
        return {check.check_id: check.outcome for check in find.checks()}

    def subtype(self) -> NotRunSubtype | None:
        found = unmet(self.facts, self.member)
        return None if found is None else found.subtype


def limited(beyond: int, revisions: int, challenged: int | None = None) -> Told:
    told = Told("limits.revisions", revisions)
    if challenged is not None:
        answer = continuity_pb2.RequestResolveResponse()
        told.asked(CHALLENGED, "RequestResolve", answer, challenged)
    told.asked("beyond", "Begin", EXECUTE, beyond)
    told.asked("receipt", "RecordReceipt", tracing.taken())
    told.asked("read", "Begin", tracing.reuse())
    return told


@pytest.mark.parametrize(
    ("beyond", "held"),
    [(EXHAUSTED, CheckOutcome.HELD), (OK, CheckOutcome.VIOLATED), (STATE, CheckOutcome.VIOLATED)],
)
def test_where_grants_reach_the_limit_one_more_is_exhausted(
    beyond: int, held: CheckOutcome
) -> None:
    told = limited(beyond, 3)
    assert told.judged() == {"continuity.limits.revisions": held}
    assert told.subtype() is None


@pytest.mark.parametrize("beyond", [EXHAUSTED, OK])
def test_where_challenges_reach_it_grants_are_the_oracles(beyond: int) -> None:
    told = limited(beyond, 2_000, EXHAUSTED)
    assert told.judged() == {"continuity.limits.revisions": CheckOutcome.HELD}
    assert told.subtype() is None


def test_a_receipt_that_the_limit_keeps_out_is_wrong() -> None:
    told = Told("limits.revisions")
    told.asked(CHALLENGED, "RequestResolve", None, EXHAUSTED)
    told.asked("beyond", "Begin", None, EXHAUSTED)
    told.asked("receipt", "RecordReceipt", None, EXHAUSTED)
    told.asked("read", "Begin", tracing.confirm())
    assert told.judged() == {"continuity.limits.revisions": CheckOutcome.VIOLATED}


@pytest.mark.parametrize(
    ("declared", "challenged", "found"),
    [
        (2_000, OK, NotRunSubtype.NOT_EXPRESSIBLE),
        (2_000, 12, NotRunSubtype.NOT_EXPRESSIBLE),
        (2_000, STATE, NotRunSubtype.NOT_EXPRESSIBLE),
        (1_000_000, OK, NotRunSubtype.NOT_EXPRESSIBLE),
        (0, OK, NotRunSubtype.CAPABILITY_ABSENT),
        (2_000, EXHAUSTED, None),
    ],
)
def test_a_limit_that_was_never_met_passes_nobody(
    declared: int, challenged: int, found: NotRunSubtype | None
) -> None:
    assert limited(OK, declared, challenged).subtype() == found


def test_a_play_that_did_not_get_so_far_is_not_excused() -> None:
    told = Told("limits.revisions")
    assert told.subtype() is None
    assert told.judged() == {"rig.probe": CheckOutcome.VIOLATED}


def challenged(ends_ns: int, word: int = DENIED) -> Told:
    told = Told("resolve.expired")
    challenge = common_pb2.Challenge(challenge_id="c", expires_unix_ns=ends_ns)
    answer = continuity_pb2.RequestResolveResponse(challenge=challenge)
    told.asked("asked", "RequestResolve", answer)
    if ends_ns > 0:
        told.asked("expired", "Resolve", continuity_pb2.ResolveResponse(), word)
        told.asked("good word", "Resolve", continuity_pb2.ResolveResponse())
    return told


@pytest.mark.parametrize(
    ("ends_ns", "word", "found"),
    [
        (1, DENIED, CheckOutcome.HELD),
        (2**62, DENIED, CheckOutcome.HELD),
        (1, OK, CheckOutcome.VIOLATED),
        (0, DENIED, CheckOutcome.VIOLATED),
        (-1, DENIED, CheckOutcome.VIOLATED),
    ],
)
def test_a_challenge_ends_and_is_void_then(ends_ns: int, word: int, found: CheckOutcome) -> None:
    judged = challenged(ends_ns, word).judged()
    assert judged["continuity.resolve.expired"] is found
    assert judged.get("rig.probe", CheckOutcome.HELD) is CheckOutcome.HELD


def test_an_end_that_no_clock_gets_to_is_not_judged() -> None:
    told = Told("resolve.expired")
    assert told.subtype() is None
    told.trace.put("MARK", mark_json=f'{{"kind":"{BEYOND_CLOCKS}","workflow":"other"}}')
    assert told.subtype() is None
    told.trace.put("MARK", mark_json=f'{{"kind":"{BEYOND_CLOCKS}","workflow":"w"}}')
    assert told.subtype() is NotRunSubtype.PLATFORM


def presented(*statuses: int) -> Told:
    told = Told("rollback.approval")
    for name, status in zip(PRESENTED, statuses, strict=True):
        told.asked(name, "DecideReview", memory_pb2.DecideReviewResponse(), status)
    return told


@pytest.mark.parametrize(
    ("statuses", "found"),
    [
        ((OK, DENIED, STATE), CheckOutcome.HELD),
        ((OK, DENIED, OK), CheckOutcome.VIOLATED),
        ((OK, OK, DENIED), CheckOutcome.VIOLATED),
        ((DENIED, OK, OK), CheckOutcome.VIOLATED),
    ],
)
def test_an_approval_is_taken_once(statuses: tuple[int, ...], found: CheckOutcome) -> None:
    told = presented(*statuses)
    assert told.subtype() is None
    assert told.judged()["continuity.rollback.approval"] is found


def test_an_approval_that_is_never_taken_consumes_nothing() -> None:
    assert presented(DENIED, DENIED, STATE).subtype() is NotRunSubtype.NOT_EXPRESSIBLE
    unreviewed = Told("rollback.approval")
    assert unreviewed.subtype() is None
    assert unreviewed.judged() == {"rig.probe": CheckOutcome.VIOLATED}
    unreviewed.trace.put("MARK", mark_json=f'{{"kind":"{NO_REVIEW}","workflow":"w"}}')
    assert unreviewed.subtype() is NotRunSubtype.NOT_EXPRESSIBLE


def test_no_answer_to_an_approval_is_no_refusal() -> None:
    assert presented(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE).subtype() is None
