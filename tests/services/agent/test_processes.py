"""Real processes, real files, SIGKILL: what a standby makes of what the dead host left (DESIGN §6).

One kill a window, with every arm and capability in it. The fakes play interposer, too: they hold
the messages of the windows that are not the host's own.
"""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2
from tests.services.agent.fakes import World, world
from tests.services.agent.hosts import HostClient, HostProcess, process_host, workflow
from tests.services.agent.recorder import Hold

pytestmark = pytest.mark.e2e_process

COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
CONFIRM = agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
CAPABILITIES = {
    "none": common_pb2.EFFECT_CAPABILITY_NONE,
    "query": common_pb2.EFFECT_CAPABILITY_QUERY,
    "idempotent": common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
}
MEMORY_ARMS = {"memory": agent_pb2.ARM_MEMORY, "both": agent_pb2.ARM_BOTH}
PLAIN_ARMS = {"baseline": agent_pb2.ARM_BASELINE, "observer": agent_pb2.ARM_OBSERVER}
BARRIERS = {
    "before_intent_checkpoint": agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT,
    "before_checkpoint": agent_pb2.BARRIER_BEFORE_CHECKPOINT,
    "after_checkpoint": agent_pb2.BARRIER_AFTER_CHECKPOINT,
}
# Window: service, method, held before its work.
MESSAGES = {
    "before_intent": ("memory", "Begin", True),
    "after_lease": ("memory", "Begin", False),
    "in_request": ("destination", "Invoke", True),
    "after_commit": ("destination", "Invoke", False),
    "after_response": ("memory", "RecordReceipt", True),
    "after_receipt": ("memory", "RecordReceipt", False),
}
# Window: state after takeover; then by capability, once the lease has ended: state, attempt and
# effects.
NEVER_GRANTED = dict.fromkeys(CAPABILITIES, (COMPLETED, 1, 1))
NOT_APPLIED = {"none": (CONFIRM, 0, 0), "query": (COMPLETED, 2, 1), "idempotent": (COMPLETED, 2, 1)}
APPLIED = {"none": (CONFIRM, 0, 1), "query": (COMPLETED, 1, 1), "idempotent": (COMPLETED, 2, 1)}
DONE = dict.fromkeys(CAPABILITIES, (COMPLETED, 1, 1))
EXPECTED = {
    "before_intent_checkpoint": (COMPLETED, NEVER_GRANTED),
    "before_intent": (COMPLETED, NEVER_GRANTED),
    "after_lease": (PARKED, NOT_APPLIED),
    "in_request": (PARKED, NOT_APPLIED),
    "after_commit": (PARKED, APPLIED),
    "after_response": (PARKED, APPLIED),
    "after_receipt": (COMPLETED, DONE),
    "before_checkpoint": (COMPLETED, DONE),
    "after_checkpoint": (COMPLETED, DONE),
}
# Without a memory a host that lost its result acts again.
PLAIN_EFFECTS = {
    "before_intent_checkpoint": 1,
    "in_request": 1,
    "after_commit": 2,
    "before_checkpoint": 2,
    "after_checkpoint": 1,
}
FIRST_DECISION_IS_REUSE = {"after_receipt", "before_checkpoint"}


@dataclass
class Hosts:
    """An active host and what it takes to replace it."""

    around: World
    data_dir: Path
    logs: Path
    stack: ExitStack
    active: HostProcess
    number: int = 1

    def standby(self) -> HostProcess:
        """Starts another host on the same volume."""
        self.number += 1
        return self.stack.enter_context(
            process_host(self.around, self.data_dir, self.logs / f"host-{self.number}.log")
        )


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    data_dir, logs = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("logs")
    with world() as around, ExitStack() as stack:
        active = stack.enter_context(process_host(around, data_dir, logs / "host-1.log"))
        yield Hosts(around, data_dir, logs, stack, active)


