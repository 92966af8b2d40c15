"""Intents of two pasts: what the reference tells a host that was set back, and one that was not."""

from pathlib import Path

import grpc
import pytest

from memqual.v1 import continuity_pb2
from services.common.errors import ServiceError
from services.memory.messages import SETTLED_MAX
from services.memory.model import Capability
from tests.services.memory.oracle_rig import OracleRig
from tests.services.memory.samples import receipt_message, spec

LIFE = "life-1"


class Host:
    """A host that asks the reference about operations of one intent."""

    def __init__(self, folder: Path) -> None:
        self._service = OracleRig(folder)._service
        self._asked = 0

    def spec(self, call: str) -> continuity_pb2.OperationSpec:
        """One operation; all have one workflow and one intent."""
        return spec(Capability.NONE, call=call)

    def begin(self, call: str, settled: list[str] | None = None) -> continuity_pb2.Decision:
        """The decision about one operation."""
        self._asked += 1
        request = continuity_pb2.BeginRequest(
            spec=self.spec(call), incarnation_id=LIFE, begin_id=f"b{self._asked}"
        )
        if settled is not None:
            request.settled.CopyFrom(continuity_pb2.SettledOperations(operation_ids=settled))
        return self._service.Begin(request, None).decision  # type: ignore[arg-type] # handlers of this service leave the context alone

    def complete(self, call: str, granted: continuity_pb2.Decision) -> None:
        """A receipt of a granted attempt."""
        asked = self.spec(call)
        request = continuity_pb2.RecordReceiptRequest(
            namespace=asked.namespace,
            operation_id=asked.operation_id,
            incarnation_id=LIFE,
            attempt=granted.execute.attempt,
            lease_token=granted.execute.lease_token,
            receipt=receipt_message(asked, granted.execute.attempt),
        )
        self._service.RecordReceipt(request, None)  # type: ignore[arg-type] # as above


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_forked_intent_is_asked_about_and_then_handed_over(host: Host) -> None:
    first = host.begin("first", [])
    assert host.begin("forked", []).WhichOneof("kind") == "confirm"
    host.complete("first", first)
    told = host.begin("forked", [])
    assert told.reason_code == "intent_complete"
    assert told.reuse.receipt.operation_id == host.spec("first").operation_id


def test_a_second_obligation_is_granted(host: Host) -> None:
    host.complete("first", host.begin("first", []))
    past = [host.spec("first").operation_id]
    assert host.begin("second", past).WhichOneof("kind") == "execute"


def test_a_host_that_says_nothing_is_not_held_back(host: Host) -> None:
    host.begin("first")
    assert host.begin("second").WhichOneof("kind") == "execute"


def test_a_list_that_may_lack_older_operations_proves_nothing(host: Host) -> None:
    host.begin("first", [])
    full = [f"{number:064x}" for number in range(SETTLED_MAX)]
    assert host.begin("second", full).WhichOneof("kind") == "execute"


@pytest.mark.parametrize("settled", [["no digest"], [f"{number:064x}" for number in range(201)]])
def test_a_malformed_past_is_refused(host: Host, settled: list[str]) -> None:
    with pytest.raises(ServiceError) as refused:
        host.begin("first", settled)
    assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
