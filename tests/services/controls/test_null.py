"""The memory that answers everything with nothing, and how controls are started."""

import json
from pathlib import Path

import grpc
import pytest

from memqual.v1 import continuity_pb2, memory_pb2, narrative_pb2, vendor_pb2, vendor_pb2_grpc
from services.common import server
from services.common.channels import open_channel
from services.controls.null_service import EMPTY_SERVICES
from services.controls.registry import FLAWS
from services.memory.process import Composition, MemorySettings, build
from tests.services.memory.processes import STOP_SECONDS, launch, start
from tests.services.memory.samples import spec

DEADLINE_SECONDS = 10
# Another narrative memory than the reference's, without traces.
OTHER_NARRATIVES = ("rag", "transcript_dump")
NARRATIVE = (vendor_pb2.CAPABILITY_NARRATIVE, vendor_pb2.CAPABILITY_NARRATIVE_TRACES)
FILES = (continuity_pb2, memory_pb2, narrative_pb2)


def methods() -> list[str]:
    return [
        f"/memqual.v1.{service.name}/{method.name}"
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        if service.name in EMPTY_SERVICES
        for method in service.methods
    ]


def call_raw(channel: grpc.Channel, method: str, request: bytes) -> bytes:
    call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
    return call(request, timeout=DEADLINE_SECONDS)


def describe(folder: Path, composition: Composition) -> vendor_pb2.DescribeResponse:
    process = build(MemorySettings(folder / "memory.db"), composition)
    running = server.start(
        listen="127.0.0.1:0", registrars=process.registrars, service_names=process.service_names
    )
    channel = open_channel(f"127.0.0.1:{running.port}")
    try:
        stub = vendor_pb2_grpc.VendorServiceStub(channel)
        return stub.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    finally:
        channel.close()
        running.stop()
        process.close()


def three_revisions(described: vendor_pb2.DescribeResponse) -> None:
    described.limits.max_revisions_per_operation = 3


def rollback_detection(described: vendor_pb2.DescribeResponse) -> None:
    for one in described.capabilities:
        if one.capability == vendor_pb2.CAPABILITY_ROLLBACK_DETECTION:
            one.status = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
            one.enforcement = vendor_pb2.ENFORCEMENT_NATIVE


OTHER_DECLARATIONS = {
    "detects_no_rollback": rollback_detection,
    "one_revision_more": three_revisions,
}


@pytest.mark.parametrize("name", sorted(FLAWS))
def test_a_control_declares_what_the_reference_declares(tmp_path: Path, name: str) -> None:
    declared = describe(tmp_path, FLAWS[name].composition)
    assert declared.name == f"memqual-control-{name}"
    expected = describe(tmp_path, Composition())
    declared.name = expected.name
    if name in OTHER_DECLARATIONS:
        assert declared != expected
        OTHER_DECLARATIONS[name](expected)
    if name in OTHER_NARRATIVES:
        assert declared.model_disclosure != expected.model_disclosure
        declared.model_disclosure = expected.model_disclosure
        keep_others(declared)
        keep_others(expected)
    assert declared == expected


def keep_others(described: vendor_pb2.DescribeResponse) -> None:
    """Leaves out what is declared of narratives."""
    kept = [one for one in described.capabilities if one.capability not in NARRATIVE]
    del described.capabilities[:]
    described.capabilities.extend(kept)


def test_null_answers_every_method_with_an_empty_message(tmp_path: Path) -> None:
    process = build(MemorySettings(tmp_path / "memory.db"), FLAWS["null"].composition)
    running = server.start(
        listen="127.0.0.1:0", registrars=process.registrars, service_names=process.service_names
    )
    channel = open_channel(f"127.0.0.1:{running.port}")
    try:
        assert len(methods()) > 20
        for method in methods():
            assert call_raw(channel, method, b"\xff\xff") == b""
        stub = vendor_pb2_grpc.VendorServiceStub(channel)
        clock = stub.Now(vendor_pb2.NowRequest(), timeout=DEADLINE_SECONDS).clock
        assert clock.wall_unix_ns > 0
        with pytest.raises(grpc.RpcError) as caught:
            call_raw(channel, "/memqual.v1.ObserverService/Emit", b"")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    finally:
        channel.close()
        running.stop()
        process.close()


@pytest.mark.e2e_process
@pytest.mark.parametrize("by_environment", [False, True])
def test_a_control_is_started_by_its_name(tmp_path: Path, by_environment: bool) -> None:
    process = start(
        tmp_path,
        module="services.controls",
        arguments=() if by_environment else ("--flaw", "naive"),
        changes={"MEMQUAL_FLAW": "naive"} if by_environment else None,
    )
    try:
        attempts = []
        for incarnation in ("life-1", "life-2", "life-3"):
            request = continuity_pb2.BeginRequest(
                spec=spec(), incarnation_id=incarnation, begin_id="b"
            )
            decision = process.continuity.Begin(request, timeout=DEADLINE_SECONDS).decision
            attempts.append(decision.execute.attempt)
        assert attempts == [1, 2, 3]
    finally:
        assert process.stop() == 0


@pytest.mark.e2e_process
@pytest.mark.parametrize("flaw", ["", "unheard_of"])
def test_an_unknown_flaw_ends_it_with_two_and_the_names(tmp_path: Path, flaw: str) -> None:
    child = launch(
        tmp_path,
        module="services.controls",
        changes={"MEMQUAL_FLAW": flaw, "MEMQUAL_LISTEN": "127.0.0.1:0"},
    )
    assert child.wait(3 * STOP_SECONDS) == 2
    cause = json.loads((tmp_path / "stderr.log").read_text().splitlines()[-1])["cause"]
    assert all(name in cause for name in FLAWS)
