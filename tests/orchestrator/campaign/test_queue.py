"""What is still to be done: every piece is taken once, what fits a stack best first."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.campaign.queue import WorkQueue
from orchestrator.stacks import StackVariant
from tests.orchestrator.campaign.fakes import CONTROL, VENDOR, FakeJob, work

SUBJECTS = st.sampled_from((VENDOR, CONTROL, "control:null"))
LEASES = st.sampled_from((3, 120))
PIECES = st.lists(st.tuples(SUBJECTS, LEASES), max_size=12)


def test_a_lane_stays_with_its_stack_and_then_with_the_order_of_the_plan() -> None:
    pieces = [
        work(FakeJob("1"), subject=CONTROL),
        work(FakeJob("2"), lease_seconds=3),
        work(FakeJob("3"), subject=VENDOR),
        work(FakeJob("4"), subject=VENDOR),
    ]
    queue = WorkQueue(pieces)
    taken = [queue.take(VENDOR, 120) for _ in range(5)]
    assert taken == [pieces[2], pieces[3], pieces[0], pieces[1], None]


def test_what_is_given_back_is_taken_next_and_drained_like_the_rest() -> None:
    queue = WorkQueue([work(FakeJob("1")), work(FakeJob("2"))])
    first = queue.take(VENDOR, 120)
    assert first is not None
    queue.give_back(first)
    assert queue.take(VENDOR, 120) == first
    queue.give_back(first)
    assert [piece.jobs[0].name for piece in queue.drain()] == ["1", "2"]
    assert queue.drain() == []
    assert queue.take(VENDOR, 120) is None


@given(PIECES, st.lists(st.tuples(SUBJECTS, LEASES), max_size=20))
def test_no_piece_is_lost_or_done_twice(
    pieces: list[tuple[str, int]], lanes: list[tuple[str, int]]
) -> None:
    planned = [
        work(FakeJob(str(at)), subject=subject, lease_seconds=lease)
        for at, (subject, lease) in enumerate(pieces)
    ]
    queue = WorkQueue(planned)
    taken = []
    for subject, lease in lanes:
        piece = queue.take(subject, lease)
        if piece is None:
            break
        taken.append(piece.jobs[0].name)
        fits = [other for other in planned if other.jobs[0].name not in taken[:-1]]
        assert any(other.lease_seconds == lease for other in fits) == (piece.lease_seconds == lease)
    left = [piece.jobs[0].name for piece in queue.drain()]
    assert sorted(taken + left, key=int) == [str(at) for at in range(len(planned))]


def test_a_lane_stays_with_its_kind_of_stack_while_there_is_work_for_it() -> None:
    usual = work(FakeJob("1"))
    installed = replace(work(FakeJob("2"), subject=CONTROL), variant=StackVariant.INSTALLED)
    queue = WorkQueue([usual, installed])
    assert queue.take(VENDOR, 120, StackVariant.INSTALLED) == installed
    assert queue.take(VENDOR, 120, StackVariant.INSTALLED) == usual
