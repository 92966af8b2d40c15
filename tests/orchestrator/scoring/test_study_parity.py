"""Arms of the recorded study that differ among themselves make the run prove nothing."""

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    Figure,
    RunVerdict,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR, ExpectedCells, ExpectedTrial, trial_id
from orchestrator.scoring.run import Aggregate, aggregate
from orchestrator.scoring.study_parity import RECORDED_CASE
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION

SAME = {"task": "t", "graph": "g", "trajectory": "p", "final hash": "h"}


def record(arm: Arm, number: int = 0, **figures: str) -> TrialRecord:
    cell = Cell(
        suite=Suite.CONTINUITY, arm=arm, capability=CapabilityVariant.NONE, case=RECORDED_CASE
    )
    told = {**SAME, **{name.replace("_", " "): value for name, value in figures.items()}}
    return TrialRecord(
        trial_id=trial_id(VENDOR, cell, number),
        cell=cell,
        subject=VENDOR,
        batch_id="b",
        sub_seed=1,
        verdict=Verdict.PASS if arm.has_memory else Verdict.UNSCORED,
        figures=tuple(Figure(name=name, value=value) for name, value in told.items()),
    )


def added_up(*records: TrialRecord) -> Aggregate:
    expected = ExpectedCells.of(
        "paper",
        REQUIREMENT_REVISION,
        1,
        tuple(
            ExpectedTrial(
                trial_id=one.trial_id, cell_id=one.cell.cell_id, subject=VENDOR, sub_seed=1
            )
            for one in records
        ),
    )
    return aggregate(records, expected)


def test_equal_arms_are_fine() -> None:
    result = added_up(*(record(arm) for arm in Arm), record(Arm.BASELINE, 1, task="u"))
    assert result.verdict is RunVerdict.QUALIFIED


def test_two_graphs_make_the_run_invalid() -> None:
    result = added_up(*(record(arm) for arm in Arm), record(Arm.BOTH, 1, graph="other"))
    assert result.verdict is RunVerdict.INVALID
    assert result.reasons[0] == "the arms run 2 different graphs"


def test_two_ends_of_one_task_without_a_memory_make_the_run_invalid() -> None:
    others = (
        record(Arm.OBSERVER, trajectory="other"),
        record(Arm.OBSERVER, final_hash="other"),
    )
    for other in others:
        result = added_up(record(Arm.BASELINE), other)
        assert result.verdict is RunVerdict.INVALID
        assert "task t came to 2 different ends" in result.reasons[0]


def test_what_a_memory_does_to_the_end_is_its_own_verdict() -> None:
    result = added_up(record(Arm.BASELINE), record(Arm.MEMORY, trajectory="other"))
    assert result.verdict is RunVerdict.QUALIFIED


def test_evidence_classes_have_rates_of_their_own() -> None:
    usual = record(Arm.MEMORY, 5).model_copy(
        update={
            "cell": Cell(
                suite=Suite.CONTINUITY,
                arm=Arm.MEMORY,
                capability=CapabilityVariant.NONE,
                case="identity.other_arguments",
            )
        }
    )
    usual = usual.model_copy(update={"trial_id": trial_id(VENDOR, usual.cell, 5)})
    rates = added_up(record(Arm.MEMORY), record(Arm.BOTH), usual).rates
    assert {name: rate.text for name, rate in rates.items() if "/" not in name} == {
        "continuity": "1/1",
        "continuity (recorded response)": "2/2",
    }
    assert "continuity (recorded response)/paper_parity.recorded" in rates
