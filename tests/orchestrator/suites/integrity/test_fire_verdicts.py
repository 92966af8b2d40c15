"""Whole, half or absent: what two looks at a changed subject come to."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import OK, UNANSWERED, Phase
from orchestrator.suites.integrity.categories.fire.verdicts import (
    REFUSED,
    after_change,
    lost,
    of_struck,
)
from orchestrator.suites.integrity.categories.fire.views import Seen, View

NOTHING = View(frozenset(), frozenset())
OLD = Seen(
    surface="authoritative",
    role="statement",
    authoritative=True,
    state=memory_pb2.RECORD_STATE_ACTIVE,
    trust=memory_pb2.TRUST_TRUSTED,
    taints=(),
    whole=True,
    ancestors=0,
)
NEW = replace(OLD, role="update")
PAST = replace(
    OLD, surface="evidence", authoritative=False, state=memory_pb2.RECORD_STATE_SUPERSEDED
)

SEEN = st.builds(
    Seen,
    surface=st.sampled_from(["authoritative", "evidence", "procedures"]),
    role=st.sampled_from(["statement", "update", "summary"]),
    authoritative=st.booleans(),
    state=st.sampled_from([memory_pb2.RECORD_STATE_ACTIVE, memory_pb2.RECORD_STATE_QUARANTINED]),
    trust=st.just(memory_pb2.TRUST_TRUSTED),
    taints=st.sampled_from([(), ("agent_generated",)]),
    whole=st.booleans(),
    ancestors=st.integers(0, 2),
)
VIEWS = st.builds(
    View,
    entries=st.frozensets(st.tuples(st.sampled_from(["r1", "r2", "r3"]), SEEN), max_size=4),
    named=st.sampled_from([frozenset[str](), frozenset({"index"})]),
)
STATUSES = st.sampled_from([OK, UNANSWERED, "UNAVAILABLE", *sorted(REFUSED)])
PHASES = st.sampled_from([None, *Phase])


def view(*seen: Seen, prefix: str = "r", named: bool = True) -> View:
    entries = frozenset((f"{prefix}{number}", one) for number, one in enumerate(seen))
    return View(entries, frozenset({"index"} if named else ()))


BEFORE = view(OLD)
WHOLE = view(PAST, NEW, prefix="other")
HALF = view(OLD, NEW)


@pytest.mark.parametrize("phase", [None, Phase.RESPONSE, Phase.UNDERWAY])
@pytest.mark.parametrize("status", [UNANSWERED, "UNAVAILABLE", "INTERNAL"])
def test_what_is_open_is_whole_or_absent_and_never_half(status: str, phase: Phase | None) -> None:
    made = view(PAST, NEW)

    assert of_struck(status, phase, BEFORE, WHOLE, BEFORE) == (False, "")
    assert of_struck(status, phase, BEFORE, WHOLE, made) == (True, "")
    whole, wrong = of_struck(status, phase, BEFORE, WHOLE, HALF)
    assert not whole
    assert wrong.startswith("half made: to what was before it has update on authoritative")
    assert "to a whole one it has statement on authoritative (active, authoritative)" in wrong


def test_what_was_acknowledged_is_whole() -> None:
    assert of_struck(OK, Phase.UNDERWAY, BEFORE, WHOLE, view(PAST, NEW)) == (True, "")
    for less in (BEFORE, HALF, NOTHING):
        assert of_struck(OK, None, BEFORE, WHOLE, less)[1].startswith("acknowledged")


@pytest.mark.parametrize("status", sorted(REFUSED))
def test_what_was_refused_or_never_seen_is_absent(status: str) -> None:
    made = view(PAST, NEW)

    assert of_struck(status, Phase.UNDERWAY, BEFORE, WHOLE, BEFORE) == (False, "")
    assert of_struck(status, Phase.UNDERWAY, BEFORE, WHOLE, made)[1].startswith("refused")
    assert of_struck(UNANSWERED, Phase.REQUEST, BEFORE, WHOLE, BEFORE) == (False, "")
    assert of_struck(UNANSWERED, Phase.REQUEST, BEFORE, WHOLE, made)[1].startswith("never seen")


@pytest.mark.parametrize(
    "half",
    [
        replace(NEW, taints=("agent_generated",)),
        replace(NEW, authoritative=False),
        replace(NEW, whole=False),
        replace(NEW, ancestors=1),
        replace(NEW, state=memory_pb2.RECORD_STATE_QUARANTINED),
    ],
    ids=["taints", "authority", "text", "lineage", "state"],
)
def test_every_part_of_a_record_has_to_be_there(half: Seen) -> None:
    assert of_struck(UNANSWERED, None, BEFORE, WHOLE, view(PAST, half))[1]


def test_an_index_entry_without_its_record_is_half_a_change() -> None:
    gone, left = view(named=False), view(named=True)

    assert of_struck(UNANSWERED, None, BEFORE, gone, gone) == (True, "")
    assert of_struck(UNANSWERED, None, BEFORE, gone, left)[1]
    assert lost(gone, left).endswith("has its words on surface index, lacks nothing")


def test_an_acknowledged_change_keeps_its_records_and_their_ids() -> None:
    assert lost(WHOLE, WHOLE) == ""
    assert lost(WHOLE, view(PAST, NEW, prefix="new")) != ""
    assert lost(WHOLE, BEFORE) != ""


def test_asked_for_again_a_change_is_made_once_and_gives_no_more_authority() -> None:
    twice = View(frozenset({("r0", PAST), ("r1", NEW), ("r2", NEW)}), frozenset({"index"}))

    assert after_change(BEFORE, WHOLE, view(PAST, NEW)) == ("", "")
    assert after_change(BEFORE, WHOLE, twice) == ("", "")
    unsafe, useless = after_change(BEFORE, WHOLE, HALF)
    assert unsafe
    assert not useless
    unsafe, useless = after_change(BEFORE, WHOLE, BEFORE)
    assert not unsafe
    assert useless


@given(STATUSES, PHASES, VIEWS, VIEWS, VIEWS)
def test_only_what_was_before_or_a_whole_change_is_right(
    status: str, phase: Phase | None, before: View, whole: View, now: View
) -> None:
    made, wrong = of_struck(status, phase, before, whole, now)

    if not wrong:
        assert now == before or now.shape == whole.shape
    if now not in (before, whole) and now.shape != whole.shape:
        assert wrong
    assert not (made and wrong) or status in REFUSED or phase is Phase.REQUEST


@given(VIEWS, VIEWS)
def test_an_undisturbed_look_is_never_blamed(before: View, whole: View) -> None:
    assert lost(whole, whole) == ""
    assert of_struck(OK, None, before, whole, whole)[1] == ""
    assert of_struck(UNANSWERED, Phase.REQUEST, before, whole, before) == (False, "")
    assert after_change(before, whole, whole) == ("", "")
