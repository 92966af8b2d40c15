"""Plays of `families.identity`: the evaluator asks in a host's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.asking import (
    Held,
    asking,
    finish,
    granted,
    in_turn,
    label,
)
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import operation_id, sha256_hex

__all__ = ["PLAYS"]

_Change = Callable[[continuity_pb2.OperationSpec], None]

_OTHER_DIGEST = sha256_hex(b"other")
_ID_BYTES = 128


def _arguments(spec: continuity_pb2.OperationSpec) -> None:
    spec.arguments_digest = _OTHER_DIGEST


def _tool(spec: continuity_pb2.OperationSpec) -> None:
    spec.tool = "another_tool"


def _destination(spec: continuity_pb2.OperationSpec) -> None:
    spec.destination = "another-destination"


def _capability(spec: continuity_pb2.OperationSpec) -> None:
    """Another capability, coherent in itself: a key goes with IDEMPOTENT only."""
    bare = spec.capability == common_pb2.EFFECT_CAPABILITY_NONE
    spec.capability = (
        common_pb2.EFFECT_CAPABILITY_QUERY if bare else common_pb2.EFFECT_CAPABILITY_NONE
    )
    spec.idempotency_key, spec.retention_seconds = "", 0


def _key(spec: continuity_pb2.OperationSpec) -> None:
    spec.idempotency_key = "another-key"


def _retention(spec: continuity_pb2.OperationSpec) -> None:
    spec.retention_seconds *= 2


def _principal(spec: continuity_pb2.OperationSpec) -> None:
    spec.principal = "another-principal"


def _workflow(spec: continuity_pb2.OperationSpec) -> None:
    spec.workflow_id += "-other"


def _intent(spec: continuity_pb2.OperationSpec) -> None:
    spec.intent_digest = _OTHER_DIGEST


def _namespace(spec: continuity_pb2.OperationSpec) -> None:
    spec.namespace += "-other"


_CORE: Mapping[str, _Change] = {
    "arguments": _arguments,
    "tool": _tool,
    "destination": _destination,
    "capability": _capability,
}
_CHANGES: Mapping[str, _Change] = {
    **_CORE,
    "key": _key,
    "retention": _retention,
    "principal": _principal,
    "workflow": _workflow,
    "intent": _intent,
    "namespace": _namespace,
}


def _ask_changed(stage: Stage, held: Held, name: str, change: _Change) -> None:
    changed = continuity_pb2.OperationSpec()
    changed.CopyFrom(held.spec)
    change(changed)
    label(stage, held.member, name)
    asking(stage, held.member, f"other-{name}").begin(changed)


def _other(change: _Change) -> Callable[[Stage], None]:
    """Asked with a change while the lease is live, by its own holder, and once it is complete."""

    def part(stage: Stage, held: Held) -> None:
        _ask_changed(stage, held, "live", change)
        changed = continuity_pb2.OperationSpec()
        changed.CopyFrom(held.spec)
        change(changed)
        label(stage, held.member, "holder")
        held.host.begin(changed)
        finish(stage, held)
        _ask_changed(stage, held, "complete", change)
        asking(stage, held.member, "after").begin(held.spec)

    return in_turn(part)


def _ask_every_change(stage: Stage, held: Held) -> None:
    for name, change in _CORE.items():
        _ask_changed(stage, held, name, change)
    asking(stage, held.member, "second").begin(held.spec)


def _after_restart(stage: Stage) -> None:
    trials = [granted(stage, member) for member in stage.batch.members]
    kill_and_restart(stage, "memory")
    for held in trials:
        if held is not None:
            _ask_every_change(stage, held)
            finish(stage, held)


def _wrong_digest(stage: Stage) -> None:
    for member in stage.batch.members:
        spec = spec_of(member, "wrong")
        spec.operation_id = sha256_hex(spec.operation_id.encode())
        host = asking(stage, member, "first")
        label(stage, member, "first")
        host.begin(spec)
        label(stage, member, "again")
        host.begin(spec)
        held = granted(stage, member)
        if held is not None:
            finish(stage, held)


def _oversize_specs(
    spec: continuity_pb2.OperationSpec,
) -> Iterator[tuple[str, continuity_pb2.OperationSpec]]:
    """The operation with one id a byte too long, one after the other."""
    for name in ("principal", "tool", "destination", "tool_call_id"):
        long = continuity_pb2.OperationSpec()
        long.CopyFrom(spec)
        if name == "tool_call_id":
            long.identity.tool_call_id = "i" * (_ID_BYTES + 1)
        else:
            # Another identity for each, so that no refusal leans on what is bound.
            long.identity.tool_call_id = f"call-{name}"
            setattr(long, name, "i" * (_ID_BYTES + 1))
        long.operation_id = operation_id(long.identity)
        if long.idempotency_key:
            long.idempotency_key = long.operation_id
        yield name, long


def _oversize(stage: Stage) -> None:
    for member in stage.batch.members:
        spec = spec_of(member, "long")
        for name, long in _oversize_specs(spec):
            label(stage, member, name)
            asking(stage, member, name).begin(long)
        spec.identity.tool_call_id = "i" * _ID_BYTES
        spec.operation_id = operation_id(spec.identity)
        if spec.idempotency_key:
            spec.idempotency_key = spec.operation_id
        held = granted(stage, member, spec=spec)
        if held is not None:
            finish(stage, held)


_BEGIN_ID = "begin-once"


def _other_life(stage: Stage) -> None:
    for member in stage.batch.members:
        spec = spec_of(member)
        first = asking(stage, member, "first")
        decision = first.begin(spec, _BEGIN_ID).answer
        asking(stage, member, "second").begin(spec, _BEGIN_ID)
        first.begin(spec, _BEGIN_ID)
        if decision is not None and decision.HasField("execute"):
            told = decision.execute
            finish(stage, Held(member, first, spec, told.attempt, told.lease_token))


def _repeat_after_expiry(stage: Stage) -> None:
    hosts = [(asking(stage, one, "first"), spec_of(one)) for one in stage.batch.members]
    for host, spec in hosts:
        host.begin(spec, _BEGIN_ID)
    stage.reach_lease_end()
    for host, spec in hosts:
        host.begin(spec, _BEGIN_ID)
        host.begin(spec, _BEGIN_ID)


def _repeat_of_wait(stage: Stage) -> None:
    hosts: list[tuple[Incarnation, continuity_pb2.OperationSpec]] = []
    for member in stage.batch.members:
        if granted(stage, member) is not None:
            hosts.append((asking(stage, member, "second"), spec_of(member)))
    for host, spec in hosts:
        host.begin(spec, _BEGIN_ID)
    stage.reach_lease_end()
    for host, spec in hosts:
        host.begin(spec, _BEGIN_ID)


def _peek(stage: Stage) -> None:
    trials: list[Held] = []
    for member in stage.batch.members:
        spec = spec_of(member)
        asking(stage, member, "looking").peek(spec)
        asking(stage, member, "looking").peek(spec)
        held = granted(stage, member)
        if held is not None:
            asking(stage, member, "looking").peek(spec)
            trials.append(held)
    stage.reach_lease_end()
    for held in trials:
        asking(stage, held.member, "looking").peek(held.spec)
        finish(stage, held)
        asking(stage, held.member, "looking").peek(held.spec)


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    **{f"identity.other_{name}": _other(change) for name, change in _CHANGES.items()},
    "identity.after_expiry": in_turn(None, _ask_every_change, finish),
    "identity.after_restart": _after_restart,
    "identity.wrong_digest": _wrong_digest,
    "identity.oversize": _oversize,
    "identity.other_life": _other_life,
    "identity.repeat_after_expiry": _repeat_after_expiry,
    "identity.repeat_of_wait": _repeat_of_wait,
    "identity.peek": _peek,
}
