"""What the contract says of single answers, and whose record it is that a memory shows."""

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import pytest
from google.protobuf.message import Message

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.model import Check, CheckOutcome
from orchestrator.suites.integrity.calls import (
    METHODS,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
    Want,
    method_of,
)
from orchestrator.suites.integrity.categories.base import is_record, told_apart
from orchestrator.suites.integrity.checks import CheckSpec, Column, Findings, column_of, quoted
from orchestrator.suites.integrity.playing import WANTS_MAX, play
from orchestrator.suites.integrity.steps import (
    HIT_BYTES_MAX,
    HITS_MAX,
    Offered,
    export,
    list_procedures,
    recall,
    request_review,
    state_words,
    write,
)

SCOPE = memory_pb2.Scope(namespace="n", principal="p")
ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
REJECTED = memory_pb2.RECORD_STATE_REJECTED
AUTHORITATIVE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE

_Result = TypeVar("_Result")


def answered(step: Generator[Ask, Answer, _Result], answer: Answer | Message) -> _Result:
    """What a single step returns for an answer."""
    given = answer if isinstance(answer, Answer) else Answer("OK", "", (answer,))
    next(step)
    try:
        step.send(given)
    except StopIteration as stop:
        result: _Result = stop.value
        return result
    raise AssertionError("the step asked twice")


def admission(record_id: str, state: memory_pb2.RecordState.ValueType) -> memory_pb2.WriteResponse:
    return memory_pb2.WriteResponse(
        admission=memory_pb2.Admission(record_id=record_id, state=state)
    )


def offered(answer: Answer | Message) -> Offered:
    return answered(write("w", memory_pb2.Observation()), answer)


@pytest.mark.parametrize(
    ("answer", "kept", "words"),
    [
        (admission("r", ACTIVE), True, "admitted as active"),
        (admission("r", memory_pb2.RECORD_STATE_QUARANTINED), True, "admitted as quarantined"),
        (admission("r", REJECTED), False, "admitted as rejected"),
        (admission("", REJECTED), False, "admitted as rejected"),
        (Answer("PERMISSION_DENIED"), False, "refused with PERMISSION_DENIED"),
        (Answer("INVALID_ARGUMENT"), False, "refused with INVALID_ARGUMENT"),
        (Answer("FAILED_PRECONDITION"), False, "refused with FAILED_PRECONDITION"),
    ],
)
def test_an_offer_is_kept_or_not(answer: Answer | Message, kept: bool, words: str) -> None:
    result = offered(answer)

    assert (result.kept, result.words) == (kept, words)


@pytest.mark.parametrize(
    "answer",
    [
        memory_pb2.WriteResponse(),
        admission("r", memory_pb2.RECORD_STATE_UNSPECIFIED),
        memory_pb2.WriteResponse.FromString(b"\x0a\x05\x0a\x01r\x10\x63"),
        admission("", ACTIVE),
        Answer("OK"),
        Answer("NOT_FOUND", "what"),
        Answer("RESOURCE_EXHAUSTED"),
    ],
)
def test_an_answer_to_write_that_is_none(answer: Answer | Message) -> None:
    with pytest.raises(ContractBreach):
        offered(answer)


def test_a_memory_without_write_is_not_served() -> None:
    with pytest.raises(NotServed):
        offered(Answer("UNIMPLEMENTED"))


def test_more_hits_than_asked_for_are_a_breach() -> None:
    def hits(count: int) -> memory_pb2.RecallResponse:
        return memory_pb2.RecallResponse(hits=[memory_pb2.Hit(record_id="r")] * count)

    assert len(answered(recall("r", SCOPE, "q", AUTHORITATIVE), hits(HITS_MAX))) == HITS_MAX
    with pytest.raises(ContractBreach, match="at most 20"):
        answered(recall("r", SCOPE, "q", AUTHORITATIVE), hits(HITS_MAX + 1))


@pytest.mark.parametrize("status", ["UNIMPLEMENTED", "PERMISSION_DENIED", "NOT_FOUND"])
def test_what_is_declared_may_not_be_refused(status: str) -> None:
    for step in (
        recall("r", SCOPE, "q", AUTHORITATIVE),
        list_procedures("l", SCOPE),
        export("e", "n", vendor_pb2.SURFACE_CANONICAL),
    ):
        with pytest.raises(ContractBreach, match=status):
            answered(step, Answer(status))


def _changes() -> Iterator[Callable[[memory_pb2.RequestReviewResponse], None]]:
    yield lambda response: response.ClearField("challenge")
    yield lambda response: setattr(response.challenge, "challenge_id", "")
    yield lambda response: response.challenge.subject_ids.append("other")
    yield lambda response: response.challenge.ClearField("subject_digests")
    yield lambda response: setattr(response.challenge, "action", "release")
    yield lambda response: setattr(response.challenge, "namespace", "other")


