"""The reference memory with one thing broken on purpose: what no memory should do, each once.

    python -m tests.e2e.vendors.broken --method Begin --how hang
    python -m tests.e2e.vendors.broken --start never_healthy

A memory with a broken method is healthy and right in everything else. `--after N` lets the first N
calls of the method through; with `--until FILE` nothing is broken any more once that file is there.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from memqual.v1 import continuity_pb2, memory_pb2, vendor_pb2
from services.common import logging, settings
from services.common.settings import env
from services.memory.process import Composition, MemorySettings, build

HUGE_BYTES = 100_000_000
# In pieces that are written, so that the kernel must find room for them.
GORGE_BYTES, GORGE_TIMES = 1 << 24, 1 << 12
# Longer than any deadline of the testbed.
HANG_SECONDS = 600.0
EXIT_CODE = 3
LAST_WORDS = "broken memory: gave up on purpose"
WORKERS = 64


def _die() -> None:
    print(LAST_WORDS, file=sys.stderr, flush=True)
    os._exit(EXIT_CODE)


def _hang(context: grpc.ServicerContext) -> bytes:
    ended = threading.Event()
    context.add_callback(ended.set)
    ended.wait(HANG_SECONDS)
    return b""


def _refuse(context: grpc.ServicerContext) -> bytes:
    context.abort(grpc.StatusCode.INTERNAL, LAST_WORDS)
    raise AssertionError("abort raises")


def _die_on_call(context: grpc.ServicerContext) -> bytes:
    _die()
    raise AssertionError("the process has ended")


def _gorge(context: grpc.ServicerContext) -> bytes:
    kept = [b"\x01" * GORGE_BYTES for _ in range(GORGE_TIMES)]
    return kept[0][:0]


HOWS: dict[str, Callable[[grpc.ServicerContext], bytes]] = {
    "hang": _hang,
    # A length-delimited field that is cut off: no message of any kind.
    "malformed": lambda context: b"\x0a\xff\x01",
    "empty": lambda context: b"",
    "huge": lambda context: b"\x00" * HUGE_BYTES,
    "refuse": _refuse,
    "die": _die_on_call,
    "gorge": _gorge,
}


UNKNOWN: Any = 99
"""A number that no enumeration of the contract has: a vendor of a later contract may send it."""

ODD_ENDS: dict[str, Message] = {
    "Describe": vendor_pb2.DescribeResponse(
        lease_clock=UNKNOWN,
        scored_surfaces=[UNKNOWN],
        capabilities=[
            vendor_pb2.CapabilityDeclaration(
                capability=UNKNOWN, status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED
            ),
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_NARRATIVE, status=UNKNOWN, enforcement=UNKNOWN
            ),
        ],
    ),
    "Write": memory_pb2.WriteResponse(admission=memory_pb2.Admission(state=UNKNOWN, trust=UNKNOWN)),
    "RecordReceipt": continuity_pb2.RecordReceiptResponse(disposition=UNKNOWN),
}
"""What makes an answer odd when it stands behind the right one: messages merge."""


def _unknown_decision(answer: continuity_pb2.BeginResponse) -> None:
    """A kind of decision that no contract has: field 50 of Decision, with an empty message."""
    answer.decision.MergeFromString(b"\x92\x03\x00")
    kind = answer.decision.WhichOneof("kind")
    if kind is not None:
        answer.decision.ClearField(kind)


def _past_lease(answer: continuity_pb2.BeginResponse) -> None:
    if answer.decision.HasField("execute"):
        answer.decision.execute.granted_at_ns = 1
        answer.decision.execute.remaining_lease_ms = 0


def _same_token(answer: continuity_pb2.BeginResponse) -> None:
    if answer.decision.HasField("execute"):
        answer.decision.execute.lease_token = "the same"


def _attempt_zero(answer: continuity_pb2.BeginResponse) -> None:
    if answer.decision.HasField("execute"):
        answer.decision.execute.attempt = 0


def _no_reason(answer: continuity_pb2.BeginResponse) -> None:
    answer.decision.reason_code = ""


def _receipt_for_nobody(answer: continuity_pb2.BeginResponse) -> None:
    """REUSE of what was never recorded."""
    answer.decision.reuse.receipt.CopyFrom(
        continuity_pb2.Receipt(
            operation_id="0" * 64,
            attempt=1,
            arguments_digest="0" * 64,
            result_json='{"value":{}}',
            result_digest="0" * 64,
            assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
            outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
        )
    )


CHANGES: dict[str, Callable[[continuity_pb2.BeginResponse], None]] = {
    "unknown_decision": _unknown_decision,
    "past_lease": _past_lease,
    "same_token": _same_token,
    "attempt_zero": _attempt_zero,
    "no_reason": _no_reason,
    "receipt_for_nobody": _receipt_for_nobody,
}
"""What is changed in the right answers to Begin."""


class _Breaks(grpc.ServerInterceptor):
    """Answers one method in a way of its own, from its call number `after` + 1 on."""

    def __init__(self, method: str, how: str, after: int) -> None:
        self._method = method
        self._answer = HOWS.get(how)
        self._change = CHANGES.get(how)
        self._after = after
        self._calls = itertools.count()

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        handler = continuation(handler_call_details)
        if not str(handler_call_details.method).endswith(f"/{self._method}"):
            return handler
        if next(self._calls) < self._after:
            return handler

        if self._change is not None:
            return _changed(handler, self._change)
        if self._answer is None:
            return _with_odd_end(handler, self._method)
        answer = self._answer

        def one(request: bytes, context: grpc.ServicerContext) -> bytes:
            return answer(context)

        def many(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            yield answer(context)

        if handler is not None and handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(many)
        return grpc.unary_unary_rpc_method_handler(one)


def _with_odd_end(handler: Any, method: str) -> Any:
    """The right answers of a unary method, each with an odd end."""

    def one(request: bytes, context: grpc.ServicerContext) -> bytes:
        answer = handler.unary_unary(handler.request_deserializer(request), context)
        return bytes(handler.response_serializer(answer)) + ODD_ENDS[method].SerializeToString()

    return grpc.unary_unary_rpc_method_handler(one)


def _changed(handler: Any, change: Callable[[continuity_pb2.BeginResponse], None]) -> Any:
    """The right answers of Begin, each with a change."""

    def one(request: bytes, context: grpc.ServicerContext) -> bytes:
        answer = handler.unary_unary(handler.request_deserializer(request), context)
        told = continuity_pb2.BeginResponse.FromString(handler.response_serializer(answer))
        change(told)
        return told.SerializeToString()

    return grpc.unary_unary_rpc_method_handler(one)


def _serve(options: argparse.Namespace) -> None:
    """Serves until it is killed; without limits of its own, so that the others' limits show."""
    listen = env("MEMQUAL_LISTEN")
    if options.start == "wrong_port":
        listen = "127.0.0.1:0"
    memory = build(MemorySettings.from_environment(), Composition("broken"))
    interceptors: list[grpc.ServerInterceptor] = []
    if options.method is not None:
        interceptors.append(_Breaks(options.method, options.how, options.after))
    server = grpc.server(
        futures.ThreadPoolExecutor(WORKERS),
        interceptors=interceptors,
        options=(("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)),
    )
    status = health.HealthServicer(experimental_non_blocking=True)
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    if options.start != "no_vendor":
        for register in memory.registrars:
            register(server)
    host, _, port = listen.rpartition(":")
    if server.add_insecure_port(f"{'0.0.0.0' if host == 'memory' else host}:{port}") == 0:
        sys.exit(f"broken memory: {listen} cannot be bound")
    server.start()
    if options.start == "never_healthy":
        status.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    if options.start == "dies_soon":
        threading.Timer(options.seconds, _die).start()
    server.wait_for_termination(HANG_SECONDS)


def main() -> None:
    """Breaks what it was asked to break."""
    logging.configure("memory")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--start",
        choices=["well", "dies", "dies_soon", "never_healthy", "wrong_port", "no_vendor"],
        default="well",
    )
    parser.add_argument("--seconds", type=float, default=0.0, help="life of dies_soon")
    parser.add_argument("--method", help="the method that is broken")
    parser.add_argument("--how", choices=[*sorted(HOWS), *sorted(CHANGES), "odd"], default="hang")
    parser.add_argument("--after", type=int, default=0, help="calls that go well before")
    parser.add_argument("--until", type=Path, help="file that mends everything")
    options = parser.parse_args()
    if options.until is not None and options.until.exists():
        options.start, options.method = "well", None
    if options.start == "dies":
        _die()
    _serve(options)


if __name__ == "__main__":
    settings.run(main)
