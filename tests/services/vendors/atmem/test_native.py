"""The adapter over atmem itself, in this process, where atmem is installed (2.3.6 or 2.3.10).

    PYTHONPATH=<folder with atmem> python -m pytest tests/services/vendors/atmem/test_native.py

What is asserted is what atmem answers; a version in which it differs is named.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from memqual.v1 import (
    common_pb2,
    continuity_pb2,
    continuity_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    vendor_pb2,
    vendor_pb2_grpc,
)
from services.common import server
from services.vendors.atmem.describe import describe
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, status_of
from tests.services.vendors.atmem.samples import observation, scope

pytest.importorskip("atmem", reason="atmem is not installed for this Python")

from orchestrator.suites.integrity.reviewer import APPROVE, Reviewer
from services.vendors.atmem.native import HAS_CONTINUITY, native_version
from services.vendors.atmem.process import SERVICE_NAMES, registrars

ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
QUARANTINED = memory_pb2.RECORD_STATE_QUARANTINED
ASSERTED = memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
AGENT, WEB = memory_pb2.SOURCE_TYPE_AGENT, memory_pb2.SOURCE_TYPE_WEB
EPISODE, PROCEDURE = memory_pb2.RECORD_KIND_EPISODE, memory_pb2.RECORD_KIND_PROCEDURE
TAINTED = ["DERIVED_FROM_TAINTED", "UNTRUSTED_CONTENT"]
SECRET = "sk-Abcd1234Efgh5678Ijkl"


@dataclass
class Living:
    """The adapter's process as it would be: its services over one folder, restarted at will."""

    folder: Path
    reviewer: Reviewer
    running: server.RunningServer
    channel: grpc.Channel

    @classmethod
    def start(cls, folder: Path, reviewer: Reviewer) -> "Living":
        keys = folder / "keys.json"
        keys.write_text(reviewer.public_keys_json())
        running = server.start(
            listen="127.0.0.1:0",
            registrars=registrars(folder / "data", keys),
            service_names=SERVICE_NAMES,
        )
        return cls(folder, reviewer, running, grpc.insecure_channel(f"127.0.0.1:{running.port}"))

    def restart(self) -> None:
        self.stop()
        fresh = self.start(self.folder, self.reviewer)
        self.running, self.channel = fresh.running, fresh.channel

    def stop(self) -> None:
        self.channel.close()
        self.running.stop()

    @property
    def memory(self) -> memory_pb2_grpc.MemoryServiceStub:
        return memory_pb2_grpc.MemoryServiceStub(self.channel)

    @property
    def vendor(self) -> vendor_pb2_grpc.VendorServiceStub:
        return vendor_pb2_grpc.VendorServiceStub(self.channel)

    def write(self, sent: memory_pb2.Observation) -> memory_pb2.Admission:
        request = memory_pb2.WriteRequest(observation=sent)
        return self.memory.Write(request, timeout=DEADLINE_SECONDS).admission

    def derive(self, *parent_ids: str, content: str) -> memory_pb2.Admission:
        request = memory_pb2.DeriveRequest(
            scope=scope(),
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=parent_ids,
            content=content,
            method="summary",
        )
        return self.memory.Derive(request, timeout=DEADLINE_SECONDS).admission

    def recalled(self, query: str) -> list[str]:
        request = memory_pb2.RecallRequest(
            scope=scope(), query=query, max_hits=20, surface=memory_pb2.RECALL_SURFACE_AUTHORITATIVE
        )
        hits = self.memory.Recall(request, timeout=DEADLINE_SECONDS).hits
        assert all(hit.authoritative for hit in hits)
        return [hit.record_id for hit in hits]

    def procedures(self) -> list[str]:
        request = memory_pb2.ListProceduresRequest(scope=scope())
        listed = self.memory.ListProcedures(request, timeout=DEADLINE_SECONDS).procedures
        return [one.record_id for one in listed]

    def inspect(self, record_id: str) -> memory_pb2.MemoryRecord:
        request = memory_pb2.InspectRequest(scope=scope(), record_id=record_id)
        return self.memory.Inspect(request, timeout=DEADLINE_SECONDS).record

    def supersede(self, record_id: str, sent: memory_pb2.Observation) -> memory_pb2.Admission:
        request = memory_pb2.SupersedeRequest(scope=scope(), record_id=record_id, observation=sent)
        return self.memory.Supersede(request, timeout=DEADLINE_SECONDS).admission

    def challenge(self, *record_ids: str) -> common_pb2.Challenge:
        request = memory_pb2.RequestReviewRequest(
            scope=scope(), record_ids=record_ids, action="promote"
        )
        return self.memory.RequestReview(request, timeout=DEADLINE_SECONDS).challenge

    def approve(self, challenge: common_pb2.Challenge) -> grpc.StatusCode:
        request = memory_pb2.DecideReviewRequest(
            scope=scope(),
            challenge_id=challenge.challenge_id,
            decision=memory_pb2.REVIEW_DECISION_APPROVE,
            key_id=self.reviewer.public_key.key_id,
            signature=self.reviewer.sign(challenge, APPROVE),
        )
        try:
            self.memory.DecideReview(request, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as refused:
            return status_of(refused)
        return grpc.StatusCode.OK

    def surfaces_with(self, word: str) -> set[str]:
        found = set()
        for surface in describe("").scored_surfaces:
            request = vendor_pb2.ExportRequest(namespace="space", surface=surface)
            items = self.vendor.Export(request, timeout=DEADLINE_SECONDS)
            if word.lower().encode() in b"\n".join(one.content for one in items).lower():
                found.add(vendor_pb2.Surface.Name(surface).removeprefix("SURFACE_").lower())
        return found


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    started = Living.start(tmp_path, Reviewer.generate())
    yield started
    started.stop()


def test_what_is_installed_is_what_is_declared(living: Living) -> None:
    told = living.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    assert told == describe(native_version(), continuity=HAS_CONTINUITY)
    assert HAS_CONTINUITY is (native_version() != "2.3.6")
    continuity = continuity_pb2_grpc.ContinuityServiceStub(living.channel)
    request = continuity_pb2.ListOperationsRequest(namespace="space")
    with pytest.raises(grpc.RpcError) as refused:
        continuity.ListOperations(request, timeout=DEADLINE_SECONDS)
    served = status_of(refused.value) is not grpc.StatusCode.UNIMPLEMENTED
    assert served is HAS_CONTINUITY


@pytest.mark.parametrize("source_type", [AGENT, WEB, memory_pb2.SOURCE_TYPE_USER])
def test_a_claim_that_nobody_vouches_for_has_no_authority_however_often(
    living: Living, source_type: memory_pb2.SourceType.ValueType
) -> None:
    for number in range(7):
        claim = observation(
            "The payee of Quillmarsh is Corvin.",
            source_type=source_type,
            binding=ASSERTED,
            source_id=f"speaker-{number}",
        )
        admitted = living.write(claim)
        assert (admitted.state, list(admitted.taints)) == (QUARANTINED, ["UNTRUSTED_CONTENT"])
    assert living.recalled("Who is the payee of Quillmarsh?") == []


def test_the_users_own_word_is_authority_unless_it_equals_a_quarantined_claim(
    living: Living,
) -> None:
    said = living.write(observation("The payee of Quillmarsh is Ida."))
    assert living.recalled("Who is the payee of Quillmarsh?") == [said.record_id]
    claimed = living.write(observation("The owner of Quillmarsh is Bo.", source_type=WEB))
    repeated = living.write(observation("The owner of Quillmarsh is Bo."))
    assert (repeated.record_id, repeated.state) == (claimed.record_id, QUARANTINED)
    assert list(repeated.reasons) == ["semantic_record_already_exists"]


def test_a_summary_of_a_tainted_parent_is_tainted_and_so_are_its_children(living: Living) -> None:
    clean = living.write(observation("The owner of Quillmarsh is Mara."))
    tainted = living.write(observation("Quillmarsh pays to 11.", source_type=WEB))
    child = living.derive(clean.record_id, tainted.record_id, content="Mara's, pays to 11.")
    grandchild = living.derive(child.record_id, content="Hers, pays to 11.")
    for one in (child, grandchild):
        assert (one.state, list(one.taints)) == (QUARANTINED, TAINTED)
    assert living.recalled("Who is the owner of Quillmarsh?") == [clean.record_id]
    assert living.derive(clean.record_id, content="Mara owns it.").state == ACTIVE
    lineage = living.inspect(grandchild.record_id).lineage
    assert list(lineage) == [child.record_id, clean.record_id, tainted.record_id]


def test_a_secret_is_on_no_scored_surface_and_its_transcript_is_retained(living: Living) -> None:
    for kind in (memory_pb2.RECORD_KIND_FACT, PROCEDURE, EPISODE):
        admitted = living.write(observation(f"Use api_key={SECRET} today.", kind=kind))
        assert admitted.state == memory_pb2.RECORD_STATE_REJECTED
    assert living.surfaces_with(SECRET) == set()
    assert living.surfaces_with("retained, not scored") == {"canonical"}
    volume = [path.read_bytes() for path in living.folder.rglob("*") if path.is_file()]
    assert any(SECRET.encode() in content for content in volume)


@pytest.mark.parametrize("kind", [memory_pb2.RECORD_KIND_FACT, PROCEDURE, EPISODE])
def test_a_text_that_is_too_long_for_atmem_leaves_nothing(
    living: Living, kind: memory_pb2.RecordKind.ValueType
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        living.write(observation("quillmarsh " * 200, kind=kind))
    assert status_of(refused.value) is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert living.surfaces_with("quillmarsh") == set()
    assert living.surfaces_with("retained, not scored") == set()


def test_what_became_a_record_is_on_the_scored_surfaces(living: Living) -> None:
    # A quarantined record is in no index; records that wait count on the canonical surface.
    living.write(observation("The mill of Quillmarsh is white.", source_id="alice-quillmarsh"))
    assert living.surfaces_with("quillmarsh") == {"canonical", "graph", "index", "audit"}
    living.write(observation("The Tarnfell depot is Corvin's.", source_type=WEB))
    assert "canonical" in living.surfaces_with("tarnfell")
    living.write(observation("First the Zorbex, then a letter.", kind=PROCEDURE))
    assert "canonical" in living.surfaces_with("zorbex")


@pytest.mark.parametrize("source_type", [memory_pb2.SOURCE_TYPE_USER, WEB])
def test_a_procedure_is_active_by_a_signed_review_and_nothing_else(
    living: Living, source_type: memory_pb2.SourceType.ValueType
) -> None:
    sent = observation("First call, then write.", kind=PROCEDURE, source_type=source_type)
    sent.labels.extend(["reviewer", "admin"])
    given = living.write(sent)
    before = living.inspect(given.record_id)
    outcome = memory_pb2.RecordOutcomeRequest(
        scope=scope(),
        record_id=given.record_id,
        outcome=memory_pb2.PROCEDURE_OUTCOME_HELPFUL,
        utility=1.0,
    )
    assert living.memory.RecordOutcome(outcome, timeout=DEADLINE_SECONDS).record == before
    assert living.surfaces_with("outcome_observed") == {"audit"}
    assert living.procedures() == []
    assert living.approve(living.challenge(given.record_id)) is grpc.StatusCode.OK
    assert living.procedures() == [given.record_id]


@pytest.mark.parametrize("kind", [PROCEDURE, EPISODE])
def test_a_challenge_is_used_once_by_clients_at_once_and_after_a_restart(
    living: Living, kind: memory_pb2.RecordKind.ValueType
) -> None:
    given = living.write(observation("First call, then write.", kind=kind))
    challenge = living.challenge(given.record_id)
    living.restart()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(living.approve, [challenge] * 4))
    assert sorted(one.name for one in answers) == ["OK", *["PERMISSION_DENIED"] * 3]
    living.restart()
    assert living.approve(challenge) is grpc.StatusCode.PERMISSION_DENIED
    assert living.inspect(given.record_id).state == ACTIVE


def test_several_records_of_one_challenge_are_decided_together(living: Living) -> None:
    quarantined = living.write(observation("Quillmarsh pays to 11.", source_type=WEB)).record_id
    procedure = living.write(observation("First call.", kind=PROCEDURE)).record_id
    episode = living.write(observation("We met in Oslo.", kind=EPISODE)).record_id
    everything = (quarantined, procedure, episode)
    assert living.approve(living.challenge(*everything)) is grpc.StatusCode.OK
    assert [living.inspect(one).state for one in everything] == [ACTIVE] * 3
    # What a reviewer let in keeps its taint.
    assert list(living.inspect(quarantined).taints) == ["UNTRUSTED_CONTENT"]


def test_an_update_of_the_user_wins_and_any_other_waits(living: Living) -> None:
    old = living.write(observation("The mill of Quillmarsh opens at nine."))
    web = living.supersede(
        old.record_id, observation("The mill of Quillmarsh opens at one.", source_type=WEB)
    )
    assert (web.state, living.inspect(old.record_id).state) == (QUARANTINED, ACTIVE)
    new = living.supersede(old.record_id, observation("The mill of Quillmarsh opens at ten."))
    assert living.recalled("When does the mill of Quillmarsh open?") == [new.record_id]
    shown = living.inspect(old.record_id)
    assert (shown.state, shown.superseded_by) == (
        memory_pb2.RECORD_STATE_SUPERSEDED,
        new.record_id,
    )
    # Its record has changed since it was proposed: nothing comes of it.
    living.approve(living.challenge(web.record_id))
    assert living.recalled("When does the mill of Quillmarsh open?") == [new.record_id]
    assert living.derive(new.record_id, content="It opens late.").state == ACTIVE


def test_recall_and_lists_stay_within_subject_and_workspace(living: Living) -> None:
    def asked(principal: str = "alice", **circle: str) -> list[str]:
        request = memory_pb2.RecallRequest(
            scope=memory_pb2.Scope(namespace="space", principal=principal, **circle),
            query="Who keeps the vault of Quillmarsh?",
            max_hits=20,
            surface=memory_pb2.RECALL_SURFACE_EVIDENCE,
        )
        hits = living.memory.Recall(request, timeout=DEADLINE_SECONDS).hits
        request.surface = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
        assert [hit.record_id for hit in hits] == [
            hit.record_id for hit in living.memory.Recall(request, timeout=DEADLINE_SECONDS).hits
        ]
        return [hit.record_id for hit in hits]

    sent = observation("The vault of Quillmarsh is kept by Ida.")
    sent.scope.agent, sent.scope.workspace = "helper", "shop"
    kept = living.write(sent).record_id
    assert asked() == asked(workspace="shop") == [kept]
    assert asked("bob") == asked(workspace="office") == []
    # atmem keeps no agents of one subject apart.
    assert asked(agent="another", workspace="shop") == [kept]


def test_a_forgotten_record_stays_so_and_an_archived_one_is_recalled(living: Living) -> None:
    kept = living.write(observation("The barn of Quillmarsh is red.")).record_id
    gone = living.write(observation("The pier of Quillmarsh is green.")).record_id
    request = memory_pb2.ForgetRequest(scope=scope(), record_id=gone)
    living.memory.Forget(request, timeout=DEADLINE_SECONDS)
    archive = memory_pb2.ArchiveRequest(scope=scope(), record_id=kept)
    living.memory.Archive(archive, timeout=DEADLINE_SECONDS)
    hashes = []
    for _ in range(2):
        told = living.vendor.StateHash(
            vendor_pb2.StateHashRequest(namespace="space"), timeout=DEADLINE_SECONDS
        )
        hashes.append(told.digest)
        assert living.inspect(gone).state == memory_pb2.RECORD_STATE_FORGOTTEN
        assert living.inspect(kept).state == memory_pb2.RECORD_STATE_ARCHIVED
        # atmem's recall does not look at its lifecycle service.
        assert living.recalled("What colour is the barn of Quillmarsh?") == [kept]
        living.restart()
    assert hashes[0] == hashes[1]