@pytest.mark.parametrize("change", list(_changes()))
def test_nobody_signs_a_challenge_for_something_else(
    change: Callable[[memory_pb2.RequestReviewResponse], None],
) -> None:
    response = memory_pb2.RequestReviewResponse()
    response.challenge.challenge_id = "c"
    response.challenge.subject_ids.append("r")
    response.challenge.subject_digests.append("0" * 64)
    response.challenge.action = "promote"
    response.challenge.namespace = "n"

    def asked() -> object:
        step = request_review("q", SCOPE, "r", "promote", refusals=frozenset())
        return answered(step, response)

    assert asked() == response.challenge
    change(response)
    with pytest.raises(ContractBreach, match="not for the record and action"):
        asked()


def test_a_dump_joins_what_came_in_several_messages() -> None:
    parts = tuple(
        vendor_pb2.ExportResponse(item_id=item, content=content)
        for item, content in (("a", b"sec"), ("a", b"ret"), ("b", b"!"))
    )

    dump = answered(export("e", "n", vendor_pb2.SURFACE_INDEX), Answer("OK", "", parts))

    assert dump.data == b"a\na\nb\nsecret!"
    empty = answered(export("e", "n", vendor_pb2.SURFACE_INDEX), Answer("OK"))
    assert empty.data == b"\n"


SOUGHT, OTHER = Offered("attack", ACTIVE), Offered("twin", ACTIVE)


@pytest.mark.parametrize(
    ("sought", "entry", "expected"),
    [
        (SOUGHT, memory_pb2.Hit(record_id="attack"), True),
        (SOUGHT, memory_pb2.Hit(record_id="twin", content="dabako"), False),
        (SOUGHT, memory_pb2.Hit(record_id="twin", lineage=["attack"]), False),
        (SOUGHT, memory_pb2.Hit(record_id="merged", lineage=["x", "attack"]), True),
        (SOUGHT, memory_pb2.Hit(record_id="unknown", content="about Dabako."), True),
        (SOUGHT, memory_pb2.Hit(record_id="unknown", content="about nothing"), False),
        (SOUGHT, memory_pb2.Hit(content="about dabako"), True),
        (Offered("", REJECTED), memory_pb2.Hit(record_id="x", content="dabako"), True),
        (Offered("", REJECTED), memory_pb2.Hit(record_id="", content="other"), False),
    ],
)
def test_native_ids_decide_and_texts_only_where_there_is_none(
    sought: Offered, entry: memory_pb2.Hit, expected: bool
) -> None:
    assert is_record(entry, sought, (OTHER,), "dabako") is expected


def test_a_listed_procedure_is_known_by_its_observations_text() -> None:
    record = memory_pb2.MemoryRecord(observation=memory_pb2.Observation(content="see dabako"))

    assert is_record(record, SOUGHT, (), "dabako")


def test_one_id_for_two_texts_is_a_breach() -> None:
    told_apart("s", Offered("", REJECTED), Offered("", REJECTED))
    told_apart("s", SOUGHT, OTHER)
    with pytest.raises(ContractBreach, match="same record id"):
        told_apart("s", SOUGHT, Offered("attack", ACTIVE))


def test_a_script_without_an_end_is_our_own_fault() -> None:
    asked = 0

    def endless() -> Generator[Ask, Answer, None]:
        while True:
            yield Ask("again", memory_pb2.ListProceduresRequest())

    def answer(want: Want) -> Answer:
        nonlocal asked
        asked += 1
        return Answer("OK")

    with pytest.raises(RuntimeError, match="3000 wants"):
        play(endless(), answer)
    assert asked == WANTS_MAX

    asked = 0
    with pytest.raises(RuntimeError, match="7 wants"):
        play(endless(), answer, 7)
    assert asked == 7


def test_every_method_of_the_memory_can_be_asked() -> None:
    names = {
        method.name for method in memory_pb2.DESCRIPTOR.services_by_name["MemoryService"].methods
    }

    assert set(METHODS) == names | {
        *("Export", "StateHash", "Reset", "Now", "Begin", "RecordReceipt", "GetOperation"),
        *("Ingest", "Ask"),
    }
    assert all(method_of(method.request()) == method for method in METHODS.values())


SPEC = CheckSpec("A", Column.SAFETY, 2, "it holds")


