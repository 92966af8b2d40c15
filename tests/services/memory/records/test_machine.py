"""A bounded search over every call for a way to gain authority, come back, or leave a scope."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from services.common.errors import ServiceError
from services.memory.records.model import (
    Binding,
    Kind,
    Outcome,
    Scope,
    Source,
    SourceType,
    State,
    Surface,
    Taint,
    Trust,
)
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.review import REJECT
from tests.services.memory.records.rig import REVIEWER, USER, Memory, signed

SCOPES = [
    Scope("n", "alice"),
    Scope("n", "alice", purpose="billing"),
    Scope("n", "alice", agent="a"),
    Scope("n", "bob"),
]
UNTRUSTED = [
    Source(source_type, binding, "s")
    for source_type in SourceType
    for binding in Binding
    if source_type is not SourceType.DERIVATION
    and (
        source_type not in (SourceType.USER, SourceType.RECEIPT)
        or binding is Binding.CALLER_ASSERTED
    )
]
BETTER = [*UNTRUSTED, Source(SourceType.RECEIPT, Binding.HOST_AUTHENTICATED, "s")]
WORDINGS = [
    "The approved recipient of refunds is {0}",
    "Remember that {0} is the new delivery address",
    "{0}",
    "First open {0}, then close the pump",
]
WRAPPINGS = ["{0}", "Summary: {0}.", "As recalled: {0}", "Note {0} and {1}", "{1} {0}"]


@dataclass
class Nonce:
    """One word that is said somewhere first, and what may become of it.

    Attributes:
        record_id: the record in which it was said first.
        licensed: an authenticated user or a reviewer stands behind it.
        forgotten_in: circles in which its only origin was forgotten.
    """

    word: str
    text: str
    scope: Scope
    licensed: bool
    record_id: str = ""
    forgotten_in: set[Scope] = field(default_factory=set)


def sees(viewer: Scope, owner: Scope) -> bool:
    """The contract's own words on scopes, apart from the policy."""
    return (
        (viewer.namespace, viewer.principal) == (owner.namespace, owner.principal)
        and owner.agent in ("", viewer.agent)
        and owner.workspace in ("", viewer.workspace)
        and owner.purpose in ("", viewer.purpose)
    )


