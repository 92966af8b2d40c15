"""The memory as a process: what it acknowledged survives SIGKILL; bad settings end it with 2."""

import json
from pathlib import Path

import pytest

from memqual.v1 import continuity_pb2, vendor_pb2
from services.memory.model import Capability
from services.memory.process import DATABASE_FILE
from tests.services.memory.processes import STOP_SECONDS, Process, launch, start
from tests.services.memory.samples import receipt_message, spec

pytestmark = pytest.mark.e2e_process

DEADLINE_SECONDS = 10


def begin(
    process: Process, asked: continuity_pb2.OperationSpec, incarnation: str = "life-1"
) -> continuity_pb2.Decision:
    request = continuity_pb2.BeginRequest(spec=asked, incarnation_id=incarnation, begin_id="b")
    return process.continuity.Begin(request, timeout=DEADLINE_SECONDS).decision


def record(
    process: Process, asked: continuity_pb2.OperationSpec, granted: continuity_pb2.Execute
) -> continuity_pb2.ReceiptDisposition.ValueType:
    request = continuity_pb2.RecordReceiptRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=granted.attempt,
        lease_token=granted.lease_token,
        receipt=receipt_message(asked, granted.attempt),
    )
    return process.continuity.RecordReceipt(request, timeout=DEADLINE_SECONDS).disposition


def state_hash(process: Process) -> str:
    request = vendor_pb2.StateHashRequest(namespace="space")
    return process.vendor.StateHash(request, timeout=DEADLINE_SECONDS).digest


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    specs = [spec(capability, call=f"call-{capability.value}") for capability in Capability]
    for asked in specs:
        process = start(tmp_path)
        granted = begin(process, asked).execute
        process.kill()

        process = start(tmp_path)
        again = begin(process, asked).execute
        assert (again.attempt, again.lease_token) == (1, granted.lease_token)
        assert begin(process, asked, "life-2").HasField("wait")
        before = state_hash(process)
        disposition = record(process, asked, granted)
        assert disposition == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
        after = state_hash(process)
        process.kill()

        process = start(tmp_path)
        assert before != after == state_hash(process)
        assert begin(process, asked, "life-2").reuse.receipt == receipt_message(asked, 1)
        process.kill()


def test_a_lease_is_as_long_as_the_environment_says(tmp_path: Path) -> None:
    process = start(tmp_path, changes={"MEMQUAL_LEASE_SECONDS": "7"})
    try:
        description = process.vendor.Describe(
            vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS
        )
        assert description.limits.lease_seconds == 7
        assert 0 < begin(process, spec()).execute.remaining_lease_ms <= 7_000
    finally:
        assert process.stop() == 0


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"MEMQUAL_LEASE_SECONDS": "0"}, "MEMQUAL_LEASE_SECONDS"),
        ({"MEMQUAL_LEASE_SECONDS": "soon"}, "MEMQUAL_LEASE_SECONDS"),
        ({"MEMQUAL_LISTEN": "nowhere"}, "nowhere"),
        ({"MEMQUAL_DATA_DIR": "missing-folder"}, "MEMQUAL_DATA_DIR"),
        ({"MEMQUAL_REVIEWER_KEYS": __file__}, "MEMQUAL_REVIEWER_KEYS"),
    ],
)
def test_bad_settings_end_it_with_two_and_name_the_cause(
    tmp_path: Path, changes: dict[str, str], cause: str
) -> None:
    child = launch(tmp_path, changes={"MEMQUAL_LISTEN": "127.0.0.1:0", **changes})
    assert child.wait(3 * STOP_SECONDS) == 2
    assert cause in last_line(tmp_path)["cause"]


def test_a_torn_database_ends_it_with_a_diagnosis(tmp_path: Path) -> None:
    (tmp_path / DATABASE_FILE).write_bytes(b"this is no database, and long enough to be read" * 99)
    child = launch(tmp_path, changes={"MEMQUAL_LISTEN": "127.0.0.1:0"})
    assert child.wait(3 * STOP_SECONDS) == 2
    assert "fresh volume" in last_line(tmp_path)["cause"]


def last_line(folder: Path) -> dict[str, str]:
    line: dict[str, str] = json.loads((folder / "stderr.log").read_text().splitlines()[-1])
    return line