def test_a_violation_stays_whatever_comes_later() -> None:
    findings = Findings([SPEC])
    assert [check.outcome for check in findings.checks()] == [CheckOutcome.NOT_EVALUATED]

    findings.held(SPEC, "first")
    findings.violated(SPEC, "second")
    findings.held(SPEC, "third")
    findings.open(SPEC, "fourth", required=False)

    (check,) = findings.checks()
    assert (check.outcome, check.actual) == (CheckOutcome.VIOLATED, "second")
    assert (check.check_id, check.requirement_id) == ("integrity.A.safety", "INT-A-2")


def test_columns_are_read_from_the_checks_id() -> None:
    detailed = CheckSpec("C", Column.UTILITY, 4, "", "unrelated_question")
    foreign = Check(
        check_id="continuity.window.hit",
        requirement_id="x",
        paper_property="P1",
        outcome=CheckOutcome.HELD,
    )

    assert column_of(SPEC.check(CheckOutcome.HELD, "")) is Column.SAFETY
    assert column_of(detailed.check(CheckOutcome.HELD, "")) is Column.UTILITY
    assert column_of(foreign) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "'plain'"),
        ("two\nlines\x1b[31m", "'two?lines?[31m'"),
        ("x" * 500, "'" + "x" * 119 + "…'"),
        ("\u202eright to left", "'?right to left'"),
    ],
)
def test_a_vendors_own_text_is_one_short_printable_line(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_a_memory_with_one_surface_is_asked_on_that_one() -> None:
    step = recall("seen", SCOPE, "what", memory_pb2.RECALL_SURFACE_EVIDENCE, 7)
    hit = memory_pb2.Hit(record_id="r", content="text")

    assert next(step).step == "seen"
    again = step.send(Answer("UNIMPLEMENTED", "no evidence"))
    with pytest.raises(StopIteration) as ended:
        step.send(Answer("OK", "", (memory_pb2.RecallResponse(hits=[hit]),)))

    assert again == Ask(
        "seen.authority",
        memory_pb2.RecallRequest(scope=SCOPE, query="what", max_hits=7, surface=AUTHORITATIVE),
    )
    assert ended.value.value == (hit,)


def test_what_may_be_acted_on_has_to_be_recalled() -> None:
    with pytest.raises(ContractBreach, match="UNIMPLEMENTED"):
        answered(recall("r", SCOPE, "q", AUTHORITATIVE), Answer("UNIMPLEMENTED"))


@pytest.mark.parametrize(("more", "breach"), [(0, False), (1, True)])
def test_a_hit_is_no_longer_than_texts_can_be(more: int, breach: bool) -> None:
    content = "x" * (HIT_BYTES_MAX - 2 + more) + "ä"
    response = memory_pb2.RecallResponse(hits=[memory_pb2.Hit(content=content)])

    if breach:
        with pytest.raises(ContractBreach, match="a hit of 131073 bytes"):
            answered(recall("r", SCOPE, "q", AUTHORITATIVE), response)
    else:
        assert answered(recall("r", SCOPE, "q", AUTHORITATIVE), response)[0].content == content


def test_a_state_without_a_name_is_told() -> None:
    assert state_words(memory_pb2.RECORD_STATE_ARCHIVED) == "archived"
    assert state_words(99) == "of the unknown state 99"


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        (b"\x38\x4d", "a hit of the unknown state 77"),
        (b"\x20\x4d", "a hit of the unknown trust 77"),
        (b"\x19\x00\x00\x00\x00\x00\x00\xf8\x7f", "score is no number"),
    ],
)
def test_a_hit_that_makes_no_sense_is_a_breach(wire: bytes, told: str) -> None:
    response = memory_pb2.RecallResponse(hits=[memory_pb2.Hit.FromString(wire)])

    with pytest.raises(ContractBreach, match=told):
        answered(recall("r", SCOPE, "q", AUTHORITATIVE), response)


@pytest.mark.parametrize(("size", "breach"), [(128, False), (129, True)])
def test_ids_have_a_length(size: int, breach: bool) -> None:
    if breach:
        with pytest.raises(ContractBreach, match="a record id of 129 bytes"):
            offered(admission("r" * size, ACTIVE))
    else:
        assert offered(admission("r" * size, ACTIVE)).record_id == "r" * size


def test_a_memorys_own_words_cannot_bend_a_report() -> None:
    spec = CheckSpec("H", Column.SAFETY, 2, "it holds")
    taint = "]]></failure>\x00\x1b[31m\u202e\u2028\n" + "x" * 5_000

    told = spec.check(CheckOutcome.VIOLATED, f"taints: {taint}").actual

    assert told.startswith("taints: ]]></failure>??[31m???xxx")
    assert (len(told), told[-1], told.isprintable()) == (4_000, "…", True)
