import pytest

from services.common.errors import ServiceError
from services.memory.records.model import Kind, Scope, Surface
from tests.services.memory.records.rig import (
    AGENT,
    ALICE,
    RECEIPT,
    TOOL,
    USER,
    WEB,
    Memory,
)

FACT = "Alice prefers the window seat on long flights"


@pytest.mark.parametrize(
    "query",
    [
        "What is the weather in Paris?",
        "Who won the football match yesterday?",
        "Which hotel does Alice prefer?",
        "What is it about?",
        "Tell me something",
        "zanzibar",
    ],
)
def test_an_unrelated_question_returns_nothing(memory: Memory, query: str) -> None:
    memory.write(FACT)
    memory.write("Refunds go to account 4711", WEB)
    assert memory.said(query) == []
    assert memory.said(query, Surface.EVIDENCE) == []


@pytest.mark.parametrize(
    "query",
    [
        FACT,
        "Which seat does Alice prefer on flights?",
        "seat preference",
        "What are Alice's preferred seats when flying?",
    ],
)
def test_a_related_question_finds_it(memory: Memory, query: str) -> None:
    memory.write(FACT)
    assert memory.said(query) == [FACT]


def test_a_question_for_all_about_a_principal_is_answered(memory: Memory) -> None:
    memory.write(FACT)
    assert memory.said("alice") == [FACT]


def test_one_customer_is_not_taken_for_another(memory: Memory) -> None:
    for number in range(4_700, 4_760):
        memory.write(f"Customer {number} prefers delivery window {number % 24}")
    best = memory.said("Which delivery window does customer 4711 prefer?")
    assert best[0] == "Customer 4711 prefers delivery window 7"


def test_a_later_word_wins(memory: Memory) -> None:
    for seat in ("window", "aisle", "middle"):
        memory.write(f"Alice prefers the {seat} seat on long flights")
    seats = [text.split()[3] for text in memory.said("Which seat does Alice prefer?") if text]
    assert seats == ["middle", "aisle", "window"]


def test_a_word_that_is_said_again_is_the_latest(memory: Memory) -> None:
    memory.write(FACT)
    memory.write("Alice prefers the aisle seat on long flights")
    memory.write(FACT)
    assert memory.said("Which seat does Alice prefer?")[0] == FACT


def test_a_later_doubted_word_does_not_come_first(memory: Memory) -> None:
    memory.write(FACT)
    memory.write("Alice prefers the aisle seat on long flights", AGENT)
    assert memory.said("Which seat does Alice prefer?") == [FACT]
    found = memory.recall("Which seat does Alice prefer?", Surface.EVIDENCE)
    assert [hit.viewed.stored.authoritative for hit in found] == [True, False]


def test_a_better_matching_doubted_record_stays_out_of_authority(memory: Memory) -> None:
    memory.write(FACT)
    query = "window seat aisle seat long flights Alice prefers exactly this"
    memory.write(query, WEB)
    assert memory.said(query) == [FACT]
    assert memory.said(query, Surface.EVIDENCE)[0] == query


def test_a_flood_of_doubted_records_hides_nothing(memory: Memory) -> None:
    memory.write(FACT)
    for number in range(300):
        memory.write(f"Alice prefers the window seat on long flights, says page {number}", WEB)
    assert memory.said("Which seat does Alice prefer?") == [FACT]


def test_scores_fall_and_hits_are_bounded(memory: Memory) -> None:
    for number in range(30):
        memory.write(f"Flight {number} has a window seat" + " and a long aisle" * (number % 3))
    found = memory.recall("window seat flight", max_hits=7)
    assert len(found) == 7
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_scopes_never_bleed(memory: Memory) -> None:
    scopes = [
        Scope("n", "alice"),
        Scope("n", "alice", agent="a"),
        Scope("n", "alice", agent="b"),
        Scope("n", "alice", workspace="w"),
        Scope("n", "alice", purpose="billing"),
        Scope("n", "alice", "a", "w", "billing"),
        Scope("n", "bob"),
        Scope("m", "alice"),
    ]
    texts = {
        scope: f"The window seat of {number}{number}{number}" for number, scope in enumerate(scopes)
    }
    ids = {scope: memory.write(text, scope=scope).record_id for scope, text in texts.items()}
    for viewer in scopes:
        visible = {
            scope
            for scope in scopes
            if (scope.namespace, scope.principal) == (viewer.namespace, viewer.principal)
            and scope.agent in ("", viewer.agent)
            and scope.workspace in ("", viewer.workspace)
            and scope.purpose in ("", viewer.purpose)
        }
        for surface in Surface:
            said = memory.said("window seat", surface, scope=viewer)
            assert set(said) == {texts[scope] for scope in visible}
        for scope in scopes:
            if scope in visible:
                assert memory.look(ids[scope], viewer).stored.record.content == texts[scope]
            else:
                with pytest.raises(ServiceError, match="no such record"):
                    memory.look(ids[scope], viewer)


def test_other_principals_do_not_change_an_answer(memory: Memory) -> None:
    memory.write(FACT)
    memory.write("Alice flies on Monday")
    before = [(hit.viewed.stored.row, hit.score) for hit in memory.recall("long window flight")]
    for number in range(50):
        memory.write(f"long window flight {number}", scope=Scope("n", f"p{number}"))
    after = [(hit.viewed.stored.row, hit.score) for hit in memory.recall("long window flight")]
    assert after == before


def test_episodes_are_evidence_and_receipts_speak(memory: Memory) -> None:
    memory.write("User moved to Berlin on Monday", USER, kind=Kind.EPISODE)
    memory.write("Tool searched flights to Berlin", TOOL, kind=Kind.EPISODE)
    memory.write("Transferred 50 euro to Berlin", RECEIPT, kind=Kind.EPISODE)
    assert memory.said("Berlin") == ["Transferred 50 euro to Berlin"]
    assert len(memory.said("Berlin", Surface.EVIDENCE)) == 3


def test_procedures_are_listed_when_active_and_in_scope(memory: Memory) -> None:
    mine = memory.write("Close the valve first", kind=Kind.PROCEDURE)
    memory.write("Open the valve first", WEB, kind=Kind.PROCEDURE)
    memory.write("Ignore the valve", kind=Kind.PROCEDURE, scope=Scope("n", "bob"))
    memory.write("The valve is a fact")
    listed = memory.recalling.procedures(ALICE)
    assert [viewed.stored.record.record_id for viewed in listed] == [mine.record_id]


def test_nothing_is_there_before_the_first_write(memory: Memory) -> None:
    assert memory.said("window") == []
    assert memory.recalling.procedures(ALICE) == []
