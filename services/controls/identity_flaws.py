"""Memories that let go of what the first Begin bound, each the reference but for one rule."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from memqual.v1 import continuity_pb2
from services.common.canonical import operation_id
from services.common.limits import ID_BYTES
from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Confirm, Refused, Reject
from services.memory.decisions import DecisionRules
from services.memory.formats import Formats
from services.memory.messages import binding_from
from services.memory.model import AttemptRecord, LeaseClock, Operation, OperationBinding, Reason
from services.memory.process import Composition

__all__ = ["FLAWS"]

_PREFIX = "continuity.identity"
# A question that must be REJECTed and is answered as the bound one: what that is told depends on
# where the operation stands.
_DECISIONS = ("unsafe_decision", "needless_decision")


@dataclass(frozen=True)
class _Overlooks(DecisionRules):
    """Takes any value of one bound field."""

    overlooked: Reason = Reason.ARGUMENTS_MISMATCH

    def difference(self, operation: Operation, clock: LeaseClock, call: BeginCall) -> Reason | None:
        """What differs, unless it is what this memory never looks at."""
        found = super().difference(operation, clock, call)
        return None if found is self.overlooked else found


def _overlooks(what: str, reason: Reason, check: str, *more: str) -> Flaw:
    composition = Composition(
        named(f"overlooks_{what}"),
        decisions=lambda policy: _Overlooks(policy, overlooked=reason),
    )
    return Flaw(
        composition,
        f"answers the same identity with another {what} as if nothing had changed",
        f"{_PREFIX}.{check}",
        "R",
        consequences=(*_DECISIONS, *more),
    )


class BindsWhileLive(DecisionRules):
    """Forgets the binding with the lease."""

    def difference(self, operation: Operation, clock: LeaseClock, call: BeginCall) -> Reason | None:
        """What differs, while the lease is live."""
        latest = operation.latest
        if operation.receipt is None and latest is not None:
            return (
                super().difference(operation, clock, call)
                if self.lease_is_live(latest, clock)
                else None
            )
        return super().difference(operation, clock, call)


@dataclass(frozen=True)
class BindsInProcess(DecisionRules):
    """Keeps bindings in RAM only."""

    bound_here: set[str] = field(default_factory=set)

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """As the reference, and knows the operation from then on."""
        step = super().begin(operation, clock, call)
        if operation is None:
            self.bound_here.add(call.binding.operation_id)
        return step

    def difference(self, operation: Operation, clock: LeaseClock, call: BeginCall) -> Reason | None:
        """What differs from what this process has bound."""
        known = operation.binding.operation_id in self.bound_here
        return super().difference(operation, clock, call) if known else None


def _any_operation_id(spec: continuity_pb2.OperationSpec) -> OperationBinding:
    """The binding, whatever identity the operation id is the digest of."""
    fitting = continuity_pb2.OperationSpec()
    fitting.CopyFrom(spec)
    fitting.operation_id = operation_id(spec.identity)
    return dataclasses.replace(binding_from(fitting), operation_id=spec.operation_id)


def _cut(text: str) -> str:
    return text.encode()[:ID_BYTES].decode(errors="ignore")


def _ids_of_any_length(spec: continuity_pb2.OperationSpec) -> OperationBinding:
    """The binding with ids cut to what they may be."""
    if operation_id(spec.identity) != spec.operation_id:
        return binding_from(spec)
    fitting = continuity_pb2.OperationSpec()
    fitting.CopyFrom(spec)
    for name in ("principal", "tool", "destination"):
        setattr(fitting, name, _cut(getattr(fitting, name)))
    fitting.identity.tool_call_id = _cut(fitting.identity.tool_call_id)
    return _any_operation_id(fitting)


class ReplaysToAnybody(DecisionRules):
    """Gives the same EXECUTE to every life that repeats the begin id."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Row L by the begin id alone."""
        if call.begin_id == latest.begin_id:
            call = dataclasses.replace(call, incarnation_id=latest.incarnation_id)
        return super().decide_live(operation, latest, clock, call)


