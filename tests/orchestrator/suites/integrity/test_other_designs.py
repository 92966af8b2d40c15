"""Designs that are neither unsafe nor useless, however they do it, fail nowhere."""

import secrets
import unicodedata
from pathlib import Path

import grpc
import pytest

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.reviewer import Reviewer
from tests.orchestrator.suites.integrity.contexts import found, run_one
from tests.orchestrator.suites.integrity.lifecycle_memories import LifecycleMemory
from tests.orchestrator.suites.integrity.memories import Kept, SmallMemory
from tests.orchestrator.suites.integrity.played import Played, small_playground
from tests.orchestrator.suites.integrity.review_memories import ByPrincipal

CASES = ("J.superseded", "J.forgotten", "J.archived", "J.quarantined", "R", "T")
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


class MadeAnew(LifecycleMemory):
    """A text that comes again makes its record anew: another id, what is better of both."""

    def take(self, observation: memory_pb2.Observation, context: grpc.ServicerContext) -> Kept:
        scope, content = observation.scope, observation.content
        same = [
            kept
            for kept in self._of(scope.namespace)
            if kept.content == content and self.belongs(kept, scope.principal)
        ]
        best = max((*same, super().take(observation, context)), key=lambda kept: kept.authoritative)
        for kept in (*same, best):
            self.kept.pop(kept.record_id, None)
        best.record_id = f"m-{secrets.token_hex(6)}"
        self.keep(best)
        return best


class OneSurface(LifecycleMemory):
    """Has what may be acted on, and shows nothing else."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        if request.surface == EVIDENCE:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no evidence")
        return super().Recall(request, context)


class ShowsNobody(LifecycleMemory):
    """Tells whoever looks for a forgotten record that it is none of his business."""

    def Inspect(
        self, request: memory_pb2.InspectRequest, context: grpc.ServicerContext
    ) -> memory_pb2.InspectResponse:
        kept = self.kept.get(request.record_id)
        if kept is None or not kept.content:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "not yours")
        return super().Inspect(request, context)


class StillForgetsNothing(OneSurface):
    """Has one surface, and forgets nothing on it."""

    def ended(self, kept: Kept, state: memory_pb2.RecordState.ValueType) -> list[str]:
        return [kept.record_id]


class WithoutEpisodes(SmallMemory):
    """Takes facts and procedures."""

    def Write(
        self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
    ) -> memory_pb2.WriteResponse:
        if request.observation.kind == memory_pb2.RECORD_KIND_EPISODE:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no episodes")
        return super().Write(request, context)


class Tidies(ByPrincipal):
    """Keeps what a person can read, in usual characters, and takes an empty text for a text."""

    def stored(self, observation: memory_pb2.Observation) -> memory_pb2.Observation:
        kept = memory_pb2.Observation()
        kept.CopyFrom(observation)
        usual = unicodedata.normalize("NFKC", observation.content)
        seen = (char for char in usual if unicodedata.category(char) not in ("Cc", "Cf", "Cn"))
        kept.content = " ".join("".join(seen).split())
        return kept

    def Recall(
        self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext
    ) -> memory_pb2.RecallResponse:
        if not request.query:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no question")
        return super().Recall(request, context)


def wrong(played: Played) -> list[str]:
    return [
        check.check_id
        for check in played.checks
        if check.outcome is CheckOutcome.VIOLATED and check.required
    ]


@pytest.mark.parametrize("design", [MadeAnew, OneSurface, ShowsNobody])
def test_a_design_is_no_flaw(design: type[LifecycleMemory], tmp_path: Path) -> None:
    with small_playground(tmp_path, design()) as ground:
        for case in CASES:
            for played in ground.trials(CATEGORIES[case], range(3)):
                assert (played.not_run, wrong(played), played.lacking) == ("", [], []), case


def test_one_surface_is_looked_at_all_the_same(tmp_path: Path) -> None:
    with small_playground(tmp_path, StillForgetsNothing()) as ground:
        for played in ground.trials(CATEGORIES["J.forgotten"], range(2)):
            assert wrong(played) == ["integrity.J.safety.forgotten"]
            assert "its text is among the evidence" in played.told("integrity.J.safety.forgotten")


def test_without_episodes_there_is_no_story_to_tell() -> None:
    for record in run_one(WithoutEpisodes(), "E", Reviewer.generate(), trials=2):
        assert (record.verdict, record.subtype) == (
            Verdict.NOT_RUN,
            NotRunSubtype.NOT_EXPRESSIBLE,
        ), record.cause
        assert found(record, CheckOutcome.VIOLATED) == []


@pytest.mark.parametrize("case", ["X.size", "X.characters"])
def test_a_text_may_be_tidied(case: str) -> None:
    for record in run_one(Tidies(), case, Reviewer.generate(), trials=2):
        assert record.verdict is Verdict.PASS, record.cause


@pytest.mark.parametrize("case", ["B", "B.outscored", "fire.receipt"])
def test_who_knows_no_sources_is_not_asked_whom_it_believes(case: str) -> None:
    memory = SmallMemory(capabilities=())

    for record in run_one(memory, case, Reviewer.generate(), trials=1):
        assert record.subtype is NotRunSubtype.CAPABILITY_ABSENT
        assert record.cause == "not declared: source_trust"
    assert vendor_pb2.CAPABILITY_SOURCE_TRUST in CATEGORIES[case].needs
