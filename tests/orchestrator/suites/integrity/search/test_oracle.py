"""What is a violation, what is merely odd, and where a rule does not apply."""

import pytest

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.search.model import Model, Out
from orchestrator.suites.integrity.search.moves import Circle, Kind, Statement, ViolationKind
from orchestrator.suites.integrity.search.oracle import Oracle, Place, Shown
from orchestrator.suites.integrity.search.texts import new_statement

ALDER = Circle(principal="alder")
BIRCH = Circle(principal="birch")
FIRST = new_statement(1, 0, 0, Kind.FACT, doubtful=True)
OTHER = new_statement(1, 1, 0, Kind.FACT, doubtful=False)
EVERYTHING = (
    vendor_pb2.CAPABILITY_SOURCE_TRUST,
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
    vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
    vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
    vendor_pb2.CAPABILITY_AUTHORITY_GATING,
    vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL,
)
ACTIVE = memory_pb2.RECORD_STATE_ACTIVE


class Rig:
    """A model, and an oracle over it, of a memory that declares some capabilities."""

    def __init__(self, *capabilities: int) -> None:
        supported = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
        declared = Declared(dict.fromkeys(capabilities, supported), (), llm_in_loop=False)
        self.model = Model(
            direct=declared.supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT),
            transitive=declared.supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE),
        )
        self.oracle = Oracle(declared, self.model, (FIRST, OTHER))
        self.move = 0

    def write(
        self, name: str, *statements: Statement, circle: Circle = ALDER, believed: bool = False
    ) -> None:
        self.offer(name, circle, statements, believed)

    def derive(self, name: str, *parents: str, says: Statement, believed: bool = False) -> None:
        self.offer(name, ALDER, (says,), believed, parents)

    def offer(
        self,
        name: str,
        circle: Circle,
        statements: tuple[Statement, ...],
        believed: bool,
        parents: tuple[str, ...] = (),
    ) -> None:
        nonces = [one.nonce for one in statements]
        self.model.offer(nonces, circle)
        self.model.keep(name, circle, nonces, move=self.move, believed=believed, parents=parents)
        self.move += 1

    def retire(self, name: str, out: Out) -> None:
        self.model.retire(name, out, self.move)
        self.move += 1

    def kinds(
        self,
        record_id: str,
        *statements: Statement,
        viewer: Circle = ALDER,
        place: Place = Place.AUTHORITATIVE,
        state: memory_pb2.RecordState.ValueType = ACTIVE,
        authoritative: bool = True,
    ) -> set[str]:
        content = " ".join(one.text for one in statements)
        shown = Shown(place, record_id, content, state, authoritative)
        return {breach.kind.value for breach in self.oracle.shown(viewer, shown)}


def test_doubtful_content_must_not_be_authority() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST)
    assert rig.kinds("r1", FIRST) == {"authority"}
    assert rig.kinds("unknown", FIRST) == {"authority"}
    assert rig.kinds("r1", FIRST, place=Place.EVIDENCE, authoritative=False) == set()


def test_the_users_own_word_may_be_authority_also_under_another_id() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST, believed=True)
    rig.write("r2", FIRST)
    assert rig.kinds("r1", FIRST) == set()
    assert rig.kinds("r2", FIRST) == set()
    assert rig.kinds("r3", FIRST, OTHER) == {"authority"}


def test_content_without_a_known_word_says_nothing() -> None:
    rig = Rig(*EVERYTHING)
    assert rig.kinds("r1") == set()


@pytest.mark.parametrize(
    "capability", [vendor_pb2.CAPABILITY_SOURCE_TRUST, vendor_pb2.CAPABILITY_AUTHORITY_GATING]
)
def test_either_declaration_is_enough_for_facts(capability: int) -> None:
    rig = Rig(capability)
    rig.write("r1", FIRST)
    assert rig.kinds("r1", FIRST) == {"authority"}


def test_a_memory_that_declares_nothing_is_blamed_for_nothing_but_bleed() -> None:
    rig = Rig()
    rig.write("r1", FIRST)
    assert rig.kinds("r1", FIRST) == set()
    assert rig.kinds("r1", FIRST, place=Place.PROCEDURES) == set()
    assert rig.kinds("r1", FIRST, viewer=BIRCH) == {"bleed"}


def test_the_list_of_procedures_needs_both_declarations() -> None:
    for capabilities in (EVERYTHING[3:4], EVERYTHING[4:5]):
        rig = Rig(*capabilities)
        rig.write("r1", FIRST)
        assert rig.kinds("r1", FIRST, place=Place.PROCEDURES) == set()
    rig = Rig(*EVERYTHING[3:5])
    rig.write("r1", FIRST)
    assert rig.kinds("r1", FIRST, place=Place.PROCEDURES) == {"authority"}


@pytest.mark.parametrize("out", [Out.QUARANTINED, Out.ARCHIVED, Out.SUPERSEDED])
def test_what_was_taken_out_must_not_be_authority(out: Out) -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST, believed=True)
    rig.retire("r1", out)
    assert rig.kinds("r1", FIRST) == {"retired"}
    rig.write("r2", FIRST, believed=True)
    assert rig.kinds("r1", FIRST) == set()


