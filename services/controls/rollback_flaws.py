"""Memories that a host's rollback deceives, or that take every repetition for one."""

from collections.abc import Mapping
from typing import Any

from memqual.v1 import continuity_pb2
from services.controls.flaw import Flaw, named
from services.memory.answers import BeginCall, BeginStep, Refused
from services.memory.decisions import DecisionRules
from services.memory.formats import Formats
from services.memory.messages import settled_from
from services.memory.model import LeaseClock, Operation
from services.memory.process import Composition
from services.memory.resolutions import Resolutions

__all__ = ["FLAWS"]

_PREFIX = "continuity.rollback"
_DECISIONS = ("unsafe_decision", "needless_decision")


class ForgetsIntents(DecisionRules):
    """Declares intent matching and looks at identities only."""

    def first_decision(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """EXECUTE, whatever this host did in another past."""
        return self.first_grant(operation, clock, call)


class BlocksForEver(DecisionRules):
    """Takes what an operator ruled out for uncertain all the same."""

    def may_have_happened(self, operation: Operation) -> bool:
        """Whether anything was ever granted."""
        return operation.latest is not None


def _no_past(
    request: continuity_pb2.BeginRequest | continuity_pb2.PeekRequest,
) -> frozenset[str] | None:
    """A host that says what it holds is taken for one that holds nothing."""
    return None if settled_from(request) is None else frozenset()


def _silent_past(
    request: continuity_pb2.BeginRequest | continuity_pb2.PeekRequest,
) -> frozenset[str] | None:
    """A host that says nothing is taken for one that holds nothing."""
    return settled_from(request) or frozenset()


class AcknowledgesUsedWords(Resolutions):
    """Answers a used challenge's word with OK after a restart."""

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._used_here: set[str] = set()

    def resolve(self, request: continuity_pb2.ResolveRequest) -> None:
        """As the reference; what another process took is taken once more, and changes nothing."""
        if request.challenge_id not in self._used_here and self._was_used(request.challenge_id):
            return
        super().resolve(request)
        self._used_here.add(request.challenge_id)

    def _was_used(self, challenge_id: str) -> bool:
        with self._database.read() as conn:
            row = conn.execute(
                "SELECT used FROM resolve_challenges WHERE challenge_id = ?", (challenge_id,)
            ).fetchone()
        return row is not None and bool(row[0])


FLAWS: Mapping[str, Flaw] = {
    "forgets_intents": Flaw(
        Composition(named("forgets_intents"), decisions=ForgetsIntents),
        "dispatches an intent again that it granted in another past of the host",
        f"{_PREFIX}.action_replay",
        "K",
        consequences=(
            *_DECISIONS,
            f"{_PREFIX}.intent",
            f"{_PREFIX}.ruled_out",
            "continuity.extra_effect",
        ),
    ),
    "blocks_repetitions": Flaw(
        Composition(named("blocks_repetitions"), formats=Formats(settled=_no_past)),
        "takes every repetition of an intent for a replay",
        f"{_PREFIX}.second_obligation",
        "N",
        consequences=(*_DECISIONS, f"{_PREFIX}.obligations"),
    ),
    "blocks_for_silent_hosts": Flaw(
        Composition(named("blocks_for_silent_hosts"), formats=Formats(settled=_silent_past)),
        "takes a host that does not say what it holds for one that was set back",
        f"{_PREFIX}.obligations",
        "N",
        consequences=_DECISIONS,
    ),
    "blocks_for_ever": Flaw(
        Composition(named("blocks_for_ever"), decisions=BlocksForEver),
        "asks about a forked intent although an operator ruled it out",
        f"{_PREFIX}.ruled_out",
        "N",
        consequences=_DECISIONS,
    ),
    "acknowledges_used_words": Flaw(
        Composition(named("acknowledges_used_words"), resolutions=AcknowledgesUsedWords),
        "takes an operator's used word once more after a restart",
        f"{_PREFIX}.resolution",
        "O",
        consequences=("unsafe_decision", "continuity.resolve.restart"),
    ),
}
