"""A wrong answer that shows in a conversation of several calls only."""

import dataclasses
from collections.abc import Mapping

from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Confirm, Refused
from services.memory.decisions import DecisionRules
from services.memory.model import Change, LeaseClock, Operation, Reason
from services.memory.process import Composition

__all__ = ["FLAWS", "ConfirmsExchanges"]


class ConfirmsExchanges(DecisionRules):
    """Calls a person before the first dispatch of an exchange, which nothing speaks against."""

    def first_grant(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """CONFIRM in row N, for one tool."""
        if operation.binding.tool.startswith("exchange"):
            bound = dataclasses.replace(operation, revision=max(operation.revision, 1))
            change = None if bound == operation else Change.BOUND
            return BeginStep(Confirm(Reason.EXPIRED_CANNOT_TELL), bound, change)
        return super().first_grant(operation, clock, call)


FLAWS: Mapping[str, Flaw] = {
    "confirms_exchanges": Flaw(
        Composition(named("confirms_exchanges"), decisions=ConfirmsExchanges),
        "an exchange is left to a person although it was never dispatched",
        "needless_decision",
        "N",
        consequences=("continuity.paper.no_fault", "continuity.paper.published_hash"),
    ),
}
