"""What a volume's cases ask of a trial beside the oracle: refusals, renewals, words said again."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.model import CheckOutcome
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.families.facts import CaseFacts
from orchestrator.scoring.families.storage import JUDGES
from orchestrator.suites.continuity.families import CASES
from tests.orchestrator.oracle.tracing import CONTINUITY, Trace, begin, wait

LOST = (
    "refused_volume: the memory refused its volume (exit code 4), "
    "and all that it had acknowledged is lost with it"
)
HELD, VIOLATED = CheckOutcome.HELD, CheckOutcome.VIOLATED
# A check of the rig that is violated makes the trial ERROR.
ERROR = VIOLATED


def probe(trace: Trace, name: str) -> None:
    trace.put("MARK", mark_json=f'{{"kind":"probe","name":"{name}","workflow":"w"}}')


def refusal(trace: Trace, exit_code: int) -> None:
    trace.put("MARK", mark_json=f'{{"kind":"refused_volume","exit_code":"{exit_code}"}}')


def asked_again(trace: Trace) -> None:
    probe(trace, "again-0")
    trace.called(CONTINUITY + "Begin", begin(), wait(), source="orchestrator")


def renewed(trace: Trace, remaining_ms: int, status: int = 0) -> None:
    probe(trace, "renewed")
    answer = continuity_pb2.RenewResponse(remaining_lease_ms=remaining_ms)
    request = continuity_pb2.RenewRequest(operation_id="op")
    trace.called(CONTINUITY + "Renew", request, answer, status=status, source="orchestrator")


def said(trace: Trace, name: str, status: int) -> None:
    probe(trace, name)
    request = continuity_pb2.ResolveRequest(challenge_id="c")
    trace.called(CONTINUITY + "Resolve", request, None, status=status, source="orchestrator")


def judged(
    case: str, trace: Trace, calls: Sequence[SimpleNamespace] = ()
) -> tuple[dict[str, CheckOutcome], list[str]]:
    """What the case's judge says, check by check, and what it tells beside."""
    find = Finder()
    describe = vendor_pb2.DescribeResponse(limits=vendor_pb2.Limits(lease_seconds=120))
    trial = SimpleNamespace(
        find=find,
        facts=SimpleNamespace(trace=trace.records, describe=describe),
        member=SimpleNamespace(workflow_id="w"),
        case=CASES[case],
        calls=calls,
        judgements=[SimpleNamespace(decisions=calls)],
        proven=True,
        findings=[],
    )
    JUDGES[case](cast(CaseFacts, trial))
    return {check.check_id: check.outcome for check in find.checks()}, trial.findings


def call(row: Row, forwarded_ns: int = 1, *, violates: bool = False) -> SimpleNamespace:
    return SimpleNamespace(rows=(row,), forwarded_ns=forwarded_ns, violates=violates)


@pytest.mark.parametrize(("exit_code", "outcome"), [(4, HELD), (0, VIOLATED)])
def test_a_refusal_is_told_by_an_exit_code(exit_code: int, outcome: CheckOutcome) -> None:
    trace = Trace()
    refusal(trace, exit_code)
    outcomes, _ = judged("storage.torn_write", trace, [call(Row.NEVER_GRANTED)])
    assert outcomes == {"rig.rows": HELD, "continuity.storage.refusal": outcome}


def test_what_a_refused_volume_held_is_a_finding() -> None:
    trace = Trace()
    refusal(trace, 4)
    _, findings = judged("storage.torn_write", trace, [call(Row.NEVER_GRANTED, forwarded_ns=-1)])
    assert findings == [LOST]


def test_who_came_later_lost_nothing() -> None:
    trace = Trace()
    refusal(trace, 4)
    _, findings = judged(
        "storage.torn_write", trace, [call(Row.NEVER_GRANTED, forwarded_ns=10**18)]
    )
    assert findings == []


def test_who_was_neither_asked_again_nor_refused_was_not_evaluated() -> None:
    outcomes, findings = judged("storage.torn_write", Trace())
    assert (outcomes, findings) == ({"rig.rows": ERROR}, [])


@pytest.mark.parametrize(
    ("remaining_ms", "status", "row", "violates", "wanted"),
    [
        (120_000, 0, Row.LEASE_LIVE, False, HELD),
        (120_000, 0, Row.EXPIRED, False, ERROR),
        # A wrong answer in that time is the oracle's to judge.
        (120_000, 0, Row.EXPIRED, True, HELD),
        # Nothing of the kind was promised.
        (60_000, 0, Row.EXPIRED, False, None),
        (0, 8, Row.EXPIRED, False, None),
    ],
)
def test_a_renewal_is_asked_about_while_it_alone_keeps_the_lease(
    remaining_ms: int, status: int, row: Row, violates: bool, wanted: CheckOutcome | None
) -> None:
    trace = Trace()
    renewed(trace, remaining_ms, status)
    asked_again(trace)
    calls = [call(Row.NEVER_GRANTED), call(row, violates=violates), call(Row.EXPIRED)]
    outcomes, _ = judged("storage.power_loss_renewal", trace, calls)
    assert outcomes.get("rig.clock") is wanted


@pytest.mark.parametrize(
    ("word", "used", "outcome"),
    [(0, 7, HELD), (0, 0, VIOLATED), (7, 7, VIOLATED), (0, 14, VIOLATED)],
)
def test_a_word_is_taken_once_whatever_power_does(
    word: int, used: int, outcome: CheckOutcome
) -> None:
    trace = Trace()
    said(trace, "word", word)
    said(trace, "used", used)
    asked_again(trace)
    outcomes, _ = judged("storage.power_loss_word", trace)
    assert outcomes["continuity.storage.word"] is outcome
