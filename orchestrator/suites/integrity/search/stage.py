"""Where a sequence stands: what was said and made so far, and moves that build on it.

The stage names what moves make, keeps what was said in order, and writes repetitions out as the
single calls that they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from orchestrator.suites.integrity.search.moves import (
    Ask,
    Binding,
    Circle,
    Decide,
    Derive,
    Kind,
    Manner,
    Said,
    SourceType,
    Statement,
    Supersede,
    Write,
)
from orchestrator.suites.integrity.search.player import Player
from orchestrator.suites.integrity.search.texts import (
    FORMS,
    WRAPPINGS,
    new_statement,
    turned,
    wrapped,
)

__all__ = ["STATEMENTS_MAX", "Made", "Posing", "Source", "Stage"]

STATEMENTS_MAX = 12

Source: TypeAlias = tuple[SourceType, Binding]

_ASSERTED = Binding.CALLER_ASSERTED
# In the guise of whom one source may speak.
_POSES = tuple(SourceType)


class Posing(IntEnum):
    """How repetitions of one text differ from each other."""

    SAME = 0
    """Not at all."""
    IDS = 1
    """Each time another id of the source: one source posing as many."""
    TYPES = 2
    """Each time another type of source."""
    PRINCIPALS = 3
    """Each time on behalf of another principal."""


@dataclass(frozen=True)
class Made:
    """A text that the sequence offered; what moves refer to where the memory kept it.

    Attributes:
        name: The sequence's own name of it.
        circle: Where it was offered.
        kind: What it was offered as.
        text: What it says.
        statement: What it says first of all.
        own: Whether the authenticated user said it himself.
    """

    name: str
    circle: Circle
    kind: Kind
    text: str
    statement: Statement
    own: bool = False


class Stage:
    """One sequence on its way.

    Args:
        player: Carries the moves out.
        seed: Of this playing: its nonces come from it.
    """

    def __init__(self, player: Player, seed: int) -> None:
        self.player = player
        self._seed = seed
        self._number = 0
        self._doubtful: list[Statement] = []
        self._trusted: list[Statement] = []
        self.made: list[Made] = []
        self.retired: list[Made] = []
        self.challenges: list[tuple[str, Ask]] = []

    def record(self, back: int, *, own: bool = False, kind: Kind | None = None) -> Made:
        """The record that was made so many records ago, counted round and round.

        Args:
            back: How many.
            own: Of those that the user said himself, while there are any.
            kind: Of those of this kind, while there are any.
        """
        among = [one for one in self.made if one.own] if own else []
        among = among or self.made
        alike = [one for one in among if one.kind is kind]
        among = alike or among
        return among[-1 - back % len(among)]

    def taken_out(self, back: int) -> Made:
        """The record that was retired so many retirements ago; any other while none was."""
        return self.retired[-1 - back % len(self.retired)] if self.retired else self.record(back)

    def statement(self, topic: int, kind: Kind, *, doubtful: bool) -> Statement:
        """Something new to say, or what was said last when there is enough to watch."""
        alike = self._doubtful if doubtful else self._trusted
        known = self.player.statements
        if alike and len(known) >= STATEMENTS_MAX:
            return alike[-1]
        new = new_statement(self._seed, len(known), topic, kind, doubtful=doubtful)
        known.append(new)
        alike.append(new)
        return new

    def turned(self, statement: Statement) -> Statement:
        """The same words in another order: harmless, and the user's own."""
        new = turned(statement)
        if new not in self.player.statements:
            self.player.statements.append(new)
        return new

    def say(
        self,
        statement: Statement,
        text: str,
        circle: Circle,
        kind: Kind,
        source: Source,
        *,
        labels: tuple[str, ...] = (),
        times: int = 1,
        posing: Posing = Posing.SAME,
    ) -> None:
        """Write a text, so many times."""
        for turn in range(times):
            where, by = circle, source
            if posing is Posing.TYPES and not _own_word(source):
                by = (_POSES[(_POSES.index(source[0]) + turn) % len(_POSES)], _ASSERTED)
            if posing is Posing.PRINCIPALS and turn < times - 1:
                where = circle.model_copy(update={"principal": f"{circle.principal}-{turn}"})
            called = f"{by[0].value}-{turn if posing is Posing.IDS else 0}"
            said = Said(
                kind=kind,
                text=text,
                source=by[0],
                binding=by[1],
                source_id=where.principal if _own_word(by) else called,
                labels=labels,
            )
            move = Write(makes=self._name("r"), circle=where, said=said)
            self.player.play(move, glance=turn == times - 1)
            if turn in (0, times - 1):
                self._add(move.makes, where, kind, text, statement, own=_own_word(by))

    def derive(
        self,
        parents: list[Made],
        statement: Statement,
        text: str,
        kind: Kind,
        method: str,
        *,
        times: int = 1,
        depth: int = 1,
    ) -> None:
        """Derive a text so many times, and from the last child again, so many generations."""
        circle = parents[0].circle
        names = tuple(dict.fromkeys(parent.name for parent in parents))
        for _ in range(depth):
            for turn in range(times):
                move = Derive(
                    makes=self._name("r"),
                    circle=circle,
                    kind=kind,
                    parents=names,
                    text=text,
                    method=method,
                )
                self.player.play(move, glance=turn == times - 1)
            self._add(move.makes, circle, kind, text, statement)
            names = (move.makes,)

    def supersede(self, old: Made, statement: Statement, text: str, source: Source) -> None:
        """Put a text in a record's place."""
        said = Said(
            kind=old.kind,
            text=text,
            source=source[0],
            binding=source[1],
            source_id=old.circle.principal if _own_word(source) else f"{source[0].value}-0",
        )
        move = Supersede(makes=self._name("r"), circle=old.circle, of=old.name, said=said)
        self.player.play(move)
        self._add(move.makes, old.circle, old.kind, text, statement, own=_own_word(source))
        self.retired.append(old)

    def ask(self, records: list[Made], action: str) -> str | None:
        """Ask for a review; the challenge's name, or None when there is none."""
        move = Ask.model_validate(
            {
                "makes": self._name("c"),
                "circle": records[0].circle,
                "records": tuple(dict.fromkeys(record.name for record in records)),
                "action": action,
            }
        )
        self.player.play(move, glance=False)
        if not self.player.has_challenge(move.makes):
            return None
        self.challenges.append((move.makes, move))
        return move.makes

    def decide(
        self, name: str, circle: Circle, manner: Manner, *, approve: bool, other: str = ""
    ) -> None:
        """Answer a challenge."""
        self.player.play(
            Decide(circle=circle, challenge=name, approve=approve, manner=manner, other=other)
        )

    def wording(self, first: Made, second: Made, form: int, wrapping: int) -> str:
        """A known text in some form, with something around it."""
        texts = [first.text, second.text]
        return FORMS[form % len(FORMS)](wrapped(WRAPPINGS[wrapping % len(WRAPPINGS)], texts))

    def _add(
        self,
        name: str,
        circle: Circle,
        kind: Kind,
        text: str,
        statement: Statement,
        *,
        own: bool = False,
    ) -> None:
        # Also what the memory would not keep: its text can be offered again, in other ways.
        self.made.append(Made(name, circle, kind, text, statement, own))

    def _name(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"


def _own_word(source: Source) -> bool:
    return source[0] is SourceType.USER and source[1] is not Binding.CALLER_ASSERTED
