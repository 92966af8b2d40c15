"""Labelled questions are found in the trace, and judged by what the trace says."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import grpc
import pytest

from memqual.v1 import continuity_pb2
from orchestrator.model import CheckOutcome
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families.facts import CaseFacts
from orchestrator.scoring.families.probes import every, marks_of, probes_of, refused_with
from orchestrator.suites.continuity.families import CASES
from tests.orchestrator.oracle.tracing import CONTINUITY, Trace, begin, wait

CASE = CASES["receipts.forged"]
ASKED = continuity_pb2.RecordReceiptRequest(operation_id="op")


def labelled(trace: Trace, name: str, workflow: str = "w") -> None:
    trace.put("MARK", mark_json=f'{{"kind":"probe","name":"{name}","workflow":"{workflow}"}}')


def asked(trace: Trace, status: int, source: str = "orchestrator") -> None:
    trace.called(CONTINUITY + "RecordReceipt", ASKED, None, status=status, source=source)


def facts(trace: Trace) -> BatchFacts:
    return cast(BatchFacts, SimpleNamespace(trace=trace.records))


def judged(trace: Trace, names: Sequence[str], violates: bool = False) -> dict[str, CheckOutcome]:
    """What a judge of refusals says, check by check."""
    find = Finder()
    calls = [SimpleNamespace(violates=violates)]
    trial = SimpleNamespace(
        find=find,
        facts=facts(trace),
        member=SimpleNamespace(workflow_id="w"),
        case=CASE,
        calls=calls,
    )
    every("continuity.receipts.forged", refused_with(), "a refusal", names)(cast(CaseFacts, trial))
    return {check.check_id: check.outcome for check in find.checks()}


def test_the_next_question_of_the_evaluators_is_the_labelled_one() -> None:
    trace = Trace()
    asked(trace, 0)
    labelled(trace, "forged")
    asked(trace, 5, source="agent")
    asked(trace, 7)
    asked(trace, 0)
    (probe,) = probes_of(facts(trace), "w")
    assert (probe.name, probe.method, probe.status) == (
        "forged",
        "RecordReceipt",
        "PERMISSION_DENIED",
    )


def test_another_trials_label_is_not_this_ones() -> None:
    trace = Trace()
    labelled(trace, "forged", workflow="other")
    asked(trace, 7)
    assert probes_of(facts(trace), "w") == ()
    assert marks_of(facts(trace), "probe", "other")[0]["name"] == "forged"


def test_a_question_without_an_answer_says_so() -> None:
    trace = Trace()
    labelled(trace, "live")
    opened = trace.opened(CONTINUITY + "Begin", begin(), source="orchestrator")
    trace.forwarded(opened)
    (probe,) = probes_of(facts(trace), "w")
    assert probe.words == "live: NO ANSWER"


def test_a_decision_is_told_by_its_kind() -> None:
    trace = Trace()
    labelled(trace, "live")
    trace.called(CONTINUITY + "Begin", begin(), wait(), source="orchestrator")
    (probe,) = probes_of(facts(trace), "w")
    assert probe.words == "live: WAIT"


@pytest.mark.parametrize(
    ("status", "outcome"), [(7, CheckOutcome.HELD), (0, CheckOutcome.VIOLATED)]
)
def test_what_must_be_refused_and_is_taken_violates_its_check(
    status: int, outcome: CheckOutcome
) -> None:
    trace = Trace()
    labelled(trace, "forged")
    asked(trace, status)
    assert judged(trace, ["forged"]) == {"continuity.receipts.forged": outcome}


@pytest.mark.parametrize(
    ("violates", "outcome"), [(False, CheckOutcome.VIOLATED), (True, CheckOutcome.HELD)]
)
def test_a_question_that_was_never_asked_is_the_rigs_unless_an_answer_kept_it_back(
    violates: bool, outcome: CheckOutcome
) -> None:
    assert judged(Trace(), ["forged"], violates) == {"rig.probe": outcome}


def test_no_answer_and_try_again_are_no_refusals() -> None:
    refused = refused_with()
    for code, held in (
        (grpc.StatusCode.PERMISSION_DENIED, True),
        (grpc.StatusCode.UNAVAILABLE, False),
        (grpc.StatusCode.OK, False),
    ):
        trace = Trace()
        labelled(trace, "forged")
        trace.called(
            CONTINUITY + "RecordReceipt", ASKED, None, status=code.value[0], source="orchestrator"
        )
        (probe,) = probes_of(facts(trace), "w")
        assert refused(probe) is held


def test_labels_hold_for_the_memorys_edge_only() -> None:
    trace = Trace()
    labelled(trace, "forged")
    opened = trace.opened(
        "/memqual.v1.DestinationService/Invoke", ASKED, target="destination", source="orchestrator"
    )
    trace.on_call("RESPONSE_RECEIVED", opened)
    asked(trace, 7)
    assert [probe.method for probe in probes_of(facts(trace), "w")] == ["RecordReceipt"]
