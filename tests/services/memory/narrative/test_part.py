"""The narrative part as a vendor serves it: over gRPC, across restarts, in any order of arrival."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from memqual.v1 import narrative_pb2, narrative_pb2_grpc, vendor_pb2
from tests.services.memory.serving import Serve, Served

DEADLINE_SECONDS = 60
SPEAKER = "Ottoline Vane-Marsh"
TURNS = (
    ("2026-01-05T09:00", "I keep two goats behind the mill. The older one is called Clove."),
    ("2026-02-11T18:30", "My sister Wren moved to Tromsø in January. She repairs violins there."),
    ("2026-03-02T07:15", "Clove is not well. The vet comes tomorrow and I'm worried."),
)
QUESTIONS = (
    "What is my older goat called?",
    "Where does my sister live now?",
    "When is the vet coming?",
)


def _told(served: Served) -> narrative_pb2_grpc.NarrativeServiceStub:
    return narrative_pb2_grpc.NarrativeServiceStub(served.channel)


def _ingest(
    served: Served, time: str, text: str, namespace: str = "n", speaker: str = SPEAKER
) -> narrative_pb2.WriteTrace:
    turn = narrative_pb2.Turn(namespace=namespace, speaker=speaker, time=time, text=text)
    request = narrative_pb2.IngestRequest(turn=turn)
    return _told(served).Ingest(request, timeout=DEADLINE_SECONDS).trace


def _ask(
    served: Served, question: str, speaker: str = SPEAKER, namespace: str = "n"
) -> narrative_pb2.Answer:
    request = narrative_pb2.AskRequest(namespace=namespace, question=question, speaker=speaker)
    return _told(served).Ask(request, timeout=DEADLINE_SECONDS).answer


def _state(served: Served, namespace: str = "n") -> str:
    request = vendor_pb2.StateHashRequest(namespace=namespace)
    return str(served.vendor.StateHash(request, timeout=DEADLINE_SECONDS).digest)


def _export(served: Served, namespace: str = "n") -> list[vendor_pb2.ExportResponse]:
    request = vendor_pb2.ExportRequest(namespace=namespace, surface=vendor_pb2.SURFACE_CANONICAL)
    return list(served.vendor.Export(request, timeout=DEADLINE_SECONDS))


def test_what_was_told_is_answered_verbatim(served: Served) -> None:
    for time, text in TURNS:
        _ingest(served, time, text)
    assert "Clove" in _ask(served, QUESTIONS[0]).text
    assert "Tromsø" in _ask(served, QUESTIONS[1]).text
    assert "2026-03-03" in _ask(served, QUESTIONS[2]).text


def test_a_restart_changes_no_answer_and_no_state(serve: Serve) -> None:
    served = serve()
    for time, text in TURNS:
        _ingest(served, time, text)
    before = [_ask(served, question) for question in QUESTIONS], _state(served), _export(served)
    served = serve()
    assert before == (
        [_ask(served, question) for question in QUESTIONS],
        _state(served),
        _export(served),
    )


def test_the_order_of_arrival_changes_no_answer(served: Served) -> None:
    answers = []
    for number, order in enumerate(itertools.permutations(TURNS)):
        for time, text in order:
            _ingest(served, time, text, namespace=f"n{number}")
        answers.append([_ask(served, question, namespace=f"n{number}") for question in QUESTIONS])
    assert answers == [answers[0]] * len(answers)


def test_the_same_turn_twice_is_one_turn(served: Served) -> None:
    first = _ingest(served, *TURNS[0])
    state = _state(served)
    assert _ingest(served, *TURNS[0]) == first
    assert _state(served) == state


def test_asking_changes_nothing(served: Served) -> None:
    _ingest(served, *TURNS[1])
    state = _state(served)
    _ask(served, QUESTIONS[1])
    assert _state(served) == state


def test_who_asks_hears_nothing_of_another_speaker(served: Served) -> None:
    _ingest(served, *TURNS[1])
    _ingest(served, TURNS[1][0], "My sister lives in Perth.", speaker="Ilse Brandt-Okoye")
    assert "Perth" not in _ask(served, QUESTIONS[1]).text
    assert "Perth" in _ask(served, QUESTIONS[1], speaker="Ilse Brandt-Okoye").text


def test_without_a_speaker_the_name_in_the_question_says_whose_turns(served: Served) -> None:
    _ingest(served, *TURNS[1])
    _ingest(served, TURNS[1][0], "My sister lives in Perth.", speaker="Ilse Brandt-Okoye")
    answer = _ask(served, f"Where does {SPEAKER}'s sister live?", speaker="")
    assert "Tromsø" in answer.text
    assert "Perth" not in answer.text


def test_nothing_told_is_declined(served: Served) -> None:
    answer = _ask(served, "What is my goat called?")
    assert answer.declined
    assert answer.text == ""


def test_raw_turns_and_facts_are_exported_apart(served: Served) -> None:
    _ingest(served, *TURNS[0])
    kinds = {item.kind: item.content.decode() for item in _export(served)}
    assert kinds[vendor_pb2.EXPORT_KIND_RAW_TURN] == TURNS[0][1]
    assert TURNS[0][1] not in kinds[vendor_pb2.EXPORT_KIND_FACT]
    assert "Clove" in kinds[vendor_pb2.EXPORT_KIND_FACT]


def test_reset_forgets_one_namespace(served: Served) -> None:
    empty = _state(served)
    _ingest(served, *TURNS[0])
    _ingest(served, *TURNS[0], namespace="other")
    served.vendor.Reset(vendor_pb2.ResetRequest(namespace="n"), timeout=DEADLINE_SECONDS)
    assert _state(served) == empty
    assert _ask(served, QUESTIONS[0]).declined
    assert "Clove" in _ask(served, QUESTIONS[0], namespace="other").text


@pytest.mark.parametrize(
    ("namespace", "speaker", "time", "text"),
    [
        ("", SPEAKER, "2026-01-05T09:00", "Hello."),
        ("n", "", "2026-01-05T09:00", "Hello."),
        ("n", SPEAKER, "last week", "Hello."),
        ("n", SPEAKER, "", "Hello."),
        ("n", SPEAKER, "2026-01-05T09:00", " \n"),
        ("n", SPEAKER, "2026-01-05T09:00", "x" * 65_537),
    ],
    ids=["namespace", "speaker", "time", "no time", "blank", "too long"],
)
def test_a_malformed_turn_is_refused(
    served: Served, namespace: str, speaker: str, time: str, text: str
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        _ingest(served, time, text, namespace=namespace, speaker=speaker)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_memory_that_sees_no_turn_loads_no_parser() -> None:
    heavy = "print(sorted({'numpy', 'spacy', 'wordllama'} & set(sys.modules)))"
    code = f"import sys, services.memory.process; {heavy}"
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"


def test_products_of_vectors_keep_to_one_thread(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from services.common.database import Database
from services.memory.narrative.part import create
assert "numpy" not in sys.modules
create(Database(Path(sys.argv[1]) / "memory.db")).memory()
assert "numpy" in sys.modules
print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"])
"""
    names = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}
    shown = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={name: value for name, value in os.environ.items() if name not in names},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert shown.stdout.split() == ["1", "1"]


def test_narrative_and_its_models_are_declared(served: Served) -> None:
    described = served.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    supported = {
        one.capability
        for one in described.capabilities
        if one.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    }
    assert {vendor_pb2.CAPABILITY_NARRATIVE, vendor_pb2.CAPABILITY_NARRATIVE_TRACES} <= supported
    assert "spaCy" in described.model_disclosure
    assert not described.llm_in_loop
