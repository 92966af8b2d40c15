"""A found sequence loses whatever it does not need."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.search.moves import (
    Ask,
    Binding,
    Circle,
    Decide,
    Derive,
    Kind,
    Manner,
    Move,
    Said,
    SourceType,
    Write,
    made_by,
)
from orchestrator.suites.integrity.search.shrinking import closed, shortest

ALDER = Circle(principal="alder")


def write(name: str, *, labels: tuple[str, ...] = ()) -> Write:
    said = Said(
        kind=Kind.FACT,
        text=name,
        source=SourceType.AGENT,
        binding=Binding.CALLER_ASSERTED,
        source_id="a",
        labels=labels,
    )
    return Write(makes=name, circle=ALDER, said=said)


def derive(name: str, *parents: str) -> Derive:
    return Derive(
        makes=name, circle=ALDER, kind=Kind.FACT, parents=parents, text=name, method="merge"
    )


def shrunk(moves: tuple[Move, ...], needed: set[str], tries_max: int = 10_000) -> list[str]:
    def holds(tried: tuple[Move, ...]) -> bool:
        return needed <= {made_by(move) for move in tried}

    return [made_by(move) for move in shortest(moves, holds, tries_max=tries_max, seconds=60.0)]


@given(st.sets(st.integers(0, 39)))
def test_exactly_what_is_needed_is_left(numbers: set[int]) -> None:
    moves = tuple(write(f"r{number}") for number in range(40))
    needed = {f"r{number}" for number in numbers} or {"r0"}
    assert set(shrunk(moves, needed)) == needed


def test_what_a_move_refers_to_stays_with_it() -> None:
    moves = (write("r1"), write("r2"), derive("d1", "r1"), derive("d2", "d1"), write("r3"))
    assert shrunk(moves, {"d2"}) == ["r1", "d1", "d2"]


def test_parents_and_labels_without_a_part_go() -> None:
    moves = (write("r1", labels=("admin",)), write("r2"), derive("d1", "r1", "r2"))
    found = shortest(
        moves, lambda tried: "d1" in {made_by(one) for one in tried}, tries_max=99, seconds=60.0
    )
    assert len(found) == 2
    assert isinstance(found[0], Write)
    assert found[0].said.labels == ()
    assert isinstance(found[1], Derive)
    assert found[1].parents == (found[0].makes,)


def test_a_challenge_that_was_not_answered_with_goes() -> None:
    asks = [Ask(makes=name, circle=ALDER, records=("r1",), action="promote") for name in "cd"]
    decide = Decide(circle=ALDER, challenge="d", approve=True, manner=Manner.SIGNED, other="c")
    found = shortest(
        (write("r1"), *asks, decide),
        lambda tried: isinstance(tried[-1], Decide) and tried[-1].challenge == "d",
        tries_max=99,
        seconds=60.0,
    )
    assert found == (write("r1"), asks[1], decide.model_copy(update={"other": ""}))


def test_tries_are_bounded() -> None:
    tried = 0

    def holds(moves: tuple[Move, ...]) -> bool:
        nonlocal tried
        tried += 1
        return "r39" in {made_by(move) for move in moves}

    moves = tuple(write(f"r{number}") for number in range(40))
    found = shortest(moves, holds, tries_max=3, seconds=60.0)
    assert tried == 3
    assert made_by(found[-1]) == "r39"


def test_moves_about_what_was_left_out_are_left_out() -> None:
    ask = Ask(makes="c1", circle=ALDER, records=("r1",), action="promote")
    decide = Decide(circle=ALDER, challenge="c1", approve=True, manner=Manner.SIGNED)
    assert closed((write("r2"), ask, decide)) == (write("r2"),)
    assert closed((write("r1"), ask, decide)) == (write("r1"), ask, decide)
