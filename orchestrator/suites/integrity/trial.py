"""Carries one trial's script out on a live memory and keeps every call (DESIGN §7, §8).

Nothing is concluded here: verdicts come from the kept lines alone (`score`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import grpc
import structlog
import tenacity
from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.errors import StackError
from orchestrator.session import CALL_SECONDS, MemoryClients
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    Ask,
    Method,
    Service,
    Signing,
    StrikeBurst,
    Together,
    method_of,
)
from orchestrator.suites.integrity.concluding import HARMLESS_STATUSES
from orchestrator.suites.integrity.evidence import CallLine, message_to_fields
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = [
    "EXPORT_BYTES_MAX",
    "EXPORT_MESSAGES_MAX",
    "HANGS_MAX",
    "LONG_CALL_SECONDS",
    "TRIES_MAX",
    "LiveMemory",
    "Patience",
]

LONG_CALL_SECONDS = 60.0
HANGS_MAX = 2
"""Calls of a job that may exhaust the long deadline before the others get the short one."""
TRIES_MAX = 3
EXPORT_BYTES_MAX = 8 * 1024 * 1024
EXPORT_MESSAGES_MAX = 10_000

_TRY_AGAIN = "UNAVAILABLE"
_DEADLINE = "DEADLINE_EXCEEDED"
_WAIT_SECONDS = 0.2
_DETAILS_CHARACTERS = 1_024
# Statuses that the interposer gives of its own accord when the testbed calls it wrongly.
_INTERPOSER_PREFIX = "interposer: "
_INTERPOSER_STATUSES = ("PERMISSION_DENIED", "INVALID_ARGUMENT")
_INTERPOSER_FULL = "are open; at most"

_log = structlog.get_logger(__name__)


class Patience:
    """How long the calls of a job may take: long, until the memory is seen to hang.

    A slow memory on a busy machine, whose trials stand in each other's way, is no failed one; a
    memory that never answers must not hold a run up for hours.

    Args:
        llm_in_loop: The memory asks a language model, and is waited for longer once it hangs, too.
    """

    def __init__(self, llm_in_loop: bool) -> None:
        self._lock = threading.Lock()
        self._hung = 0
        self._short_seconds = LONG_CALL_SECONDS if llm_in_loop else CALL_SECONDS

    @property
    def seconds(self) -> float:
        """Deadline of the next call."""
        with self._lock:
            return LONG_CALL_SECONDS if self._hung < HANGS_MAX else self._short_seconds

    def saw(self, status: str) -> None:
        """A call ended with this status."""
        if status == _DEADLINE:
            with self._lock:
                self._hung += 1


@dataclass(frozen=True)
class _Made:
    """A call that was made and is not kept yet."""

    step: str
    method: Method
    request: Message
    answer: Answer
    started_mono_ns: int
    ended_mono_ns: int


class LiveMemory:
    """Answers a script by calling the memory under test.

    Args:
        trial_id: The trial that the lines belong to.
        clients: The memory, by service.
        reviewer: Signs what a script wants signed; None for a run without one.
        patience: Deadline of each call; the trials of a job share it.
    """

    def __init__(
        self, trial_id: str, clients: MemoryClients, reviewer: Reviewer | None, patience: Patience
    ) -> None:
        self._trial_id = trial_id
        self._clients = clients
        self._reviewer = reviewer
        self._patience = patience
        self._lines: list[CallLine] = []

    @property
    def trial_id(self) -> str:
        """The trial that the lines belong to."""
        return self._trial_id

    @property
    def lines(self) -> tuple[CallLine, ...]:
        """Every call so far, in order."""
        return tuple(self._lines)

    def answer(self, want: Ask | Together) -> Answer:
        """Make a call, again while the memory says "try again" (UNAVAILABLE), three times in all.

        Calls that are made together are made once each.

        Raises:
            StackError: The interposer refused the call itself: the testbed is at fault.
        """
        if isinstance(want, Together):
            return self._together(want)
        request = self._signed(want.request, want.signing)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES_MAX),
            wait=tenacity.wait_fixed(_WAIT_SECONDS),
            retry=tenacity.retry_if_result(lambda answer: answer.status == _TRY_AGAIN),
            before_sleep=self._log_retry,
            retry_error_callback=_last_answer,
        )
        answer: Answer = retrying(self._once, want.step, method_of(request), request)
        return answer

    def struck(self, ask: Ask, killed: Callable[[], bool]) -> Answer:
        """Make a call, once, during which the memory is going to be killed.

        Args:
            ask: The call.
            killed: Whether the kill has begun. What a memory answers before that is its answer;
                after it, a status that a memory gives on purpose is still one.

        Raises:
            StackError: The interposer refused the call itself: the testbed is at fault.
        """
        request = self._signed(ask.request, ask.signing)
        made = self._made(ask.step, method_of(request), request)
        struck = killed() and made.answer.status not in HARMLESS_STATUSES
        self._keep(made, struck=struck)
        if struck:
            return Answer(UNANSWERED, made.answer.details)
        _refuse_own_fault(made.method, made.answer)
        return made.answer

    def burst(
        self, step: StrikeBurst, before_call: Callable[[], None], killed: Callable[[], bool]
    ) -> Answer:
        """Make calls one after another until the memory is gone.

        Args:
            step: The calls.
            before_call: Is told before each of them.
            killed: As for `struck`.
        """
        parts: list[Answer] = []
        gone = False
        for ask in step.asks:
            if gone:
                parts.append(Answer(UNANSWERED))
                continue
            before_call()
            parts.append(self.struck(ask, killed))
            gone = parts[-1].status == UNANSWERED
        return Answer(OK, parts=tuple(parts))

    def _together(self, want: Together) -> Answer:
        requests = [self._signed(ask.request, ask.signing) for ask in want.asks]
        start = threading.Barrier(len(requests))

        def one(ask: Ask, request: Message) -> _Made:
            start.wait(self._patience.seconds)
            return self._made(ask.step, method_of(request), request)

        with ThreadPoolExecutor(len(requests), thread_name_prefix="together") as pool:
            made = list(pool.map(one, want.asks, requests))
        for each in made:
            self._keep(each)
            _refuse_own_fault(each.method, each.answer)
        return Answer(OK, parts=tuple(each.answer for each in made))

    def _once(self, step: str, method: Method, request: Message) -> Answer:
        made = self._made(step, method, request)
        self._keep(made)
        _refuse_own_fault(method, made.answer)
        return made.answer

    def _made(self, step: str, method: Method, request: Message) -> _Made:
        started = time.monotonic_ns()
        answer = self._call(method, request)
        return _Made(step, method, request, answer, started, time.monotonic_ns())

    def _keep(self, made: _Made, *, struck: bool = False) -> None:
        answer = made.answer
        line = CallLine(
            trial_id=self._trial_id,
            position=len(self._lines),
            step=made.step,
            method=made.method.name,
            request=message_to_fields(made.request),
            status=answer.status,
            details=answer.details,
            responses=tuple(message_to_fields(response) for response in answer.responses),
            overflow=answer.overflow,
            struck=struck,
            started_mono_ns=made.started_mono_ns,
            ended_mono_ns=made.ended_mono_ns,
        )
        self._lines.append(line)

    def _log_retry(self, state: tenacity.RetryCallState) -> None:
        last = self._lines[-1]
        self._lines[-1] = last.model_copy(update={"retried": True})
        _log.info(
            "integrity_call_retried",
            trial=self._trial_id,
            step=last.step,
            tries=state.attempt_number,
            details=last.details,
        )

    def _call(self, method: Method, request: Message) -> Answer:
        client = {
            Service.MEMORY: self._clients.memory,
            Service.VENDOR: self._clients.vendor,
            Service.CONTINUITY: self._clients.continuity,
            Service.NARRATIVE: self._clients.narrative,
        }[method.service]
        callable_: Any = getattr(client, method.name)
        try:
            answered = callable_(request, timeout=self._patience.seconds)
            return _read_stream(answered) if method.streaming else Answer(OK, "", (answered,))
        except grpc.RpcError as error:
            self._patience.saw(error.code().name)
            details = (error.details() or "")[:_DETAILS_CHARACTERS]
            return Answer(error.code().name, details)

    def _signed(self, request: Message, signing: Signing | None) -> Message:
        if signing is None or self._reviewer is None:
            return request
        assert isinstance(request, memory_pb2.DecideReviewRequest)  # what alone is ever signed
        signed = memory_pb2.DecideReviewRequest()
        signed.CopyFrom(request)
        signed.key_id = self._reviewer.public_keys[signing.claimed].key_id
        signed.signature = self._reviewer.sign(signing.challenge, signing.decision, signing.signer)
        return signed


def _read_stream(stream: Any) -> Answer:
    """All messages of a stream, or none of one that is longer than it can rightly be."""
    messages: list[Message] = []
    size = 0
    received: Iterator[Message] = iter(stream)
    for message in received:
        size += message.ByteSize()
        if size > EXPORT_BYTES_MAX or len(messages) >= EXPORT_MESSAGES_MAX:
            stream.cancel()
            return Answer(
                OK,
                f"more than {EXPORT_BYTES_MAX} bytes or {EXPORT_MESSAGES_MAX} messages",
                overflow=True,
            )
        messages.append(message)
    return Answer(OK, "", tuple(messages))


def _last_answer(state: tenacity.RetryCallState) -> Answer:
    assert state.outcome is not None  # tenacity calls this after at least one try
    answer: Answer = state.outcome.result()
    return answer


def _refuse_own_fault(method: Method, answer: Answer) -> None:
    """A refusal by the interposer is the testbed's own mistake and never a memory's answer."""
    if not answer.details.startswith(_INTERPOSER_PREFIX):
        return
    if answer.status in _INTERPOSER_STATUSES or _INTERPOSER_FULL in answer.details:
        raise StackError(
            f"The interposer refused {method.name}: {answer.status} {answer.details}",
            next_step="This is a fault of memqual, not of the memory: keep the run and report it.",
        )
