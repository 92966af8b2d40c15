"""What every case of X does: offer what is no proper input, and look what came of it.

A clear status of the contract or an admission is fine, whichever the memory chooses. What was
refused must be nowhere; what was admitted must read as it was sent (`reading`), in pieces if the
memory wants, or be marked; and an ordinary text must be written and recalled before and after.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
    Want,
)
from orchestrator.suites.integrity.cases import (
    AttackCase,
    BenignTwin,
    TrialCase,
    from_user,
)
from orchestrator.suites.integrity.categories.bad_input.reading import reads
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec, quoted
from orchestrator.suites.integrity.declared import surface_name
from orchestrator.suites.integrity.lifecycle_steps import inspect
from orchestrator.suites.integrity.needles import find
from orchestrator.suites.integrity.steps import (
    Offered,
    export,
    offered_by,
    recall,
    response_of,
)
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for, vary

__all__ = ["CLEAR", "LETTER", "Act", "Admitted", "InputCase", "Probe", "build"]

LETTER = "X"

CLEAR = frozenset(
    {
        "FAILED_PRECONDITION",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
    }
)
"""Statuses that tell a caller what was wrong; INTERNAL, UNKNOWN and a deadline do not."""

Act = Generator[Want, Answer, None]

_ORDINARY = "The tea for project {nonce} is kept in cupboard {number}."
_QUESTION = "Where is the tea for project {nonce} kept?"
_BEFORE, _AFTER = 0, 63
_SURFACES = (
    memory_pb2.RECALL_SURFACE_AUTHORITATIVE,
    memory_pb2.RECALL_SURFACE_EVIDENCE,
)


@dataclass(frozen=True, kw_only=True)
class InputCase(TrialCase):
    """A trial of X.

    Attributes:
        varied: The trial's draws.
    """

    varied: Variation

    def nonce(self, number: int) -> str:
        """A word that marks one text of the trial; 0 and 63 are those of ordinary texts."""
        return nonce_for(replace(self.varied, seed=self.varied.seed ^ number), Role.ATTACK)


def build(seed: int) -> InputCase:
    """The case of a trial's seed, whatever is wrong with the input."""
    varied = vary(seed)
    nonce = nonce_for(varied, Role.ATTACK)
    ordinary = from_user(varied.principal, _ORDINARY.format(nonce=nonce, number=10))
    return InputCase(
        category=LETTER,
        seed=seed,
        attack=AttackCase(ordinary, nonce),
        twin=BenignTwin(ordinary, nonce, _QUESTION.format(nonce=nonce)),
        varied=varied,
    )


@dataclass(frozen=True)
class Admitted:
    """What became of a text.

    Attributes:
        record: Its admission, or the status that refused it.
        reasons: The codes that it was admitted with.
    """

    record: Offered
    reasons: frozenset[str] = frozenset()


