"""The search finds what is wrong, says it shortly, and says nothing of what is right."""

import threading
from pathlib import Path

import grpc
import pytest

from memqual.v1 import memory_pb2_grpc, vendor_pb2
from orchestrator.errors import StackError
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.engine import Bounds, Search
from orchestrator.suites.integrity.search.moves import (
    Ask,
    Binding,
    Case,
    Circle,
    Decide,
    Derive,
    Kind,
    Manner,
    Said,
    SourceType,
    Supersede,
    Write,
)
from orchestrator.suites.integrity.search.replaying import replay
from orchestrator.suites.integrity.search.signing import Signers
from orchestrator.suites.integrity.search.texts import new_statement
from services.controls.registry import FLAWS as CONTROLS
from services.memory.records.policy import Policy
from tests.orchestrator.suites.integrity.memories import SmallMemory, WithoutMemory, serve
from tests.orchestrator.suites.integrity.search.flaws import FLAWS
from tests.orchestrator.suites.integrity.search.searched import (
    Factory,
    search,
    searched,
    with_policy,
)

SEED = 20260922
SEQUENCES_MAX = 2_000
RIGHT = with_policy(Policy())

# Quick to find: what the default tests can afford.
PLAIN = {
    "HostVouchesForPages": {("authority", 1)},
    # Seven times what nobody said, or seven times what was said once and taken out.
    "TrustsTheSeventhTime": {("authority", 7), ("retired", 8), ("retired", 9)},
}
# Flaws of authority, taint, lifecycle, scope and reviews that others planted for the categories.
PLANTED = (
    "acts_on_summaries",
    "any_key_decides",
    "any_scope_decides",
    "approves_labels",
    "approves_unknown_keys",
    "archived_stays_in_force",
    "believes_assistants",
    "believes_praised_stories",
    "counts_voices",
    "derives_from_ended",
    "ends_without_children",
    "follows_no_text",
    "forget_spares_children",
    "forgets_taints",
    "grafts_extractions",
    "inspects_anybody",
    "mixes_agents",
    "mixes_purposes",
    "mixes_workspaces",
    "never_looks_again",
    "outcomes_promote",
    "outcomes_wash",
    "outvotes_tainted_parents",
    "quarantine_spares_children",
    "rejection_approves",
    "replays_approvals",
    "rewriting_revives",
    "shows_closer_pages",
    "superseded_stays_in_force",
    "taints_one_generation",
    "takes_other_actions",
    "takes_other_decisions",
    "takes_other_records",
    "takes_stale_signatures",
    "trusts_label",
    "trusts_successors",
    "trusts_tools_that_agree",
)


def found_in(folder: Path, factory: Factory, *, sequences: int, seed: int = SEED) -> Case:
    """The first case of a search."""
    result = search(folder, factory, seed=seed, sequences=sequences)
    assert len(result.cases) == 1
    return result.cases[0]


@pytest.mark.parametrize("flaw", sorted(PLAIN))
def test_a_plain_flaw_is_found_and_told_in_as_few_calls_as_it_takes(
    flaw: str, tmp_path: Path
) -> None:
    case = found_in(tmp_path, FLAWS[flaw], sequences=200)

    assert (case.violation.kind.value, len(case.moves)) in PLAIN[flaw]
    assert len(case.answers) == len(case.moves)
    assert any(isinstance(move, Write) for move in case.moves)
    assert len(case.statements) == 1
    assert Case.model_validate_json(case.model_dump_json()) == case


def test_the_reference_breaks_no_rule(tmp_path: Path) -> None:
    result = search(tmp_path, RIGHT, seed=SEED, sequences=20)

    assert result.cases == ()
    assert result.sequences == 20
    assert result.calls > 1_000


def test_one_seed_finds_one_case_that_breaks_its_rule_again_and_a_right_memory_goes_another_way(
    tmp_path: Path,
) -> None:
    flaw = FLAWS["HostVouchesForPages"]
    for name in ("found", "same", "again", "right"):
        (tmp_path / name).mkdir()
    case = found_in(tmp_path / "found", flaw, sequences=100)
    same = found_in(tmp_path / "same", flaw, sequences=100)
    assert same.sequence == case.sequence
    assert same.violation.kind is case.violation.kind
    assert len(same.moves) == len(case.moves) == 1

    with searched(tmp_path / "again", flaw) as subject:
        again = replay(Search(subject, seed=1, token="again"), case)
    with searched(tmp_path / "right", RIGHT) as subject:
        right = replay(Search(subject, seed=1, token="right"), case)

    assert again.same
    assert again.divergence == ""
    assert right.violation is None
    assert not right.same
    assert right.divergence.startswith("move 1 (write): active before, quarantined now")


