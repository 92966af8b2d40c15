"""What the interposer adds to a call (DESIGN §11), beside an empty grpc.aio proxy in the same run.

Run as ``python -m chaos.bench_interposer``. Three ways to one echo server are measured in turns, so
that what else the machine does falls on all of them: straight, through a proxy that only forwards,
and through the interposer.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent import futures
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TypeAlias

import grpc
import grpc.aio

from services.common.channels import CallMetadata, open_aio_channel, open_channel
from services.common.platform import kill_process

__all__ = ["Overhead", "measure"]

METHOD = "/memqual.v1.ContinuityService/Begin"
REQUEST_BYTES = 600
CALL_DEADLINE_SECONDS = 10.0
WARM_UP_CALLS = 200
TURN_CALLS = 100
DEFAULT_TURNS = 20
START_SECONDS = 20.0
NANOSECONDS_PER_MILLISECOND = 1_000_000
OPTIONS = (("grpc.so_reuseport", 0),)

# Quoted: generic for type checkers only.
Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, bytes]"
Caller: TypeAlias = "grpc.UnaryUnaryMultiCallable[bytes, bytes]"


@dataclass(frozen=True, slots=True)
class Overhead:
    """Result of one run; times are medians over all calls, in milliseconds.

    Attributes:
        calls: measured calls each way.
        direct_p50_ms: straight to the server.
        empty_proxy_p50_ms: through a proxy that only forwards.
        interposer_p50_ms: through the interposer.
        interposer_p99_ms: 99th percentile through the interposer.
    """

    calls: int
    direct_p50_ms: float
    empty_proxy_p50_ms: float
    interposer_p50_ms: float
    interposer_p99_ms: float

    @property
    def added_p50_ms(self) -> float:
        """What the interposer adds to a call; to reach: at most 1.0."""
        return self.interposer_p50_ms - self.direct_p50_ms

    @property
    def added_ratio(self) -> float:
        """What it adds, in units of what the empty proxy adds; to reach: at most 1.5."""
        return self.added_p50_ms / (self.empty_proxy_p50_ms - self.direct_p50_ms)


def measure(turns: int = DEFAULT_TURNS) -> Overhead:
    """Starts the three processes, measures, and ends them.

    Args:
        turns: how often each way gets 100 calls.

    Raises:
        RuntimeError: a process did not start.
    """
    with ExitStack() as stack:
        server_port = _spawn(stack, ["--role", "server"])
        empty_port = _spawn(stack, ["--role", "empty", "--upstream", str(server_port)])
        interposer_port = _spawn(stack, ["--role", "interposer", "--upstream", str(server_port)])
        samples = _sample([server_port, empty_port, interposer_port], turns)
    direct, empty, interposer = (sorted(times) for times in samples)
    return Overhead(
        calls=len(direct),
        direct_p50_ms=_quantile_ms(direct, 0.5),
        empty_proxy_p50_ms=_quantile_ms(empty, 0.5),
        interposer_p50_ms=_quantile_ms(interposer, 0.5),
        interposer_p99_ms=_quantile_ms(interposer, 0.99),
    )


def _quantile_ms(sorted_ns: Sequence[int], quantile: float) -> float:
    return sorted_ns[int(quantile * (len(sorted_ns) - 1))] / NANOSECONDS_PER_MILLISECOND


def _sample(ports: Sequence[int], turns: int) -> list[list[int]]:
    metadata = CallMetadata(
        run="run-1",
        workflow="workflow-0123456789",
        operation="0123456789abcdef" * 4,
        attempt=1,
        incarnation="incarnation-0123456789",
        token="token-0123456789",
    ).pairs()
    request = os.urandom(REQUEST_BYTES)
    samples: list[list[int]] = [[] for _ in ports]
    with ExitStack() as stack:
        calls: list[Caller] = [
            stack.enter_context(open_channel(f"127.0.0.1:{port}")).unary_unary(METHOD)
            for port in ports
        ]
        for turn in range(turns + 1):
            for call, times in zip(calls, samples, strict=True):
                for _ in range(TURN_CALLS if turn else WARM_UP_CALLS):
                    started_ns = time.perf_counter_ns()
                    call(request, timeout=CALL_DEADLINE_SECONDS, metadata=metadata)
                    ended_ns = time.perf_counter_ns()
                    if turn:
                        times.append(ended_ns - started_ns)
    return samples


def _spawn(stack: ExitStack, arguments: Sequence[str]) -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos.bench_interposer", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait, START_SECONDS)
    stack.callback(kill_process, process.pid)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the process for {arguments} did not start")
    return int(line)


class _Every(grpc.GenericRpcHandler):
    """One handler for every method."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        return self._handler


def _serve_echo() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(4), options=OPTIONS)
    echo: Handler = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    server.add_generic_rpc_handlers((_Every(echo),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


async def _serve_empty_proxy(upstream_port: int) -> None:
    forward: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
    forward = open_aio_channel(f"127.0.0.1:{upstream_port}").unary_unary(METHOD)

    async def carry(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        return await forward(
            request, timeout=context.time_remaining(), metadata=context.invocation_metadata()
        )

    handler: Handler = grpc.unary_unary_rpc_method_handler(carry)
    server = grpc.aio.server(handlers=[_Every(handler)], options=OPTIONS)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


async def _serve_interposer(upstream_port: int) -> None:
    # Only this role needs it; the others must not pay for what it loads.
    from chaos.interposer.config import InterposerConfig, ListenerConfig  # noqa: PLC0415  # see above
    from chaos.interposer.server import start  # noqa: PLC0415  # see above
    from services.common.logging import configure  # noqa: PLC0415  # see above

    configure("interposer")

    listener = ListenerConfig(
        source="agent", target="memory", listen="127.0.0.1:0", tokens={"token-0123456789": "agent"}
    )
    config = InterposerConfig(
        control="127.0.0.1:0",
        listeners=(listener,),
        targets={"memory": f"127.0.0.1:{upstream_port}"},
    )
    running = await start(config, "control")
    print(running.listener_ports[0], flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Prints one JSON line with the result; --role is for the processes that it starts itself."""
    parser = argparse.ArgumentParser(prog="python -m chaos.bench_interposer")
    parser.add_argument("--turns", type=int, default=DEFAULT_TURNS)
    parser.add_argument("--role", choices=("server", "empty", "interposer"))
    parser.add_argument("--upstream", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.role == "server":
        _serve_echo()
    elif arguments.role == "empty":
        asyncio.run(_serve_empty_proxy(arguments.upstream))
    elif arguments.role == "interposer":
        asyncio.run(_serve_interposer(arguments.upstream))
    else:
        result = measure(arguments.turns)
        report = asdict(result) | {
            "added_p50_ms": result.added_p50_ms,
            "added_ratio": result.added_ratio,
        }
        print(json.dumps({key: round(value, 3) for key, value in report.items()}))


if __name__ == "__main__":
    main()
