"""Answers a script from what was kept of it, and notices whatever does not fit (DESIGN §8).

Each call that the script wants has to be the call that was kept, byte for byte, and each step of
the whole stack one that was done: lines that were altered, dropped or reordered are noticed before
anything is concluded from them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from orchestrator.suites.integrity.calls import (
    METHODS,
    OK,
    UNANSWERED,
    Answer,
    Ask,
    ContractBreach,
    Gather,
    PassTime,
    Phase,
    Reconfigure,
    Restart,
    Revive,
    ScanVolume,
    Signer,
    Signing,
    Strike,
    StrikeBurst,
    Together,
    TurnBack,
    Want,
    method_of,
)
from orchestrator.suites.integrity.evidence import (
    CallLine,
    StackKind,
    StackLine,
    evidence_error,
    message_from_fields,
    message_to_fields,
)
from services.common.challenges import PublicKey, signature_valid, signing_bytes

__all__ = ["Recorded"]


@dataclass
class Recorded:
    """One trial as it was kept.

    Attributes:
        trial_id: The trial.
        calls: Its calls in order.
        stack: What was done to the whole memory for it, in order.
        keys: Public keys of the run.
        position: The next call.
        stack_position: The next stack step.
    """

    trial_id: str
    calls: tuple[CallLine, ...]
    stack: tuple[StackLine, ...]
    keys: Mapping[Signer, PublicKey]
    position: int = field(default=0)
    stack_position: int = field(default=0)

    def answer(self, want: Want) -> Answer:
        """The kept answer to what the script wants.

        Raises:
            EvidenceError: It is not what was kept.
            ContractBreach: The memory did not come back from what was done to it.
        """
        match want:
            case Ask():
                answer = self._called(want)
            case Together():
                answer = Answer(OK, parts=tuple(self._once(ask) for ask in want.asks))
            case Gather():
                self._done(StackKind.GATHER, want.step)
                answer = Answer(OK)
            case Restart():
                self._done(StackKind.RESTART, want.step)
                answer = Answer(OK)
            case PassTime():
                answer = Answer(OK, self._done(StackKind.PASS_TIME, want.step).unavailable)
            case TurnBack():
                answer = Answer(OK, self._done(StackKind.TURN_BACK, want.step).unavailable)
            case Reconfigure():
                self._done(StackKind.RECONFIGURE, want.step)
                answer = Answer(OK)
            case Revive():
                answer = Answer(OK, self._done(StackKind.REVIVE, want.step).unavailable)
            case ScanVolume():
                answer = self._scanned(want)
            case Strike():
                answer = self._struck(want)
            case StrikeBurst():
                answer = self._burst(want)
        return answer

    def expect_end(self) -> None:
        """Raises EvidenceError when something was kept that the script never wanted."""
        if self.position != len(self.calls):
            raise evidence_error(f"{self._where(self.calls[self.position])} was never asked for")
        if self.stack_position != len(self.stack):
            step = self.stack[self.stack_position].step
            raise evidence_error(f"stack step {step!r} was never wanted by {self.trial_id!r}")

    def _called(self, ask: Ask) -> Answer:
        line = self._next(ask)
        while line.retried:
            if line.status != "UNAVAILABLE":
                raise evidence_error(f"{self._where(line)} was repeated after {line.status}")
            line = self._next(ask)
        return self._unstruck(line)

    def _once(self, ask: Ask) -> Answer:
        return self._unstruck(self._next(ask))

    def _unstruck(self, line: CallLine) -> Answer:
        if line.struck:
            raise evidence_error(f"{self._where(line)} was struck, and the script did not want it")
        return self._given(line)

    def _given(self, line: CallLine) -> Answer:
        if line.struck:
            return Answer(UNANSWERED, line.details)
        kind = METHODS[line.method].response
        responses = tuple(
            message_from_fields(response, kind, self._where(line)) for response in line.responses
        )
        return Answer(line.status, line.details, responses, line.overflow)

    def _scanned(self, want: ScanVolume) -> Answer:
        line = self._done(StackKind.SCAN_VOLUME, want.step)
        if line.scan is None:
            raise evidence_error(f"stack step {want.step!r} has no report of its scan")
        names = {needle.name for needle in want.needles}
        own = [found for found in line.scan.found if found.trial_id == self.trial_id]
        if not names.issuperset(found.name for found in own):
            raise evidence_error(f"the scan at {want.step!r} found what nobody looked for")
        return Answer(OK, found=tuple((found.name, found.forms) for found in own))

    def _struck(self, want: Strike) -> Answer:
        line = self._next(want.ask)
        underway = want.phase is Phase.UNDERWAY
        kind = StackKind.STRIKE_UNDERWAY if underway else StackKind.STRIKE
        # A call that was answered before it could be struck needs no proof of a fault.
        if line.struck or underway or self._next_is(kind, want.step):
            self._done(kind, want.step)
        return self._given(line)

    def _burst(self, want: StrikeBurst) -> Answer:
        parts: list[Answer] = []
        gone = False
        for ask in want.asks:
            parts.append(Answer(UNANSWERED) if gone else self._given(self._next(ask)))
            gone = parts[-1].status == UNANSWERED
        self._done(StackKind.STRIKE_BURST, want.step)
        return Answer(OK, parts=tuple(parts))

    def _next_is(self, kind: StackKind, step: str) -> bool:
        left = self.stack[self.stack_position : self.stack_position + 1]
        return any((line.kind, line.step) == (kind, step) for line in left)

    def _done(self, kind: StackKind, step: str) -> StackLine:
        if self.stack_position >= len(self.stack):
            raise evidence_error(f"trial {self.trial_id!r} lacks stack step {step!r}")
        line = self.stack[self.stack_position]
        self.stack_position += 1
        if (line.kind, line.step) != (kind, step):
            raise evidence_error(f"stack step {line.step!r} is not what {step!r} wants")
        if line.lost:
            raise ContractBreach(step, line.lost)
        return line

    def _next(self, ask: Ask) -> CallLine:
        if self.position >= len(self.calls):
            raise evidence_error(f"trial {self.trial_id!r} ends before step {ask.step!r}")
        line = self.calls[self.position]
        self.position += 1
        kept = dict(line.request)
        if ask.signing is not None:
            self._check_signature(line, kept, ask.signing)
        same = (line.step, line.method) == (ask.step, method_of(ask.request).name)
        if not same or kept != message_to_fields(ask.request):
            raise evidence_error(f"{self._where(line)} is not what step {ask.step!r} asks")
        return line

    def _check_signature(
        self, line: CallLine, kept: dict[str, JsonValue], signing: Signing
    ) -> None:
        """Take the signer's part out of a kept request; it has to be what was to be signed."""
        key_id = str(kept.pop("key_id", ""))
        try:
            signature = base64.b64decode(str(kept.pop("signature", "")), validate=True)
        except binascii.Error as error:
            raise evidence_error(f"{self._where(line)} has no signature") from error
        message = signing_bytes(signing.challenge, signing.decision)
        signer, claimed = self.keys.get(signing.signer), self.keys.get(signing.claimed)
        if signer is None or not signature_valid(signer, signature, message):
            raise evidence_error(f"{self._where(line)} was not signed by the run's reviewer")
        if claimed is None or claimed.key_id != key_id:
            raise evidence_error(f"{self._where(line)} does not name the key that was to be named")

    def _where(self, line: CallLine) -> str:
        return f"call {line.position} of trial {self.trial_id!r}"