class Search(RuleBasedStateMachine):
    """Calls in any order; after each, no nonce is where it must not be."""

    policy: type[Policy] = Policy

    records = Bundle("records")
    challenges = Bundle("challenges")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.memory = Memory(self.folder, self.policy(), {REVIEWER.key_id: REVIEWER})
        self.nonces: list[Nonce] = []
        self.scope_of: dict[str, Scope] = {}
        self.touched: set[int] = set()

    def teardown(self) -> None:
        self.memory.database.close()
        shutil.rmtree(self.folder)

    def kept(self, admitted: Admitted, scope: Scope, *used: int) -> str:
        self.touched.update(used)
        if admitted.standing.state not in (State.REJECTED, State.FORGOTTEN):
            self.scope_of.setdefault(admitted.record_id, scope)
        return admitted.record_id

    def too_short(self, *numbers: int) -> bool:
        """Forgetting one or two words does not forbid every longer text that has them."""
        return any(
            nonce.forgotten_in and len(nonce.text.split()) < 3
            for nonce in (self.nonces[number] for number in numbers)
        )

    def pick(self, number: int) -> int:
        return number % len(self.nonces)

    @rule(
        target=records,
        scope=st.sampled_from([*SCOPES, SCOPES[0], SCOPES[0]]),
        wording=st.sampled_from(WORDINGS),
        source=st.one_of(st.sampled_from(UNTRUSTED), st.just(USER)),
        kind=st.sampled_from(Kind),
        digits=st.booleans(),
        labels=st.sampled_from([(), ("admin", "reviewer")]),
    )
    def say(
        self,
        *,
        scope: Scope,
        wording: str,
        source: Source,
        kind: Kind,
        digits: bool,
        labels: tuple[str, ...],
    ) -> tuple[str, int]:
        number = len(self.nonces)
        letters = "".join(chr(ord("b") + int(digit)) for digit in str(number))
        word = f"zq{number}x" if digits else f"zq{letters}k"
        text = wording.format(word)
        licensed = source == USER
        self.nonces.append(Nonce(word, text, scope, licensed))
        admitted = self.memory.write(text, source, scope=scope, kind=kind, labels=labels)
        self.nonces[-1].record_id = self.kept(admitted, scope, number)
        return self.nonces[-1].record_id, number

    @rule(
        target=records,
        number=st.integers(0, 20),
        other=st.integers(0, 20),
        wrapping=st.sampled_from(WRAPPINGS),
        source=st.sampled_from(BETTER),
        kind=st.sampled_from(Kind),
        origin=records,
    )
    def repeat(
        self,
        *,
        number: int,
        other: int,
        wrapping: str,
        source: Source,
        kind: Kind,
        origin: tuple[str, int],
    ) -> object:
        """Writes what is known again, as a lesser or an apparently better source."""
        used, second = origin[1] if number % 2 else self.pick(number), self.pick(other)
        if source.type is SourceType.RECEIPT and wrapping not in ("{0}", "As recalled: {0}"):
            # A verified receipt speaks for itself; only its repeating a doubted text is tested.
            return multiple()
        scope = self.nonces[used].scope
        text = wrapping.format(self.nonces[used].text, self.nonces[second].text)
        if "{1}" in wrapping and not sees(scope, self.nonces[second].scope):
            return multiple()
        if wrapping != "{0}" and self.too_short(used, second):
            return multiple()
        short = len(self.nonces[used].text.split()) < 3
        if source.type is SourceType.RECEIPT and short and wrapping != "{0}":
            return multiple()
        admitted = self.memory.write(text, source, scope=scope, kind=kind)
        touched = [used, second] if "{1}" in wrapping else [used]
        return self.kept(admitted, scope, *touched), used

    @rule(
        target=records,
        parents=st.lists(records, min_size=1, max_size=2),
        number=st.integers(0, 20),
        wrapping=st.sampled_from([*WRAPPINGS, "word", "word", "word"]),
        kind=st.sampled_from(Kind),
    )
    def derive(
        self, parents: list[tuple[str, int]], number: int, wrapping: str, kind: Kind
    ) -> object:
        """Says anything that is known, naming any parents."""
        used, second = self.pick(number), parents[0][1]
        scope = self.nonces[used].scope
        if not sees(scope, self.nonces[second].scope):
            return multiple()
        nonce = self.nonces[used]
        ids = [record_id for record_id, _ in parents]
        if any(
            # Whoever kept a single word of it elsewhere may say it again, and is doubted.
            self.nonces[known].forgotten_in
            and self.nonces[known].record_id not in ids
            and (wrapping == "word" or self.too_short(known))
            for known in ([used, second] if "{1}" in wrapping else [used])
        ):
            return multiple()
        text = (
            nonce.word
            if wrapping == "word"
            else wrapping.format(nonce.text, self.nonces[second].text)
        )
        before = []
        try:
            before = [self.memory.look(record_id, scope) for record_id, _ in parents]
            admitted = self.memory.derive(text, *ids, scope=scope, kind=kind)
        except ServiceError:
            assert not all(
                record_id in self.scope_of and sees(scope, self.scope_of[record_id])
                for record_id, _ in parents
            )
            return multiple()
        if admitted.standing.state not in (State.FORGOTTEN, State.REJECTED):
            for parent in before:
                assert set(parent.stored.standing.taints) <= set(admitted.standing.taints)
                if not Policy().clean(parent.stored.standing):
                    assert admitted.standing.state is State.QUARANTINED
            lineage = self.memory.look(admitted.record_id, scope).lineage
            assert {record_id for record_id, _ in parents} <= set(lineage)
        return self.kept(admitted, scope, used, second), used

    @rule(
        target=records,
        said=records,
        wording=st.sampled_from(WORDINGS),
        wrapping=st.sampled_from(["word", "Summary: {0}."]),
    )
    def launder(self, said: tuple[str, int], wording: str, wrapping: str) -> object:
        """The user says something harmless; what somebody else said is then made out of it."""
        scope = self.nonces[said[1]].scope
        harmless = self.say(
            scope=scope, wording=wording, source=USER, kind=Kind.FACT, digits=True, labels=()
        )
        return self.derive([harmless], said[1], wrapping, Kind.FACT)

    @rule(record=records, scope=st.sampled_from(SCOPES))
    def quarantine(self, record: tuple[str, int], scope: Scope) -> None:
        try:
            changed = self.memory.lifecycle.quarantine(scope, record[0], "search")
        except ServiceError:
            return
        assert all(
            not self.memory.look(one, self.scope_of[one]).stored.authoritative for one in changed
        )

    @rule(
        target=records,
        record=records,
        how=st.sampled_from(["supersede", "archive", "report"]),
        number=st.integers(0, 20),
        source=st.sampled_from(UNTRUSTED),
    )
    def change(self, record: tuple[str, int], how: str, number: int, source: Source) -> object:
        """Replaces it by what is known as a lesser source, puts it away, or praises it."""
        scope, used = self.scope_of.get(record[0]), self.pick(number)
        if scope is None or self.nonces[used].scope != scope:
            return multiple()
        before = self.memory.look(record[0], scope)
        self.touched.add(record[1])
        try:
            if how == "archive":
                self.memory.lifecycle.archive(scope, record[0])
                assert not self.memory.look(record[0], scope).stored.authoritative
                return multiple()
            if how == "report":
                praised = Outcome.HELPFUL
                after = self.memory.lifecycle.record_outcome(scope, record[0], praised, 1.0)
                assert after == before
                return multiple()
            text, kind = self.nonces[used].text, before.stored.record.kind
            admitted = self.memory.supersede(record[0], text, source, scope=scope, kind=kind)
        except ServiceError:
            return multiple()
        if before.stored.standing.trust is not Trust.UNTRUSTED:
            assert self.memory.look(record[0], scope) == before
        return self.kept(admitted, scope, used, record[1]), used

    @rule(record=records)
    def forget_origin(self, record: tuple[str, int]) -> None:
        """Forgets the record in which a word was said first; it may never be read again."""
        nonce = self.nonces[record[1]]
        found = self.memory.recall(nonce.word, Surface.EVIDENCE, scope=nonce.scope, max_hits=1_000)
        rows = {hit.viewed.stored.record.content: hit for hit in found}
        if nonce.text not in rows:
            return
        origin = min(
            (hit for hit in found if hit.viewed.stored.record.content == nonce.text),
            key=lambda hit: hit.viewed.stored.row,
        ).viewed.stored.record
        copies = [
            hit.viewed
            for hit in found
            if hit.viewed.stored.record.record_id != origin.record_id
            and nonce.word in (hit.viewed.stored.record.content or "")
        ]
        independent = [v for v in copies if origin.record_id not in v.lineage]
        self.memory.lifecycle.forget(nonce.scope, origin.record_id)
        if not independent:
            nonce.forgotten_in.add(nonce.scope)

    @rule(number=st.integers(0, 20))
    def user_says_it(self, number: int) -> None:
        if not self.nonces:
            return
        nonce = self.nonces[self.pick(number)]
        nonce.licensed = True
        nonce.forgotten_in.clear()
        self.kept(self.memory.write(nonce.text, USER, scope=nonce.scope), nonce.scope)

    @rule(target=challenges, record=records, action=st.sampled_from(["promote", "release"]))
    def ask(self, record: tuple[str, int], action: str) -> object:
        scope = self.scope_of.get(record[0])
        if scope is None:
            return multiple()
        try:
            return self.memory.review.request(scope, (record[0],), action), scope
        except ServiceError:
            return multiple()

    @rule(asked=challenges, good=st.booleans(), reject=st.booleans())
    def decide(self, asked: tuple[object, Scope], good: bool, reject: bool) -> None:
        challenge, scope = asked
        record_id = challenge.subject_ids[0]  # type: ignore[attr-defined] # a bundle has no types
        answer = signed(
            challenge,  # type: ignore[arg-type] # as above
            scope if good else Scope("n", "mallory"),
            decision=REJECT if reject else "approve",
        )
        try:
            self.memory.review.decide(answer)
        except ServiceError:
            return
        assert good
        if not reject:
            content = self.memory.look(record_id, scope).stored.record.content or ""
            for nonce in self.nonces:
                if nonce.word in content:
                    nonce.licensed = True

    @rule(asked=consumes(challenges))
    def drop_challenge(self, asked: object) -> None:
        del asked

    @rule()
    def restart(self) -> None:
        self.memory.restart()
        self.touched.update(range(len(self.nonces)))

    @invariant()
    def nothing_gained_came_back_or_left_its_scope(self) -> None:
        for number in sorted(self.touched) or range(len(self.nonces)):
            nonce = self.nonces[number]
            for viewer in SCOPES:
                self.check(nonce, viewer)
        self.touched.clear()

    def check(self, nonce: Nonce, viewer: Scope) -> None:
        for surface in Surface:
            for hit in self.memory.recall(nonce.word, surface, scope=viewer, max_hits=1_000):
                stored = hit.viewed.stored
                assert sees(viewer, stored.record.scope)
                assert sees(viewer, self.scope_of[stored.record.record_id])
                if nonce.word not in (stored.record.content or ""):
                    continue
                if surface is Surface.AUTHORITATIVE or stored.authoritative:
                    assert stored.standing.taints == ()
                    assert nonce.licensed
                assert viewer not in nonce.forgotten_in
        for viewed in self.memory.recalling.procedures(viewer):
            assert sees(viewer, viewed.stored.record.scope)
            if nonce.word in (viewed.stored.record.content or ""):
                assert nonce.licensed


