"""Plays of `families.identity`: the evaluator asks in a host's place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import sha256_hex

__all__ = ["PLAYS"]


def _other_arguments(stage: Stage) -> None:
    for member in stage.batch.members:
        host = Incarnation(stage.context.session, f"first-{member.workflow_id}")
        spec = spec_of(member)
        host.begin(spec)
        spec.arguments_digest = sha256_hex(b"other")
        Incarnation(stage.context.session, f"second-{member.workflow_id}").begin(spec)


PLAYS: Mapping[str, Callable[[Stage], None]] = {"identity.other_arguments": _other_arguments}
