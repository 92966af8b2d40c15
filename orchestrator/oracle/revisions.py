"""How often an operation can have been revised, by the calls that reached the memory (DESIGN §4).

What a revision is, is the memory's own: a grant is one for every design, a renewal, a challenge, an
answer or a question may be. So a memory must refuse the grant that comes after as many grants as it
declares revisions, and may refuse whatever is not complete as soon as its calls can have made them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Self

from orchestrator.oracle.messages import PeekAsked, Refused
from orchestrator.oracle.view import OperationView

__all__ = ["REVISIONS_A_CALL", "Revisions"]

REVISIONS_A_CALL = 2
"""One call may make more than one: a design may bind and grant, or ask and answer, apart."""


@dataclass(frozen=True)
class Revisions:
    """When one operation can have been revised.

    Attributes:
        changes_ns: When each call was forwarded that can have changed it, sorted.
    """

    changes_ns: tuple[int, ...] = ()

    @classmethod
    def of(cls, view: OperationView) -> Self:
        """The revisions that an operation's calls and challenges can have made."""
        calls = (
            call.forwarded_ns
            for call in view.calls
            if not isinstance(call.request, PeekAsked) and not isinstance(call.answer, Refused)
        )
        return cls(tuple(sorted((*calls, *view.challenged_ns))))

    def possible_by(self, at_ns: int | None) -> int:
        """How many revisions there can be at an instant; None: in the end."""
        calls = len(self.changes_ns) if at_ns is None else bisect_right(self.changes_ns, at_ns)
        return REVISIONS_A_CALL * calls