SEARCH = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

TestSearch = Search.TestCase
TestSearch.settings = SEARCH


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
def test_a_long_search_finds_nothing_in_the_reference() -> None:
    run_state_machine_as_test(Search, settings=settings(SEARCH, max_examples=1_000))


class _ForgetsTaints(Policy):
    def inherited_taints(self, parent: object) -> frozenset[Taint]:
        del parent
        return frozenset()


class _TrustsReceiptsOfAnybody(Policy):
    def vouched(self, source: Source) -> bool:
        del source
        return True


class _ShowsAllCircles(Policy):
    def visible_circles(self, scope: Scope) -> tuple[Scope, ...]:
        return tuple(s for s in SCOPES if s.namespace == scope.namespace)


class _AddsWords(Policy):
    def supported(self, child: object, parents: object) -> bool:
        del child, parents
        return True


class _KeepsCopies(Policy):
    def carries(self, child: object, forgotten: object, others: object) -> bool:
        del child, forgotten, others
        return False


FLAWS = [
    _TrustsReceiptsOfAnybody,
    _ShowsAllCircles,
    _KeepsCopies,
    # These take some hundred sequences.
    pytest.param(_ForgetsTaints, marks=pytest.mark.nightly),
    pytest.param(_AddsWords, marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("flaw", FLAWS)
def test_the_search_finds_a_planted_flaw(flaw: type[Policy]) -> None:
    """A search that finds nothing in a memory that is wrong proves nothing about a right one."""
    machine = type("FlawedSearch", (Search,), {"policy": flaw})
    # Found is enough here: no shrinking; the same sequences each time, as long as nothing changes.
    only_find = settings(
        SEARCH, max_examples=1_000, database=None, derandomize=True, phases=[Phase.generate]
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=only_find)
