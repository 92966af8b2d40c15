"""The adapter's services over stand-ins for atmem, behind a real server."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from memqual.v1 import (
    common_pb2,
    continuity_pb2,
    continuity_pb2_grpc,
    memory_pb2_grpc,
    vendor_pb2_grpc,
)
from services.common import server
from services.common.challenges import PublicKey, signing_bytes
from services.vendors.atmem.continuity import ContinuityServicer
from services.vendors.atmem.describe import describe
from services.vendors.atmem.memory import MemoryServicer
from services.vendors.atmem.opened import Households
from services.vendors.atmem.reviews import Desk
from services.vendors.atmem.vaults import Vaults
from services.vendors.atmem.vendor import VendorServicer
from tests.services.vendors.atmem.fakes import ClockOfTest, FakeHouseholds, FakeVaults

DEADLINE_SECONDS = 10


@dataclass(frozen=True)
class ReviewerOfTest:
    """A reviewer with a key pair."""

    key_id: str
    private_key: Ed25519PrivateKey

    def public_key(self, principal: str = "*") -> PublicKey:
        """What the adapter is given of it."""
        raw = self.private_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return PublicKey(self.key_id, principal, raw)

    def sign(self, challenge: common_pb2.Challenge, decision: str) -> bytes:
        """A signature over exactly this."""
        return self.private_key.sign(signing_bytes(challenge, decision))


@dataclass(frozen=True)
class Served:
    """Stubs of the served adapter, and what stands behind it."""

    continuity: continuity_pb2_grpc.ContinuityServiceStub
    memory: memory_pb2_grpc.MemoryServiceStub
    vendor: vendor_pb2_grpc.VendorServiceStub
    vaults: FakeVaults
    households: FakeHouseholds
    reviewer: ReviewerOfTest
    clock: ClockOfTest
    folder: Path

    def begin(
        self, asked: continuity_pb2.OperationSpec, life: str = "life-1", call: str = "b1"
    ) -> continuity_pb2.Decision:
        """One Begin."""
        request = continuity_pb2.BeginRequest(spec=asked, incarnation_id=life, begin_id=call)
        return self.continuity.Begin(request, timeout=DEADLINE_SECONDS).decision


def status_of(error: grpc.RpcError) -> grpc.StatusCode:
    """Status of a refused call."""
    failed: object = error
    assert isinstance(failed, grpc.Call)
    code: grpc.StatusCode = failed.code()
    return code


@pytest.fixture
def reviewer() -> ReviewerOfTest:
    return ReviewerOfTest("reviewer-1", Ed25519PrivateKey.generate())


@pytest.fixture
def served(tmp_path: Path, reviewer: ReviewerOfTest) -> Iterator[Served]:
    clock = ClockOfTest()
    fake_vaults, households = FakeVaults(clock), FakeHouseholds()
    vaults = Vaults(tmp_path)
    continuity = ContinuityServicer(vaults, fake_vaults.open, clock.read)
    desk = Desk({reviewer.key_id: reviewer.public_key()})
    memory = MemoryServicer(Households(vaults, households.open), desk)
    vendor = VendorServicer(vaults, fake_vaults.open, describe("2.3.10"), continuity.forget)

    def register(grpc_server: grpc.Server) -> None:
        continuity_pb2_grpc.add_ContinuityServiceServicer_to_server(continuity, grpc_server)
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(memory, grpc_server)
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(vendor, grpc_server)

    running = server.start(listen="127.0.0.1:0", registrars=[register], service_names=[])
    channel = grpc.insecure_channel(f"127.0.0.1:{running.port}")
    yield Served(
        continuity_pb2_grpc.ContinuityServiceStub(channel),
        memory_pb2_grpc.MemoryServiceStub(channel),
        vendor_pb2_grpc.VendorServiceStub(channel),
        fake_vaults,
        households,
        reviewer,
        clock,
        tmp_path,
    )
    channel.close()
    running.stop()
