"""What some memory can have answered is accepted: both checkers beside the brute-force model."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.oracle.history import Verdict, check_history
from orchestrator.oracle.view import OperationView
from tests.orchestrator.oracle.brute_force import Ask, Clock, Rules
from tests.orchestrator.oracle.continuations import answers_to
from tests.orchestrator.oracle.test_against_brute_force import (
    draw_history,
    rules_and_clock,
    with_answer,
)
from tests.orchestrator.oracle.translation import OPERATION, call, clock_map, declared


def view_of(asks: tuple[Ask, ...], rules: Rules) -> OperationView:
    """The history as the checkers are given it."""
    return OperationView(OPERATION, tuple(call(at, ask, rules) for at, ask in enumerate(asks)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules_and_clock(), st.data())
def test_what_a_memory_can_have_answered_is_accepted(
    setting: tuple[Rules, Clock], data: st.DataObject
) -> None:
    """Calls overlap, are lost, reach a memory that dies; its clock is set forward and back."""
    rules, clock = setting
    for asks, probe in draw_history(data, rules, clock):
        for answer in answers_to(probe, asks, clock, rules, len(asks)):
            view = view_of((*asks, with_answer(probe, answer)), rules)
            result = check_history(view, clock_map(clock), declared(rules))
            assert result.verdict is Verdict.ACCEPTED, result.contradiction
