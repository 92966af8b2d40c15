"""What happens to the whole memory really happens, is proven, and is scored from lines alone."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import NotRunSubtype, Profile, TrialRecord, Verdict
from orchestrator.plan import VENDOR
from orchestrator.suites.integrity import categories, driver, score
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Ask,
    Needle,
    NotPossible,
    PassTime,
    Phase,
    Restart,
    ScanVolume,
    Script,
    Strike,
    StrikeBurst,
    Together,
)
from orchestrator.suites.integrity.categories import agent_hallucination
from orchestrator.suites.integrity.categories.base import Category, Scene
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from tests.orchestrator.suites.integrity.contexts import Rig
from tests.orchestrator.suites.integrity.stacks import process_rig

BASE = agent_hallucination.CATEGORY
UTILITY = agent_hallucination.UTILITY
SURFACE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
Played: TypeAlias = Callable[[Scene], Script]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with process_rig(tmp_path_factory.mktemp("stack"), Reviewer.generate()) as rig:
        yield rig


def said(scene: Scene, number: int = 0) -> memory_pb2.Observation:
    """What the user says; each number says something else."""
    observation = scene.case.twin.offer.observation(scene.namespace)
    observation.content = f"{observation.content} Version {number}."
    return observation


def write(scene: Scene, number: int = 0) -> Ask:
    return Ask(f"write.{number}", memory_pb2.WriteRequest(observation=said(scene, number)))


def recall(scene: Scene) -> Ask:
    twin = scene.case.twin
    request = memory_pb2.RecallRequest(
        scope=twin.offer.scope(scene.namespace), query=twin.query, max_hits=20, surface=SURFACE
    )
    return Ask("recall", request)


def contents(answer_responses: tuple[object, ...]) -> set[str]:
    (response,) = answer_responses
    assert isinstance(response, memory_pb2.RecallResponse)
    return {hit.content for hit in response.hits}


def restarted(scene: Scene) -> Script:
    """What was acknowledged is there after a kill; two calls at once are both answered."""
    together = yield Together("both", (write(scene, 1), write(scene, 2)))
    assert [part.status for part in together.parts] == [OK, OK]
    yield Restart("restart")
    answer = yield recall(scene)
    kept = contents(answer.responses) == {said(scene, n).content for n in (1, 2)}
    scene.findings.judge(UTILITY, kept, "both are recalled")


def scanned(scene: Scene) -> Script:
    """The volume has what was written, and lacks what was not."""
    yield write(scene)
    nonce = scene.case.twin.nonce
    answer = yield ScanVolume("scan", (Needle("there", nonce), Needle("gone", nonce[::-1])))
    scene.findings.judge(UTILITY, [name for name, _ in answer.found] == ["there"], "the scan")


def struck(phase: Phase) -> Played:
    def script(scene: Scene) -> Script:
        yield write(scene, 1)
        answer = yield Strike(write(scene, 2), phase)
        assert answer.status == UNANSWERED
        answer = yield recall(scene)
        expected = {said(scene, n).content for n in ((1, 2) if phase is Phase.RESPONSE else (1,))}
        scene.findings.judge(UTILITY, contents(answer.responses) == expected, "what was kept")

    return script


def burst(scene: Scene) -> Script:
    """Whatever was acknowledged before the kill is there after it."""
    asks = tuple(write(scene, number) for number in range(12))
    answer = yield StrikeBurst("burst", asks)
    acknowledged = {
        said(scene, number).content for number, part in enumerate(answer.parts) if part.status == OK
    }
    answer = yield recall(scene)
    scene.findings.judge(UTILITY, acknowledged <= contents(answer.responses), "acknowledged")


def later(scene: Scene) -> Script:
    """The memory's clock is past the moment."""
    answer = yield Ask("now", vendor_pb2.NowRequest())
    (now,) = answer.responses
    assert isinstance(now, vendor_pb2.NowResponse)
    until_ns = now.clock.wall_unix_ns + 700 * 10**9
    passed = yield PassTime("later", until_ns)
    if passed.details:
        raise NotPossible(passed.details)
    answer = yield Ask("then", vendor_pb2.NowRequest())
    (then,) = answer.responses
    assert isinstance(then, vendor_pb2.NowResponse)
    scene.findings.judge(UTILITY, then.clock.wall_unix_ns > until_ns, "the clock")


def played(
    rig: Rig, script: Played, monkeypatch: pytest.MonkeyPatch, trials: int = 3
) -> tuple[list[TrialRecord], tuple[str, ...]]:
    """A category with one check of its own and this script, on the stack."""
    name = f"C.test-{len(rig.kept.files)}"
    category = replace(
        BASE,
        variant=name[2:],
        script=script,
        checks=(BASE.contract, UTILITY),
    )
    cases: dict[str, Category] = {**categories.CATEGORIES, name: category}
    for module in (driver, score):
        monkeypatch.setattr(module, "CATEGORIES", cases)
    plans = [
        plan.__class__(**{**dict(plan), "cell": plan.cell.model_copy(update={"case": name})})
        for plan in planned_integrity(Profile.QUICK, 1)
        if plan.cell.case == "C" and plan.number < trials
    ]
    (job,) = integrity_jobs(VENDOR, plans, Reviewer.generate())
    records = list(job.run(rig.context))
    (lines,) = [lines for file, lines in rig.kept.files.items() if job.job_id in file]
    return records, lines


@pytest.mark.parametrize(
    "script",
    [restarted, scanned, struck(Phase.REQUEST), struck(Phase.RESPONSE), burst],
    ids=["restart", "scan", "request held", "response held", "burst"],
)
def test_a_step_of_the_whole_stack(
    script: Played, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, lines = played(rig, script, monkeypatch)

    assert [record.verdict for record in records] == [Verdict.PASS] * 3, records[0].cause
    assert list(score_job(lines)) == records
    stack = [json.loads(line) for line in lines if '"line":"stack"' in line]
    assert [len(line["trial_ids"]) for line in stack] == [3]


def test_time_passes_where_the_clock_can_be_set(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    records, _ = played(rig, later, monkeypatch)

    expected = Verdict.PASS if rig.context.skew else Verdict.NOT_RUN
    assert {record.verdict for record in records} == {expected}, records[0].cause


def test_time_that_cannot_pass_is_not_run(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = Rig(replace(rig.context, skew=False), rig.kept, rig.health)

    records, _ = played(fixed, later, monkeypatch)

    for record in records:
        assert record.verdict is Verdict.NOT_RUN
        assert record.subtype is NotRunSubtype.PLATFORM


def test_a_fault_without_its_proof_is_an_error(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    _, lines = played(rig, restarted, monkeypatch)
    document = json.loads(lines[1])
    document["receipt"]["target"]["exit_code"] = 0

    for record in score_job((lines[0], json.dumps(document), *lines[2:])):
        assert record.verdict is Verdict.ERROR
        assert "no proof of the fault: restart: memory: exit code of a SIGKILL" in record.cause
