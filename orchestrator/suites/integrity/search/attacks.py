"""What the rules do: each turns a few draws into moves that build on the sequence so far."""

from __future__ import annotations

from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.casting import CIRCLES, DOUBTFUL, LABELS, USER
from orchestrator.suites.integrity.search.dice import Dice
from orchestrator.suites.integrity.search.moves import (
    Circle,
    Kind,
    Manner,
    Recall,
    RecordOutcome,
    Restart,
    Retire,
)
from orchestrator.suites.integrity.search.player import Player
from orchestrator.suites.integrity.search.stage import Made, Posing, Source, Stage
from orchestrator.suites.integrity.search.texts import FORMS, TOPICS, WRAPPINGS

__all__ = ["Attacks"]

_METHODS = ("summary", "merge", "extraction", "consolidation", "reflection", "")
_OPS = ("quarantine", "archive", "forget")
_WAYS = ("write", "write", "derive", "outcome", "supersede", "review")
# What agents act on more often than what they may read about.
_KINDS = (Kind.FACT, Kind.FACT, Kind.PROCEDURE, Kind.PROCEDURE, Kind.EPISODE)
_NO_LABELS: tuple[str, ...] = ()
_PLAIN = 0


class Attacks:
    """One sequence's moves.

    Args:
        subject: The memory.
        player: Carries the moves out.
        seed: Of this playing: its nonces come from it.
    """

    def __init__(self, subject: Subject, player: Player, seed: int) -> None:
        self._subject = subject
        self._player = player
        self._stage = Stage(player, seed)
        self._circles: list[Circle] = [CIRCLES[0]]
        self._sources: list[Source] = [DOUBTFUL[0]]
        self._topics: list[int] = [0]
        self._kinds: list[Kind] = [Kind.FACT]

    def begin(self, dice: Dice) -> None:
        """Choose what the sequence is about, and say something to build on."""
        self._circles = dice.some(CIRCLES, 4)
        self._sources = dice.some(DOUBTFUL, 3)
        self._topics = dice.some(range(TOPICS), 2)
        self._kinds = dice.some(_KINDS, 2)
        if dice.chance(0.5):
            self._new(dice, USER)
        self._new(dice, dice.one(self._sources))

    def user_says(self, dice: Dice) -> None:
        """The authenticated user says something of his own."""
        self._new(dice, USER)

    def somebody_says(self, dice: Dice) -> None:
        """Somebody who must not be believed says something new, perhaps often."""
        labels = dice.mostly(_NO_LABELS, LABELS)
        self._new(
            dice,
            dice.one(self._sources),
            labels=labels,
            times=dice.times(),
            posing=dice.one(tuple(Posing)),
        )
        if labels and dice.chance(0.4) and self._subject.serves("RequestReview", "DecideReview"):
            # Whoever calls his word approved may also decide as if it were.
            name = self._stage.ask([self._stage.record(0)], "promote")
            if name is not None:
                manner = dice.one((Manner.UNSIGNED, Manner.LABEL))
                circle = self._stage.record(0).circle
                self._stage.decide(name, circle, manner, approve=True)

    def somebody_repeats(self, dice: Dice) -> None:
        """What is known is said again by somebody who must not be believed."""
        first, second = self._known(dice), self._known(dice)
        self._stage.say(
            first.statement,
            self._words(dice, first, second),
            dice.mostly(first.circle, self._circles),
            dice.mostly(first.kind, tuple(Kind)),
            dice.one(self._sources),
            labels=dice.mostly(_NO_LABELS, LABELS),
            times=dice.times(),
            posing=dice.one(tuple(Posing)),
        )

    def user_repeats(self, dice: Dice) -> None:
        """The authenticated user says himself what is known."""
        first = self._known(dice)
        text = self._stage.wording(first, first, dice.mostly(_PLAIN, range(len(FORMS))), _PLAIN)
        self._stage.say(first.statement, text, first.circle, first.kind, USER)

    def agent_derives(self, dice: Dice) -> None:
        """Something is made out of what is known: out of what it names, or out of other words."""
        parents = [self._known(dice) for _ in range(1 + dice.below(3))]
        words = parents[0] if dice.chance(0.6) else self._known(dice)
        text = self._words(dice, words, parents[-1]) if dice.chance(0.5) else words.text
        self._stage.derive(
            parents,
            words.statement,
            text,
            dice.mostly(parents[0].kind, tuple(Kind)),
            dice.one(_METHODS),
            times=dice.few(),
            depth=dice.few(),
        )

    def agent_hides_a_parent(self, dice: Dice) -> None:
        """Words of one record, in the name of something harmless that the user said."""
        words = self._known(dice)
        if dice.chance(0.5):
            statement = self._stage.turned(words.statement)
        else:
            statement = self._stage.statement(dice.one(self._topics), Kind.FACT, doubtful=False)
        self._stage.say(statement, statement.text, words.circle, Kind.FACT, USER)
        parent = self._stage.record(0)
        text = self._words(dice, words, parent) if dice.chance(0.5) else words.text
        self._stage.derive(
            [parent], words.statement, text, words.kind, dice.one(_METHODS), depth=dice.few()
        )

    def recalled_comes_again(self, dice: Dice) -> None:
        """What the memory itself returned is given back to it, as something new."""
        record, source = self._known(dice), dice.one(self._sources)
        evidence, at = dice.chance(0.6), dice.below(3)
        way, wrapping = dice.one(("write", "write", "derive", "supersede")), self._wrapping(dice)
        times = dice.times()
        for _ in range(dice.few()):
            found = self._player.texts(record.circle, record.statement.question, evidence=evidence)
            text = found[at % len(found)] if found else record.text
            again = Made(record.name, record.circle, record.kind, text, record.statement)
            words = self._stage.wording(again, again, _PLAIN, wrapping)
            if way == "derive" and self._subject.serves("Derive"):
                self._stage.derive([record], record.statement, words, record.kind, "summary")
            elif way == "supersede" and self._subject.serves("Supersede"):
                self._stage.supersede(record, record.statement, words, source)
            else:
                kind = record.kind
                self._stage.say(record.statement, words, record.circle, kind, source, times=times)

    def outcome_is_recorded(self, dice: Dice) -> None:
        """A record is said to have helped, perhaps often."""
        record = self._known(dice, Kind.PROCEDURE)
        outcome = dice.mostly("helpful", ("helpful", "neutral", "harmful"))
        self._outcome(record, outcome, dice.mostly(1.0, (1.0, 0.5, 0.0)), dice.times())

    def record_is_superseded(self, dice: Dice) -> None:
        """Another text takes a record's place: by the user, or by somebody else."""
        old = self._known(dice)
        by = dice.one((USER, *self._sources))
        if dice.chance(0.6):
            topic, doubtful = dice.one(self._topics), by != USER
            statement = self._stage.statement(topic, old.kind, doubtful=doubtful)
            self._stage.supersede(old, statement, statement.text, by)
        else:
            other = self._known(dice)
            self._stage.supersede(old, other.statement, other.text, by)

    def record_is_retired(self, dice: Dice) -> None:
        """A record is taken out."""
        self._retire(self._known(dice), dice.one(_OPS))

    def retired_comes_again(self, dice: Dice) -> None:
        """What was taken out is brought back by somebody who cannot do that."""
        self._bring_back(dice, self._stage.taken_out(self._back(dice)))

    def life_of_a_word(self, dice: Dice) -> None:
        """Something is said, used, taken out, and brought back, in one go."""
        self._new(dice, USER if dice.chance(0.6) else dice.one(self._sources))
        word = self._stage.record(0)
        if dice.chance(0.6) and self._subject.serves("Derive"):
            text = self._words(dice, word, word) if dice.chance(0.5) else word.text
            depth = dice.few()
            self._stage.derive([word], word.statement, text, word.kind, "summary", depth=depth)
        self._retire(word, dice.one(_OPS))
        self._bring_back(dice, word)

    def review_is_held(self, dice: Dice) -> None:
        """A review is asked for and answered, rightly or wrongly; or is left for later."""
        records = [self._known(dice) for _ in range(dice.mostly(1, (1, 2)))]
        other = self._stage.challenges[-1][0] if self._stage.challenges else ""
        action = dice.one(("promote", "promote", "release"))
        name = self._stage.ask(records, action)
        if name is not None and dice.chance(0.3):
            # A second challenge over the same, answered with what was signed for the first.
            # Mostly the same record; now and then another one's signature.
            more = records if dice.chance(0.6) else [self._known(dice)]
            other, name = name, self._stage.ask(more, action)
            if name is not None:
                manner = dice.mostly(Manner.OTHER_CHALLENGE, tuple(Manner))
                circle = more[0].circle
                self._stage.decide(name, circle, manner, approve=True, other=other)
            return
        later, right = dice.chance(0.3), dice.chance(0.3)
        if name is None or later:
            return
        own = records[0].circle
        others = [one for one in (*self._circles, *CIRCLES) if one != own]
        circle = own if dice.chance(0.7) else dice.one(others)
        manner = Manner.SIGNED if right or circle != own else dice.one(tuple(Manner))
        approve = dice.chance(0.8)
        self._stage.decide(name, circle, manner, approve=approve, other=other)
        if dice.chance(0.4):
            if dice.chance(0.5):
                self._retire(records[0], dice.one(_OPS))
            again = dice.mostly(Manner.SIGNED, tuple(Manner))
            self._stage.decide(name, own, again, approve=True, other=other)

    def review_is_answered(self, dice: Dice) -> None:
        """A challenge of before is answered now: anew, or for the first time."""
        challenges = self._stage.challenges
        if not challenges:
            return
        name, ask = dice.one(challenges)
        signed, _ = dice.one(challenges)
        manner = dice.mostly(Manner.SIGNED, tuple(Manner))
        approve = dice.chance(0.8)
        self._stage.decide(name, ask.circle, manner, approve=approve, other=signed)

    def review_is_signed_late(self, dice: Dice) -> None:
        """A proper approval that comes, or comes again, when its record is not what it was."""
        record = self._known(dice)
        name = self._stage.ask([record], dice.mostly("promote", ("promote", "release")))
        if name is None:
            return
        if dice.chance(0.7):
            self._stage.decide(name, record.circle, Manner.SIGNED, approve=True)
        change = dice.one((*_OPS, "supersede", ""))
        if change == "supersede" and self._subject.serves("Supersede"):
            statement = self._stage.statement(dice.one(self._topics), record.kind, doubtful=False)
            self._stage.supersede(record, statement, statement.text, USER)
        elif change in _OPS:
            self._retire(record, change)
        manner = dice.mostly(Manner.SIGNED, tuple(Manner))
        self._stage.decide(name, record.circle, manner, approve=dice.chance(0.8))

    def somebody_asks(self, dice: Dice) -> None:
        """The same question, perhaps often: asking must change nothing."""
        record = self._known(dice)
        query, evidence = record.statement.question, dice.chance(0.5)
        move = Recall(circle=record.circle, query=query, evidence=evidence)
        times = dice.times()
        for turn in range(times):
            self._player.play(move, glance=turn == times - 1)

    def memory_restarts(self) -> None:
        """The memory dies and comes back."""
        self._player.play(Restart())

    def _new(
        self,
        dice: Dice,
        source: Source,
        *,
        labels: tuple[str, ...] = (),
        times: int = 1,
        posing: Posing = Posing.SAME,
    ) -> None:
        kind = dice.one(self._kinds)
        topic, doubtful = dice.one(self._topics), source != USER
        statement = self._stage.statement(topic, kind, doubtful=doubtful)
        self._stage.say(
            statement,
            statement.text,
            dice.one(self._circles),
            kind,
            source,
            labels=labels,
            times=times,
            posing=posing,
        )

    def _known(self, dice: Dice, kind: Kind | None = None) -> Made:
        """A record: mostly one of the latest; now and then one that the user said himself."""
        return self._stage.record(
            self._back(dice), own=dice.chance(0.35), kind=kind if dice.chance(0.7) else None
        )

    def _back(self, dice: Dice) -> int:
        return 0 if dice.chance(0.5) else dice.below(10)

    def _words(self, dice: Dice, first: Made, second: Made) -> str:
        form = dice.mostly(_PLAIN, range(len(FORMS)))
        return self._stage.wording(first, second, form, self._wrapping(dice))

    def _wrapping(self, dice: Dice) -> int:
        return dice.mostly(_PLAIN, range(len(WRAPPINGS)))

    def _outcome(self, record: Made, outcome: str, utility: float, times: int) -> None:
        move = RecordOutcome.model_validate(
            {"circle": record.circle, "of": record.name, "outcome": outcome, "utility": utility}
        )
        for turn in range(times):
            self._player.play(move, glance=turn == times - 1)

    def _retire(self, record: Made, op: str) -> None:
        if self._subject.serves(op.capitalize()):
            move = Retire.model_validate({"op": op, "circle": record.circle, "of": record.name})
            self._player.play(move)
            self._stage.retired.append(record)

    def _bring_back(self, dice: Dice, old: Made) -> None:
        """Up to three ways, and up to all forms of the text."""
        source, wrapping, times = dice.one(self._sources), self._wrapping(dice), dice.few()
        for way in dice.some(_WAYS, 3):
            if way == "derive" and self._subject.serves("Derive"):
                text = self._words(dice, old, old)
                self._stage.derive([old], old.statement, text, old.kind, dice.one(_METHODS))
            elif way == "outcome" and self._subject.serves("RecordOutcome"):
                self._outcome(old, "helpful", 1.0, dice.times())
            elif way == "supersede" and self._subject.serves("Supersede"):
                self._stage.supersede(old, old.statement, self._words(dice, old, old), source)
            elif way == "review" and self._subject.serves("RequestReview", "DecideReview"):
                name = self._stage.ask([old], "release")
                if name is not None:
                    wrong = tuple(one for one in Manner if one is not Manner.SIGNED)
                    self._stage.decide(name, old.circle, dice.one(wrong), approve=True)
            else:
                for form in dice.some(range(len(FORMS)), len(FORMS)):
                    text = self._stage.wording(old, old, form, wrapping)
                    kind = old.kind
                    self._stage.say(old.statement, text, old.circle, kind, source, times=times)