def begins(around: World, workflow_id: str) -> list[continuity_pb2.BeginRequest]:
    return [
        call.request
        for call in around.memory.of("Begin")
        if isinstance(call.request, continuity_pb2.BeginRequest)
        and call.request.spec.workflow_id == workflow_id
    ]


def stop_at(hosts: Hosts, window: str, started: list[agent_pb2.Workflow]) -> Hold | None:
    """Starts workflows and returns when all of them are at the window."""
    active = hosts.active.client
    ids = [one.workflow_id for one in started]
    if window in BARRIERS:
        active.arm(BARRIERS[window], *ids)
        for one in started:
            active.start(one)
        assert set(active.await_barrier(BARRIERS[window], len(ids))) == set(ids)
        return None
    service, method, before = MESSAGES[window]
    recorder = hosts.around.memory if service == "memory" else hosts.around.destination
    hold = recorder.hold(method, before=before)
    for one in started:
        active.start(one)
    hold.await_standing(len(ids))
    return hold


@pytest.mark.parametrize("window", EXPECTED)
def test_a_standby_takes_over_at_every_window(hosts: Hosts, window: str) -> None:
    around = hosts.around
    cases = {
        f"{window}-{arm}-{capability}": (arm, capability)
        for arm in [*MEMORY_ARMS, *(PLAIN_ARMS if window in PLAIN_EFFECTS else ())]
        for capability in CAPABILITIES
    }
    for workflow_id, (_, capability) in cases.items():
        around.destination.capabilities[workflow_id] = CAPABILITIES[capability]
    standby = hosts.standby()
    hold = stop_at(
        hosts,
        window,
        [workflow(one, {**MEMORY_ARMS, **PLAIN_ARMS}[arm]) for one, (arm, _) in cases.items()],
    )
    lines_before = {one: len(begins(around, one)) for one in cases}
    durable_before = standby.client.checkpoint(next(iter(cases)))
    hosts.active.kill()
    if hold is not None:
        hold.release(drop=True)
    assert standby.client.checkpoint(next(iter(cases))) == durable_before
    hosts.active = standby

    standby.client.resume(*cases)
    check_takeover(around, standby.client, window, cases, lines_before)
    around.memory.expire_leases()
    standby.client.resume(*cases)
    check_end(around, standby.client, window, cases)


def check_takeover(
    around: World,
    client: HostClient,
    window: str,
    cases: dict[str, tuple[str, str]],
    lines_before: dict[str, int],
) -> None:
    """Right after the takeover, while leases live."""
    state, _ = EXPECTED[window]
    for found in client.settled(*cases):
        arm, _ = cases[found.workflow_id]
        if arm in PLAIN_ARMS:
            assert found.state == COMPLETED, found
            continue
        assert found.state == state, found
        asked = begins(around, found.workflow_id)
        new = asked[lines_before[found.workflow_id] :]
        assert len(new) == (0 if window == "after_checkpoint" else 1), found
        # Another life, which shares no id with the dead one.
        old = asked[: lines_before[found.workflow_id]]
        assert {one.incarnation_id for one in old}.isdisjoint(one.incarnation_id for one in new)
        assert {one.begin_id for one in old}.isdisjoint(one.begin_id for one in new)
        # And the same operation, wherever the message was durable.
        assert len({one.spec.operation_id for one in asked}) <= 1
        assert (found.operations[0].last_decision == continuity_pb2.DECISION_KIND_REUSE) == (
            window in FIRST_DECISION_IS_REUSE
        )


def check_end(
    around: World, client: HostClient, window: str, cases: dict[str, tuple[str, str]]
) -> None:
    """After the leases have ended and a wake-up."""
    _, by_capability = EXPECTED[window]
    for found in client.settled(*cases):
        arm, capability = cases[found.workflow_id]
        effects = around.destination.effects_of(found.workflow_id)
        if arm in PLAIN_ARMS:
            assert (found.state, len(effects)) == (COMPLETED, PLAIN_EFFECTS[window]), found
            continue
        state, attempt, effect_count = by_capability[capability]
        assert (found.state, found.operations[0].attempt, len(effects)) == (
            state,
            attempt,
            effect_count,
        ), found


