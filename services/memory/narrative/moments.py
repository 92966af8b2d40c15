"""What the grammar of times works with: a turn, its time, and what was found in it so far."""

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.memory.narrative.model import TemporalStatus
from services.memory.narrative.tense import Lean, clause_lean

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["Moment", "Rule", "Scene", "nearest"]

# A date on the side to which its clause does not look must be so much nearer to be meant.
_PAST_BIAS = 2.0
_FUTURE_BIAS = 6.0
_UNKNOWN_BIAS = 1.5
_LEAN_BACK = frozenset("since")
_LEAN_ON = frozenset(("by", "until", "till", "to", "for"))
_BEFORE = re.compile(r"([A-Za-z]+)\s+(?:(?:the|this|that)\s+)?$")
_REACH = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """An expression of time, resolved.

    Attributes:
        start: its first character in the turn.
        end: one past its last.
        day: its day, or the first of a stretch.
        last: the last day of a stretch.
        clock: time of day, where it tells one.
        part: morning, afternoon, evening, night or "".
        status: where it lies, if that does not follow from the days.
    """

    start: int
    end: int
    day: dt.date
    last: dt.date | None = None
    clock: dt.time | None = None
    part: str = ""
    status: TemporalStatus | None = None

    def widened(self, start: int, end: int) -> "Moment":
        """The same moment with another span."""
        return replace(self, start=start, end=end)


@dataclass(slots=True)
class Scene:
    """One turn while it is read.

    Attributes:
        doc: the parsed turn.
        at: its own time.
        text: its text.
        found: what was found so far.
    """

    doc: "Doc"
    at: dt.datetime
    text: str
    found: list[Moment] = field(default_factory=list)

    @property
    def today(self) -> dt.date:
        """The turn's own day."""
        return self.at.date()

    def word_before(self, start: int) -> str:
        """The word before a place, articles skipped, in lower case; or ""."""
        match = _BEFORE.search(self.text, max(0, start - _REACH), start)
        return match[1].lower() if match else ""

    def lean(self, start: int, end: int) -> Lean:
        """Which way an expression looks, by its preposition and its clause."""
        before = self.word_before(start)
        if before == "from":
            # What began or begins then: nearness decides.
            lean = clause_lean(self.doc, start, end)
            return Lean.UNKNOWN if lean is Lean.PAST else lean
        if before in _LEAN_BACK:
            return Lean.PAST
        if before in _LEAN_ON:
            return Lean.FUTURE
        return clause_lean(self.doc, start, end)

    def in_name(self, start: int, end: int) -> bool:
        """True where a word of time is a person's name."""
        span = self.doc.char_span(start, end, alignment_mode="expand")
        return span is not None and any(token.ent_type_ == "PERSON" for token in span)

    def noun_follows(self, start: int, end: int) -> bool:
        """True where the next word is a noun that the expression describes ("Sunday roast")."""
        span = self.doc.char_span(start, end, alignment_mode="expand")
        if span is None or span.end >= len(self.doc):
            return False
        following = self.doc[span.end]
        if following.idx - end > 1 or following.is_punct or following.lower_ in _PARTS:
            return False
        last = span[-1]
        # "on Sunday mum came" has a noun behind it, too, but describes nothing.
        return last.head.i > last.i and last.dep_ in _DESCRIBES

    def chosen(
        self, days: Iterable[dt.date], match: "re.Match[str]", *, strict: bool = False
    ) -> dt.date | None:
        """Of several days, the last before or the next after today, as the clause looks.

        Args:
            days: what the expression may mean.
            match: the expression.
            strict: only a clause that looks back may mean a past day.
        """
        ordered = sorted(days)
        past = [day for day in ordered if day < self.today]
        coming = [day for day in ordered if day >= self.today]
        if not past or not coming:
            return coming[0] if coming else past[-1] if past else None
        lean = self.lean(match.start(), match.end())
        if strict and lean is not Lean.PAST:
            return coming[0]
        return nearest(past[-1], coming[0], self.today, lean)

    def before(self, start: int) -> Moment | None:
        """The last moment that ends before a place."""
        earlier = [moment for moment in self.found if moment.end <= start]
        return max(earlier, key=lambda moment: moment.end, default=None)


@dataclass(frozen=True, slots=True)
class Rule:
    """A form that expressions of time have.

    Attributes:
        pattern: finds them.
        read: resolves one, or tells that it is no time.
        needs: a cheaper pattern that every turn with such an expression holds.
    """

    pattern: re.Pattern[str]
    read: Callable[[Scene, "re.Match[str]"], Moment | None]
    needs: re.Pattern[str]


_DESCRIBES = frozenset(("compound", "nmod", "amod", "nummod", "quantmod"))
_PARTS = frozenset(("morning", "lunchtime", "afternoon", "teatime", "evening", "night"))


def nearest(
    before: dt.date, after: dt.date, today: dt.date, lean: Lean, past_bias: float = _PAST_BIAS
) -> dt.date:
    """Of the last and the next day that an expression may mean, the one that its clause means.

    Args:
        before: the last such day.
        after: the next one.
        today: the turn's day.
        lean: where the clause looks.
        past_bias: so many times as far a past day may be in a clause that looks back.
    """
    back = (today - before).days * (
        _FUTURE_BIAS if lean is Lean.FUTURE else 1.0 if lean is Lean.PAST else _UNKNOWN_BIAS
    )
    ahead = (after - today).days * (past_bias if lean is Lean.PAST else 1.0)
    return before if back < ahead else after
