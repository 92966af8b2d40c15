"""Zones say exactly what an enumeration of small integers says."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.oracle.zone import UNBOUNDED, Instant, Zone

USED = (Instant.POINT, Instant.NOW, Instant.MARK)
VALUES = range(5)

Constraint = tuple[Instant, Instant, int]

constraints = st.lists(
    st.tuples(
        st.sampled_from((Instant.ZERO, *USED)),
        st.sampled_from((Instant.ZERO, *USED)),
        st.integers(-4, 4),
    ).filter(lambda item: item[0] is not item[1]),
    max_size=6,
)


def boxed() -> Zone:
    zone: Zone | None = Zone.everything()
    for instant in USED:
        assert zone is not None
        zone = zone.within(instant, Instant.ZERO, VALUES.start, VALUES.stop - 1)
    assert zone is not None
    return zone


def solutions(wanted: list[Constraint]) -> list[dict[Instant, int]]:
    found = []
    for point in product(VALUES, repeat=len(USED)):
        values = dict(zip(USED, point, strict=True)) | {Instant.ZERO: 0}
        if all(values[left] - values[right] <= bound for left, right, bound in wanted):
            found.append(values)
    return found


def constrained(wanted: list[Constraint]) -> Zone | None:
    zone: Zone | None = boxed()
    for left, right, bound in wanted:
        zone = zone and zone.at_most(left, right, bound)
    return zone


@given(constraints)
def test_a_zone_is_empty_exactly_when_nothing_solves_it(wanted: list[Constraint]) -> None:
    assert (constrained(wanted) is None) == (not solutions(wanted))


@given(constraints)
def test_every_bound_is_the_tightest(wanted: list[Constraint]) -> None:
    zone, found = constrained(wanted), solutions(wanted)
    if zone is None:
        return
    for instant in USED:
        values = [solution[instant] for solution in found]
        assert zone.span(instant) == (min(values), max(values))


@given(constraints)
def test_forgetting_an_instant_is_a_projection(wanted: list[Constraint]) -> None:
    zone, found = constrained(wanted), solutions(wanted)
    if zone is None:
        return
    projected = zone.forget((Instant.NOW,))
    pairs = {(solution[Instant.POINT], solution[Instant.MARK]) for solution in found}
    for point, mark in product(VALUES, repeat=2):
        fixed = projected.within(Instant.POINT, Instant.ZERO, point, point)
        fixed = fixed and fixed.within(Instant.MARK, Instant.ZERO, mark, mark)
        assert (fixed is not None) == ((point, mark) in pairs)


@given(constraints, st.integers(-3, 3))
def test_assignment_moves_an_instant(wanted: list[Constraint], shift: int) -> None:
    zone = constrained(wanted)
    if zone is None:
        return
    low, high = zone.span(Instant.POINT)
    assert low is not None
    assert high is not None
    moved = zone.assign(Instant.NOW, Instant.POINT, shift)
    assert moved.span(Instant.NOW) == (low + shift, high + shift)
    assert moved.span(Instant.POINT) == (low, high)


def test_nothing_is_known_of_everything() -> None:
    assert Zone.everything().span(Instant.NOW) == (None, None)


def test_a_constraint_that_says_nothing_new_changes_nothing() -> None:
    zone = boxed()
    assert zone.at_most(Instant.NOW, Instant.ZERO, 99) is zone


def test_unbounded_stays_one_number() -> None:
    zone = Zone.everything().at_least(Instant.NOW, Instant.POINT, 1)
    assert zone is not None
    assert max(zone.bounds) == UNBOUNDED
    assert zone.forget((Instant.NOW,)) == Zone.everything()


def test_an_instant_cannot_be_assigned_to_itself() -> None:
    with pytest.raises(ValueError, match="itself"):
        boxed().assign(Instant.NOW, Instant.NOW, 1)
