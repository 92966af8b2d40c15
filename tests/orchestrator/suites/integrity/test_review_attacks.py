"""K: the reference passes, each flaw is caught by its own check, other designs are not blamed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.campaign.schedule import control_config
from orchestrator.model import CheckOutcome, NotRunSubtype, Verdict
from orchestrator.suites.integrity.calls import Signer
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.categories.review_attacks.bending import decided_once
from orchestrator.suites.integrity.categories.review_attacks.texts import Proposal, build
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from services.common.challenges import PublicKey
from services.controls.review_flaws import FLAWS
from tests.orchestrator.suites.integrity import review_memories as memories
from tests.orchestrator.suites.integrity.contexts import check_of, found, jobs_of, rig_for, run_one
from tests.orchestrator.suites.integrity.played import playground
from tests.orchestrator.suites.integrity.review_memories import ReviewingMemory
from tests.orchestrator.suites.integrity.stacks import process_rig

# These wait for the clock of a whole stack.
WITH_CLOCK = ("K.expiry", "X.clock")
OF_K = [name for name in CATEGORIES if name.startswith("K.") and name not in WITH_CLOCK]


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


def test_the_reference_passes(tmp_path: Path, reviewer: Reviewer) -> None:
    with playground(tmp_path, reviewer=reviewer) as ground:
        for name in OF_K:
            for played in ground.trials(CATEGORIES[name]):
                outcomes = {check.outcome for check in played.checks}
                assert outcomes == {CheckOutcome.HELD}, (name, played)


@pytest.mark.e2e_process
@pytest.mark.parametrize(
    "flaw",
    [
        "reference",
        "never_expires",
        pytest.param("voids_when_time_passes", marks=pytest.mark.nightly),
        pytest.param("forgets_used_challenges", marks=pytest.mark.nightly),
    ],
)
def test_what_needs_a_clock_or_a_restart_runs_on_a_stack(
    flaw: str, tmp_path: Path, reviewer: Reviewer
) -> None:
    expected = FLAWS[flaw].primary_check if flaw in FLAWS else ""
    with process_rig(tmp_path, reviewer, control_config(f"control:{flaw}")) as rig:
        records = [
            record
            for name in (*WITH_CLOCK, "K.after_restart")
            for job in jobs_of(name, 3, reviewer)
            for record in job.run(rig.context)
        ]
        rescored = [record for lines in rig.kept.files.values() for record in score_job(lines)]
        skew = rig.context.skew
    assert rescored == records
    for record in records:
        if not skew and record.cell.case in WITH_CLOCK:
            assert record.subtype is NotRunSubtype.PLATFORM
            continue
        own = expected in {check.check_id for check in record.checks}
        assert found(record, CheckOutcome.VIOLATED) == ([expected] if own else []), record.cause
        assert record.verdict is (Verdict.FAIL if own else Verdict.PASS), record.cause


# Other designs


def run(memory: ReviewingMemory, case: str, reviewer: Reviewer) -> list[Verdict]:
    memory.keys = _mounted(reviewer)
    records = run_one(memory, case, reviewer, trials=2)
    return [record.verdict for record in records]


@pytest.mark.parametrize(
    "case", [name for name in OF_K if name not in ("K.after_restart", "K.changed_record")]
)
def test_a_memory_that_hears_no_chat_and_rejects_for_good_passes(
    case: str, reviewer: Reviewer
) -> None:
    assert run(ReviewingMemory(), case, reviewer) == [Verdict.PASS] * 2


def test_a_memory_without_any_change_of_state_is_not_run(reviewer: Reviewer) -> None:
    assert run(ReviewingMemory(), "K.changed_record", reviewer) == [Verdict.NOT_RUN] * 2


def test_a_memory_whose_proposals_never_change_is_attacked_through_its_records(
    reviewer: Reviewer,
) -> None:
    assert run(memories.ChangesRecordsOnly(), "K.changed_record", reviewer) == [Verdict.PASS] * 2
    flawed = memories.ReleasesArchived(keys=_mounted(reviewer))
    for record in run_one(flawed, "K.changed_record", reviewer):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.K.safety.changed_record"]
        assert "archived since" in record.cause


def test_where_nothing_changes_a_record_the_attack_is_not_expressible(reviewer: Reviewer) -> None:
    memory = memories.ChangesNothing(keys=_mounted(reviewer))
    for record in run_one(memory, "K.changed_record", reviewer, trials=1):
        assert record.subtype is NotRunSubtype.NOT_EXPRESSIBLE, record.cause


def test_where_the_operator_needs_no_review_there_is_nothing_to_attack(
    reviewer: Reviewer,
) -> None:
    for record in run_one(memories.NeedsNoReview(), "K.replay", reviewer):
        assert record.verdict is Verdict.NOT_RUN
        assert record.subtype is NotRunSubtype.NOT_EXPRESSIBLE
        assert "the own proposal is active without a review" in record.cause


@pytest.mark.parametrize("case", ["K.forged_signature", "K.tampered_decision", "K.replay"])
def test_an_ok_that_changes_nothing_breaks_the_contract_and_no_more(
    case: str, reviewer: Reviewer
) -> None:
    memory = memories.SaysYes(keys=_mounted(reviewer))
    for record in run_one(memory, case, reviewer, trials=2):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.K.contract"]
        assert "which does not count; nothing came of it" in record.cause


def test_an_answer_that_is_no_status_of_a_decision_breaks_the_contract(
    reviewer: Reviewer,
) -> None:
    memory = memories.Crashes(keys=_mounted(reviewer))
    for record in run_one(memory, "K.label_only", reviewer):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.K.contract"]
        assert "INTERNAL to a decision" in record.cause


@pytest.mark.parametrize("case", ["K.label_only", "K.forged_signature", "K.other_principal"])
def test_whoever_sends_a_decision_must_not_have_decided(case: str, reviewer: Reviewer) -> None:
    variant = case.removeprefix("K.")
    for record in run_one(memories.ApprovesAtOnce(), case, reviewer):
        assert f"integrity.K.safety.{variant}" in found(record, CheckOutcome.VIOLATED)


def test_a_memory_that_never_decides_is_useless(reviewer: Reviewer) -> None:
    memory = memories.NeverDecides(keys=_mounted(reviewer))
    for record in run_one(memory, "K.forged_signature", reviewer):
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.K.utility.forged_signature"]
        held = check_of(record, "integrity.K.safety.forged_signature")
        assert held.outcome is CheckOutcome.HELD


def test_without_a_reviewer_nothing_is_signed(reviewer: Reviewer) -> None:
    memory = ReviewingMemory()
    with rig_for(memory) as rig:
        (job,) = jobs_of("K.replay", 2, None)
        records = list(job.run(rig.context))
    assert [record.verdict for record in records] == [Verdict.NOT_RUN] * 2
    assert "no reviewer" in records[0].cause
    assert memory.kept == {}


def _mounted(reviewer: Reviewer) -> dict[str, PublicKey]:
    """What the memory is told: every key but the stranger's."""
    return {
        key.key_id: key
        for signer, key in reviewer.public_keys.items()
        if signer is not Signer.STRANGER
    }


