"""Spans of a stack's journal, put together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.evidence.chains import BrokenLink, Segment, link_segments
from services.common.journal import ZERO_DIGEST


def digest(stack: str, sequence: int) -> str:
    return ZERO_DIGEST if sequence == 0 else f"{stack}-{sequence}"


def segment(stack: str, number: int, first: int, last: int, life: str = "") -> Segment:
    """A span whose digests are those of its stack's journal."""
    name = stack + life
    empty = last < first
    return Segment(
        batch_id=f"{name}{number}",
        stack_id=stack,
        first=first,
        last=last,
        previous_digest="" if empty else digest(name, first - 1),
        digest="" if empty else digest(name, last),
        trace_first=number * 100 + 1,
        trace_last=number * 100 + 99,
    )


@st.composite
def journals(draw: st.DrawFn) -> list[Segment]:
    """The spans of one to three stacks, in any order, some of them empty."""
    found = []
    for stack in draw(st.sampled_from(["a", "ab", "abc"])):
        last = 0
        for number, size in enumerate(draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))):
            found.append(segment(stack, number, last + 1, last + size))
            last += size
    return draw(st.permutations(found))


@given(journals())
def test_whole_journals_fit(segments: list[Segment]) -> None:
    assert link_segments(segments) == []


@given(journals(), st.data())
def test_a_span_that_is_gone_is_missed(segments: list[Segment], data: st.DataObject) -> None:
    """Any span but a stack's last one: that one is missed by its trials."""
    last = {
        one.stack_id: max(s.last for s in segments if s.stack_id == one.stack_id)
        for one in segments
    }
    inner = [one for one in segments if not one.empty and one.last < last[one.stack_id]]
    if not inner:
        return
    gone = data.draw(st.sampled_from(inner))
    assert link_segments([one for one in segments if one is not gone]) != []


@given(journals(), st.data())
def test_a_span_of_another_place_is_noticed(segments: list[Segment], data: st.DataObject) -> None:
    filled = [one for one in segments if not one.empty]
    if not filled:
        return
    moved = data.draw(st.sampled_from(filled))
    by = data.draw(st.sampled_from([-2, -1, 1, 2, 7]))
    changed = replace(moved, first=moved.first + by, last=moved.last + by)
    assert link_segments([changed if one is moved else one for one in segments]) != []


@given(journals(), st.data())
def test_another_digest_before_a_span_is_noticed(
    segments: list[Segment], data: st.DataObject
) -> None:
    filled = [one for one in segments if not one.empty]
    if not filled:
        return
    forged = data.draw(st.sampled_from(filled))
    changed = replace(forged, previous_digest="f" * 64)
    assert link_segments([changed if one is forged else one for one in segments]) != []


def test_what_does_not_fit_is_told() -> None:
    first, second, third = (segment("a", n, 3 * n + 1, 3 * n + 3) for n in range(3))
    assert link_segments([first, third]) == [
        BrokenLink("a2", "records 4 to 6 of stack a are missing")
    ]
    assert link_segments([second]) == [BrokenLink("a1", "records 1 to 3 of stack a are missing")]
    overlapping = replace(second, first=3, previous_digest=digest("a", 2))
    assert link_segments([first, overlapping]) == [
        BrokenLink("a1", "its records from 3 on overlap those of a0")
    ]
    forged = replace(second, previous_digest="0")
    assert link_segments([first, forged]) == [
        BrokenLink("a1", "it does not go on with the digest, or from the one place, where a0 ends")
    ]
    assert link_segments([replace(first, previous_digest="1" * 64)]) == [
        BrokenLink("a0", "the journal of its stack begins with another digest than an empty one's")
    ]
    late = segment("a", 3, 9, 8)
    assert link_segments([first, late]) == [
        BrokenLink("a3", "its empty span stands after sequence 8, where no batch ends")
    ]
    mixed = replace(second, trace_first=50)
    assert link_segments([first, mixed]) == [
        BrokenLink("a1", "its trace begins at 50, and that of batch a0 before it ends at 99")
    ]


@pytest.mark.parametrize("other", ["a", "b"])
def test_a_resumed_run_begins_a_journal_again_under_the_same_name(other: str) -> None:
    before = [segment("a", 0, 1, 3), segment("a", 1, 4, 6)]
    after = [segment("a", 0, 1, 2, life=other), segment("a", 1, 3, 9, life=other)]
    assert link_segments([*after, *before]) == []


def test_two_batches_cannot_go_on_from_one_place() -> None:
    first, second = segment("a", 0, 1, 3), segment("a", 1, 4, 6)
    twin = replace(second, batch_id="twin")
    (broken,) = link_segments([first, second, twin])
    assert broken.batch_id == "twin"