def test_a_new_seed_makes_a_new_message_only_where_the_old_was_not_durable(hosts: Hosts) -> None:
    standby = hosts.standby()
    active = hosts.active.client
    active.arm(agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT, "seed-lost")
    active.arm(agent_pb2.BARRIER_BEFORE_CHECKPOINT, "seed-kept")
    for workflow_id in ("seed-lost", "seed-kept", "seed-whole"):
        active.start(workflow(workflow_id), seed="first")
    active.await_barrier(agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT, 1)
    active.await_barrier(agent_pb2.BARRIER_BEFORE_CHECKPOINT, 1)
    kept = active.status("seed-kept").operations[0].operation_id
    whole = active.settled("seed-whole")[0].operations[0]
    hosts.active.kill()
    hosts.active = standby
    standby.client.resume("seed-lost", "seed-kept", "seed-whole", seed="second")
    found = {
        one.workflow_id: one.operations[0].operation_id
        for one in standby.client.settled("seed-lost", "seed-kept", "seed-whole")
    }
    assert found["seed-kept"] == kept
    assert found["seed-whole"] == whole.operation_id
    twin = workflow("seed-lost")
    standby.client.start(workflow("seed-twin"), seed="first")
    standby.client.settled("seed-twin")
    assert found["seed-lost"] not in {kept, whole.operation_id}
    assert [one.spec.operation_id for one in begins(hosts.around, twin.workflow_id)] == [
        found["seed-lost"]
    ]


def test_a_workflow_with_many_calls_goes_on_where_it_stood(hosts: Hosts) -> None:
    standby = hosts.standby()
    ids = [f"walk-{number}" for number in range(3)]
    turns = [["publish", "lookup"], ["refuse"], ["publish"]]
    hosts.active.client.start(workflow("walk-0", agent_pb2.ARM_MEMORY, *turns))
    hosts.active.client.settled("walk-0")
    for stops, workflow_id in enumerate(ids[1:], start=1):
        barrier = agent_pb2.BARRIER_AFTER_CHECKPOINT
        hosts.active.client.arm(barrier, workflow_id)
        hosts.active.client.start(workflow(workflow_id, agent_pb2.ARM_MEMORY, *turns))
        hosts.active.client.await_barrier(barrier, stops)
    hosts.active.kill()
    hosts.active = standby
    standby.client.resume(*ids)
    for found in standby.client.settled(*ids):
        assert found.state == COMPLETED
        assert [line.tool for line in found.operations] == [
            "publish",
            "lookup",
            "refuse",
            "publish",
        ]
        assert all(line.result_digest for line in found.operations)
        assert len(hosts.around.destination.effects_of(found.workflow_id)) == 3


def test_kills_at_any_moment_lose_and_repeat_nothing(hosts: Hosts) -> None:
    randomness = random.Random(20_260_704)
    around = hosts.around
    ids = [f"storm-{number}" for number in range(6)]
    for workflow_id in ids:
        around.destination.capabilities[workflow_id] = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
    for round_number in range(3):
        standby = hosts.standby()
        if round_number == 0:
            for workflow_id in ids:
                hosts.active.client.start(
                    workflow(workflow_id, agent_pb2.ARM_BOTH, ["publish"] * 3, ["publish"])
                )
        else:
            hosts.active.client.resume(*ids)
        time.sleep(randomness.uniform(0.0, 0.15))
        hosts.active.kill()
        around.memory.expire_leases()
        hosts.active = standby
    for _ in range(5):
        hosts.active.client.resume(*ids)
        if all(one.state == COMPLETED for one in hosts.active.client.settled(*ids)):
            break
        around.memory.expire_leases()
    for found in hosts.active.client.settled(*ids):
        assert (found.state, found.error) == (COMPLETED, "")
        effects = around.destination.effects_of(found.workflow_id)
        assert [one.operation_id for one in effects] == [
            line.operation_id for line in found.operations
        ]
        assert len(effects) == 4
