"""The oracle's allowed set is exactly what a memory that really runs can answer (DESIGN §6)."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.orchestrator.oracle.brute_force import Ask, Clock, Rules, reachable
from tests.orchestrator.oracle.continuations import answers_to
from tests.orchestrator.oracle.translation import allowed, uncertain_map

LEASE = 4
RULES = (
    Rules(capability="none"),
    Rules(capability="query", max_uncertain=1),
    Rules(capability="query", question=2),
    Rules(capability="query", final=False, replay=False),
    Rules(capability="idempotent", retention=9),
    Rules(capability="idempotent", retention=9, margin=2),
    Rules(capability="idempotent", retention=5),
)
STEPS = ((1, 0), (LEASE - 1, 1), (LEASE, 2))
"""(ticks since the call before, ticks that the call can have taken): live, straddling, expired."""


def next_asks(asks: tuple[Ask, ...]) -> list[dict[str, object]]:
    """Everything that a host can sensibly, or wrongly, ask next."""
    grants = [
        (ask.answer[1], ask.answer[2], ask.life)
        for ask in asks
        if ask.answer and ask.answer[0] == "EXECUTE"
    ]
    tickets = [
        (ask.answer[1], ask.answer[2]) for ask in asks if ask.answer and ask.answer[0] == "QUERY"
    ]
    found: list[dict[str, object]] = [
        {"what": "begin"},
        {"what": "begin", "begin": "b2"},
        {"what": "begin", "life": "B", "begin": "b3"},
        {"what": "begin", "life": "B", "begin": "b4", "variant": 1},
    ]
    for attempt, token, life in grants[-2:]:
        found.append({"what": "receipt", "attempt": attempt, "token": token, "life": life})
    for attempt, _, life in grants[-1:]:
        found.append({"what": "receipt", "attempt": attempt, "token": "wrong", "life": life})
        found += [
            {"what": "resolve", "word": word} for word in ("happened", "did_not_happen", "abandon")
        ]
    for attempt, ticket in tickets[-2:]:
        found += [
            {"what": "query", "attempt": attempt, "token": ticket, "presence": presence}
            for presence in ("PRESENT", "ABSENT_FINAL", "ABSENT_UNCERTAIN", "UNKNOWN")
        ]
    return found


def ask_of(start: int, stop: int, fields: dict[str, object]) -> Ask:
    """An Ask with some fields set."""
    return Ask(**{"start": start, "stop": stop, **fields})  # type: ignore[arg-type]  # by name


def with_answer(ask: Ask, answer: tuple[object, ...] | None, stop: int | None = None) -> Ask:
    """The same Ask, answered, or never answered and open until `stop`."""
    return Ask(**{**ask.__dict__, "answer": answer, "stop": ask.stop if stop is None else stop})


def histories(depth: int, rules: Rules) -> Iterator[tuple[tuple[Ask, ...], Ask]]:
    """Every history of up to `depth` calls over a small alphabet, and the call it ends with."""
    todo: list[tuple[tuple[Ask, ...], int]] = [((), 0)]
    while todo:
        asks, tick = todo.pop()
        for fields in next_asks(asks):
            for gap, width in STEPS:
                probe = ask_of(tick + gap, tick + gap + width, fields)
                yield asks, probe
                if len(asks) + 1 >= depth:
                    continue
                todo.append(((*asks, with_answer(probe, None, probe.stop + 2)), probe.stop))
                todo.extend(
                    ((*asks, with_answer(probe, answer)), probe.stop)
                    for answer in answers_to(probe, asks, Clock(), rules, len(asks))
                )


def check_all(depth: int, rules: Rules) -> int:
    """Compares every history; returns how many there were."""
    count = 0
    for asks, probe in histories(depth, rules):
        expected = reachable(asks, probe, Clock(), rules)
        assert allowed(asks, probe, Clock(), rules) == expected, (asks, probe)
        count += 1
    return count


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_history_of_two_calls(rules: Rules) -> None:
    assert check_all(2, rules) >= 500


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_every_history_of_three_calls(rules: Rules) -> None:
    assert check_all(3, rules) >= 25_000


@st.composite
def rules_and_clock(draw: st.DrawFn) -> tuple[Rules, Clock]:
    """A declaration and a clock that may be set forward or back, twice."""
    rules = Rules(
        capability=draw(st.sampled_from(["none", "query", "idempotent"])),
        retention=draw(st.sampled_from([4, 5, 7, 9, 12])),
        margin=draw(st.sampled_from([0, 2])),
        replay=draw(st.booleans()),
        final=draw(st.booleans()),
        max_uncertain=draw(st.integers(1, 3)),
        question=draw(st.sampled_from([0, 2, 5])),
    )
    offsets = [(0, draw(st.integers(0, 5)))]
    for low, high in draw(st.sampled_from([(), ((1, 9),), ((1, 6), (7, 12))])):
        offsets.append((draw(st.integers(low, high)), draw(st.integers(-8, 9))))
    return rules, Clock(tuple(offsets))


def draw_history(
    data: st.DataObject, rules: Rules, clock: Clock
) -> Iterator[tuple[tuple[Ask, ...], Ask]]:
    """Histories of up to four calls that overlap, are late or never answered, call by call."""
    asks: tuple[Ask, ...] = ()
    tick = 0
    for _ in range(data.draw(st.integers(1, 4), label="calls")):
        fields = dict(data.draw(st.sampled_from(next_asks(asks)), label="ask"))
        if fields["what"] == "begin":
            fields["life"] = data.draw(st.sampled_from("AB"), label="life")
            fields["begin"] = data.draw(st.sampled_from(["b1", "b2"]), label="begin")
        start = max(0, tick + data.draw(st.sampled_from([-3, -1, 0, 1, 3, 4, 5]), label="gap"))
        answered = [ask.stop for ask in asks if ask.answer is not None]
        stop = max([start + data.draw(st.integers(0, 4), label="width"), *answered])
        probe = ask_of(min(start, stop), stop, fields)
        yield asks, probe
        answers = answers_to(probe, asks, clock, rules, len(asks))
        chosen = data.draw(st.sampled_from([None, *answers]), label="answer")
        if chosen is None:
            late = data.draw(st.sampled_from([0, 2, 6]), label="late")
            asks = (*asks, with_answer(probe, None, stop + late))
        else:
            asks = (*asks, with_answer(probe, chosen))
        tick = stop


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules_and_clock(), st.data())
def test_histories_that_overlap_under_a_clock_that_is_set(
    setting: tuple[Rules, Clock], data: st.DataObject
) -> None:
    rules, clock = setting
    for asks, probe in draw_history(data, rules, clock):
        expected = reachable(asks, probe, clock, rules)
        assert allowed(asks, probe, clock, rules) == expected


@pytest.mark.parametrize("what", ["begin", "receipt"])
def test_an_answered_call_that_changes_nothing_does_not_wait_for_an_unanswered_one(
    what: str,
) -> None:
    granted = Ask("begin", 0, 3, answer=("EXECUTE", 1, "t0"))
    silent = ask_of(0, 6, {"what": what, "begin": "b2", "attempt": 1, "token": "t0"})
    probe = ask_of(0, 6, {"what": what, "begin": "b3", "attempt": 1, "token": "t0"})
    for rules in RULES:
        alone = allowed((granted,), probe, Clock(), rules)
        beside = allowed((granted, with_answer(silent, None)), probe, Clock(), rules)
        assert beside == reachable((granted, with_answer(silent, None)), probe, Clock(), rules)
        assert alone <= beside


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules_and_clock(), st.integers(-8, 9), st.integers(1, 6), st.integers(0, 4), st.data())
def test_a_clock_that_was_set_nobody_knows_when_forbids_nothing_that_can_be(
    setting: tuple[Rules, Clock], later: int, first: int, width: int, data: st.DataObject
) -> None:
    rules = setting[0]
    last = first + width
    known = uncertain_map(0, later, first, last)
    clock = Clock(((0, 0), (data.draw(st.integers(first, last), label="set at"), later)))
    for asks, probe in draw_history(data, rules, clock):
        assert allowed(asks, probe, known, rules) >= reachable(asks, probe, clock, rules)
