"""Channels to the targets, and what a call on them came to.

A target that was killed may come back under another address. A fresh channel resolves the name
anew and shares no connection, so that `refresh` is all that a new incarnation needs.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import grpc
import grpc.aio
import structlog
import tenacity
from grpc_health.v1 import health_pb2

from chaos.interposer.calls import MetadataPairs, Outcome
from chaos.interposer.limits import (
    HEALTH_CHECK_SECONDS,
    MESSAGE_BYTES_MAX,
    REFRESH_WAIT_MAX_SECONDS,
    REFRESH_WAIT_MIN_SECONDS,
    RESOLVE_AGAIN_MS,
    UPSTREAM_SECONDS,
)
from services.common.channels import CHANNEL_OPTIONS

__all__ = ["HealthProof", "NotHealthy", "Upstream", "close_all", "pairs"]

CONNECT_OPTIONS = (
    *CHANNEL_OPTIONS,
    # A target that somebody restarts by hand, without a Refresh, is found again, too.
    ("grpc.dns_min_time_between_resolutions_ms", RESOLVE_AGAIN_MS),
)

HEALTH_METHOD = "/grpc.health.v1.Health/Check"
# A status with one of these codes acknowledges nothing: the connection was lost, or may have been.
UNANSWERED_CODES = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    }
)
# How the client library words that it gave up an answer that is longer than allowed.
TOO_LONG_WORDS = "message larger than max"
# How details begin that the interposer gives of its own accord.
OWN_PREFIX = "interposer: "
STATUS_NUMBERS: dict[grpc.StatusCode, int] = {code: code.value[0] for code in grpc.StatusCode}

_log = structlog.get_logger(__name__)

Callable_ = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]


class NotHealthy(Exception):
    """A target does not answer its health check as it must; the message says what it does."""


@dataclass(frozen=True, slots=True)
class HealthProof:
    """How a target showed that it is up.

    Attributes:
        serving: grpc.health.v1 said SERVING; False: it is connected and does not serve health.
    """

    serving: bool


class Upstream:
    """One target and its current channel."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self._address = address
        self._channel: grpc.aio.Channel | None = None
        self._callables: dict[str, Callable_] = {}
        self._refreshing = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    def channel(self) -> grpc.aio.Channel:
        """The current channel; opened at the first use."""
        if self._channel is None:
            self._channel = _open(self._address)
        return self._channel

    async def call(
        self, method: str, request: bytes, metadata: MetadataPairs, timeout_seconds: float
    ) -> Outcome:
        """Makes one unary call; every way to fail is an outcome, not an exception."""
        callable_ = self._callables.get(method)
        if callable_ is None:
            callable_ = self._callables[method] = self.channel().unary_unary(method)
        call = callable_(request, timeout=timeout_seconds, metadata=metadata)
        try:
            response = await call
        except grpc.aio.AioRpcError as error:
            return self.outcome_of(method, error)
        return Outcome(
            code=0,
            response=response,
            initial_metadata=pairs(await call.initial_metadata()),
            trailing_metadata=pairs(await call.trailing_metadata()),
            answered=True,
        )

    def outcome_of(self, method: str, error: grpc.aio.AioRpcError) -> Outcome:
        """What a failed call tells its client: the target's own status, or what happened to it."""
        code, details = error.code(), error.details() or ""
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED and TOO_LONG_WORDS in details:
            return Outcome(
                code=STATUS_NUMBERS[code],
                details=f"interposer: {self.name} answered {method} with more than "
                f"{MESSAGE_BYTES_MAX} bytes; the answer was given up ({details})",
            )
        if details.startswith(OWN_PREFIX):
            # A target must not pass a status of its own off as the interposer's.
            details = f"{self.name}: {details}"
        return Outcome(
            code=STATUS_NUMBERS[code],
            details=details,
            initial_metadata=pairs(error.initial_metadata()),
            trailing_metadata=pairs(error.trailing_metadata()),
            answered=code not in UNANSWERED_CODES,
        )

    async def refresh(self, timeout_seconds: float) -> HealthProof:
        """Replaces the channel by one on which the target is seen to be healthy.

        Raises:
            NotHealthy: it was not within the time; the old channel stays.
        """
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_delay(timeout_seconds),
            wait=tenacity.wait_exponential(
                multiplier=REFRESH_WAIT_MIN_SECONDS, max=REFRESH_WAIT_MAX_SECONDS
            ),
            retry=tenacity.retry_if_exception_type(NotHealthy),
            before_sleep=self._log_wait,
            reraise=True,
        )
        async with self._refreshing:
            # A new channel each time: a name that did not resolve is remembered by the old one.
            return await retrying(self._replace_channel)

    async def close(self) -> None:
        """Closes the channels at once; their calls end as cancelled."""
        for task in self._closing:
            task.cancel()
        if self._channel is not None:
            await self._channel.close()

    async def _replace_channel(self) -> HealthProof:
        fresh = _open(self._address)
        try:
            proof = await _check_health(fresh)
        except BaseException:
            await fresh.close()
            raise
        old, self._channel = self._channel, fresh
        self._callables.clear()
        if old is not None:
            # Calls that are on their way to a target that lives must end by themselves.
            task = asyncio.create_task(old.close(UPSTREAM_SECONDS))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return proof

    def _log_wait(self, state: tenacity.RetryCallState) -> None:
        cause = state.outcome.exception() if state.outcome is not None else None
        _log.info(
            "target_not_healthy", target=self.name, tries=state.attempt_number, cause=str(cause)
        )


def _open(address: str) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(address, options=CONNECT_OPTIONS)


async def _check_health(channel: grpc.aio.Channel) -> HealthProof:
    check = channel.unary_unary(
        HEALTH_METHOD,
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    try:
        answer = await check(health_pb2.HealthCheckRequest(), timeout=HEALTH_CHECK_SECONDS)
    except grpc.aio.AioRpcError as error:
        # Both say that there is a gRPC server, and that it keeps no health for the whole of itself.
        if error.code() in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.NOT_FOUND):
            return HealthProof(serving=False)
        raise NotHealthy(f"{error.code().name}: {error.details()}") from error
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        name = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
        raise NotHealthy(f"its health is {name}")
    return HealthProof(serving=True)


def pairs(metadata: Iterable[tuple[str, str | bytes]] | None) -> MetadataPairs:
    """Metadata as plain pairs."""
    return () if metadata is None else tuple((key, value) for key, value in metadata)


async def close_all(upstreams: Iterable[Upstream]) -> None:
    """Closes every channel."""
    for upstream in upstreams:
        await upstream.close()
