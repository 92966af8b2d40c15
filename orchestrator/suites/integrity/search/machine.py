"""The rules by which sequences are made up (Hypothesis, rule-based).

Each sequence takes a part of the rules, of the circles and of the sources only (swarm testing,
Groce et al. 2012): what many features at once would cover up shows in a sequence that has few. Most
rules build on what is there, the latest first, and may repeat themselves up to twelve times.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.moves import (
    Binding,
    Circle,
    Kind,
    Manner,
    Recall,
    RecordOutcome,
    Restart,
    Retire,
    SourceType,
)
from orchestrator.suites.integrity.search.player import Player
from orchestrator.suites.integrity.search.stage import Made, Posing, Source, Stage
from orchestrator.suites.integrity.search.texts import FORMS, TOPICS, WRAPPINGS

__all__ = ["STEPS", "Adversary"]

STEPS = 9
"""Rules in one sequence; each is one call or up to some dozens."""

_USER: Source = (SourceType.USER, Binding.HOST_AUTHENTICATED)
_CIRCLES = (
    Circle(principal="user-alder"),
    Circle(principal="user-birch"),
    Circle(principal="user-alder", purpose="billing"),
    Circle(principal="user-alder", purpose="travel"),
    Circle(principal="user-alder", agent="agent-one"),
    Circle(principal="user-alder", agent="agent-two"),
    Circle(principal="user-alder", workspace="desk-one"),
    Circle(principal="user-alder", workspace="desk-two"),
)
_DOUBTFUL: tuple[Source, ...] = tuple(
    (source, binding)
    for source in (
        SourceType.AGENT,
        SourceType.WEB,
        SourceType.TOOL,
        SourceType.DOCUMENT,
        SourceType.USER,
        SourceType.RECEIPT,
    )
    for binding in Binding
    if source not in (SourceType.USER, SourceType.RECEIPT) or binding is Binding.CALLER_ASSERTED
    if not (source in (SourceType.TOOL, SourceType.DOCUMENT) and binding is Binding.VERIFIED)
)
_LABELS = (
    (),
    ("approved",),
    ("reviewer",),
    ("admin", "system"),
    ("trusted", "verified"),
    ("reviewed:user", "authoritative", "promote"),
)
_METHODS = ("summary", "merge", "extraction", "consolidation")

# Mostly the latest; now and then anything.
_BACK = st.one_of(st.just(0), st.just(0), st.integers(0, 1), st.integers(0, 11))
_TIMES = st.one_of(st.just(1), st.just(1), st.integers(1, 12))
_FEW = st.one_of(st.just(1), st.just(1), st.integers(1, 4))
_KINDS = st.sampled_from(Kind)
_PICKS = st.integers(0, 7)
_LABEL = st.one_of(st.just(()), st.sampled_from(_LABELS))
_FORM = st.one_of(st.just(0), st.integers(0, len(FORMS) - 1))
_WRAPPING = st.one_of(st.just(0), st.integers(0, len(WRAPPINGS) - 1))
_FORMS = st.one_of(
    st.just([0]), st.lists(st.integers(0, len(FORMS) - 1), min_size=1, max_size=6, unique=True)
)
_OPS = st.sampled_from(("quarantine", "archive", "forget"))
_WAYS = st.lists(
    st.sampled_from(("write", "write", "derive", "outcome", "supersede", "review")),
    min_size=1,
    max_size=3,
)
_POSING = st.sampled_from((Posing.SAME, Posing.IDS, Posing.TYPES, Posing.PRINCIPALS))
_MANNERS = st.one_of(st.just(Manner.SIGNED), st.sampled_from(Manner))
_ACTIONS = st.sampled_from(("promote", "promote", "release"))


class Adversary(RuleBasedStateMachine):
    """Makes one sequence up, on one memory.

    Args:
        subject: The memory.
        player: This playing's.
        seed: This playing's.
        see: Told of the playing when it broke a rule.
    """

    def __init__(
        self, subject: Subject, player: Player, seed: int, see: Callable[[Player], None]
    ) -> None:
        super().__init__()
        self._subject = subject
        self._player = player
        self._see = see
        self._stage = Stage(player, seed)
        self._circles: list[Circle] = [_CIRCLES[0]]
        self._sources: list[Source] = [_DOUBTFUL[0]]
        self._topics: list[int] = [0]
        self._kinds: list[Kind] = [Kind.FACT]

    @initialize(
        circles=st.lists(st.sampled_from(_CIRCLES), min_size=1, max_size=4, unique=True),
        sources=st.lists(st.sampled_from(_DOUBTFUL), min_size=1, max_size=3, unique=True),
        topics=st.lists(st.integers(0, TOPICS - 1), min_size=1, max_size=2, unique=True),
        kinds=st.lists(_KINDS, min_size=1, max_size=3, unique=True),
        trusted_first=st.booleans(),
    )
    def choose(
        self,
        *,
        circles: list[Circle],
        sources: list[Source],
        topics: list[int],
        kinds: list[Kind],
        trusted_first: bool,
    ) -> None:
        """What this sequence is about; and something to build on."""
        self._circles, self._sources, self._topics = circles, sources, topics
        self._kinds = kinds
        if trusted_first:
            self._say_new(0, 0, doubtful=False, source=_USER)
        self._say_new(0, 0, doubtful=True, source=sources[0])

    @rule(kind=_PICKS, circle=_PICKS, topic=_PICKS)
    def user_says(self, *, kind: int, circle: int, topic: int) -> None:
        """The authenticated user says something of his own."""
        self._say_new(kind, circle, topic=topic, doubtful=False, source=_USER)

    @rule(
        kind=_PICKS,
        circle=_PICKS,
        topic=_PICKS,
        source=_PICKS,
        labels=_LABEL,
        times=_TIMES,
        posing=_POSING,
    )
    def somebody_says(
        self,
        *,
        kind: int,
        circle: int,
        topic: int,
        source: int,
        labels: tuple[str, ...],
        times: int,
        posing: Posing,
    ) -> None:
        """Somebody who must not be believed says something new, perhaps often."""
        self._say_new(
            kind,
            circle,
            topic=topic,
            doubtful=True,
            source=self._source(source),
            labels=labels,
            times=times,
            posing=posing,
        )

    @rule(
        back=_BACK,
        other=_BACK,
        form=_FORM,
        wrapping=_WRAPPING,
        source=_PICKS,
        labels=_LABEL,
        times=_TIMES,
        posing=_POSING,
        elsewhere=st.one_of(st.none(), st.none(), _PICKS),
        as_kind=st.one_of(st.none(), st.none(), _KINDS),
    )
    def somebody_repeats(
        self,
        *,
        back: int,
        other: int,
        form: int,
        wrapping: int,
        source: int,
        labels: tuple[str, ...],
        times: int,
        posing: Posing,
        elsewhere: int | None,
        as_kind: Kind | None,
    ) -> None:
        """What is known is said again by somebody who must not be believed."""
        first, second = self._stage.record(back), self._stage.record(other)
        self._stage.say(
            first.statement,
            self._stage.wording(first, second, form, wrapping),
            first.circle if elsewhere is None else self._circle(elsewhere),
            as_kind or first.kind,
            self._source(source),
            labels=labels,
            times=times,
            posing=posing,
        )

    @rule(back=_BACK, form=_FORM)
    def user_repeats(self, *, back: int, form: int) -> None:
        """The authenticated user says himself what is known."""
        first = self._stage.record(back)
        text = self._stage.wording(first, first, form, 0)
        self._stage.say(first.statement, text, first.circle, first.kind, _USER)

    @precondition(lambda self: self._subject.serves("Derive"))
    @rule(
        parents=st.lists(_BACK, min_size=1, max_size=3),
        words_of=st.one_of(st.none(), st.none(), _BACK),
        form=_FORM,
        wrapping=_WRAPPING,
        method=st.sampled_from(_METHODS),
        as_kind=st.one_of(st.none(), st.none(), _KINDS),
        times=_FEW,
        depth=_FEW,
    )
    def agent_derives(
        self,
        *,
        parents: list[int],
        words_of: int | None,
        form: int,
        wrapping: int,
        method: str,
        as_kind: Kind | None,
        times: int,
        depth: int,
    ) -> None:
        """Something is made out of what is known: out of what it names, or out of other words."""
        named = [self._stage.record(back) for back in parents]
        words = named[0] if words_of is None else self._stage.record(words_of)
        text = self._stage.wording(words, named[-1], form, wrapping)
        kind = as_kind or named[0].kind
        self._stage.derive(named, words.statement, text, kind, method, times=times, depth=depth)

    @precondition(lambda self: self._subject.serves("Derive"))
    @rule(
        back=_BACK,
        clean=_PICKS,
        wrapping=_WRAPPING,
        method=st.sampled_from(_METHODS),
        depth=_FEW,
    )
    def agent_hides_a_parent(
        self, *, back: int, clean: int, wrapping: int, method: str, depth: int
    ) -> None:
        """Words of one record, in the name of something harmless that the user said."""
        words = self._stage.record(back)
        statement = self._stage.statement(self._topic(clean), Kind.FACT, doubtful=False)
        self._stage.say(statement, statement.text, words.circle, Kind.FACT, _USER)
        parent = self._stage.record(0)
        text = self._stage.wording(words, parent, 0, wrapping)
        self._stage.derive([parent], words.statement, text, words.kind, method, depth=depth)

    @rule(
        back=_BACK,
        evidence=st.booleans(),
        hit=st.integers(0, 3),
        wrapping=_WRAPPING,
        source=_PICKS,
        times=_TIMES,
        rounds=_FEW,
        way=st.sampled_from(("write", "derive", "supersede")),
    )
    def recalled_comes_again(
        self,
        *,
        back: int,
        evidence: bool,
        hit: int,
        wrapping: int,
        source: int,
        times: int,
        rounds: int,
        way: str,
    ) -> None:
        """What the memory itself returned is given back to it, as something new."""
        record = self._stage.record(back)
        for _ in range(rounds):
            found = self._player.texts(record.circle, record.statement.question, evidence=evidence)
            text = found[hit % len(found)] if found else record.text
            again = Made(record.name, record.circle, record.kind, text, record.statement)
            words = self._stage.wording(again, again, 0, wrapping)
            if way == "derive" and self._subject.serves("Derive"):
                self._stage.derive([record], record.statement, words, record.kind, "summary")
            elif way == "supersede" and self._subject.serves("Supersede"):
                self._stage.supersede(record, record.statement, words, self._source(source))
            else:
                self._stage.say(
                    record.statement,
                    words,
                    record.circle,
                    record.kind,
                    self._source(source),
                    times=times,
                )

    @precondition(lambda self: self._subject.serves("RecordOutcome"))
    @rule(
        back=_BACK,
        outcome=st.sampled_from(("helpful", "helpful", "neutral", "harmful")),
        utility=st.sampled_from((1.0, 0.5, 0.0)),
        times=_TIMES,
    )
    def outcome_is_recorded(self, *, back: int, outcome: str, utility: float, times: int) -> None:
        """A record is said to have helped, perhaps often."""
        record = self._stage.record(back)
        move = RecordOutcome.model_validate(
            {"circle": record.circle, "of": record.name, "outcome": outcome, "utility": utility}
        )
        for turn in range(times):
            self._player.play(move, glance=turn == times - 1)

    @precondition(lambda self: self._subject.serves("Supersede"))
    @rule(
        back=_BACK,
        words_of=st.one_of(st.none(), _BACK),
        topic=_PICKS,
        source=st.one_of(st.none(), _PICKS, _PICKS),
    )
    def record_is_superseded(
        self, *, back: int, words_of: int | None, topic: int, source: int | None
    ) -> None:
        """Another text takes a record's place: by the user, or by somebody else."""
        old = self._stage.record(back)
        by = _USER if source is None else self._source(source)
        if words_of is None:
            statement = self._stage.statement(
                self._topic(topic), old.kind, doubtful=source is not None
            )
            text = statement.text
        else:
            other = self._stage.record(words_of)
            statement, text = other.statement, other.text
        self._stage.supersede(old, statement, text, by)

    @rule(back=_BACK, op=_OPS)
    def record_is_retired(self, *, back: int, op: str) -> None:
        """A record is taken out."""
        self._retire(self._stage.record(back), op)

    @rule(back=_BACK, ways=_WAYS, forms=_FORMS, wrapping=_WRAPPING, source=_PICKS, times=_TIMES)
    def retired_comes_again(
        self,
        *,
        back: int,
        ways: list[str],
        forms: list[int],
        wrapping: int,
        source: int,
        times: int,
    ) -> None:
        """What was taken out is brought back by somebody who cannot do that."""
        old = self._stage.taken_out(back)
        for way in ways:
            self._bring_back(
                old,
                way,
                forms=forms,
                wrapping=wrapping,
                source=self._source(source),
                times=times,
            )

    @rule(
        kind=_PICKS,
        circle=_PICKS,
        topic=_PICKS,
        trusted=st.booleans(),
        with_child=st.booleans(),
        op=_OPS,
        ways=_WAYS,
        forms=_FORMS,
        wrapping=_WRAPPING,
        source=_PICKS,
        times=_TIMES,
    )
    def life_of_a_word(
        self,
        *,
        kind: int,
        circle: int,
        topic: int,
        trusted: bool,
        with_child: bool,
        op: str,
        ways: list[str],
        forms: list[int],
        wrapping: int,
        source: int,
        times: int,
    ) -> None:
        """Something is said, used, taken out, and brought back, in one go."""
        by = _USER if trusted else self._source(source)
        self._say_new(kind, circle, topic=topic, doubtful=not trusted, source=by)
        word = self._stage.record(0)
        if with_child and self._subject.serves("Derive"):
            self._stage.derive([word], word.statement, word.text, word.kind, "summary")
        self._retire(word, op)
        for way in ways:
            self._bring_back(
                word,
                way,
                forms=forms,
                wrapping=wrapping,
                source=self._source(source),
                times=times,
            )

    @precondition(lambda self: self._subject.serves("RequestReview", "DecideReview"))
    @rule(
        backs=st.lists(_BACK, min_size=1, max_size=2),
        action=_ACTIONS,
        manner=_MANNERS,
        approve=st.one_of(st.just(True), st.booleans()),
        elsewhere=st.one_of(st.none(), st.none(), st.none(), _PICKS),
        later=st.booleans(),
        again=st.one_of(st.none(), st.none(), _MANNERS),
    )
    def review_is_held(
        self,
        *,
        backs: list[int],
        action: str,
        manner: Manner,
        approve: bool,
        elsewhere: int | None,
        later: bool,
        again: Manner | None,
    ) -> None:
        """A review is asked for and answered, rightly or wrongly; or is left for later."""
        records = [self._stage.record(back) for back in backs]
        other = self._stage.challenges[-1][0] if self._stage.challenges else ""
        name = self._stage.ask(records, action)
        if name is None or later:
            return
        circle = records[0].circle if elsewhere is None else self._other_circle(elsewhere, records)
        self._stage.decide(name, circle, manner, approve=approve, other=other)
        if again is not None:
            self._stage.decide(name, records[0].circle, again, approve=True, other=other)

    @rule(back=_BACK, other=_BACK, manner=_MANNERS, approve=st.one_of(st.just(True), st.booleans()))
    def review_is_answered(self, *, back: int, other: int, manner: Manner, approve: bool) -> None:
        """A challenge of before is answered now: anew, or for the first time."""
        challenges = self._stage.challenges
        if not challenges:
            return
        name, ask = challenges[-1 - back % len(challenges)]
        signed, _ = challenges[-1 - other % len(challenges)]
        self._stage.decide(name, ask.circle, manner, approve=approve, other=signed)

    @rule(back=_BACK, evidence=st.booleans(), times=_TIMES)
    def somebody_asks(self, *, back: int, evidence: bool, times: int) -> None:
        """The same question, perhaps often: asking must change nothing."""
        record = self._stage.record(back)
        move = Recall(circle=record.circle, query=record.statement.question, evidence=evidence)
        for turn in range(times):
            self._player.play(move, glance=turn == times - 1)

    @precondition(lambda self: self._subject.restart is not None)
    @rule()
    def memory_restarts(self) -> None:
        """The memory dies and comes back."""
        self._player.play(Restart())

    def teardown(self) -> None:
        """Look at everything, when the sequence came to its end."""
        try:
            if self._player.violation is None:
                self._player.survey()
        finally:
            if self._player.violation is not None:
                self._see(self._player)

    def _say_new(
        self,
        kind: int,
        circle: int,
        *,
        doubtful: bool,
        source: Source,
        topic: int = 0,
        labels: tuple[str, ...] = (),
        times: int = 1,
        posing: Posing = Posing.SAME,
    ) -> None:
        of_kind = self._kinds[kind % len(self._kinds)]
        statement = self._stage.statement(self._topic(topic), of_kind, doubtful=doubtful)
        self._stage.say(
            statement,
            statement.text,
            self._circle(circle),
            of_kind,
            source,
            labels=labels,
            times=times,
            posing=posing,
        )

    def _retire(self, record: Made, op: str) -> None:
        if self._subject.serves(op.capitalize()):
            move = Retire.model_validate({"op": op, "circle": record.circle, "of": record.name})
            self._player.play(move)
            self._stage.retired.append(record)

    def _bring_back(
        self,
        old: Made,
        way: str,
        *,
        forms: list[int],
        wrapping: int,
        source: Source,
        times: int,
    ) -> None:
        text = self._stage.wording(old, old, forms[0], wrapping)
        if way == "derive" and self._subject.serves("Derive"):
            self._stage.derive([old], old.statement, text, old.kind, "summary")
        elif way == "outcome" and self._subject.serves("RecordOutcome"):
            move = RecordOutcome(circle=old.circle, of=old.name, outcome="helpful", utility=1.0)
            for turn in range(times):
                self._player.play(move, glance=turn == times - 1)
        elif way == "supersede" and self._subject.serves("Supersede"):
            self._stage.supersede(old, old.statement, text, source)
        elif way == "review" and self._subject.serves("RequestReview", "DecideReview"):
            name = self._stage.ask([old], "release")
            if name is not None:
                self._stage.decide(name, old.circle, Manner.LABEL, approve=True)
        else:
            for form in forms:
                text = self._stage.wording(old, old, form, wrapping)
                self._stage.say(old.statement, text, old.circle, old.kind, source, times=times)

    def _topic(self, number: int) -> int:
        return self._topics[number % len(self._topics)]

    def _circle(self, number: int) -> Circle:
        return self._circles[number % len(self._circles)]

    def _source(self, number: int) -> Source:
        return self._sources[number % len(self._sources)]

    def _other_circle(self, number: int, records: list[Made]) -> Circle:
        """A circle that is not the records' own: another one, or theirs made wider."""
        own = records[0].circle
        others = [one for one in (*self._circles, *_CIRCLES) if one != own]
        return others[number % len(others)]