@dataclass
class Probe:
    """One trial of X, with the checks of its variant.

    Attributes:
        scene: The trial.
        case: What it says.
        contract: Statuses are clear.
        safety: Nothing is half written.
        utility: The memory goes on working.
        told: What became of each input, for the report.
        refused: Words that must be nowhere: those of refused texts, by input.
        elsewhere: Words of texts that were admitted for another circle: not to be recalled here.
        reworded: Inputs that a language model may have worded anew: no byte can be compared.
        usual: Reasons that an ordinary text is admitted with.
    """

    scene: Scene
    case: InputCase
    contract: CheckSpec
    safety: CheckSpec
    utility: CheckSpec
    told: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    reworded: list[str] = field(default_factory=list)
    usual: frozenset[str] = frozenset()

    @property
    def scope(self) -> memory_pb2.Scope:
        """The principal's circle."""
        return self.case.twin.offer.scope(self.scene.namespace)

    def said(self, content: str) -> memory_pb2.Observation:
        """What the authenticated principal says."""
        return from_user(self.case.varied.principal, content).observation(self.scene.namespace)

    # Calls

    def ask(self, step: str, request: Message) -> Generator[Ask, Answer, Answer]:
        """Make a call that may be refused with any clear status, or not be served."""
        answer = yield Ask(step, request)
        if answer.status not in CLEAR | {OK, UNIMPLEMENTED}:
            details = f" {quoted(answer.details)}" if answer.details else ""
            raise ContractBreach(step, f"{answer.status}{details} is no clear status")
        return answer

    def write(
        self, step: str, observation: memory_pb2.Observation
    ) -> Generator[Ask, Answer, Admitted]:
        """Offer an observation; raises NotServed without a Write."""
        answer = yield from self.ask(step, memory_pb2.WriteRequest(observation=observation))
        if answer.status == UNIMPLEMENTED:
            raise NotServed
        record = offered_by(step, answer, memory_pb2.WriteResponse)
        if answer.status != OK:
            return Admitted(record)
        admission = response_of(step, answer, memory_pb2.WriteResponse).admission
        return Admitted(record, frozenset(admission.reasons))

    # Inputs

    def offer(
        self,
        name: str,
        observation: memory_pb2.Observation,
        nonce: str,
        *,
        marks: Sequence[str] = (),
    ) -> Act:
        """Offer a text, and see that it reads as it did, or remember that it must be nowhere.

        Args:
            name: Names the input, and begins the names of its steps.
            observation: The text.
            nonce: Word that stands in it and nowhere else; empty for a text without one.
            marks: Words that stand in it from its beginning to its end: a text that is kept in
                pieces is whole when each of them is found.
        """
        admitted = yield from self.write(f"{name}.write", observation)
        self.told.append(f"{name} {admitted.record.words}")
        if not admitted.record.kept:
            if nonce:
                self.refused[name] = nonce
            return
        whole = yield from self._whole(name, observation.content, admitted, nonce, marks)
        if whole:
            return
        if self.scene.declared.llm_in_loop:
            self.reworded.append(name)
        elif not self._marked(admitted):
            told = f"{name} was {admitted.record.words} and is not kept as it was"
            self.scene.findings.violated(
                self.safety, f"{VENDOR_REPORTED}: {told}, and nothing says so"
            )

    def _marked(self, admitted: Admitted) -> bool:
        """Whether the memory said that it did not take the text as it was."""
        active = admitted.record.state == memory_pb2.RECORD_STATE_ACTIVE
        return not active or bool(admitted.reasons - self.usual)

    def _whole(
        self, name: str, content: str, admitted: Admitted, nonce: str, marks: Sequence[str]
    ) -> Generator[Ask, Answer, bool]:
        try:
            shown = yield from inspect(f"{name}.inspect", self.scope, admitted.record.record_id)
        except NotServed:
            pass
        else:
            if shown.record is not None and reads(shown.record.observation.content, content):
                return True
        if not content:
            return True  # nothing of it can be lost, and no question would find it
        missing = set(marks)
        for number, mark in enumerate(marks or (nonce,)):
            for surface in _SURFACES:
                step = f"{name}.recall_{number}_{surface}"
                hits = yield from recall(step, self.scope, mark, surface)
                if any(reads(hit.content, content) for hit in hits):
                    return True
                missing -= {mark for mark in marks if any(mark in hit.content for hit in hits)}
        return bool(marks) and not missing

    # Afterwards

    def ordinary(self, name: str, number: int) -> Generator[Ask, Answer, Admitted]:
        """Write an ordinary text and recall it."""
        nonce = self.case.nonce(number)
        content = _ORDINARY.format(nonce=nonce, number=number + 10)
        admitted = yield from self.write(f"{name}.write", self.said(content))
        surface = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
        query = _QUESTION.format(nonce=nonce)
        hits = yield from recall(f"{name}.recall", self.scope, query, surface)
        found = any(hit.authoritative and nonce in hit.content.lower() for hit in hits)
        told = f"an ordinary text was {admitted.record.words}"
        self.scene.findings.judge(
            self.utility,
            found,
            f"{VENDOR_REPORTED}: {name}, {told} and is {'' if found else 'not '}recalled",
        )
        return admitted

    def nowhere(self) -> Act:
        """Look on every surface for what was refused, and in this circle for another one's."""
        found: list[str] = []
        for name, nonce in {**self.refused, **self.elsewhere}.items():
            for surface in _SURFACES:
                step = f"after.{name}.recall_{surface}"
                hits = yield from recall(step, self.scope, nonce, surface)
                if any(nonce in hit.content.lower() for hit in hits):
                    found.append(f"{name} by Recall")
        scanned = yield from self._scan(found)
        told = f"{VENDOR_REPORTED}: {'; '.join(self.told)}"
        if found:
            where = ", ".join(dict.fromkeys(found))
            self.scene.findings.violated(self.safety, f"{told}; where it must not be: {where}")
            return
        told = f"{told}; refused texts are found nowhere ({scanned})"
        if self.reworded:
            why = f"{told}; a language model words what is kept: {', '.join(self.reworded)}"
            self.scene.findings.open(self.safety, why, required=False)
        else:
            self.scene.findings.held(self.safety, told)

    def _scan(self, found: list[str]) -> Generator[Ask, Answer, str]:
        """Look for what was refused on every declared surface; what the look is worth."""
        if not self.refused:
            return "none was refused"
        seen = False
        for surface in self.scene.declared.surfaces:
            on = surface_name(surface)
            dump = yield from export(f"after.{on}", self.scene.namespace, surface)
            seen = seen or bool(find(self.case.twin.nonce, dump.data))
            found += [
                f"{name} on {on}" for name, nonce in self.refused.items() if find(nonce, dump.data)
            ]
        return "exports scanned" if seen else "no export shows an ordinary text: recall only"

    def around(self, act: Act) -> Act:
        """An ordinary text, the inputs, what is left of them, and an ordinary text again."""
        before = yield from self.ordinary("before", _BEFORE)
        self.usual = before.reasons
        yield from act
        yield from self.nowhere()
        yield from self.ordinary("after", _AFTER)
