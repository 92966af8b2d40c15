"""report.html: what a person reads, whatever a memory said in it."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.evidence.manifest import ImageRecord, Manifest
from orchestrator.evidence.records import message_to_json
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    Check,
    CheckOutcome,
    NotRunSubtype,
    Profile,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import CONTROLS, VENDOR, trial_id
from orchestrator.report.html import render_html
from orchestrator.scoring.run import aggregate
from orchestrator.suites.continuity.cells import cell_table, select, select_for_controls
from orchestrator.suites.integrity.planned import planned_integrity
from tests.orchestrator.evidence.bundles import make_bundle, manifest
from tests.orchestrator.report.pages import (
    HOSTILE,
    cell_at,
    failing,
    passing,
    planned,
    rendered,
)

SIZE_MAX = 5_000_000


class Page(HTMLParser):
    """A page as a list of elements and its text."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        """All text; elements are parted by a space, and spaces are one."""
        return " ".join(" ".join(self.words).split())


def section(html: str, name: str) -> str:
    """The text of one section."""
    found = re.search(rf'<section id="{name}">(.*?)</section>', html, re.DOTALL)
    assert found is not None
    return Page(found[1]).text


def test_it_is_one_file_without_script_or_network() -> None:
    html = rendered([*passing(), failing()])
    page = Page(html)
    assert page.open == []
    assert html.startswith("<!doctype html>\n")
    foreign = {"script", "img", "link", "iframe", "object", "form", "base"}
    assert page.tags.keys().isdisjoint(foreign)
    sources = [one for one in page.attributes if one[1] in ("src", "href", "action", "style")]
    assert [value for _, _, value in sources if not value.startswith("#")] == []
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in html
    assert "@import" not in html
    ids = {value for _, name, value in page.attributes if name == "id"}
    assert {value[1:] for _, name, value in page.attributes if name == "href"} <= ids


def test_the_verdict_its_meaning_and_its_reasons_come_first() -> None:
    text = Page(rendered([*passing(), failing()])).text
    heads = [
        "NOT_QUALIFIED",
        "At least one trial of the memory failed.",
        "1 trials failed",
        "Exit code 1.",
        "continuity trials passed",
        "Failures",
        "Continuity: windows",
        "Kills and effects",
        "Integrity",
        "Controls",
        "Declared capabilities",
        "Hazards and boundaries",
        "Run facts",
        "Claims",
    ]
    body = text.partition("mini 1 memqual")[2]
    places = []
    at = 0
    for head in heads:
        at = body.index(head, at)
        places.append(at)
    assert places == sorted(places)


def test_a_failure_is_told_in_full() -> None:
    trial = failing()
    told = section(rendered([*passing(), trial]), "failures")
    for part in (
        "✗ 1 of 2 failed",
        trial.trial_id,
        "Cause: continuity.safety: Begin at trace record 77",
        "dispatches: 2",
        "effects: 2",
        "native tool errors: 1",
        "unsafe decisions: 1",
        "time to resolution: 1.50 s",
        "continuity.safety MQ-C-01 (P1): No decision licenses a second dispatch",
        "violated every answer is allowed Begin at trace record 77",
        "EXECUTE:first_grant:1 EXECUTE:because:2",
        "Raw evidence: b1 in batches, traces, journals",
        f"memqual replay runs/{manifest().run_id} --trial '{trial.trial_id}'",
    ):
        assert part in told
    # Of the checks only what does not hold.
    assert "continuity.form" not in told


def test_unsafe_decisions_and_extra_effects_stand_before_other_failures() -> None:
    mild = failing(cell_at(CapabilityVariant.NONE), unsafe_decisions=0, extra_effects=0)
    grave = failing(cell_at(CapabilityVariant.QUERY_FENCED))
    told = section(rendered([mild, grave]), "failures")
    assert told.index(grave.trial_id) < told.index(mild.trial_id)


def test_errors_missing_trials_and_missed_controls_are_failures_of_the_testbed() -> None:
    broken = failing(verdict=Verdict.ERROR, error_kind="infrastructure", cause="engine: gone")
    caught = passing("control:naive")[0]
    told = section(
        rendered([broken, caught], missing=[(VENDOR, cell_at(CapabilityVariant.IDEMPOTENT))]),
        "failures",
    )
    assert "! 1 missing expected trials" in told
    assert "! 1 control trials did not come to what they must" in told
    assert f"{caught.trial_id} must fail PASS" in told
    assert "Not evaluated: 1 trials" in told
    assert "Cause: engine: gone" in told
    assert "No trial of the memory failed." in told


def test_the_matrix_has_rate_coverage_and_a_word_beside_every_colour() -> None:
    cell = cell_at(CapabilityVariant.NONE)
    other = cell_at(CapabilityVariant.IDEMPOTENT)
    third = cell_at(CapabilityVariant.QUERY_FENCED)
    trials = [
        *(one for one in passing(cells=[cell], count=20)),
        failing(other, number=0),
        *(one for one in passing(cells=[other], count=3, first=1)),
        *(
            failing(
                third,
                number=n,
                verdict=Verdict.NOT_RUN,
                subtype=NotRunSubtype.PLATFORM,
                cause="no skew",
            )
            for n in range(2)
        ),
    ]
    html = rendered(trials)
    told = section(html, "matrix")
    assert "in_request ✓ 20/20 passed coverage 20/20" in told
    assert "✗ 3/4 1 failed coverage 4/4 violation in 1 of 1 kills" in told
    assert "∅ N/A N/R platform coverage 0/2" in told
    assert "Not run: N/R" in section(html, "failures")
    assert "platform no skew 1 2" in section(html, "failures")
    kills = section(html, "kills")
    assert "no confidence interval is claimed" in kills


def test_groups_keep_apart_what_differs_and_comparators_are_unscored() -> None:
    baseline = next(one.cell for one in cell_table() if one.cell.arm is Arm.BASELINE)
    trial = passing(cells=[baseline])[0].model_copy(
        update={"verdict": Verdict.UNSCORED, "checks": (), "effects": 2}
    )
    html = rendered([*passing(cells=[cell_at(CapabilityVariant.NONE)]), trial])
    told = section(html, "matrix")
    assert "○ comparator, unscored" in told
    assert "○ 1 unscored: 2 effects" in told
    assert told.index("memory arm · kill agent") < told.index("baseline arm")


def test_safety_and_utility_stand_apart_and_vendor_reported_is_labelled() -> None:
    def trial(number: int, safety: CheckOutcome) -> TrialRecord:
        cell = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="C")
        outcomes = {"safety": safety, "utility": CheckOutcome.HELD}
        checks = tuple(
            Check(
                check_id=f"integrity.C.{column}",
                requirement_id="INT-C-2",
                paper_property="MIB category C",
                outcome=outcome,
                expected="as it must",
                actual="vendor-reported: 0 hits",
            )
            for column, outcome in outcomes.items()
        )
        verdict = Verdict.FAIL if safety is CheckOutcome.VIOLATED else Verdict.PASS
        return TrialRecord(
            trial_id=trial_id(VENDOR, cell, number),
            cell=cell,
            subject=VENDOR,
            batch_id="i1",
            sub_seed=number,
            verdict=verdict,
            checks=checks,
        )

    trials = [trial(0, CheckOutcome.HELD), trial(1, CheckOutcome.VIOLATED)]
    told = section(rendered(trials), "integrity")
    assert "C recursive agent hallucination 1/2 coverage 2/2" in told.replace("  ", " ")
    assert "✗ 1/2 violated in 1 coverage 2/2 ✓ 2/2 held coverage 2/2" in told
    assert "vendor-reported 4 of 4 evaluated checks rest on the memory's own answers" in told
    fcr = "FCR factual contamination rate ✗ 1/2 violated (coverage 2/2) lower is better C D, F"
    assert fcr in told
    assert "TPR taint preservation rate ∅ N/A (coverage 0/0) higher is better none D" in told
    assert "beside D, native ids, never summed with it; decides no verdict" in told


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (Verdict.NOT_RUN, "∅ N/A N/R coverage 0/1 ∅ N/A N/R coverage 0/1"),
        (Verdict.ERROR, "! N/A not evaluated coverage 0/1 ! N/A not evaluated coverage 0/1"),
    ],
)
def test_a_category_without_a_verdict_has_no_rate(verdict: Verdict, told: str) -> None:
    cell = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="L")
    open_check = Check(
        check_id="integrity.L.safety",
        requirement_id="INT-L-2",
        paper_property="MIB category L",
        outcome=CheckOutcome.NOT_EVALUATED,
    )
    trial = failing(cell, verdict=verdict, checks=(open_check,))
    shown = section(rendered([trial]), "integrity")
    assert told in shown
    assert "0 of 0 evaluated checks" in shown


def test_a_control_of_another_version_is_said_to_be_unknown() -> None:
    trial = passing("control:tomorrow", cells=[cell_at(CapabilityVariant.NONE)])[0]
    unable = failing(
        subject="control:naive", verdict=Verdict.NOT_RUN, subtype=NotRunSubtype.PLATFORM
    )
    result = aggregate([unable], planned([unable]))
    html = render_html(manifest(), result, [trial, unable])
    told = section(html, "controls")
    assert "control:tomorrow 1 cell unknown to this version 1 PASS" in told
    assert "1 cell must fail 1 N/R ∅ N/R" in told


def test_controls_show_what_they_must_and_what_they_came_to() -> None:
    cells = [cell_at(CapabilityVariant.NONE)]
    trials = [
        *passing("control:reference", cells=cells, count=5),
        *(failing(cells[0], subject="control:naive", number=n) for n in range(5)),
        failing(cells[0], subject="control:null", verdict=Verdict.ERROR),
    ]
    told = section(rendered(trials), "controls")
    assert "correct on purpose 1 cell must pass 5 PASS ✓ yes" in told
    assert "1 cell must fail 5 FAIL ✓ yes" in told
    assert "1 cell must fail 1 ERROR ! not evaluated" in told


def test_absent_is_kept_apart_from_not_expressible() -> None:
    told = section(rendered(passing()), "declared")
    assert "continuity ✓ supported the memory itself" in told
    assert "narrative ◇ not expressible stories come by another door" in told
    assert "narrative_traces ∅ absent (not declared)" in told
    assert "lease clock wall" in told


def test_a_declaration_that_cannot_be_read_is_said_to_be_so() -> None:
    told = section(rendered(passing(), describe_json="{"), "declared")
    assert "! cannot be read describe_json does not hold a DescribeResponse" in told


def test_hazards_and_boundaries_have_accounts_and_counts() -> None:
    cell = cell_at(CapabilityVariant.IDEMPOTENT)
    trials = [
        one.model_copy(
            update={"effects": 2, "extra_effects": 1, "hazard": "network", "boundary": True}
        )
        for one in passing(cells=[cell], count=2)
    ]
    told = section(rendered(trials), "hazards")
    assert "network arrival after the key's end" in told
    assert "removes it 2 1" in told
    assert "in 2 trials a bracket of time lay" in told
    tiles = Page(rendered(trials)).text
    assert "extra, lost, wrong effects ✓ 0 2 more went to another account" in tiles


def test_run_facts_name_all_that_a_second_run_needs() -> None:
    told = section(
        rendered(
            passing(),
            findings=("vendor.yaml claims x, Describe does not",),
            images=(ImageRecord(name="memory", tag="memqual/memory:1", digest="sha256:ab"),),
        ),
        "facts",
    )
    for part in (
        "vendor.yaml claims x, Describe does not",
        "seed 7",
        "runtime process: local processes, as asked for",
        "isolation N/R platform: local processes",
        "clock skew proven: asked for 2000 ms, measured 2000 ms",
        f"commit {'0' * 40}",
        "started 2026-11-30 10:43:08 UTC",
        "memory memqual/memory:1 sha256:ab",
        "package grpcio 1",
    ):
        assert part in told


def test_claims_are_supported_not_supported_and_prohibited() -> None:
    told = section(rendered(passing()), "claims")
    assert "Supported by this run mini 1, continuity, profile selftest:" in told
    assert "Not supported Durability against loss of power" in told
    assert "A confidence interval over operations" in told


def hostile_manifest() -> Manifest:
    describe = vendor_pb2.DescribeResponse(
        name="x",
        model_disclosure=HOSTILE,
        taint_order=[HOSTILE],
        capabilities=[
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_CONTINUITY,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                limitation=HOSTILE,
            )
        ],
    )
    return manifest(
        subject_name=HOSTILE,
        subject_version=HOSTILE,
        subject_source=HOSTILE,
        run_id=HOSTILE,
        runtime_detail=HOSTILE,
        isolation=HOSTILE,
        skew_detail=HOSTILE,
        findings=(HOSTILE,),
        dependencies={HOSTILE: HOSTILE},
        images=(ImageRecord(name=HOSTILE, tag=HOSTILE, digest=HOSTILE),),
        describe_json=message_to_json(describe),
    )


def test_whatever_a_vendor_says_nothing_of_it_is_markup_or_unseen() -> None:
    check = Check(
        check_id=HOSTILE,
        requirement_id=HOSTILE,
        paper_property=HOSTILE,
        outcome=CheckOutcome.VIOLATED,
        expected=HOSTILE,
        actual=HOSTILE,
    )
    said: dict[str, Any] = {
        "cause": HOSTILE,
        "checks": (check,),
        "decisions": (f"EXECUTE:{HOSTILE}:1",),
        "hazard": HOSTILE,
        "findings": (HOSTILE,),
        "batch_id": HOSTILE,
        "error_kind": HOSTILE,
    }
    trials = [
        failing(**said),
        failing(number=1, verdict=Verdict.NOT_RUN, subtype=NotRunSubtype.PLATFORM, **said),
        failing(number=2, verdict=Verdict.ERROR, **said),
        failing(subject="control:reference", **said),
    ]
    expected = planned(trials)
    result = aggregate(trials, expected).model_copy(
        update={"parity": (HOSTILE,), "missing": (HOSTILE,), "reasons": (HOSTILE,)}
    )
    html = render_html(hostile_manifest(), result, trials)
    quiet = Page(rendered(trials))
    page = Page(html)
    assert page.open == []
    assert page.tags.keys() == quiet.tags.keys()
    assert page.tags.keys().isdisjoint({"script", "img"})
    assert not [one for one in page.attributes if one[1].startswith("on")]
    assert all(character.isprintable() for character in html.replace("\n", ""))
    assert "⟨U+202E⟩" in page.text
    assert "⟨U+001B⟩" in page.text
    assert "<script>alert(1)</script>" in page.text


def test_the_same_run_gives_the_same_page() -> None:
    trials = [*passing(), failing()]
    assert rendered(trials) == rendered(trials)


TRIALS_A_CELL = 20


def every_trial(profile: Profile, verdict: Verdict, **said: Any) -> list[TrialRecord]:
    """Every cell of a profile; every trial of the vendor comes to the same."""
    trials = []
    for subject in (VENDOR, *CONTROLS):
        control = subject != VENDOR
        cells = select_for_controls(profile) if control else select(profile, 7)
        numbers = [
            (one.cell, n)
            for one in cells
            for n in range(min(one.kills * one.operations_per_kill, TRIALS_A_CELL))
        ]
        numbers += [(p.cell, p.number) for p in planned_integrity(profile, 7, control=control)]
        for cell, number in numbers:
            if verdict is Verdict.PASS or control:
                trials += passing(subject, cells=[cell], count=1, first=number)
            else:
                trials.append(failing(cell, number=number, verdict=verdict, **said))
    return trials


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
def test_a_run_of_20_000_trials_stays_a_small_page(verdict: Verdict) -> None:
    long = (HOSTILE + "<&>'\"") * 200
    check = failing().checks[0].model_copy(update={"actual": long, "expected": long})
    trials = every_trial(
        Profile.FULL, verdict, cause=long, checks=(check,) * 20, decisions=(long,) * 100
    )
    assert len(trials) > 20_000
    html = rendered(trials)
    assert len(html.encode()) < SIZE_MAX
    if verdict is not Verdict.PASS:
        shown = html.count("<details><summary>") + html.count("<details open><summary>")
        assert shown > 10
        assert "Also, not shown in full: #" in html


def test_pages_of_the_real_writer_render(whole_page: str) -> None:
    page = Page(whole_page)
    assert page.open == []
    assert "QUALIFIED" in page.text


@pytest.fixture(scope="module")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = Path(tmp_path_factory.mktemp("page") / "run")
    make_bundle(root)
    return (root / "report.html").read_text()
