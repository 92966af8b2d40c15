"""What is still to be done, shared by the lanes."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from orchestrator.campaign.jobs import SubjectWork
from orchestrator.stacks import StackVariant

__all__ = ["WorkQueue"]


class WorkQueue:
    """Pieces of work in the order of the plan; a lane takes what fits its stack first.

    Swapping the memory costs a restart, another lease a whole stack, so a lane stays with its
    subject while there is work for it.
    """

    def __init__(self, work: Iterable[SubjectWork]) -> None:
        self._work = list(work)
        self._lock = threading.Lock()

    def take(
        self, subject: str, lease_seconds: int, variant: StackVariant = StackVariant.USUAL
    ) -> SubjectWork | None:
        """The next piece for a stack of this subject, lease and kind; None when nothing is left."""
        with self._lock:
            if not self._work:
                return None
            best = min(
                range(len(self._work)),
                key=lambda at: (
                    self._work[at].variant is not variant,
                    self._work[at].lease_seconds != lease_seconds,
                    self._work[at].subject != subject,
                    at,
                ),
            )
            return self._work.pop(best)

    def give_back(self, work: SubjectWork) -> None:
        """Put work back that a lane took and cannot do; another one takes it next."""
        with self._lock:
            self._work.insert(0, work)

    def drain(self) -> list[SubjectWork]:
        """Take everything that is left."""
        with self._lock:
            left, self._work = self._work, []
            return left
