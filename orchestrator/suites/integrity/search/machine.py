"""The rules by which sequences are made up (Hypothesis, rule-based).

Each sequence takes a part of the rules, of the circles, kinds and sources only (swarm testing,
Groce et al. 2012): what many features at once would cover up shows in a sequence that has few. Most
rules build on what is there, the latest first, and may repeat themselves up to twelve times. No
draw depends on what the memory answers, so that Hypothesis can play any sequence again.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from orchestrator.suites.integrity.search.attacks import Attacks
from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.dice import DICE_MAX, Dice
from orchestrator.suites.integrity.search.player import Player

__all__ = ["STEPS", "Adversary"]

STEPS = 11
"""Rules in one sequence; each is one call or up to some dozens."""

_NUMBERS = st.integers(0, DICE_MAX)


class Adversary(RuleBasedStateMachine):
    """Makes one sequence up, on one memory.

    Args:
        subject: The memory.
        player: This playing's.
        seed: This playing's.
        salt: Stirred into all draws: Hypothesis likes to play a sequence again with one change,
            and a search has no use for that. A find is played again with the salt that it had.
        see: Told of the playing when it broke a rule.
    """

    def __init__(
        self,
        subject: Subject,
        player: Player,
        *,
        seed: int,
        salt: int,
        see: Callable[[Player], None],
    ) -> None:
        super().__init__()
        self._subject = subject
        self._player = player
        self._see = see
        self._salt = salt
        self._attacks = Attacks(subject, player, seed)

    @initialize(number=_NUMBERS)
    def begin(self, number: int) -> None:
        """What this sequence is about; and something to build on."""
        self._attacks.begin(self._dice(number))

    @rule(number=_NUMBERS)
    def user_says(self, number: int) -> None:
        """The authenticated user says something of his own."""
        self._attacks.user_says(self._dice(number))

    @rule(number=_NUMBERS)
    def somebody_says(self, number: int) -> None:
        """Somebody who must not be believed says something new, perhaps often."""
        self._attacks.somebody_says(self._dice(number))

    @rule(number=_NUMBERS)
    def somebody_repeats(self, number: int) -> None:
        """What is known is said again by somebody who must not be believed."""
        self._attacks.somebody_repeats(self._dice(number))

    @rule(number=_NUMBERS)
    def user_repeats(self, number: int) -> None:
        """The authenticated user says himself what is known."""
        self._attacks.user_repeats(self._dice(number))

    @precondition(lambda self: self._subject.serves("Derive"))
    @rule(number=_NUMBERS)
    def agent_derives(self, number: int) -> None:
        """Something is made out of what is known: out of what it names, or out of other words."""
        self._attacks.agent_derives(self._dice(number))

    @precondition(lambda self: self._subject.serves("Derive"))
    @rule(number=_NUMBERS)
    def agent_hides_a_parent(self, number: int) -> None:
        """Words of one record, in the name of something harmless that the user said."""
        self._attacks.agent_hides_a_parent(self._dice(number))

    @rule(number=_NUMBERS)
    def recalled_comes_again(self, number: int) -> None:
        """What the memory itself returned is given back to it, as something new."""
        self._attacks.recalled_comes_again(self._dice(number))

    @precondition(lambda self: self._subject.serves("RecordOutcome"))
    @rule(number=_NUMBERS)
    def outcome_is_recorded(self, number: int) -> None:
        """A record is said to have helped, perhaps often."""
        self._attacks.outcome_is_recorded(self._dice(number))

    @precondition(lambda self: self._subject.serves("Supersede"))
    @rule(number=_NUMBERS)
    def record_is_superseded(self, number: int) -> None:
        """Another text takes a record's place: by the user, or by somebody else."""
        self._attacks.record_is_superseded(self._dice(number))

    @rule(number=_NUMBERS)
    def record_is_retired(self, number: int) -> None:
        """A record is taken out."""
        self._attacks.record_is_retired(self._dice(number))

    @rule(number=_NUMBERS)
    def retired_comes_again(self, number: int) -> None:
        """What was taken out is brought back by somebody who cannot do that."""
        self._attacks.retired_comes_again(self._dice(number))

    @rule(number=_NUMBERS)
    def life_of_a_word(self, number: int) -> None:
        """Something is said, used, taken out, and brought back, in one go."""
        self._attacks.life_of_a_word(self._dice(number))

    @precondition(lambda self: self._subject.serves("RequestReview", "DecideReview"))
    @rule(number=_NUMBERS)
    def review_is_held(self, number: int) -> None:
        """A review is asked for and answered, rightly or wrongly; or is left for later."""
        self._attacks.review_is_held(self._dice(number))

    @precondition(lambda self: self._subject.serves("RequestReview", "DecideReview"))
    @rule(number=_NUMBERS)
    def review_is_answered(self, number: int) -> None:
        """A challenge of before is answered now: anew, or for the first time."""
        self._attacks.review_is_answered(self._dice(number))

    @precondition(lambda self: self._subject.serves("RequestReview", "DecideReview"))
    @rule(number=_NUMBERS)
    def review_is_signed_late(self, number: int) -> None:
        """A proper approval comes, or comes again, when its record is not what it was."""
        self._attacks.review_is_signed_late(self._dice(number))

    @rule(number=_NUMBERS)
    def somebody_asks(self, number: int) -> None:
        """The same question, perhaps often: asking must change nothing."""
        self._attacks.somebody_asks(self._dice(number))

    @precondition(lambda self: self._subject.restart is not None)
    @rule()
    def memory_restarts(self) -> None:
        """The memory dies and comes back."""
        self._attacks.memory_restarts()

    def teardown(self) -> None:
        """Look at everything, when the sequence came to its end."""
        try:
            if self._player.violation is None:
                self._player.survey()
        finally:
            if self._player.violation is not None:
                self._see(self._player)

    def _dice(self, number: int) -> Dice:
        return Dice(number, self._salt)
