"""Carries moves out on a live memory and looks after each whether a rule is broken (DESIGN §4).

Every playing has a namespace of its own. A status that refuses is an answer; a call that leaves
open what it did is taken as what helps the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from google.protobuf.message import Message

from memqual.v1 import memory_pb2, vendor_pb2
from orchestrator.suites.integrity.search.calling import OPEN, Outcome, Subject
from orchestrator.suites.integrity.search.looking import Looker
from orchestrator.suites.integrity.search.model import Model, Out, may_be_believed, may_see
from orchestrator.suites.integrity.search.moves import (
    Ask,
    Circle,
    Decide,
    Derive,
    Move,
    Recall,
    RecordOutcome,
    Restart,
    Retire,
    Said,
    Statement,
    Supersede,
    Violation,
    Write,
)
from orchestrator.suites.integrity.search.oracle import Breach, Oracle
from orchestrator.suites.integrity.search.outcomes import Outcomes
from orchestrator.suites.integrity.search.reviewing import Reviews
from orchestrator.suites.integrity.search.texts import carried
from orchestrator.suites.integrity.search.touching import offers_procedure, records_of, text_of

__all__ = ["SKIPPED", "Found", "Player"]

SKIPPED = "SKIPPED"
"""Answer of a move that could not be made: what it refers to was not made."""

_NOT_KEPT = (
    memory_pb2.RECORD_STATE_UNSPECIFIED,
    memory_pb2.RECORD_STATE_REJECTED,
    memory_pb2.RECORD_STATE_FORGOTTEN,
)
_RETIRED = {"quarantine": Out.QUARANTINED, "archive": Out.ARCHIVED, "forget": Out.FORGOTTEN}


class Found(Exception):
    """A rule was broken.

    Attributes:
        violation: Which, and how it was seen.
    """

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.words)
        self.violation = violation


class Player:
    """One playing of a sequence.

    Args:
        subject: The memory.
        namespace: This playing's own.
    """

    def __init__(self, subject: Subject, namespace: str) -> None:
        self._subject = subject
        self._namespace = namespace
        supports = subject.declared.supports
        self.model = Model(
            direct=supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT),
            transitive=supports(vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE),
        )
        self.statements: list[Statement] = []
        self.moves: list[Move] = []
        self.answers: list[str] = []
        self.violation: Violation | None = None
        self._ids: dict[str, str] = {}
        self._taints: dict[str, tuple[str, ...]] = {}
        self._homes: dict[Circle, None] = {}
        self._procedures = False
        self._oracle = Oracle(subject.declared, self.model, self.statements)
        self._reviews = Reviews(subject, namespace, self.model)
        self._looker = Looker(subject, namespace, self.model, self.statements, self._oracle)
        self._outcomes = Outcomes(subject, namespace, self._looker, self._oracle)

    def play(self, move: Move, *, glance: bool = True) -> str:
        """Make one move; return what it came to, in a word.

        Args:
            move: The move.
            glance: Whether to look afterwards at what the move's circle would act on.

        Raises:
            Found: A rule was broken.
            MemoryGone: The memory does not answer any more.
        """
        self.moves.append(move)
        self.answers.append(OPEN)
        if not isinstance(move, RecordOutcome):
            self._outcomes.start_anew()
        self.answers[-1] = self._make(move)
        if glance and not isinstance(move, Restart) and self.answers[-1] != SKIPPED:
            self._homes[move.circle] = None
            self._procedures = self._procedures or offers_procedure(move)
            breaches = self._looker.glance(
                move.circle, self._concerned(move), procedures=self._procedures
            )
            self._raise_first(breaches)
        return self.answers[-1]

    def survey(self) -> None:
        """Look at everything that can be seen.

        Raises:
            Found: A rule was broken.
            MemoryGone: The memory does not answer any more.
        """
        for move in self.moves:
            if not isinstance(move, Restart):
                self._homes[move.circle] = None
        self._raise_first(self._looker.survey(list(self._homes)))

    def texts(self, viewer: Circle, query: str, *, evidence: bool) -> list[str]:
        """What Recall answers: texts that can be written again."""
        return [shown.content for shown in self._looker.recalled(viewer, query, evidence=evidence)]

    def made(self, name: str) -> bool:
        """Whether a record of this name is known to the memory."""
        return name in self._ids

    def has_challenge(self, name: str) -> bool:
        """Whether a challenge of this name was issued."""
        return self._reviews.issued(name)

    def _make(self, move: Move) -> str:
        match move:
            case Write():
                answer = self._write(move)
            case Derive():
                answer = self._derive(move)
            case Recall():
                self._looker.recalled(move.circle, move.query, evidence=move.evidence)
                answer = "asked"
            case RecordOutcome():
                answer = self._outcome(move)
            case Supersede():
                answer = self._supersede(move)
            case Retire():
                answer = self._retire(move)
            case Ask():
                answer = self._ask(move)
            case Decide():
                answer = self._decide(move)
            case Restart():
                answer = self._restart()
        return answer

    def _restart(self) -> str:
        if self._subject.restart is None:
            return SKIPPED
        self._subject.restart()
        return "restarted"

    def _write(self, move: Write) -> str:
        self._offer(move.said.text, move.circle)
        request = memory_pb2.WriteRequest(
            observation=move.said.observation(move.circle.scope(self._namespace))
        )
        outcome = self._subject.call(request)
        admission = outcome.admission
        return self._observed(move.makes, move.circle, move.said, outcome, admission)

    def _observed(
        self,
        name: str,
        circle: Circle,
        said: Said,
        outcome: Outcome,
        admission: memory_pb2.Admission | None,
    ) -> str:
        """Take in what became of an observation; returns its state, or the status."""
        believed = may_be_believed(said)
        kept = admission is not None and admission.state not in _NOT_KEPT
        # A word of authority counts even where the memory would not keep it, or nobody knows.
        if kept or believed or outcome.status == OPEN:
            record_id = admission.record_id if admission is not None and kept else ""
            self.model.keep(
                record_id,
                circle,
                self._carried(said.text),
                move=len(self.moves) - 1,
                believed=believed,
            )
        return self._named(name, outcome, admission)

    def _derive(self, move: Derive) -> str:
        ids = self._of(move.parents)
        if ids is None:
            return SKIPPED
        self._offer(move.text, move.circle)
        before = [(one, self._taints_of(move.circle, one)) for one in ids]
        request = memory_pb2.DeriveRequest(
            scope=move.circle.scope(self._namespace),
            kind=move.kind.wire,
            parent_ids=ids,
            content=move.text,
            method=move.method,
        )
        outcome = self._subject.call(request)
        admission = outcome.admission
        nonces = self._carried(move.text)
        kept = admission is not None and admission.state not in _NOT_KEPT
        if kept or outcome.status == OPEN:
            clean = not any(self.model.doubtful(one) for one in ids)
            self.model.keep(
                admission.record_id if admission is not None else "",
                move.circle,
                nonces,
                move=len(self.moves) - 1,
                believed=clean and all(self._legitimate(move.circle, one) for one in nonces),
                parents=ids,
            )
        answer = self._named(move.makes, outcome, admission)
        # A known child that a reviewer approved since has his word in place of its parents' taints.
        if kept and admission is not None and not self.model.reviewed(admission.record_id):
            breach = self._oracle.derived(before, admission.record_id, admission.taints)
            self._raise_first([breach] if breach else [])
        return answer

    def _outcome(self, move: RecordOutcome) -> str:
        record_id = self._ids.get(move.of)
        if record_id is None:
            return SKIPPED
        status, breach = self._outcomes.report(move, record_id)
        self._raise_first([breach] if breach else [])
        return status

    def _supersede(self, move: Supersede) -> str:
        old_id = self._ids.get(move.of)
        if old_id is None:
            return SKIPPED
        self._offer(move.said.text, move.circle)
        request = memory_pb2.SupersedeRequest(
            scope=move.circle.scope(self._namespace),
            record_id=old_id,
            observation=move.said.observation(move.circle.scope(self._namespace)),
        )
        outcome = self._subject.call(request)
        admission = outcome.admission
        # Only a successor that speaks with authority and says something else certainly ended the
        # old one's: the old one's own words may leave it what it was.
        if (
            admission is not None
            and admission.state == memory_pb2.RECORD_STATE_ACTIVE
            and may_be_believed(move.said)
            and admission.record_id != old_id
            and self._owns(move.circle, old_id)
            and not self._carried(move.said.text) <= self.model.records[old_id].nonces
        ):
            self.model.retire(old_id, Out.SUPERSEDED, len(self.moves) - 1)
        return self._observed(move.makes, move.circle, move.said, outcome, admission)

    def _retire(self, move: Retire) -> str:
        record_id = self._ids.get(move.of)
        if record_id is None:
            return SKIPPED
        scope = move.circle.scope(self._namespace)
        requests: dict[str, Message] = {
            "quarantine": memory_pb2.QuarantineRequest(
                scope=scope, record_id=record_id, reason="search"
            ),
            "archive": memory_pb2.ArchiveRequest(scope=scope, record_id=record_id),
            "forget": memory_pb2.ForgetRequest(scope=scope, record_id=record_id),
        }
        outcome = self._subject.call(requests[move.op])
        if outcome.ok and self._owns(move.circle, record_id):
            self.model.retire(record_id, _RETIRED[move.op], len(self.moves) - 1)
        return outcome.status

    def _ask(self, move: Ask) -> str:
        ids = self._of(move.records)
        if ids is None or len(set(ids)) < len(ids):
            return SKIPPED
        return self._reviews.ask(move, ids, len(self.moves) - 1)

    def _decide(self, move: Decide) -> str:
        answered = self._reviews.decide(move)
        if answered is None:
            return SKIPPED
        if answered.breach is not None:
            self._raise_first([answered.breach])
        self.model.approve(answered.approved, len(self.moves) - 1)
        return answered.status

    def _named(self, name: str, outcome: Outcome, admission: memory_pb2.Admission | None) -> str:
        if admission is None:
            return outcome.status
        if admission.record_id and admission.state not in _NOT_KEPT:
            self._ids[name] = admission.record_id
            self._taints[admission.record_id] = tuple(admission.taints)
        known = admission.state in memory_pb2.RecordState.values()
        state = memory_pb2.RecordState.Name(admission.state) if known else "unknown"
        return state.removeprefix("RECORD_STATE_").lower()

    def _taints_of(self, viewer: Circle, record_id: str) -> tuple[str, ...]:
        """A record's taints now, or as they were told when it was admitted."""
        record = self._looker.inspected(viewer, record_id)
        if record is None:
            return self._taints.get(record_id, ())
        return tuple(record.taints)

    def _of(self, names: Iterable[str]) -> list[str] | None:
        ids = [self._ids.get(name, "") for name in names]
        return ids if ids and all(ids) else None

    def _owns(self, circle: Circle, record_id: str) -> bool:
        known = self.model.records.get(record_id)
        return known is not None and any(
            may_see(circle, owner, by_purpose=True) for owner in known.circles
        )

    def _offer(self, text: str, circle: Circle) -> None:
        self.model.offer(self._carried(text), circle)

    def _carried(self, text: str) -> frozenset[str]:
        return carried(text, (statement.nonce for statement in self.statements))

    def _legitimate(self, circle: Circle, nonce: str) -> bool:
        return any(known.speaks for known in self.model.carriers(circle.principal, nonce))

    def _concerned(self, move: Move) -> Sequence[Statement]:
        """The statements that a move can have changed: those of its text and of its records."""
        nonces = set(self._carried(text_of(move)))
        ids = [self._ids.get(name, "") for name in records_of(move)]
        if isinstance(move, Decide):
            ids += self._reviews.subjects(move.challenge)
        for known in (self.model.records.get(record_id) for record_id in ids):
            nonces |= known.nonces if known is not None else set()
        return [statement for statement in self.statements if statement.nonce in nonces]

    def _raise_first(self, breaches: Iterable[Breach]) -> None:
        for breach in breaches:
            if breach.kind not in self._subject.muted:
                self.violation = Violation(
                    kind=breach.kind, words=breach.words, move=len(self.moves) - 1
                )
                raise Found(self.violation)
