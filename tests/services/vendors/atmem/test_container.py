"""The adapter with atmem itself, in its container, through a real stack; one of each version."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from chaos.faults import ClockJump
from chaos.receipts import ClockReading
from memqual.v1 import common_pb2, continuity_pb2, memory_pb2, vendor_pb2
from orchestrator.images import ensure_images
from orchestrator.runtimes.base import Stack, StackSpec
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.plan import required_recipes
from orchestrator.session import MemoryClients, Session
from orchestrator.suites.integrity.reviewer import APPROVE, Reviewer
from orchestrator.vendors import load_vendor
from services.vendors.atmem.describe import describe
from tests.e2e.runtime_helpers import kill_and_restart, new_run_id
from tests.services.vendors.atmem.conftest import status_of
from tests.services.vendors.atmem.samples import observation, receipt, scope, spec

pytestmark = [pytest.mark.e2e_docker, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[4]
SECOND_NS = 1_000_000_000
NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


@dataclass(frozen=True)
class Version:
    """One image of atmem."""

    name: str
    version: str
    continuity: bool

    @property
    def described(self) -> vendor_pb2.DescribeResponse:
        return describe(self.version, continuity=self.continuity)


NEW = Version("atmem", "2.3.10", True)
OLD = Version("atmem-2.3.6", "2.3.6", False)


@pytest.fixture(scope="module", params=[NEW, OLD], ids=lambda version: version.version)
def version(request: pytest.FixtureRequest) -> Version:
    found = request.param
    assert isinstance(found, Version)
    return found


@pytest.fixture
def continuity(version: Version) -> None:
    if not version.continuity:
        pytest.skip("this version has no continuity package")


@pytest.fixture(scope="module")
def stack(
    reviewer: Reviewer, version: Version, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("run")
    keys = folder / "keys.json"
    keys.write_text(reviewer.public_keys_json())
    recipes = {*required_recipes(), f"vendor-{version.name}"}
    started = DockerRuntime().start(
        StackSpec(
            run_id=new_run_id(),
            stack_id="s1",
            folder=folder,
            images=ensure_images(sorted(recipes)),
            vendor=load_vendor(ROOT / f"compose/vendors/{version.name}.yaml"),
            reviewer_keys=keys,
            clock_skew=True,
            healthy_within_seconds=120.0,
        )
    )
    yield started
    started.close()


@pytest.fixture(scope="module")
def session(stack: Stack) -> Iterator[Session]:
    opened = Session(stack.control_address, stack.control_token, stack.spec.run_id)
    yield opened
    opened.close()


@pytest.fixture
def memory(session: Session) -> MemoryClients:
    return session.memory


def _begin(
    memory: MemoryClients, asked: continuity_pb2.OperationSpec, call: str, life: str = "life-1"
) -> continuity_pb2.Decision:
    request = continuity_pb2.BeginRequest(spec=asked, incarnation_id=life, begin_id=call)
    return memory.continuity.Begin(request).decision


def _record(
    memory: MemoryClients, asked: continuity_pb2.OperationSpec, granted: continuity_pb2.Execute
) -> continuity_pb2.ReceiptDisposition.ValueType:
    request = continuity_pb2.RecordReceiptRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=granted.attempt,
        lease_token=granted.lease_token,
        receipt=receipt(asked, attempt=granted.attempt),
    )
    return memory.continuity.RecordReceipt(request).disposition


def _write(memory: MemoryClients, sent: memory_pb2.Observation) -> memory_pb2.Admission:
    return memory.memory.Write(memory_pb2.WriteRequest(observation=sent)).admission


def _recalled(memory: MemoryClients, query: str) -> list[str]:
    request = memory_pb2.RecallRequest(
        scope=scope(), query=query, max_hits=20, surface=memory_pb2.RECALL_SURFACE_AUTHORITATIVE
    )
    return [hit.record_id for hit in memory.memory.Recall(request).hits]


def _jump_lease(stack: Stack, memory: MemoryClients) -> None:
    def read() -> ClockReading:
        now = memory.vendor.Now(vendor_pb2.NowRequest()).clock
        return ClockReading(wall_unix_ns=now.wall_unix_ns, monotonic_ns=now.monotonic_ns)

    ClockJump(121 * SECOND_NS, read).inject(stack.service("memory")).lift()


def test_the_container_declares_what_the_adapter_declares(
    memory: MemoryClients, version: Version
) -> None:
    assert memory.vendor.Describe(vendor_pb2.DescribeRequest()) == version.described


def test_without_the_package_continuity_is_unimplemented(
    memory: MemoryClients, version: Version
) -> None:
    if version.continuity:
        pytest.skip("this version has the package")
    with pytest.raises(grpc.RpcError) as refused:
        _begin(memory, spec(), "b1")
    assert status_of(refused.value) is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.usefixtures("continuity")
def test_a_completed_operation_is_reused_after_a_kill(stack: Stack, memory: MemoryClients) -> None:
    asked = spec(call="completed")
    granted = _begin(memory, asked, "b1").execute
    assert granted.attempt == 1
    assert _begin(memory, asked, "b1").reason_code == "attempt_in_progress"
    assert _begin(memory, asked, "b2").reason_code == "attempt_in_progress"
    completed = continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    assert _record(memory, asked, granted) == completed
    request = vendor_pb2.StateHashRequest(namespace=asked.namespace)
    before = memory.vendor.StateHash(request).digest
    kill_and_restart(stack, "memory")
    reused = _begin(memory, asked, "b3", life="life-2")
    assert reused.reuse.receipt == receipt(asked)
    assert memory.vendor.StateHash(request).digest == before
    repeated = continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
    assert _record(memory, asked, granted) == repeated


@pytest.mark.usefixtures("continuity")
def test_a_lease_ends_with_the_wall_clock(stack: Stack, memory: MemoryClients) -> None:
    operations = {
        capability: spec(capability, call=f"expired-{capability}", retention_seconds=86_400)
        for capability in (NONE, QUERY, IDEMPOTENT)
    }
    for asked in operations.values():
        granted = _begin(memory, asked, "b1").execute
        assert 110_000 < granted.remaining_lease_ms <= 120_000
    kill_and_restart(stack, "memory")
    for asked in operations.values():
        assert _begin(memory, asked, "b2", life="life-2").WhichOneof("kind") == "wait"
    _jump_lease(stack, memory)
    after = {
        capability: _begin(memory, asked, "b3", life="life-2")
        for capability, asked in operations.items()
    }
    assert after[NONE].reason_code == "needs_confirmation"
    assert after[QUERY].query.attempt == 1
    assert after[IDEMPOTENT].execute.attempt == 2


@pytest.mark.usefixtures("continuity")
def test_a_changed_specification_is_refused_by_atmem(memory: MemoryClients) -> None:
    asked, changed = spec(call="changed"), spec(call="changed")
    changed.arguments_digest = "0" * 64
    _begin(memory, asked, "b1")
    assert _begin(memory, changed, "b2").WhichOneof("kind") == "reject"


def test_records_keep_their_standing_over_a_kill(stack: Stack, memory: MemoryClients) -> None:
    said = _write(memory, observation("The harbour of Aberly opens at nine."))
    claimed = _write(
        memory,
        observation(
            "The harbour of Aberly is run by Corvin.",
            source_type=memory_pb2.SOURCE_TYPE_WEB,
            binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
        ),
    )
    assert (said.state, claimed.state) == (
        memory_pb2.RECORD_STATE_ACTIVE,
        memory_pb2.RECORD_STATE_QUARANTINED,
    )
    child = memory.memory.Derive(
        memory_pb2.DeriveRequest(
            scope=scope(),
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=[claimed.record_id],
            content="Corvin runs Aberly's harbour.",
            method="summary",
        )
    ).admission
    assert list(child.taints) == ["DERIVED_FROM_TAINTED", "UNTRUSTED_CONTENT"]
    kill_and_restart(stack, "memory")
    assert _recalled(memory, "When does the harbour of Aberly open?") == [said.record_id]


def test_a_procedure_wants_a_signed_review(memory: MemoryClients, reviewer: Reviewer) -> None:
    given = _write(
        memory,
        observation("First call, then write a letter.", kind=memory_pb2.RECORD_KIND_PROCEDURE),
    )
    listing = memory_pb2.ListProceduresRequest(scope=scope())
    assert list(memory.memory.ListProcedures(listing).procedures) == []
    challenge = memory.memory.RequestReview(
        memory_pb2.RequestReviewRequest(
            scope=scope(), record_ids=[given.record_id], action="promote"
        )
    ).challenge
    memory.memory.DecideReview(
        memory_pb2.DecideReviewRequest(
            scope=scope(),
            challenge_id=challenge.challenge_id,
            decision=memory_pb2.REVIEW_DECISION_APPROVE,
            key_id=reviewer.public_key.key_id,
            signature=reviewer.sign(challenge, APPROVE),
        )
    )
    [listed] = memory.memory.ListProcedures(listing).procedures
    assert (listed.record_id, listed.authoritative) == (given.record_id, True)


def test_what_is_written_is_on_every_scored_surface(
    memory: MemoryClients, version: Version
) -> None:
    marker = "quillmarsh"
    _write(memory, observation(f"The mill of {marker} is white.", source_id=f"alice-{marker}"))
    for surface in version.described.scored_surfaces:
        request = vendor_pb2.ExportRequest(namespace="space", surface=surface)
        exported = b"".join(item.content for item in memory.vendor.Export(request))
        assert marker.encode() in exported.lower(), vendor_pb2.Surface.Name(surface)


def test_a_removed_namespace_is_empty(memory: MemoryClients) -> None:
    request = vendor_pb2.StateHashRequest(namespace="nobody's")
    empty = memory.vendor.StateHash(request).digest
    memory.vendor.Reset(vendor_pb2.ResetRequest(namespace="space"))
    request.namespace = "space"
    assert memory.vendor.StateHash(request).digest == empty
