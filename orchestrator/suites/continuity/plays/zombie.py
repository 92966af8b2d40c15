"""Plays of `families.zombie`: an attempt that everybody has given up wakes up late (DESIGN §5).

The zombie is a host that was stopped, a host that lives and whose message hangs in the network, a
copy of a dispatch, or a life of a host that the evaluator plays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import grpc

from chaos.client import Fate
from chaos.windows import INVOKE, window
from memqual.v1 import common_pb2, continuity_pb2, destination_pb2, interposer_pb2
from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.probe import probe_completed
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS, settings_of
from orchestrator.suites.continuity.zombies import bury, fall_asleep, let_finish, mark_zombie

__all__ = ["PLAYS"]

_RELEASE_SECONDS = 10.0

_WAKES_MEANWHILE = 2
"""Wake-ups of the standby while a zombie sleeps: a host's call that hangs has ten seconds (DESIGN
§4), and a memory may declare a hundred questions. The rest of them is asked afterwards."""

_QUERYING = (CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED)


def _configure(stage: Stage, *, deadlines: bool = False, one_apply: bool = False) -> None:
    """Let the destination refuse what comes late, or a second time."""
    settings = [settings_of(member) for member in stage.batch.members]
    for one in settings:
        one.enforce_not_after = deadlines
        one.one_apply_per_attempt = one_apply
    stage.context.session.destination_audit.ConfigureWorkflow(
        destination_pb2.ConfigureWorkflowRequest(settings=settings)
    )


@dataclass(frozen=True)
class _Host:
    """A host with a granted attempt falls behind, the standby takes over, the host wakes up.

    Attributes:
        at: Window at which its attempt hangs.
        stopped: The host itself is stopped; otherwise only its message hangs.
        deadlines: The destination enforces them.
        passed_seconds: By how much the destination's clock goes on meanwhile; None: one lease.
    """

    at: str
    stopped: bool
    deadlines: bool = False
    passed_seconds: int | None = 0

    def __call__(self, stage: Stage) -> None:
        if self.deadlines:
            _configure(stage, deadlines=True)
        zombie = stage.context.session.active
        stage.do("standby", stage.await_standby)
        stage.rig.window = window(self.at)
        hold = stage.do("hold", stage.rig.arm)
        stage.do("start", stage.rig.start)
        stage.do("held", lambda: stage.rig.await_window(hold))
        stage.step = "fall_behind"
        # Whatever goes wrong from here on, two hosts may be at work.
        stage.context.progress.spoiled = "a zombie was not seen to its end"
        asleep = fall_asleep(stage, zombie) if self.stopped else None
        self._go_on_without(stage)
        stage.step = "wake_up"
        mark_zombie(stage, "awake")
        if asleep is not None:
            stage.keep(asleep.lift())
        hold.release(Fate.DELIVER, _RELEASE_SECONDS)
        let_finish(stage, zombie)
        mark_zombie(stage, "done")
        stage.step = "after"
        stage.wake_until_settled("after", stage.wakes_for_declared_bound())
        probe_completed(stage.rig, stage.trace_first)
        bury(stage, zombie)
        stage.context.progress.spoiled = ""

    def _go_on_without(self, stage: Stage) -> None:
        """The standby asks while the lease lives, and again when it is over, to its end."""
        stage.step = "take_over"
        stage.context.session.swap_hosts()
        stage.rig.wake(new_life=True)
        stage.settle("live")
        stage.do("expire", stage.reach_lease_end)
        stage.wake_until_settled("expired", _WAKES_MEANWHILE)
        passed = self.passed_seconds
        if passed is None:
            passed = stage.context.describe.limits.lease_seconds + 1
        if passed:
            stage.move_clock("destination", passed * NS)


def _late_copy(one_apply: bool, stage: Stage) -> None:
    """The network delivers a dispatch once more when everything is over."""
    _configure(stage, one_apply=one_apply)
    stage.do("start", stage.rig.start)
    stage.settle("complete")
    stage.step = "copy"
    mark_zombie(stage, "awake")
    for request in _dispatched(stage):
        destination = stage.context.session.destination_for(
            request.workflow_id, request.operation_id, request.attempt
        )
        try:
            destination.Invoke(request)
        except grpc.RpcError as error:
            # A destination that refuses a second copy says so.
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
    mark_zombie(stage, "done")
    probe_completed(stage.rig, stage.trace_first)


def _dispatched(stage: Stage) -> list[destination_pb2.InvokeRequest]:
    """The latest dispatch of each workflow, as its host sent it."""
    found: dict[str, destination_pb2.InvokeRequest] = {}
    for record in stage.rig.trace_from(stage.trace_first):
        if (
            record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
            and record.method == INVOKE
            and record.metadata["memqual-workflow"] in stage.rig.workflow_ids
        ):
            request = destination_pb2.InvokeRequest.FromString(record.payload)
            found[request.workflow_id] = request
    return list(found.values())


@dataclass
class _Succession:
    """One operation whose first life falls behind and whose next life takes over.

    Attributes:
        spec: The operation.
        querying: The destination can be asked.
        presence: What it is said to answer.
        zombie: The first life.
        heir: The next one.
        begin_id: What the first life asked with.
        first: What the first life was granted.
        second: What the next one was granted; None where nothing was.
    """

    spec: continuity_pb2.OperationSpec
    querying: bool
    presence: common_pb2.EffectPresence.ValueType
    zombie: Incarnation
    heir: Incarnation
    begin_id: str
    first: continuity_pb2.Execute | None = None
    second: continuity_pb2.Execute | None = None

    def begin(self) -> None:
        """The first life asks, and is granted."""
        self.first = _granted(self.zombie.begin(self.spec, self.begin_id).answer)

    def take_over(self) -> None:
        """The next life asks until it is granted an attempt, or cannot be."""
        decision = self.heir.begin(self.spec).answer
        if self.querying and decision is not None and decision.WhichOneof("kind") == "query":
            told = decision.query
            self.heir.record_query(self.spec, told.attempt, told.query_ticket, self.presence)
            decision = self.heir.begin(self.spec).answer
        self.second = _granted(decision)

    def ask(self) -> None:
        """Another life asks."""
        Incarnation(self.heir.session, f"{self.heir.name}-next").begin(self.spec)

    def report(self, host: Incarnation, lease: continuity_pb2.Execute | None) -> None:
        """A life reports the receipt of its attempt."""
        if lease is not None:
            receipt = receipt_for(self.spec, lease.attempt)
            host.record(self.spec, lease.attempt, lease.lease_token, receipt)

    def renew(self, attempt: int = 0) -> None:
        """The zombie asks for more time, for its own attempt or another's."""
        if self.first is not None:
            self.zombie.renew(self.spec, attempt or self.first.attempt, self.first.lease_token)