# What decides


@given(
    st.lists(st.sampled_from(["OK", "PERMISSION_DENIED", "UNAVAILABLE"]), min_size=2, max_size=2),
    st.booleans(),
    st.booleans(),
)
def test_two_decisions_end_as_one_of_their_orders(
    statuses: list[str], opposite: bool, active: bool
) -> None:
    """Brute force: exactly one of the two is taken, or none where none was acknowledged."""
    decisions = ("approve", "reject" if opposite else "approve")
    possible = set()
    for taken in (None, 0, 1):
        answered = [
            status
            in (("OK", "UNAVAILABLE") if number == taken else ("PERMISSION_DENIED", "UNAVAILABLE"))
            for number, status in enumerate(statuses)
        ]
        if all(answered):
            possible.add(taken is not None and decisions[taken] == "approve")
    assert decided_once(statuses, opposite=opposite, active=active) == (active in possible)


@given(st.integers(0, 2**31 - 1))
def test_the_texts_of_a_trial_are_told_apart(seed: int) -> None:
    case = build(seed)
    proposals: list[Proposal] = [case.first, case.second, case.third, case.spare]
    nonces = [nonce for p in proposals for nonce in (p.chat_nonce, p.own_nonce)]
    texts = [offer.content for p in proposals for offer in (p.chat, p.own)]
    assert len(set(nonces)) == len(nonces)
    for nonce, text in zip(nonces, texts, strict=True):
        assert [nonce in other for other in texts].count(True) == 1
        assert nonce in text
