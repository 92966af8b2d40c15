"""Whether the journals of all batches are the whole journals of their stacks (DESIGN §8).

The destination of a stack keeps one hash-chained journal over all of its batches, and each batch
holds a span of it. Put together in the order of their sequences, the spans of a stack have to begin
at 1 and go on without a gap or an overlap, each with the digest that the one before ended with. A
stack's name comes again when a run is resumed, with a journal of its own: a span that begins at 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.common.journal import ZERO_DIGEST

__all__ = ["BrokenLink", "Segment", "link_segments"]


@dataclass(frozen=True)
class Segment:
    """One batch's span of its stack's journal and trace.

    Attributes:
        batch_id: The batch.
        stack_id: Its stack.
        first: First journal sequence; of an empty span the one that would have come next.
        last: Last one; `first` - 1 for an empty span.
        previous_digest: Digest before the first record; empty for an empty span.
        digest: Digest of the last record; empty for an empty span.
        trace_first: First sequence of its trace.
        trace_last: Last one.
    """

    batch_id: str
    stack_id: str
    first: int
    last: int
    previous_digest: str
    digest: str
    trace_first: int
    trace_last: int

    @property
    def empty(self) -> bool:
        """Whether the batch has no record."""
        return self.last < self.first


@dataclass(frozen=True)
class BrokenLink:
    """A batch whose span does not fit into its stack's journal.

    Attributes:
        batch_id: The batch.
        cause: What does not fit, as a clause.
    """

    batch_id: str
    cause: str


def link_segments(segments: Iterable[Segment]) -> list[BrokenLink]:
    """Put the spans of every stack together; empty when all of them fit.

    Args:
        segments: One for each batch, in any order; each is unbroken within itself.
    """
    stacks: dict[str, list[Segment]] = {}
    for segment in segments:
        stacks.setdefault(segment.stack_id, []).append(segment)
    return [broken for _, members in sorted(stacks.items()) for broken in _link_stack(members)]


def _link_stack(members: Sequence[Segment]) -> list[BrokenLink]:
    filled = sorted(
        (segment for segment in members if not segment.empty),
        key=lambda segment: (segment.first, segment.batch_id),
    )
    broken: list[BrokenLink] = []
    # The open end of each journal: where it goes on, and with which digest.
    ends: dict[tuple[int, str], Segment] = {}
    lasts = {0}
    for segment in filled:
        lasts.add(segment.last)
        before = ends.pop((segment.first - 1, segment.previous_digest), None)
        begins = segment.first == 1 and segment.previous_digest == ZERO_DIGEST
        if before is None and not begins:
            broken.append(BrokenLink(segment.batch_id, _why(segment, filled)))
        elif before is not None and segment.trace_first <= before.trace_last:
            broken.append(
                BrokenLink(
                    segment.batch_id,
                    f"its trace begins at {segment.trace_first}, and that of batch "
                    f"{before.batch_id} before it ends at {before.trace_last}",
                )
            )
        ends[segment.last, segment.digest] = segment
    broken += [
        BrokenLink(
            segment.batch_id,
            f"its empty span stands after sequence {segment.first - 1}, where no batch ends",
        )
        for segment in members
        if segment.empty and segment.first - 1 not in lasts
    ]
    return broken


def _why(segment: Segment, filled: Sequence[Segment]) -> str:
    """Why a span has no place: a gap, an overlap, or another journal's digest."""
    others = [other for other in filled if other is not segment]
    if segment.first == 1:
        return "the journal of its stack begins with another digest than an empty one's"
    touching = [other for other in others if other.last == segment.first - 1]
    if touching:
        names = ", ".join(sorted(other.batch_id for other in touching))
        return f"it does not go on with the digest, or from the one place, where {names} ends"
    covering = [other for other in others if other.first <= segment.first <= other.last]
    if covering:
        names = ", ".join(sorted(other.batch_id for other in covering))
        return f"its records from {segment.first} on overlap those of {names}"
    before = max((other.last for other in others if other.last < segment.first), default=0)
    return f"records {before + 1} to {segment.first - 1} of stack {segment.stack_id} are missing"
