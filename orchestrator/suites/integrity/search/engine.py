"""A whole search: sequences until the bounds are reached, each find as a short case (issue 3)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import get_state_machine_test

from orchestrator.errors import StackError
from orchestrator.suites.integrity.search.afresh import afresh, said_in
from orchestrator.suites.integrity.search.calling import MemoryGone, Subject
from orchestrator.suites.integrity.search.machine import STEPS, Adversary
from orchestrator.suites.integrity.search.moves import (
    Case,
    Move,
    Statement,
    Violation,
    ViolationKind,
)
from orchestrator.suites.integrity.search.player import Found, Player
from orchestrator.suites.integrity.search.shrinking import shortest
from orchestrator.suites.integrity.variation import trial_seed

__all__ = ["Bounds", "Search", "SearchResult"]

_HYPOTHESIS_SHRINKS_MAX = 12
_HYPOTHESIS_SHRINK_SECONDS = 20.0
_TRIES_MAX = 400
_TRY_SECONDS = 60.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Bounds:
    """When a search ends.

    Attributes:
        sequences: After so many sequences.
        seconds: After so long; a find under way is still made short, within bounds of its own.
        cases: After so many finds, each of another rule.
    """

    sequences: int = 2_000
    seconds: float = 600.0
    cases: int = 8


@dataclass(frozen=True)
class SearchResult:
    """What a search came to.

    Attributes:
        sequences: Played while searching; those that made a find shorter are not counted.
        calls: All calls, those included.
        seconds: How long it took.
        statuses: How often each status was answered.
        unserved: Methods that the memory does not serve.
        cases: What was found, one for each rule that was broken, in the order of finding.
    """

    sequences: int
    calls: int
    seconds: float
    statuses: Mapping[str, int]
    unserved: tuple[str, ...]
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class _Trace:
    """A playing in which a rule was broken."""

    sequence: int
    statements: tuple[Statement, ...]
    moves: tuple[Move, ...]
    answers: tuple[str, ...]
    violation: Violation


class _Over(BaseException):
    """Ends Hypothesis's run from within: it lets everything pass that is no Exception."""


