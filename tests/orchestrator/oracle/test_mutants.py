"""The comparison with the brute-force model would notice: each rule of the oracle, broken once."""

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.oracle import decisions, linearize, recordings
from orchestrator.oracle.moments import Moment, moments, moments_of
from orchestrator.oracle.zone import Zone
from tests.orchestrator.oracle.brute_force import Ask, Clock, Rules, reachable
from tests.orchestrator.oracle.test_against_brute_force import histories
from tests.orchestrator.oracle.translation import allowed, clock_map


def differs(rules: Rules, depth: int = 2) -> bool:
    """Whether some small history tells the broken oracle from the model."""
    return any(
        allowed(asks, probe, Clock(), rules) != reachable(asks, probe, Clock(), rules)
        for asks, probe in histories(depth, rules)
    )


QUERY = Rules(capability="query", max_uncertain=1)
KEYED = Rules(capability="idempotent", retention=9)
GRANTED = Ask("begin", 0, 0, ("EXECUTE", 1, "t0"))


@pytest.mark.parametrize(
    ("name", "rules"),
    [("_live", Rules()), ("_expired", Rules()), ("_expired", QUERY), ("_with_key", KEYED)],
)
def test_a_row_that_is_missing_is_noticed(
    name: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: Any) -> Iterator[Any]:
        return iter(())

    monkeypatch.setattr(decisions, name, nothing)
    assert differs(rules)


def test_a_key_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Zone.at_most

    def blind(zone: Zone, left: Any, right: Any, bound: int) -> Zone | None:
        is_key = (left.name, right.name) == ("NOW", "FIRST_GRANT")
        return zone if is_key else whole(zone, left, right, bound)

    monkeypatch.setattr(Zone, "at_most", blind)
    assert differs(Rules(capability="idempotent", retention=5))


def test_a_receipt_that_any_attempt_may_bring_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_bound", lambda *_: False)
    assert differs(Rules())


def test_a_pending_call_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearize.Explorer, "_after_taking", lambda *_: iter(()))
    assert differs(Rules())


def test_a_licence_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Ask("begin", 5, 5, ("QUERY", 1, "q1"), life="B", begin="b2")
    absent = Ask("query", 6, 6, ("OK", ""), attempt=1, token="q1", presence="ABSENT_FINAL")
    probe = Ask("begin", 7, 7, life="B", begin="b3")
    history = (GRANTED, asked, absent)
    assert allowed(history, probe, Clock(), QUERY) == {"EXECUTE(new)"}

    def unlicensed(*_: Any) -> Iterator[Any]:
        return iter(())

    monkeypatch.setattr(decisions, "_licensed", unlicensed)
    assert allowed(history, probe, Clock(), QUERY) != {"EXECUTE(new)"}


def test_a_clock_behind_its_mark_that_is_believed_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def believing(*arguments: Any, **named: Any) -> Iterator[Moment]:
        return (moment for moment in moments_of(*arguments, **named) if not moment.behind)

    clock = Clock(((0, 0), (3, -5)))
    late = Ask("begin", 4, 4, life="B", begin="b2")
    assert allowed((GRANTED,), late, clock, Rules()) == reachable((GRANTED,), late, clock, Rules())
    monkeypatch.setattr(decisions, "moments_of", believing)
    assert allowed((GRANTED,), late, clock, Rules()) != reachable((GRANTED,), late, clock, Rules())


def test_the_clock_never_returns_to_an_earlier_segment() -> None:
    clock = clock_map(Clock(((0, 0), (50, 5))))
    found = moments(Zone.everything(), 1, 0, 100, clock)
    assert {moment.segment for moment in found} == {1}
