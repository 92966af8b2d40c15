"""Verdicts come from the lines alone, and lines that no run wrote are noticed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memqual.v1 import common_pb2
from orchestrator.errors import EvidenceError
from orchestrator.model import TrialRecord, Verdict
from orchestrator.suites.integrity.evidence import parse_job, raw_file_name, to_lines
from orchestrator.suites.integrity.reviewer import APPROVE, Reviewer
from orchestrator.suites.integrity.score import score_integrity, score_job
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import jobs_of, rig_for

Lines = tuple[str, ...]


def lines_of(memory: memories.SmallMemory, letter: str) -> tuple[Lines, list[TrialRecord]]:
    """The lines of one job of two trials, and what the run made of them."""
    reviewer = Reviewer.generate()
    memory.key = reviewer.public_key
    (job,) = jobs_of(letter, 2, reviewer)
    with rig_for(memory) as rig:
        records = list(job.run(rig.context))
        assert list(rig.kept.files) == [raw_file_name(job.job_id)]
        return rig.kept.files[raw_file_name(job.job_id)], records


@pytest.fixture(scope="module", params=["A", "C", "L"])
def played(request: pytest.FixtureRequest) -> tuple[Lines, list[TrialRecord]]:
    return lines_of(memories.SmallMemory(), request.param)


def edited(lines: Lines, number: int, change: Callable[[dict[str, Any]], None]) -> Lines:
    """The lines with one changed."""
    document = json.loads(lines[number])
    change(document)
    return (*lines[:number], json.dumps(document), *lines[number + 1 :])


def test_rescoring_gives_the_same_records(played: tuple[Lines, list[TrialRecord]]) -> None:
    lines, records = played

    assert list(score_job(lines)) == records
    assert [score_integrity(lines, record.trial_id) for record in records] == records
    assert to_lines(parse_job(lines)) == lines


def test_a_failed_trial_rescores_to_the_same_failure() -> None:
    lines, records = lines_of(memories.ActiveWithoutApproval(), "A")

    assert [record.verdict for record in records] == [Verdict.FAIL, Verdict.FAIL]
    assert list(score_job(lines)) == records


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_line_that_is_dropped_repeated_or_moved_is_noticed(
    played: tuple[Lines, list[TrialRecord]], data: st.DataObject
) -> None:
    lines, _ = played
    number = data.draw(st.integers(min_value=0, max_value=len(lines) - 1))
    rest = (*lines[:number], *lines[number + 1 :])
    put = data.draw(st.integers(min_value=0, max_value=len(rest)).filter(lambda at: at != number))

    for altered in (rest, (*lines, lines[number]), (*rest[:put], lines[number], *rest[put:])):
        with pytest.raises(EvidenceError):
            score_job(altered)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_request_that_is_not_the_cases_is_noticed(
    played: tuple[Lines, list[TrialRecord]], data: st.DataObject
) -> None:
    lines, _ = played
    number = data.draw(st.integers(min_value=1, max_value=len(lines) - 1))
    name = data.draw(st.sampled_from(["request", "step", "method"]))

    def change(document: dict[str, Any]) -> None:
        document[name] = {} if name == "request" else "twin.other"

    with pytest.raises(EvidenceError):
        score_job(edited(lines, number, change))


def test_another_seed_or_namespace_does_not_fit_the_calls(
    played: tuple[Lines, list[TrialRecord]],
) -> None:
    lines, _ = played

    def other_seed(document: dict[str, Any]) -> None:
        document["trials"][0]["sub_seed"] ^= 1

    def other_namespace(document: dict[str, Any]) -> None:
        document["trials"][1]["workflow_id"] += "x"

    for change in (other_seed, other_namespace):
        with pytest.raises(EvidenceError):
            score_job(edited(lines, 0, change))


def test_another_category_does_not_fit_the_cells(
    played: tuple[Lines, list[TrialRecord]],
) -> None:
    lines, _ = played

    with pytest.raises(EvidenceError, match="of no category 'D'"):
        score_job(edited(lines, 0, lambda document: document.update(category="D")))


def test_a_trial_that_the_job_does_not_have_is_noticed(
    played: tuple[Lines, list[TrialRecord]],
) -> None:
    with pytest.raises(EvidenceError, match="has no trial"):
        score_integrity(played[0], "vendor:integrity/memory/A#99")


@pytest.mark.parametrize("lines", [(), ("{}",), ("no json",), ('{"line": "call"}',)])
def test_lines_of_no_job_are_noticed(lines: Lines) -> None:
    with pytest.raises(EvidenceError) as raised:
        score_job(lines)
    assert "verify" in raised.value.next_step


def decision_line(lines: Lines) -> int:
    return next(at for at, line in enumerate(lines) if '"DecideReview"' in line)


def test_a_decision_that_the_reviewer_did_not_sign_is_no_proof_against_a_memory() -> None:
    lines, _ = lines_of(memories.DeniesApproval(), "A")
    at = decision_line(lines)
    other = Reviewer.generate()
    challenge = common_pb2.Challenge(challenge_id="other")

    def forge(document: dict[str, Any]) -> None:
        signature = other.sign(challenge, APPROVE)
        document["request"]["signature"] = memories.base64_of(signature)

    def unsign(document: dict[str, Any]) -> None:
        del document["request"]["signature"]

    for change in (forge, unsign):
        with pytest.raises(EvidenceError, match="not signed by the run's reviewer"):
            score_job(edited(lines, at, change))


def test_a_failed_call_without_proof_of_health_is_no_verdict() -> None:
    lines, records = lines_of(memories.Broken(), "C")

    assert [record.verdict for record in records] == [Verdict.FAIL, Verdict.FAIL]
    assert '"health"' in lines[-1]
    with pytest.raises(EvidenceError, match="no proof of health"):
        score_job(lines[:-1])


def test_a_repeated_call_has_to_have_been_unavailable() -> None:
    lines, records = lines_of(memories.AsksToTryAgain(), "C")

    assert [record.verdict for record in records] == [Verdict.PASS, Verdict.PASS]
    assert sum('"retried":true' in line for line in lines) == 12
    first = next(at for at, line in enumerate(lines) if '"retried":true' in line)
    with pytest.raises(EvidenceError, match="was repeated after OK"):
        score_job(edited(lines, first, lambda document: document.update(status="OK")))


def test_calls_of_a_trial_that_does_not_apply_are_noticed() -> None:
    lines, _ = lines_of(memories.SmallMemory(), "A")

    def undeclare(document: dict[str, Any]) -> None:
        document["describe"]["capabilities"] = []

    with pytest.raises(EvidenceError, match="does not apply, and has calls"):
        score_job(edited(lines, 0, undeclare))


def test_a_trial_that_is_named_twice_is_noticed(
    played: tuple[Lines, list[TrialRecord]],
) -> None:
    def twice(document: dict[str, Any]) -> None:
        document["trials"][1] = document["trials"][0]

    with pytest.raises(EvidenceError, match="names a trial twice"):
        score_job(edited(played[0], 0, twice))


def test_an_answer_that_is_no_message_is_noticed(
    played: tuple[Lines, list[TrialRecord]],
) -> None:
    def garble(document: dict[str, Any]) -> None:
        document["responses"] = [{"no_such_field": 1}]

    with pytest.raises(EvidenceError, match=r"call 0 of trial .* is no WriteResponse"):
        score_job(edited(played[0], 1, garble))


def test_calls_after_the_end_of_a_script_are_noticed() -> None:
    lines, records = lines_of(memories.Null(), "C")
    assert [record.verdict for record in records] == [Verdict.FAIL, Verdict.FAIL]
    extra = edited(lines, len(lines) - 1, lambda document: document.update(position=1))

    with pytest.raises(EvidenceError, match=r"call 1 .* was never asked for"):
        score_job((*lines, extra[-1]))


@pytest.mark.parametrize("field", ["public_key_base64", "signature"])
def test_keys_and_signatures_that_are_no_base64_are_noticed(field: str) -> None:
    lines, _ = lines_of(memories.SmallMemory(), "A")

    def garble(document: dict[str, Any]) -> None:
        target = document["request"] if field == "signature" else document["reviewer_keys"][0]
        target[field] = "no base64!"

    at = decision_line(lines) if field == "signature" else 0
    with pytest.raises(EvidenceError):
        score_job(edited(lines, at, garble))