def _granted(decision: continuity_pb2.Decision | None) -> continuity_pb2.Execute | None:
    if decision is None or decision.WhichOneof("kind") != "execute":
        return None
    return decision.execute


def _successions(stage: Stage) -> list[_Succession]:
    """One for each trial, with the first life's lease granted and over."""
    session = stage.context.session
    found = []
    for member in stage.batch.members:
        capability = member.cell.capability
        fenced = capability is CapabilityVariant.QUERY_FENCED
        found.append(
            _Succession(
                spec=spec_of(member),
                querying=capability in _QUERYING,
                presence=common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
                if fenced
                else common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
                zombie=Incarnation(session, f"zombie-{member.workflow_id}"),
                heir=Incarnation(session, f"heir-{member.workflow_id}"),
                begin_id=f"begin-{member.workflow_id}",
            )
        )
        found[-1].begin()
    stage.do("expire", stage.reach_lease_end)
    stage.step = "play"
    return found


def _late_receipt(stage: Stage) -> None:
    for one in _successions(stage):
        one.take_over()
        one.report(one.zombie, one.first)
        one.ask()
        one.report(one.heir, one.second)
        one.report(one.zombie, one.first)
        one.ask()


def _late_renewal(stage: Stage) -> None:
    successions = _successions(stage)
    for one in successions:
        one.renew()
        one.take_over()
        one.renew()
        if one.second is not None:
            one.renew(one.second.attempt)
        one.ask()
    # A lease that was extended for the zombie would be live still.
    stage.do("expire_again", stage.reach_lease_end)
    for one in successions:
        one.ask()


def _late_answer(stage: Stage) -> None:
    """The zombie asked the destination, too; its answer comes when the next life is at work."""
    for one in _successions(stage):
        asked = one.zombie.begin(one.spec).answer
        one.take_over()
        if asked is not None and asked.WhichOneof("kind") == "query":
            told = asked.query
            one.zombie.record_query(one.spec, told.attempt, told.query_ticket, one.presence)
        one.ask()


def _late_question(stage: Stage) -> None:
    """The zombie's transport asks once more with the begin id that its grant was asked for with."""
    for one in _successions(stage):
        one.zombie.begin(one.spec, one.begin_id)
        one.take_over()
        one.zombie.begin(one.spec, one.begin_id)
        one.report(one.heir, one.second)
        one.zombie.begin(one.spec, one.begin_id)


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "zombie.stopped_after_lease": _Host("after_lease", stopped=True),
    "zombie.stopped_in_request": _Host("in_request", stopped=True),
    "zombie.stopped_after_commit": _Host("after_commit", stopped=True),
    "zombie.hanging_grant": _Host("after_lease", stopped=False),
    "zombie.hanging_dispatch": _Host("in_request", stopped=False),
    "zombie.hanging_answer": _Host("after_commit", stopped=False),
    "zombie.hanging_receipt": _Host("after_response", stopped=False),
    "zombie.past_deadline": _Host("in_request", stopped=True, deadlines=True, passed_seconds=None),
    "zombie.past_key": _Host("in_request", stopped=True, passed_seconds=LONG_RETENTION_SECONDS + 1),
    "zombie.past_key_and_deadline": _Host(
        "in_request", stopped=True, deadlines=True, passed_seconds=LONG_RETENTION_SECONDS + 1
    ),
    "zombie.late_copy": partial(_late_copy, False),
    "zombie.late_copy_refused": partial(_late_copy, True),
    "zombie.late_receipt": _late_receipt,
    "zombie.late_renewal": _late_renewal,
    "zombie.late_answer": _late_answer,
    "zombie.late_question": _late_question,
}
