"""The study's tables: published values beside ours, classes apart, nothing hidden."""

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Figure,
    Suite,
    TargetSet,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR, trial_id
from orchestrator.report.paper import PaperBuilder, PaperTable
from tests.orchestrator.report.pages import passing, rendered

PARITY = "paper_parity.recorded"
INTERRUPTED = "paper_interrupted.guarded_skewed"


def record(
    case: str, arm: Arm, number: int = 0, verdict: Verdict | None = None, **figures: object
) -> TrialRecord:
    interrupted = case == INTERRUPTED
    cell = Cell(
        suite=Suite.CONTINUITY,
        arm=arm,
        capability=CapabilityVariant.NONE,
        target=TargetSet.AGENT if interrupted else TargetSet.NONE,
        expiry=ExpiryMode.SKEWED if interrupted else ExpiryMode.NONE,
        case=case,
    )
    usual = Verdict.PASS if arm.has_memory else Verdict.UNSCORED
    return TrialRecord(
        trial_id=trial_id(VENDOR, cell, number),
        cell=cell,
        subject=VENDOR,
        batch_id="b1",
        sub_seed=1,
        verdict=verdict or usual,
        cause="" if verdict is None else "why not",
        figures=tuple(
            Figure(name=name.replace("_", " "), value=str(value)) for name, value in figures.items()
        ),
    )


def parity(arm: Arm, number: int = 0, **changes: object) -> TrialRecord:
    told: dict[str, object] = {
        "task": "tau2-0",
        "graph": "g" * 64,
        "trajectory": "p" * 64,
        "requests": 18,
        "recorded_requests": 18,
        "calls": 6,
        "operations": 6 if arm.has_memory else 0,
        "final_hash": "06bb132b5ea03a83",
    }
    return record(PARITY, arm, number, None, **{**told, **changes})


def again(arm: Arm, number: int = 0) -> TrialRecord:
    calls = 0 if arm.has_memory else 1
    end = "needs_confirmation" if arm.has_memory else "failed"
    return record(
        INTERRUPTED,
        arm,
        number,
        None,
        new_calls=calls,
        new_effects=0,
        native_errors=calls,
        end=end,
    )


def tables(*records: TrialRecord) -> tuple[PaperTable, ...]:
    builder = PaperBuilder()
    for one in records:
        builder.add(one)
    return builder.result()


def test_a_run_without_a_study_has_no_table() -> None:
    assert tables(*passing()) == ()
    assert "The paper's study" not in rendered(passing())


def test_values_stand_beside_the_published_ones() -> None:
    (table,) = tables(*(parity(arm) for arm in Arm))
    rows = {row.name: row for row in table.rows}
    assert list(rows) == ["baseline", "memory", "observer", "both"]
    for arm, row in rows.items():
        governed = "6" if arm in ("memory", "both") else "0"
        assert [value.ours for value in row.values[:3]] == ["18 of 18", "6", governed]
        assert [value.published for value in row.values[:3]] == ["18 of 18", "6", governed]
        assert row.values[5].ours == row.values[5].published == "06bb132b5ea0"
        assert row.trials == "1 of 1 as expected"
    assert "One graph in every arm." in table.notes


def test_values_that_differ_are_all_told() -> None:
    (table,) = tables(
        parity(Arm.BASELINE),
        parity(Arm.BASELINE, 1, requests=17, graph="x" * 64),
        record(PARITY, Arm.BASELINE, 2, Verdict.ERROR),
    )
    (row,) = table.rows
    assert row.values[0].ours == "18 of 18 (in 1), 17 of 18 (in 1)"
    assert row.trials == "2 of 3 as expected, 1 ERROR"
    assert "2 different graphs." in table.notes


def test_the_generated_store_has_no_published_hash() -> None:
    (table,) = tables(parity(Arm.BOTH, task="generated-1", final_hash="abc"))
    assert table.rows[0].values[5].published == "-"
    assert any("N/R" in note for note in table.notes)


def test_arms_that_call_again_are_counted() -> None:
    (table,) = tables(*(again(arm, number) for arm in Arm for number in range(2)))
    assert table.title == "Interrupted exchange (recorded response)"
    assert [[value.ours for value in row.values] for row in table.rows] == [
        ["1", "0", "1", "failed"],
        ["0", "0", "0", "needs_confirmation"],
        ["1", "0", "1", "failed"],
        ["0", "0", "0", "needs_confirmation"],
    ]
    assert table.notes == (
        "R_dispatch, guard on, lease skewed: arms with a new call after the restart: "
        "2 of 4 (published 2)",
    )


def test_classes_have_tables_of_their_own() -> None:
    installed = record(
        "paper_acceptance.receipt_durable",
        Arm.BOTH,
        decisions="execute, reuse",
        effects=1,
        documents=1,
        as_asked=True,
        completed=True,
    )
    titles = [table.title for table in tables(parity(Arm.MEMORY), installed)]
    assert titles == [
        "No-fault parity (recorded response)",
        "Installed acceptance (installed product)",
    ]
    row = tables(installed)[0].rows[0]
    assert [value.ours for value in row.values] == ["execute, reuse", "yes", "1", "1", "yes"]


def test_the_page_holds_the_tables() -> None:
    page = rendered([parity(arm) for arm in Arm])
    assert 'id="paper"' in page
    assert "No-fault parity (recorded response)" in page
    assert "18 of 18 / <b><bdi>18 of 18</bdi></b>" in page