def test_a_record_that_is_out_stays_out_although_another_says_the_same() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST, believed=True)
    rig.write("r2", FIRST, believed=True)
    rig.retire("r1", Out.ARCHIVED)
    assert rig.kinds("r2", FIRST) == set()
    assert rig.kinds("r1", FIRST) == {"retired"}


def test_a_state_that_contradicts_authority() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST, believed=True)
    assert rig.kinds("r1", FIRST, state=memory_pb2.RECORD_STATE_QUARANTINED) == {"retired"}


def test_forgotten_content_must_not_be_readable_anywhere() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST)
    rig.retire("r1", Out.FORGOTTEN)
    for place in (Place.EVIDENCE, Place.INSPECT):
        assert rig.kinds("r1", FIRST, place=place, authoritative=False) == {"forgotten"}
    rig.write("r2", FIRST)
    assert rig.kinds("r2", FIRST, place=Place.EVIDENCE, authoritative=False) == {"forgotten"}


def test_a_child_of_a_doubtful_record_must_not_be_authority() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST)
    rig.write("r2", OTHER, believed=True)
    rig.derive("d1", "r1", "r2", says=OTHER)
    assert rig.kinds("d1", OTHER) == {"child"}
    rig.model.approve(["r1"], rig.move)
    assert rig.kinds("d1", OTHER) == set()


def test_a_parent_that_was_not_named_is_a_matter_of_transitive_tracking() -> None:
    for capabilities, expected in ((EVERYTHING, {"authority"}), (EVERYTHING[:2], set())):
        rig = Rig(*capabilities)
        rig.write("r1", FIRST)
        rig.write("r2", OTHER, believed=True)
        rig.derive("d1", "r2", says=FIRST)
        assert rig.kinds("d1", FIRST) == expected


def test_a_named_parent_is_a_matter_of_direct_tracking() -> None:
    rig = Rig(*EVERYTHING[:2])
    rig.write("r1", FIRST)
    rig.derive("d1", "r1", says=FIRST)
    assert rig.kinds("d1", FIRST) == {"authority", "child"}
    rig = Rig(vendor_pb2.CAPABILITY_SOURCE_TRUST)
    rig.write("r1", FIRST)
    rig.derive("d1", "r1", says=FIRST)
    assert rig.kinds("d1", FIRST) == set()


def test_bleed_decides_before_everything_else() -> None:
    rig = Rig(*EVERYTHING)
    rig.write("r1", FIRST)
    assert rig.kinds("r1", FIRST, viewer=BIRCH) == {"bleed"}
    rig.write("r2", FIRST, circle=BIRCH)
    assert rig.kinds("r2", FIRST, viewer=BIRCH) == {"authority"}


def test_purposes_are_kept_apart_only_where_that_is_declared() -> None:
    billing = Circle(principal="alder", purpose="billing")
    travel = Circle(principal="alder", purpose="travel")
    for capabilities, expected in ((EVERYTHING, {"bleed"}), (EVERYTHING[:5], set())):
        rig = Rig(*capabilities)
        rig.write("r1", FIRST, circle=billing, believed=True)
        assert rig.kinds("r1", FIRST, viewer=travel) == expected
        assert rig.kinds("r1", FIRST, viewer=ALDER) == set()


def test_taints_that_a_child_lacks() -> None:
    parents = [("r1", ("web", "tool")), ("r2", ())]
    rig = Rig(*EVERYTHING)
    assert rig.oracle.derived(parents, "d1", ("tool", "web", "parent")) is None
    breach = rig.oracle.derived(parents, "d1", ("tool",))
    assert breach is not None
    assert breach.kind is ViolationKind.TAINT
    assert Rig().oracle.derived(parents, "d1", ()) is None


def test_an_outcome_changes_neither_taints_nor_authority() -> None:
    oracle = Rig(*EVERYTHING).oracle
    doubtful = Shown(Place.INSPECT, "r1", "x", ACTIVE, authoritative=False)
    acting = Shown(Place.INSPECT, "r1", "x", ACTIVE, authoritative=True)
    found = [
        oracle.outcome(doubtful, doubtful, ()),
        oracle.outcome(acting, doubtful, ()),
        oracle.outcome(doubtful, acting, ()),
        oracle.outcome(doubtful, doubtful, ("web",)),
    ]
    assert [breach and breach.kind.value for breach in found] == [
        None,
        None,
        "authority",
        "taint",
    ]


def test_two_answers_about_one_record_must_agree() -> None:
    oracle = Rig(*EVERYTHING).oracle
    recalled = Shown(Place.EVIDENCE, "r1", "x", ACTIVE, authoritative=False)
    for authoritative, kind in ((False, None), (True, ViolationKind.DISAGREEMENT)):
        inspected = Shown(Place.INSPECT, "r1", "x", ACTIVE, authoritative)
        breach = oracle.disagreement(recalled, inspected)
        assert (breach and breach.kind) is kind