def test_a_successor_with_the_same_words_need_not_end_what_a_reviewer_was_asked_about(
    tmp_path: Path,
) -> None:
    circle = Circle(principal="user-alder")
    said = new_statement(SEED, 0, 0, Kind.FACT, doubtful=True)
    by_tool, by_user = (
        Said(kind=Kind.FACT, text=said.text, source=source, binding=binding, source_id="s")
        for source, binding in (
            (SourceType.TOOL, Binding.CALLER_ASSERTED),
            (SourceType.USER, Binding.HOST_AUTHENTICATED),
        )
    )
    moves = (
        Write(makes="r", circle=circle, said=by_tool),
        Ask(makes="c", circle=circle, records=("r",), action="promote"),
        Supersede(makes="s", circle=circle, of="r", said=by_user),
        Decide(circle=circle, challenge="c", approve=True, manner=Manner.SIGNED),
    )
    with searched(tmp_path, RIGHT) as subject:
        player, violation = Search(subject, seed=1, token="t").play([said], moves)

    assert player.answers == ["quarantined", "OK", "active", "OK"]
    assert violation is None


def test_a_child_that_a_reviewer_approved_may_be_made_again_without_its_parents_taints(
    tmp_path: Path,
) -> None:
    circle = Circle(principal="user-alder")
    stated = new_statement(SEED, 0, 0, Kind.FACT, doubtful=True)
    said = Said(
        kind=Kind.EPISODE,
        text=stated.text,
        source=SourceType.AGENT,
        binding=Binding.VERIFIED,
        source_id="s",
    )
    child = Derive(
        makes="d", circle=circle, kind=Kind.FACT, parents=("r",), text=stated.text, method="merge"
    )
    moves = (
        Write(makes="r", circle=circle, said=said),
        child,
        Ask(makes="c", circle=circle, records=("d",), action="promote"),
        Decide(circle=circle, challenge="c", approve=True, manner=Manner.SIGNED),
        child.model_copy(update={"makes": "e"}),
    )
    with searched(tmp_path, RIGHT) as subject:
        player, violation = Search(subject, seed=1, token="t").play([stated], moves)

    assert player.answers == ["quarantined", "quarantined", "OK", "OK", "active"]
    assert violation is None


def test_each_rule_is_told_once(tmp_path: Path) -> None:
    result = search(tmp_path, FLAWS["TrustsMerge"], seed=SEED, sequences=60, cases=3)

    kinds = [case.violation.kind for case in result.cases]
    assert len(kinds) >= 2
    assert len(set(kinds)) == len(kinds)


def test_a_search_that_is_stopped_ends(tmp_path: Path) -> None:
    stopping = threading.Event()

    def stop_at(sequences: int, cases: int) -> None:
        if sequences == 3:
            stopping.set()

    with searched(tmp_path, RIGHT) as subject:
        search = Search(subject, seed=1, token="t", stopping=stopping, on_sequence=stop_at)
        assert search.run(Bounds(sequences=1_000)).sequences == 3


def subject_at(port: int) -> tuple[Subject, grpc.Channel]:
    """A memory that was made for other tests."""
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    trust: dict[int, int] = {
        vendor_pb2.CAPABILITY_SOURCE_TRUST: vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    }
    subject = Subject(
        stub=memory_pb2_grpc.MemoryServiceStub(channel),
        declared=Declared(trust, (), llm_in_loop=False),
        signers=Signers(Reviewer.generate()),
        seconds=5.0,
    )
    return subject, channel


def test_a_memory_that_keeps_no_principals_apart_bleeds() -> None:
    running = serve(SmallMemory())
    try:
        subject, channel = subject_at(running.port)
        with channel:
            result = Search(subject, seed=1, token="t").run(Bounds(sequences=50, cases=1))
    finally:
        running.stop()

    assert [case.violation.kind.value for case in result.cases] == ["bleed"]
    assert set(result.unserved) >= {"Archive", "Forget", "Inspect", "Quarantine", "Supersede"}


def test_what_is_not_served_is_known_before_the_search() -> None:
    running = serve(WithoutMemory())
    try:
        subject, channel = subject_at(running.port)
        with channel:
            subject.probe("probe")
    finally:
        running.stop()

    assert not subject.serves("Write")
    assert not subject.serves("Recall", "Write")
    assert subject.serves("Recall")


def test_a_memory_that_is_gone_is_no_find() -> None:
    running = serve(SmallMemory())
    subject, channel = subject_at(running.port)
    running.stop()
    with channel, pytest.raises(StackError, match="20 calls in a row"):
        Search(subject, seed=1, token="t").run(Bounds(sequences=1_000, seconds=3_600.0))


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("flaw", sorted(FLAWS))
def test_every_flaw_of_ours_is_found_in_time(flaw: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, FLAWS[flaw], sequences=SEQUENCES_MAX).moves


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("flaw", PLANTED)
def test_every_planted_control_is_found_in_time(flaw: str, tmp_path: Path) -> None:
    factory = CONTROLS[flaw].composition.records
    assert factory is not None
    assert found_in(tmp_path, factory, sequences=SEQUENCES_MAX).moves


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_reference_breaks_no_rule_in_a_whole_search(seed: int, tmp_path: Path) -> None:
    result = search(tmp_path, RIGHT, seed=seed, sequences=SEQUENCES_MAX)
    assert [case.violation for case in result.cases] == []
