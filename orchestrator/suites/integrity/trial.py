"""Carries one trial's script out on a live memory and keeps every call (DESIGN §7, §8).

Nothing is concluded here: verdicts come from the kept lines alone (`score`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import grpc
import structlog
import tenacity
from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.errors import StackError
from orchestrator.session import CALL_SECONDS, MemoryStubs
from orchestrator.suites.integrity.calls import (
    OK,
    Answer,
    Ask,
    Method,
    Service,
    Signing,
    method_of,
)
from orchestrator.suites.integrity.evidence import CallLine, message_to_fields
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = [
    "CALL_SECONDS_WITH_MODEL",
    "EXPORT_BYTES_MAX",
    "EXPORT_MESSAGES_MAX",
    "TRIES_MAX",
    "LiveMemory",
    "call_seconds",
]

CALL_SECONDS_WITH_MODEL = 60.0
TRIES_MAX = 3
EXPORT_BYTES_MAX = 8 * 1024 * 1024
EXPORT_MESSAGES_MAX = 10_000

_TRY_AGAIN = "UNAVAILABLE"
_WAIT_SECONDS = 0.2
_DETAILS_CHARACTERS = 1_024
# Statuses that the interposer gives of its own accord when the testbed calls it wrongly.
_INTERPOSER_PREFIX = "interposer: "
_INTERPOSER_STATUSES = ("PERMISSION_DENIED", "INVALID_ARGUMENT")
_INTERPOSER_FULL = "are open; at most"

_log = structlog.get_logger(__name__)


def call_seconds(llm_in_loop: bool) -> float:
    """Deadline of each call; a memory that asks a language model gets more."""
    return CALL_SECONDS_WITH_MODEL if llm_in_loop else CALL_SECONDS


class LiveMemory:
    """Answers a script by calling the memory under test.

    Args:
        trial_id: The trial that the lines belong to.
        stubs: The memory.
        reviewer: Signs what a script wants signed; None for a run without one.
        seconds: Deadline of each call.
    """

    def __init__(
        self, trial_id: str, stubs: MemoryStubs, reviewer: Reviewer | None, seconds: float
    ) -> None:
        self._trial_id = trial_id
        self._stubs = stubs
        self._reviewer = reviewer
        self._seconds = seconds
        self._lines: list[CallLine] = []

    @property
    def lines(self) -> tuple[CallLine, ...]:
        """Every call so far, in order."""
        return tuple(self._lines)

    def answer(self, ask: Ask) -> Answer:
        """Make a call, again while the memory says "try again" (UNAVAILABLE), three times in all.

        Raises:
            StackError: The interposer refused the call itself: the testbed is at fault.
        """
        request = self._signed(ask.request, ask.signing)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES_MAX),
            wait=tenacity.wait_fixed(_WAIT_SECONDS),
            retry=tenacity.retry_if_result(lambda answer: answer.status == _TRY_AGAIN),
            before_sleep=self._log_retry,
            retry_error_callback=_last_answer,
        )
        answer: Answer = retrying(self._once, ask.step, method_of(request), request)
        return answer

    def _once(self, step: str, method: Method, request: Message) -> Answer:
        started = time.monotonic_ns()
        answer = self._call(method, request)
        ended = time.monotonic_ns()
        line = CallLine(
            trial_id=self._trial_id,
            position=len(self._lines),
            step=step,
            method=method.name,
            request=message_to_fields(request),
            status=answer.status,
            details=answer.details,
            responses=tuple(message_to_fields(response) for response in answer.responses),
            overflow=answer.overflow,
            started_mono_ns=started,
            ended_mono_ns=ended,
        )
        self._lines.append(line)
        _refuse_own_fault(method, answer)
        return answer

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
        stub = self._stubs.memory if method.service is Service.MEMORY else self._stubs.vendor
        callable_: Any = getattr(stub, method.name)
        try:
            answered = callable_(request, timeout=self._seconds)
            return _read_stream(answered) if method.streaming else Answer(OK, "", (answered,))
        except grpc.RpcError as error:
            details = (error.details() or "")[:_DETAILS_CHARACTERS]
            return Answer(error.code().name, details)

    def _signed(self, request: Message, signing: Signing | None) -> Message:
        if signing is None or self._reviewer is None:
            return request
        assert isinstance(request, memory_pb2.DecideReviewRequest)  # what alone is ever signed
        signed = memory_pb2.DecideReviewRequest()
        signed.CopyFrom(request)
        signed.key_id = self._reviewer.public_key.key_id
        signed.signature = self._reviewer.sign(signing.challenge, signing.decision)
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