class Search:
    """Searches one memory.

    Args:
        subject: The memory; rules that it was found to break are muted in it.
        seed: Root of everything that is drawn.
        token: Makes namespaces and nonces this search's own, such as a run id.
        memory: Name and version of the memory, for the cases.
        revision: Of the testbed, for the cases.
        stopping: Ends the search early when set.
        on_sequence: Told after each sequence how many there were, and how many finds.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        seed: int,
        token: str,
        memory: str = "",
        revision: str = "",
        stopping: threading.Event | None = None,
        on_sequence: Callable[[int, int], None] | None = None,
    ) -> None:
        self._subject = subject
        self._seed = seed
        self._token = token
        self._memory = memory
        self._revision = revision
        self._stopping = stopping or threading.Event()
        self._on_sequence = on_sequence
        self._playings = 0
        self._sequences = 0
        self._cases: list[Case] = []
        self._shortest: _Trace | None = None
        self._shrinks = 0
        self._shrink_ends = 0.0
        self._left = False
        self._bounds = Bounds()
        self._ends = 0.0

    def run(self, bounds: Bounds) -> SearchResult:
        """Search until a bound is reached.

        Raises:
            StackError: The memory does not answer any more.
        """
        began = time.monotonic()
        self._bounds, self._ends = bounds, began + bounds.seconds
        self.probe()
        with _memory_answers():
            self._search()
        return SearchResult(
            sequences=self._sequences,
            calls=self._subject.calls,
            seconds=time.monotonic() - began,
            statuses=dict(self._subject.statuses),
            unserved=tuple(sorted(self._subject.unserved)),
            cases=tuple(self._cases),
        )

    def probe(self) -> None:
        """Find out what the memory does not serve.

        Raises:
            StackError: It does not answer.
        """
        with _memory_answers():
            self._subject.probe(f"search-{self._token}-probe")

    def _search(self) -> None:
        while not self._over():
            self._round(trial_seed(self._seed, "search-round", len(self._cases)))
            if self._shortest is None:
                break
            self._keep(self._shortest)
            self._shortest = None

    def play(
        self, statements: Sequence[Statement], moves: Sequence[Move]
    ) -> tuple[Player, Violation | None]:
        """Play a sequence once more, under names and nonces of its own.

        Returns:
            The playing as it ended, and the first rule that was broken.

        Raises:
            StackError: The memory does not answer any more.
        """
        with _memory_answers():
            return self._play(statements, moves, survey=True)

    def _play(
        self, statements: Sequence[Statement], moves: Sequence[Move], *, survey: bool
    ) -> tuple[Player, Violation | None]:
        number = self._next_playing()
        fresh = afresh(statements, moves, number)
        player = Player(self._subject, self._namespace(number))
        player.statements.extend(fresh[0])
        try:
            for move in fresh[1]:
                player.play(move)
            if survey:
                player.survey()
        except Found as found:
            return player, found.violation
        return player, None

    def _round(self, round_seed: int) -> None:
        """Let Hypothesis make sequences up until a rule is broken or a bound is reached."""
        chosen = settings(
            max_examples=max(1, self._bounds.sequences - self._sequences),
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            print_blob=False,
        )
        test = seed(round_seed)(get_state_machine_test(self._machine, settings=chosen))  # type: ignore[arg-type] # any callable that returns a machine will do
        try:
            test()
        except (_Over, MemoryGone):
            pass
        except (Found, HypothesisException, BaseExceptionGroup):
            # What was found was kept when it was seen; Hypothesis's own account adds nothing, and
            # that it was left, or that a memory answers differently each time, is no news.
            if self._shortest is None and not self._left and self._subject.gone is None:
                raise
        if self._subject.gone is not None:
            raise self._subject.gone

    def _machine(self) -> Adversary:
        """A machine for the next sequence; ends the round when a bound is reached."""
        if self._shortest is None:
            if self._over():
                self._left = True
                raise _Over
            self._sequences += 1
            if self._on_sequence is not None:
                self._on_sequence(self._sequences, len(self._cases))
        else:
            self._shrinks += 1
            late = time.monotonic() > self._shrink_ends
            if self._shrinks > _HYPOTHESIS_SHRINKS_MAX or late or self._stopping.is_set():
                self._left = True
                raise _Over
        number = self._next_playing()
        player = Player(self._subject, self._namespace(number))
        # While a find is made shorter, this is the sequence that it was found in.
        salt = trial_seed(self._seed, "search-salt", self._sequences)
        return Adversary(self._subject, player, seed=number, salt=salt, see=self._see)

    def _see(self, player: Player) -> None:
        """Take in a playing that broke a rule; the shortest one is kept."""
        assert player.violation is not None  # this is what it is called for
        trace = _Trace(
            sequence=self._sequences,
            statements=tuple(player.statements),
            moves=tuple(player.moves),
            answers=tuple(player.answers),
            violation=player.violation,
        )
        best = self._shortest
        if best is None:
            self._shrinks = 0
            self._shrink_ends = time.monotonic() + _HYPOTHESIS_SHRINK_SECONDS
            _log.info("search_found", sequence=self._sequences, rule=player.violation.kind.value)
        elif best.violation.kind is not trace.violation.kind or len(best.moves) < len(trace.moves):
            return
        self._shortest = trace

    def _keep(self, trace: _Trace) -> None:
        """Make a find as short as it can be, and keep it as a case."""
        kind = trace.violation.kind
        # Most finds show at once; then there is no need to look at everything at each try's end.
        late = not self._breaks(trace.statements, trace.moves, kind, survey=False)
        short = shortest(
            trace.moves,
            lambda moves: self._breaks(trace.statements, moves, kind, survey=late),
            tries_max=_TRIES_MAX,
            seconds=_TRY_SECONDS,
        )
        player, violation = self._play(trace.statements, short, survey=True)
        if violation is not None and violation.kind is kind:
            trace = _Trace(
                sequence=trace.sequence,
                statements=tuple(player.statements),
                moves=tuple(player.moves),
                answers=tuple(player.answers),
                violation=violation,
            )
        said = {one.nonce for one in trace.statements if said_in(one, trace.moves)}
        self._cases.append(
            Case(
                seed=self._seed,
                sequence=trace.sequence,
                memory=self._memory,
                revision=self._revision,
                statements=tuple(one for one in trace.statements if one.nonce in said),
                moves=trace.moves,
                answers=trace.answers,
                violation=trace.violation,
            )
        )
        self._subject.muted.add(kind)
        _log.info("search_case", rule=kind.value, moves=len(trace.moves), tries=self._playings)

    def _breaks(
        self,
        statements: Sequence[Statement],
        moves: Sequence[Move],
        kind: ViolationKind,
        *,
        survey: bool,
    ) -> bool:
        _, violation = self._play(statements, moves, survey=survey)
        return violation is not None and violation.kind is kind

    def _over(self) -> bool:
        return (
            self._stopping.is_set()
            or self._sequences >= self._bounds.sequences
            or len(self._cases) >= self._bounds.cases
            or time.monotonic() > self._ends
        )

    def _next_playing(self) -> int:
        """A seed that no other playing of this search has."""
        self._playings += 1
        return trial_seed(self._seed, f"search:{self._token}", self._playings)

    def _namespace(self, number: int) -> str:
        return f"search-{self._token}-{self._playings}-{number:08x}"


@contextmanager
def _memory_answers() -> Iterator[None]:
    """Makes a memory that is gone an error that says what to do."""
    try:
        yield
    except MemoryGone as gone:
        raise StackError(
            f"{gone}.",
            next_step="See the memory's log in the run folder; it ended, hangs or was killed.",
        ) from gone
