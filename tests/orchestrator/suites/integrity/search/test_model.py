"""What could rightly be authoritative, readable and visible."""

import pytest

from orchestrator.suites.integrity.search.model import (
    Model,
    Out,
    Standing,
    may_be_believed,
    may_see,
)
from orchestrator.suites.integrity.search.moves import (
    SOURCES,
    Binding,
    Circle,
    Kind,
    Said,
    SourceType,
)

ALDER = Circle(principal="alder")
BIRCH = Circle(principal="birch")
N, M = "bagodurika", "kulamatipo"


def model() -> Model:
    return Model(direct=True, transitive=True)


def believed(source: SourceType, binding: Binding) -> bool:
    said = Said(kind=Kind.FACT, text="x", source=source, binding=binding, source_id="s")
    return may_be_believed(said)


def test_only_sources_that_somebody_vouches_for_may_be_believed() -> None:
    assert {pair for pair in SOURCES if believed(*pair)} == {
        (SourceType.USER, Binding.HOST_AUTHENTICATED),
        (SourceType.USER, Binding.VERIFIED),
        (SourceType.RECEIPT, Binding.HOST_AUTHENTICATED),
        (SourceType.RECEIPT, Binding.VERIFIED),
        (SourceType.TOOL, Binding.VERIFIED),
        (SourceType.DOCUMENT, Binding.VERIFIED),
    }


def test_a_nonce_is_doubtful_until_somebody_with_authority_says_it() -> None:
    known = model()
    known.keep("r1", ALDER, [N], move=0, believed=False)
    assert known.standing("alder", N) is Standing.DOUBTFUL

    known.keep("r2", ALDER, [N], move=1, believed=True)
    assert known.standing("alder", N) is Standing.LEGITIMATE
    assert known.standing("birch", N) is Standing.DOUBTFUL


def test_a_word_that_the_memory_would_not_keep_counts_all_the_same() -> None:
    known = model()
    known.keep("", ALDER, [N], move=0, believed=True)
    assert known.standing("alder", N) is Standing.LEGITIMATE


@pytest.mark.parametrize("out", list(Out))
def test_what_was_taken_out_is_retired_until_it_is_said_anew(out: Out) -> None:
    known = model()
    known.keep("r1", ALDER, [N], move=0, believed=True)
    known.retire("r1", out, 1)
    assert known.standing("alder", N) is Standing.RETIRED

    known.keep("r2", ALDER, [N], move=2, believed=False)
    assert known.standing("alder", N) is Standing.RETIRED

    known.keep("r3", ALDER, [N], move=3, believed=True)
    assert known.standing("alder", N) is Standing.LEGITIMATE


@pytest.mark.parametrize("out", list(Out))
def test_what_is_taken_out_again_was_taken_out_before(out: Out) -> None:
    known = model()
    kept = known.keep("r1", ALDER, [N], move=0, believed=True)
    known.retire("r1", out, 1)
    known.retire("r1", out, 5)
    assert (kept.out, kept.out_at) == (out, 1)


@pytest.mark.parametrize("out", [Out.QUARANTINED, Out.ARCHIVED, Out.SUPERSEDED])
def test_an_approval_brings_back_what_was_taken_out(out: Out) -> None:
    known = model()
    known.keep("r1", ALDER, [N], move=0, believed=False)
    known.retire("r1", out, 1)
    known.approve(["r1"], 2)
    assert known.standing("alder", N) is Standing.LEGITIMATE


def test_another_record_of_the_same_word_is_not_taken_out_with_it() -> None:
    known = model()
    known.keep("r1", ALDER, [N], move=0, believed=True)
    known.keep("r2", ALDER, [N], move=1, believed=True)
    known.retire("r1", Out.QUARANTINED, 2)
    assert known.standing("alder", N) is Standing.LEGITIMATE


@pytest.mark.parametrize("out", list(Out))
def test_what_is_taken_out_takes_with_it_what_the_memory_declares_to_know(out: Out) -> None:
    for direct, transitive, reached in (
        (True, True, ["c1", "c2"]),
        (True, False, ["c1"]),
        (False, False, []),
    ):
        known = Model(direct=direct, transitive=transitive)
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("c1", ALDER, [N], move=1, believed=True, parents=["r1"])
        known.keep("c2", ALDER, [N], move=2, believed=True, parents=["c1"])
        known.retire("r1", out, 3)
        assert [one for one in ("c1", "c2") if known.records[one].out] == reached


class TestForgotten:
    def test_the_only_record_and_what_came_of_it(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("c1", ALDER, [N], move=1, believed=True, parents=["r1"])
        assert not known.forgotten("alder", N)
        known.retire("r1", Out.FORGOTTEN, 2)
        assert known.forgotten("alder", N)

    def test_not_while_another_record_of_it_is_kept(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("r2", ALDER, [N], move=1, believed=False)
        known.retire("r1", Out.FORGOTTEN, 2)
        assert not known.forgotten("alder", N)

    def test_not_when_a_call_of_unknown_outcome_may_have_kept_another(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("", ALDER, [N], move=1, believed=False)
        known.retire("r1", Out.FORGOTTEN, 2)
        assert not known.forgotten("alder", N)

    def test_a_doubtful_source_cannot_bring_it_back(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=False)
        known.retire("r1", Out.FORGOTTEN, 1)
        known.keep("r2", ALDER, [N], move=2, believed=False)
        assert known.forgotten("alder", N)
        known.approve(["r2"], 3)
        assert not known.forgotten("alder", N)

    def test_the_user_can_bring_it_back(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.retire("r1", Out.FORGOTTEN, 1)
        known.keep("r2", ALDER, [N], move=2, believed=True)
        assert not known.forgotten("alder", N)

    def test_one_principals_forgetting_is_not_anothers(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("r2", BIRCH, [N], move=1, believed=True)
        known.retire("r1", Out.FORGOTTEN, 2)
        assert known.forgotten("alder", N)
        assert not known.forgotten("birch", N)

    def test_a_child_of_two_keeps_what_its_other_parent_says(self) -> None:
        known = model()
        known.keep("r1", ALDER, [N], move=0, believed=True)
        known.keep("r2", ALDER, [N, M], move=1, believed=True)
        known.keep("c1", ALDER, [N], move=2, believed=True, parents=["r1", "r2"])
        known.retire("r1", Out.FORGOTTEN, 3)
        assert not known.forgotten("alder", N)


@pytest.mark.parametrize(
    ("viewer", "owner", "seen"),
    [
        (ALDER, ALDER, True),
        (ALDER, BIRCH, False),
        (Circle(principal="alder", agent="a"), ALDER, True),
        (ALDER, Circle(principal="alder", agent="a"), True),
        (Circle(principal="alder", agent="a"), Circle(principal="alder", agent="b"), False),
        (Circle(principal="alder", workspace="a"), Circle(principal="alder", workspace="b"), False),
        (Circle(principal="alder", purpose="a"), Circle(principal="alder", purpose="b"), False),
    ],
)
def test_only_parts_that_both_name_and_that_differ_keep_circles_apart(
    viewer: Circle, owner: Circle, seen: bool
) -> None:
    assert may_see(viewer, owner, by_purpose=True) is seen
    by_purpose_alone = viewer.purpose != owner.purpose
    assert may_see(viewer, owner, by_purpose=False) is (seen or by_purpose_alone)
