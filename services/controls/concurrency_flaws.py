"""Memories that are right for one agent and wrong for many; each replaces one rule."""

import dataclasses
from collections.abc import Mapping

from services.common.canonical import canonical_json, sha256_hex
from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Refused, Reuse, Wait
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason
from services.memory.process import Composition

__all__ = ["FLAWS", "GrantsInARace", "TellsEachItsOwn"]

_RACE_NS = 100_000_000
"""As long as a memory that looks first and keeps later may take between the two."""


class GrantsInARace(DecisionRules):
    """Does not see yet what another call was granted a moment ago."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """A grant of its own for whoever asks at the same moment."""
        step = super().decide_live(operation, latest, clock, call)
        waits = isinstance(step, BeginStep) and isinstance(step.decision, Wait)
        if waits and clock.effective_ns - latest.granted_at_ns < _RACE_NS:
            return self.grant(operation, clock, call, Reason.FIRST_GRANT)
        return step


class TellsEachItsOwn(DecisionRules):
    """Makes the result of what is complete up anew for everybody who asks."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """REUSE of a result that names who asked."""
        step = super().begin(operation, clock, call)
        if not isinstance(step, BeginStep) or not isinstance(step.decision, Reuse):
            return step
        result = canonical_json({"told_to": call.incarnation_id}).decode()
        receipt = dataclasses.replace(
            step.decision.receipt, result_json=result, result_digest=sha256_hex(result.encode())
        )
        return dataclasses.replace(step, decision=Reuse(receipt, step.decision.reason))


FLAWS: Mapping[str, Flaw] = {
    "grants_in_a_race": Flaw(
        Composition(named("grants_in_a_race"), decisions=GrantsInARace),
        "whoever asks at the moment of a grant is granted, too",
        "unsafe_decision",
        "L",
        consequences=(
            "continuity.history",
            "continuity.concurrency.agreement",
            "continuity.extra_effect",
        ),
    ),
    "tells_each_its_own": Flaw(
        Composition(named("tells_each_its_own"), decisions=TellsEachItsOwn),
        "each agent is told another result of what is complete",
        "unsafe_decision",
        "C",
        consequences=("continuity.history", "continuity.concurrency.agreement"),
    ),
}