class ReplaysEnded(DecisionRules):
    """Replays EXECUTE although the lease is over."""

    def decide_expired(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The same EXECUTE for the granted call."""
        if (latest.incarnation_id, latest.begin_id) == (call.incarnation_id, call.begin_id):
            return self.decide_live(operation, latest, clock, call)
        return super().decide_expired(operation, latest, clock, call)


@dataclass(frozen=True)
class ReplaysWait(DecisionRules):
    """Tells a call that was told WAIT the same for ever."""

    told: dict[tuple[str, str | None], BeginStep] = field(default_factory=dict)

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """As the reference, and remembers whom it was told."""
        step = super().decide_live(operation, latest, clock, call)
        if isinstance(step, BeginStep) and call.begin_id is not None:
            self.told[call.incarnation_id, call.begin_id] = step
        return step

    def decide_expired(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """What the call was told before, if it was."""
        told = self.told.get((call.incarnation_id, call.begin_id))
        if told is not None and (latest.incarnation_id, latest.begin_id) != (
            call.incarnation_id,
            call.begin_id,
        ):
            return BeginStep(told.decision, operation)
        return super().decide_expired(operation, latest, clock, call)


class PeeksCautiously(DecisionRules):
    """Peek says CONFIRM of what is bound, whatever Begin would say."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """As the reference, for a question that can grant."""
        step = super().begin(operation, clock, call)
        peeked = call.begin_id is None and operation is not None
        if peeked and isinstance(step, BeginStep) and not isinstance(step.decision, Reject):
            return BeginStep(Confirm(Reason.EXPIRED_CANNOT_TELL), step.operation)
        return step


def _rules(name: str, rules: type[DecisionRules], wrong: str, check: str, *more: str) -> Flaw:
    composition = Composition(named(name), decisions=rules)
    return Flaw(composition, wrong, check, "R", consequences=more)


FLAWS: Mapping[str, Flaw] = {
    "overlooks_arguments": _overlooks(
        "arguments",
        Reason.ARGUMENTS_MISMATCH,
        "other_arguments",
        f"{_PREFIX}.after_expiry",
        f"{_PREFIX}.after_restart",
    ),
    "overlooks_tool": _overlooks(
        "tool",
        Reason.TOOL_MISMATCH,
        "other_tool",
        f"{_PREFIX}.after_expiry",
        f"{_PREFIX}.after_restart",
    ),
    "overlooks_destination": _overlooks(
        "destination",
        Reason.DESTINATION_MISMATCH,
        "other_destination",
        f"{_PREFIX}.after_expiry",
        f"{_PREFIX}.after_restart",
    ),
    "overlooks_capability": _overlooks(
        "capability",
        Reason.CAPABILITY_MISMATCH,
        "other_capability",
        f"{_PREFIX}.after_expiry",
        f"{_PREFIX}.after_restart",
    ),
    "overlooks_key": _overlooks("key", Reason.KEY_MISMATCH, "other_key"),
    "overlooks_retention": _overlooks("retention", Reason.RETENTION_MISMATCH, "other_retention"),
    "overlooks_principal": _overlooks("principal", Reason.PRINCIPAL_MISMATCH, "other_principal"),
    "overlooks_workflow": _overlooks("workflow", Reason.WORKFLOW_MISMATCH, "other_workflow"),
    "overlooks_intent": _overlooks("intent", Reason.INTENT_MISMATCH, "other_intent"),
    "overlooks_namespace": _overlooks("namespace", Reason.NAMESPACE_MISMATCH, "other_namespace"),
    "binds_while_live": _rules(
        "binds_while_live",
        BindsWhileLive,
        "forgets what is bound with the lease",
        f"{_PREFIX}.after_expiry",
        *_DECISIONS,
    ),
    "binds_in_process": Flaw(
        Composition(
            named("binds_in_process"),
            decisions=lambda policy: BindsInProcess(policy, bound_here=set()),
        ),
        "keeps what is bound in RAM only",
        f"{_PREFIX}.after_restart",
        "R",
        consequences=_DECISIONS,
    ),
    "takes_any_operation_id": Flaw(
        Composition(named("takes_any_operation_id"), formats=Formats(binding=_any_operation_id)),
        "takes an operation id that is no digest of its identity",
        f"{_PREFIX}.wrong_digest",
        consequences=_DECISIONS,
    ),
    "cuts_long_ids": Flaw(
        Composition(named("cuts_long_ids"), formats=Formats(binding=_ids_of_any_length)),
        "cuts ids that are too long and goes on",
        f"{_PREFIX}.oversize",
        consequences=_DECISIONS,
    ),
    "replays_to_anybody": _rules(
        "replays_to_anybody",
        ReplaysToAnybody,
        "replays EXECUTE to another life that repeats the begin id",
        f"{_PREFIX}.other_life",
        *_DECISIONS,
    ),
    "replays_ended": _rules(
        "replays_ended",
        ReplaysEnded,
        "replays EXECUTE after the lease's end",
        f"{_PREFIX}.repeat_after_expiry",
        *_DECISIONS,
        "malformed_answer",
    ),
    "replays_wait": Flaw(
        Composition(named("replays_wait"), decisions=lambda policy: ReplaysWait(policy, told={})),
        "replays WAIT to the call that was told it",
        f"{_PREFIX}.repeat_of_wait",
        "X",
        consequences=_DECISIONS,
    ),
    "peeks_cautiously": _rules(
        "peeks_cautiously",
        PeeksCautiously,
        "Peek tells CONFIRM where Begin tells something else",
        f"{_PREFIX}.peek",
        *_DECISIONS,
    ),
}
