"""What the journal must show while operations are held, counted over any journal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.windows import WINDOWS, Window, window
from memqual.v1 import common_pb2
from orchestrator.suites.continuity.preconditions import read_precondition

NAMES = ("w1", "w2", "w3", "other")
EVENTS = st.sampled_from(("received", "refused", "applied", "replayed", "response_sent"))
ENTRIES = st.lists(st.tuples(EVENTS, st.sampled_from(NAMES)), max_size=20)


def _journal(*entries: tuple[str, str], first: int = 1) -> list[common_pb2.JournalRecord]:
    return [
        common_pb2.JournalRecord(
            sequence=first + at,
            payload_json=json.dumps({"event": event, "workflow_id": workflow}),
        )
        for at, (event, workflow) in enumerate(entries)
    ]


@given(ENTRIES, st.sampled_from(WINDOWS), st.sets(st.sampled_from(NAMES[:3]), min_size=1))
def test_each_operation_counts_once_and_others_never(
    entries: list[tuple[str, str]], held_at: Window, workflows: set[str]
) -> None:
    found = read_precondition(held_at, workflows, _journal(*entries, first=40))
    applied = {workflow for event, workflow in entries if event == "applied"} & workflows
    assert found.expected == len(workflows)
    assert found.seen == (len(applied) if held_at.effect else len(workflows - applied))
    assert found.name == ("effect applied" if held_at.effect else "no effect applied")
    assert found.journal_sequence == (39 + len(entries) if entries else 0)


@pytest.mark.parametrize(("name", "seen"), [("in_request", 1), ("after_commit", 1)])
def test_an_effect_counts_against_windows_before_it_and_for_windows_after_it(
    name: str, seen: int
) -> None:
    journal = _journal(("received", "w1"), ("applied", "w1"), ("applied", "w1"), ("received", "w2"))
    found = read_precondition(window(name), ["w1", "w2"], journal)
    assert (found.expected, found.seen) == (2, seen)


def test_a_journal_that_cannot_be_read_is_no_proof() -> None:
    record = common_pb2.JournalRecord(sequence=1, payload_json="{")
    with pytest.raises(json.JSONDecodeError):
        read_precondition(window("in_request"), ["w1"], [record])
