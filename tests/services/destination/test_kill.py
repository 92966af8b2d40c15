"""The real process, killed at random moments under load: journal, accounts and files agree."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import grpc
import pytest

from memqual.v1 import common_pb2, destination_pb2, destination_pb2_grpc
from services.common.canonical import canonical_json
from services.common.channels import open_channel
from services.common.journal import JournalHead, JournalRecord, verify_chain
from services.common.platform import KILLED_EXIT_CODE, kill_process, spawn_process
from tests.services.destination.support import state_hash

pytestmark = pytest.mark.e2e_process

ROUNDS = 4
CALLERS = 6
DEADLINE_SECONDS = 30
LOAD_SECONDS_MAX = 0.5


@dataclass(frozen=True)
class Acknowledged:
    """What a caller was told of an operation."""

    operation_id: str
    effect_id: str


class Process:
    """`python -m services.destination` on a folder, its ports taken from its log."""

    def __init__(self, folder: Path, log: IO[bytes]) -> None:
        self._child = spawn_process(
            [sys.executable, "-m", "services.destination"],
            environment={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "MEMQUAL_DATA_DIR": str(folder),
                "MEMQUAL_LISTEN": "127.0.0.1:0",
                "MEMQUAL_AUDIT_LISTEN": "127.0.0.1:0",
            },
            folder=folder,
            output=subprocess.DEVNULL,
            errors=log,
        )
        serving = self._serving(Path(log.name), log.tell())
        self.channel = open_channel(f"127.0.0.1:{serving['port']}")
        self.audit_channel = open_channel(f"127.0.0.1:{serving['audit_port']}")
        self.audit = destination_pb2_grpc.DestinationAuditServiceStub(self.audit_channel)

    def _serving(self, path: Path, offset: int) -> dict[str, Any]:
        end = time.monotonic() + 30
        while time.monotonic() < end and self._child.poll() is None:
            for line in path.read_bytes()[offset:].splitlines():
                if line.endswith(b"}") and (entry := json.loads(line))["event"] == "serving":
                    return dict(entry)
            time.sleep(0.01)
        raise AssertionError(path.read_text())

    def kill(self) -> None:
        kill_process(self._child.pid)
        assert self._child.wait(DEADLINE_SECONDS) == KILLED_EXIT_CODE
        self.channel.close()
        self.audit_channel.close()

    def journal(self) -> list[JournalRecord]:
        request = destination_pb2.ReadJournalRequest(from_sequence=1)
        return [
            JournalRecord.from_proto(answer.record)
            for answer in self.audit.ReadJournal(request, timeout=DEADLINE_SECONDS)
        ]


def request_of(workflow: str, number: int) -> destination_pb2.InvokeRequest:
    """Each operation's arguments follow from its name, so that a checker can tell them, too."""
    tool, arguments = arguments_of(f"{workflow}-{number}")
    return destination_pb2.InvokeRequest(
        workflow_id=workflow,
        operation_id=f"{workflow}-{number}",
        attempt=1,
        tool=tool,
        arguments_json=canonical_json(arguments).decode("utf-8"),
    )


def arguments_of(operation_id: str) -> tuple[str, dict[str, Any]]:
    number = int(operation_id.rpartition("-")[2])
    if number % 2:
        return "transfer_funds", {"from": "alice", "to": "bob", "amount_cents": number}
    # Few paths, so that documents are replaced as well.
    return "publish_document", {"path": f"d{number % 6}.md", "content": f"content {number}" * 50}


def load(
    channel: grpc.Channel, workflow: str, numbers: range, acknowledged: list[Acknowledged]
) -> None:
    stub = destination_pb2_grpc.DestinationServiceStub(channel)
    for number in numbers:
        try:
            answer = stub.Invoke(request_of(workflow, number), timeout=DEADLINE_SECONDS)
        except grpc.RpcError:
            return
        acknowledged.append(Acknowledged(f"{workflow}-{number}", answer.result.effect_id))


def replay(records: list[JournalRecord]) -> tuple[str, dict[str, str]]:
    """The state hash that the journal's effects give, and each operation's effect."""
    documents: dict[tuple[str, str], str] = {}
    accounts: dict[str, Counter[str]] = {}
    effects: dict[str, str] = {}
    open_calls: set[int] = set()
    for record in records:
        entry = json.loads(record.payload_json)
        if entry["event"] == "received":
            open_calls.add(entry["call_sequence"])
        if entry["event"] != "applied":
            continue
        open_calls.remove(entry["call_sequence"])
        assert entry["operation_id"] not in effects
        effects[entry["operation_id"]] = entry["effect_id"]
        workflow, (tool, arguments) = entry["workflow_id"], arguments_of(entry["operation_id"])
        if tool == "publish_document":
            documents[workflow, arguments["path"]] = arguments["content"]
        else:
            balances = accounts.setdefault(workflow, Counter())
            balances["alice"] -= arguments["amount_cents"]
            balances["bob"] += arguments["amount_cents"]
    assert open_calls == set()
    return state_hash(documents, accounts, retail=True), effects


def wait_for_length(growing: Sequence[object], wanted: int) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while len(growing) < wanted:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_kill_at_any_moment_leaves_one_consistent_state(tmp_path: Path) -> None:
    moments = random.Random(20_260_101)
    acknowledged: list[Acknowledged] = []
    head = JournalHead(0, "0" * 64)
    workflows = [f"w{number}" for number in range(CALLERS)]
    with (tmp_path / "log").open("ab") as log:
        process = Process(tmp_path, log)
        process.audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(
                settings=[
                    destination_pb2.WorkflowSettings(
                        workflow_id=workflow, capability=common_pb2.EFFECT_CAPABILITY_NONE
                    )
                    for workflow in workflows
                ]
            ),
            timeout=DEADLINE_SECONDS,
        )
        for round_number in range(ROUNDS):
            numbers = range(round_number * 1_000_000, (round_number + 1) * 1_000_000)
            callers = [
                threading.Thread(
                    target=load, args=(process.channel, workflow, numbers, acknowledged)
                )
                for workflow in workflows
            ]
            told_before = len(acknowledged)
            for caller in callers:
                caller.start()
            # However slow the machine is, the kill comes in the middle of calls.
            wait_for_length(acknowledged, told_before + CALLERS)
            time.sleep(moments.uniform(0, LOAD_SECONDS_MAX))
            process.kill()
            for caller in callers:
                caller.join(DEADLINE_SECONDS)
            process = Process(tmp_path, log)
            records = process.journal()
            # What an earlier reader saw is still there, unchanged.
            verify_chain(records[: head.sequence], expected_head=head)
            verify_chain(records)
            head = JournalHead(records[-1].sequence, records[-1].digest)
            expected_hash, effects = replay(records)
            for told in acknowledged:
                assert effects[told.operation_id] == told.effect_id
            answer = process.audit.ReadStateHash(
                destination_pb2.ReadStateHashRequest(), timeout=DEADLINE_SECONDS
            )
            assert answer.digest == expected_hash
            assert list((tmp_path / "staging").iterdir()) == []
        process.kill()


def test_a_missing_setting_ends_the_process_with_its_name_and_code_2(tmp_path: Path) -> None:
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("MEMQUAL_")
    }
    finished = subprocess.run(
        [sys.executable, "-m", "services.destination"],
        check=False,
        capture_output=True,
        env={
            **environment,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MEMQUAL_DATA_DIR": str(tmp_path),
        },
        timeout=30,
    )
    assert finished.returncode == 2
    assert "MEMQUAL_LISTEN is not set" in json.loads(finished.stderr)["cause"]
