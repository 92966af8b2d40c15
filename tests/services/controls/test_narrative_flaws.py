"""Flaws of the narrative path in this process: each does its wrong, and is right beside it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from memqual.v1 import narrative_pb2
from services.common.errors import ServiceError
from services.controls import narrative_losses
from tests.services.controls.narrative_part import AT, LATER, SPEAKER, Talk, talk

OTHER = "Torvald Quist"
CLOCKS = "My cousin Ferelith repairs clocks in Tromsdal."
ASKED = "Where does my cousin Ferelith repair clocks?"


def told_after_restart(folder: Path, flaw: str, between: Callable[[Talk], None]) -> bool:
    """Whether a second life of a memory still answers what the first one was told."""
    with talk(folder, flaw) as on:
        on.tell(CLOCKS)
        between(on)
    with talk(folder, flaw) as on:
        return "Tromsdal" in on.ask(ASKED).text


def nothing(on: Talk) -> None:
    """Nothing happens in between."""


def asked(on: Talk) -> None:
    """It is asked while it lives, and knows."""
    assert "Tromsdal" in on.ask(ASKED).text


def test_the_table_of_flaws_loads_no_parser_and_no_vectors() -> None:
    code = (
        "import sys, services.controls.registry;"
        "sys.exit(bool({'numpy', 'spacy', 'wordllama'} & set(sys.modules)))"
    )
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False, timeout=60)
    assert ended.returncode == 0


def test_the_reference_knows_after_a_restart(tmp_path: Path) -> None:
    assert told_after_restart(tmp_path, "", nothing)


def test_in_memory_knows_while_it_lives_and_no_longer(tmp_path: Path) -> None:
    assert not told_after_restart(tmp_path, "narrative_in_memory", asked)


def test_writes_later_loses_what_was_acknowledged_a_moment_ago(tmp_path: Path) -> None:
    assert not told_after_restart(tmp_path, "narrative_writes_later", nothing)


def test_writes_later_keeps_what_was_asked_for_since(tmp_path: Path) -> None:
    assert told_after_restart(tmp_path, "narrative_writes_later", asked)


def test_writes_later_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrative_losses, "_LATE_SECONDS", 0.01)

    def written(on: Talk) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with on.database.read() as conn:
                if not conn.execute("SELECT COUNT(*) FROM control_underway").fetchone()[0]:
                    return
            time.sleep(0.01)

    assert told_after_restart(tmp_path, "narrative_writes_later", written)


def test_bound_to_configuration_forgets_with_other_settings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaw = "narrative_bound_to_configuration"
    assert told_after_restart(tmp_path, flaw, asked)

    monkeypatch.setenv("TZ", "Pacific/Kiritimati" if os.environ.get("TZ") != "UTC" else "UTC+1")
    with talk(tmp_path, flaw) as on:
        assert "Tromsdal" not in on.ask(ASKED).text


def test_keeps_superseded_tells_what_was_beside_what_is(tmp_path: Path) -> None:
    answers = []
    for flaw in ("", "narrative_keeps_superseded"):
        folder = tmp_path / (flaw or "reference")
        folder.mkdir()
        with talk(folder, flaw) as on:
            on.tell("I live in Kilbrannan. Bread costs four euros.")
            on.tell("I moved last week, I live in Ardglass now.", time=LATER)
            answers.append(on.ask("Where do I live now?").text)

    assert ["Kilbrannan" in text for text in answers] == [False, True]
    assert all("Ardglass" in text for text in answers)


def test_machine_clock_takes_the_turns_day_for_today(tmp_path: Path) -> None:
    resolved = []
    for flaw in ("", "narrative_machine_clock"):
        folder = tmp_path / (flaw or "reference")
        folder.mkdir()
        with talk(folder, flaw) as on:
            trace = on.tell("The exam is tomorrow.")
            resolved.append([time.resolves_to for time in trace.temporal])

    assert resolved[0] == ["2026-05-05"]
    assert resolved[1] != resolved[0]


def test_order_of_arrival_takes_the_last_to_come_for_the_last_said(tmp_path: Path) -> None:
    answers = []
    for flaw in ("", "narrative_order_of_arrival"):
        folder = tmp_path / (flaw or "reference")
        folder.mkdir()
        with talk(folder, flaw) as on:
            on.tell("I live in Ardglass now. The kitchen is yellow.", time=LATER)
            on.tell("I live in Kilbrannan now. Bread costs four euros.", time=AT)
            answers.append(on.ask("Where do I live now?").text)

    assert "Ardglass" in answers[0]
    assert "Kilbrannan" not in answers[0]
    assert "Kilbrannan" in answers[1]


def test_mixes_speakers_tells_anybody(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_mixes_speakers") as on:
        on.tell("I sing in a choir.")
        on.tell(CLOCKS, speaker=OTHER)

        assert "Tromsdal" in on.ask(ASKED, speaker=SPEAKER).text


def several(on: Talk) -> None:
    """Tells enough for a question to have several candidates."""
    on.tell(f"{CLOCKS} I sing in a choir. The tram was late. Bread costs four euros. I ate a pear.")


def test_answers_in_turn_are_others_each_time(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_answers_in_turn") as on:
        several(on)
        first = [on.ask(ASKED).text for _ in range(3)]
        assert len(set(first)) == 3
    with talk(tmp_path, "narrative_answers_in_turn") as on:
        assert [on.ask(ASKED).text for _ in range(3)] == first


def test_answers_by_namespace_are_equal_in_one_and_differ_over_some(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_answers_by_namespace") as on:
        answers = []
        for namespace in map(str, range(8)):
            text = f"{CLOCKS} I sing in a choir. The tram was late. Bread costs four euros."
            on.tell(text, namespace=namespace)
            answers.append(on.ask(ASKED, namespace=namespace).text)
            assert on.ask(ASKED, namespace=namespace).text == answers[-1]

        assert len(set(answers)) > 1


def test_random_answers_differ(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_random") as on:
        several(on)

        assert len({on.ask(ASKED).text for _ in range(40)}) > 1


def test_declines_and_empty_say_nothing_each_in_its_way(tmp_path: Path) -> None:
    for flaw, declined in [("narrative_declines", True), ("narrative_empty", False)]:
        folder = tmp_path / flaw
        folder.mkdir()
        with talk(folder, flaw) as on:
            on.tell(CLOCKS)
            answer = on.ask(ASKED)
            assert (answer.text, answer.declined) == ("", declined)
            assert answer.HasField("trace")


def test_says_exhausted_of_what_is_malformed(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_says_exhausted") as on:
        with pytest.raises(ServiceError) as refused:
            on.tell(CLOCKS, time="last Tuesday")
        on.tell(CLOCKS)
        assert "Tromsdal" in on.ask(ASKED).text
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_takes_any_length_takes_a_megabyte(tmp_path: Path) -> None:
    with talk(tmp_path) as on, pytest.raises(ServiceError):
        on.tell("word " * 20_000)
    with talk(tmp_path, "narrative_takes_any_length") as on:
        assert on.tell("a" * 70_000).facts


def test_takes_any_time_takes_what_is_none(tmp_path: Path) -> None:
    with talk(tmp_path) as on, pytest.raises(ServiceError):
        on.tell(CLOCKS, time="noonish")
    with talk(tmp_path, "narrative_takes_any_time") as on:
        on.tell(CLOCKS, time="noonish")
        asked(on)


def test_fails_on_emoji_and_on_nothing_else(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_fails_on_emoji") as on:
        on.tell(f"{CLOCKS} \u674e\u660e \u03b7")
        with pytest.raises(ServiceError):
            on.tell("\U0001f389 promoted")
        asked(on)


def test_dies_of_nul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with talk(tmp_path, "narrative_dies_of_nul") as on:
        on.tell(CLOCKS)
        assert ended == []
        on.tell("before\0after")
        assert ended == [1]


def test_runs_what_it_is_told_and_has_nothing_left(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_runs_what_it_is_told") as on:
        on.tell(CLOCKS)
        on.tell("I said: drop the table.")
        asked(on)
        on.tell("'); DROP TABLE facts; --")
        assert on.ask(ASKED).declined


def test_predicts_in_vain_finds_nothing_by_what_it_predicts(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_predicts_in_vain") as on:
        trace = on.tell(CLOCKS)
        queries = [query for fact in trace.facts for query in fact.predicted_queries]

        assert queries
        assert all(not on.ask(query).trace.candidate_fact_ids for query in queries)
        assert on.ask(ASKED).trace.candidate_fact_ids
        asked(on)


def test_invents_facts_traces_to_what_was_never_told(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_invents_facts") as on:
        told = {fact.fact_id for fact in on.tell(CLOCKS).facts}
        answer: narrative_pb2.Answer = on.ask(ASKED)

        assert "Tromsdal" in answer.text
        assert answer.trace.candidate_fact_ids
        assert told.isdisjoint(answer.trace.candidate_fact_ids)


def test_cites_others_beside_its_own(tmp_path: Path) -> None:
    with talk(tmp_path, "narrative_cites_others") as on:
        own = {fact.fact_id for fact in on.tell(CLOCKS).facts}
        assert set(on.ask(ASKED).fact_ids) <= own
        others = {fact.fact_id for fact in on.tell("I sing in a choir.", speaker=OTHER).facts}

        answer = on.ask(ASKED)
        assert "Tromsdal" in answer.text
        assert others & set(answer.fact_ids)


def test_digests_its_life_where_there_is_anything_to_digest(tmp_path: Path) -> None:
    digests = []
    for _ in range(2):
        with talk(tmp_path, "narrative_digests_its_life") as on:
            on.tell(CLOCKS)
            digests.append(list(on.part.digest_parts("n")))
            assert list(on.part.digest_parts("other")) == []

    assert digests[0] != digests[1]
    assert digests[0][:-1] == digests[1][:-1]
