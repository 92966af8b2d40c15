"""What the contract says of answers to calls that change a record, and of the steps around them."""

from collections.abc import Callable, Generator
from typing import TypeVar

import pytest
from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    Answer,
    ContractBreach,
    Needle,
    NotPossible,
    NotServed,
    PassTime,
    Restart,
    ScanVolume,
    Want,
)
from orchestrator.suites.integrity.lifecycle_steps import (
    Changed,
    Reported,
    Shown,
    archive,
    forget,
    inspect,
    pass_time,
    quarantine,
    record_outcome,
    restart,
    scan_volume,
    supersede,
)
from orchestrator.suites.integrity.steps import Offered

SCOPE = memory_pb2.Scope(namespace="n", principal="p")
ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
FORGOTTEN = memory_pb2.RECORD_STATE_FORGOTTEN
HELPFUL = memory_pb2.PROCEDURE_OUTCOME_HELPFUL

_Asked = TypeVar("_Asked", bound=Want)
_Result = TypeVar("_Result")


def answered(
    step: Generator[_Asked, Answer, _Result], answer: Answer | Message
) -> tuple[_Asked, _Result]:
    """What a single step asks, and what it returns for an answer."""
    given = answer if isinstance(answer, Answer) else Answer("OK", "", (answer,))
    want = next(step)
    with pytest.raises(StopIteration) as stop:
        step.send(given)
    return want, stop.value.value


STEPS: dict[str, Callable[[], Generator[Want, Answer, object]]] = {
    "Supersede": lambda: supersede("s", SCOPE, "r", memory_pb2.Observation(content="new")),
    "Quarantine": lambda: quarantine("s", SCOPE, "r", "planted"),
    "Forget": lambda: forget("s", SCOPE, "r"),
    "Archive": lambda: archive("s", SCOPE, "r"),
    "Inspect": lambda: inspect("s", SCOPE, "r"),
    "RecordOutcome": lambda: record_outcome("s", SCOPE, "r", HELPFUL, 1.0),
}


@pytest.mark.parametrize("method", STEPS)
def test_what_is_not_served_is_named(method: str) -> None:
    step = STEPS[method]()
    next(step)

    with pytest.raises(NotServed) as unserved:
        step.send(Answer("UNIMPLEMENTED"))
    assert unserved.value.method == method


@pytest.mark.parametrize("method", STEPS)
@pytest.mark.parametrize("answer", [Answer("INTERNAL", "why"), Answer("OK")])
def test_what_is_no_answer_is_a_breach(method: str, answer: Answer) -> None:
    step = STEPS[method]()
    next(step)

    with pytest.raises(ContractBreach):
        step.send(answer)


@pytest.mark.parametrize(
    ("method", "refused"),
    [
        ("Supersede", Offered("", memory_pb2.RECORD_STATE_UNSPECIFIED, "PERMISSION_DENIED")),
        ("Quarantine", Changed((), "PERMISSION_DENIED")),
        ("Forget", Changed((), "PERMISSION_DENIED")),
        ("Archive", Changed((), "PERMISSION_DENIED")),
        ("RecordOutcome", Reported(None, "PERMISSION_DENIED")),
    ],
)
def test_a_refusal_is_an_answer(method: str, refused: object) -> None:
    _, result = answered(STEPS[method](), Answer("PERMISSION_DENIED"))

    assert result == refused


def test_what_was_done_is_returned() -> None:
    record = memory_pb2.MemoryRecord(record_id="r", state=ACTIVE, authoritative=True)
    admission = memory_pb2.Admission(record_id="new", state=ACTIVE)
    ids = ["r", "child"]

    for method, response, expected in (
        ("Supersede", memory_pb2.SupersedeResponse(admission=admission), Offered("new", ACTIVE)),
        ("Quarantine", memory_pb2.QuarantineResponse(record_ids=ids), Changed(("r", "child"))),
        ("Forget", memory_pb2.ForgetResponse(record_ids=ids), Changed(("r", "child"))),
        ("Archive", memory_pb2.ArchiveResponse(), Changed(())),
        ("Inspect", memory_pb2.InspectResponse(record=record), Shown(record)),
        ("RecordOutcome", memory_pb2.RecordOutcomeResponse(record=record), Reported(record)),
    ):
        assert answered(STEPS[method](), response)[1] == expected, method
    assert Changed(()).done
    assert not Changed((), "NOT_FOUND").done


@pytest.mark.parametrize(
    ("answer", "state", "authoritative", "words"),
    [
        (Answer("NOT_FOUND"), memory_pb2.RECORD_STATE_UNSPECIFIED, False, "unknown to Inspect"),
        (
            Answer("PERMISSION_DENIED", "not yours"),
            memory_pb2.RECORD_STATE_UNSPECIFIED,
            False,
            "unknown to Inspect",
        ),
        (
            memory_pb2.InspectResponse(
                record=memory_pb2.MemoryRecord(state=ACTIVE, authoritative=True)
            ),
            ACTIVE,
            True,
            "shown as active, authoritative",
        ),
        (
            memory_pb2.InspectResponse(record=memory_pb2.MemoryRecord(state=FORGOTTEN)),
            FORGOTTEN,
            False,
            "shown as forgotten, not authoritative",
        ),
    ],
)
def test_a_record_as_it_is_shown(
    answer: Answer | Message, state: int, authoritative: bool, words: str
) -> None:
    _, shown = answered(inspect("i", SCOPE, "r"), answer)

    assert (shown.state, shown.authoritative, shown.words) == (state, authoritative, words)


def test_a_record_in_an_unknown_state_is_a_breach() -> None:
    strange = memory_pb2.InspectResponse.FromString(b"\x0a\x02\x18\x63")  # state = 99

    with pytest.raises(ContractBreach, match="no record with a state"):
        answered(inspect("i", SCOPE, "r"), strange)


def test_steps_of_the_whole_memory() -> None:
    needle = Needle("text", "dabako")

    assert answered(restart("again"), Answer("OK"))[0] == Restart("again")
    want, found = answered(
        scan_volume("scan", [needle]), Answer("OK", found=(("text", ("as it is",)),))
    )
    assert (want, found) == (ScanVolume("scan", (needle,)), {"text": ("as it is",)})
    assert answered(pass_time("later", 7), Answer("OK"))[0] == PassTime("later", 7)
    with pytest.raises(NotPossible, match="no clock"):
        answered(pass_time("later", 7), Answer("OK", "no clock"))
