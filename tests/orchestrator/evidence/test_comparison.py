"""Differences in words."""

import json

import pytest

from orchestrator.evidence.comparison import aggregate_differences, record_differences
from orchestrator.model import CheckOutcome, Verdict
from orchestrator.scoring.run import aggregate
from tests.orchestrator.report.pages import check, failing, passing, planned

KEPT = failing()


def test_the_destinations_account_stands_first() -> None:
    again = KEPT.model_copy(
        update={"verdict": Verdict.PASS, "dispatches": 1, "tool_errors": 0, "effects": 1}
    )
    assert record_differences(KEPT, again) == (
        "effects was 2, is 1; tool_errors was 1, is 0; dispatches was 2, is 1; "
        "verdict was <Verdict.FAIL: 'FAIL'>, is <Verdict.PASS: 'PASS'>"
    )


def test_checks_are_compared_one_by_one() -> None:
    violated = KEPT.checks[0]
    for checks, told in (
        ((check(), KEPT.checks[1]), "check continuity.safety was violated ("),
        ((violated,), "check continuity.form was held, is not there"),
        ((violated, KEPT.checks[1], check(name="new")), "check continuity.new was not there, is"),
        ((KEPT.checks[1], violated), "checks stand in another order, or twice"),
    ):
        again = KEPT.model_copy(update={"checks": checks})
        assert record_differences(KEPT, again).startswith(told)


def test_many_and_long_differences_are_cut() -> None:
    again = failing(
        number=2,
        effects=0,
        tool_errors=0,
        dispatches=0,
        decisions=("x" * 1_000,),
        unsafe_decisions=0,
        cause="",
        checks=(check(CheckOutcome.NOT_EVALUATED, actual="why"),),
    )
    told = record_differences(KEPT, again)
    assert told.endswith("; and 3 more fields")
    assert len(told) < 1_500


def test_equal_records_differ_in_their_text_alone() -> None:
    assert record_differences(KEPT, KEPT) == "the same record in another form of text"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "is no JSON object"),
        (b"{}", "cells was None, is "),
    ],
)
def test_an_aggregate_that_is_none(data: bytes, told: str) -> None:
    trials = passing()
    result = aggregate(trials, planned(trials))
    assert aggregate_differences(data, result).startswith(told)


def test_an_aggregate_with_something_added() -> None:
    trials = passing()
    result = aggregate(trials, planned(trials))
    value = result.model_dump(mode="json")
    same = json.dumps(value).encode()
    assert aggregate_differences(same, result) == "the same content in another form of text"
    more = json.dumps(value | {"extra": None}).encode()
    assert aggregate_differences(more, result) == "extra was None, is None"
