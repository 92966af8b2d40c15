"""Waits until services are healthy, as the interposer sees them, or one of them ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import grpc
import structlog

from memqual.v1 import interposer_pb2, interposer_pb2_grpc
from orchestrator.errors import StackError
from orchestrator.runtimes.topology import ServiceSpec
from services.common.channels import open_channel

__all__ = ["await_targets", "targets_of"]

# The interposer accepts no longer wait in one request.
REFRESH_LIMIT_MS = 60_000
# How often the services' lives are looked at meanwhile.
WATCH_SECONDS = 0.2
# A service whose port another program took while it started ends as soon as it wants to listen.
ENDS_WITHIN_SECONDS = 10.0
# For the interposer's last look, which may begin just before its time is over, and for its answer.
GRACE_SECONDS = 5.0

_log = structlog.get_logger(__name__)


def targets_of(service: ServiceSpec) -> tuple[str, ...]:
    """The interposer's names for a service: its own, and its audit twin's."""
    if "MEMQUAL_AUDIT_LISTEN" in service.environment:
        return (service.name, f"{service.name}-audit")
    return (service.name,)


def await_targets(
    control_address: str,
    control_token: str,
    targets: Sequence[str],
    *,
    timeout_seconds: float,
    raise_if_ended: Callable[[], None],
) -> None:
    """Has the interposer open a fresh channel to each target and see it SERVING.

    Args:
        control_address: The interposer's control port.
        control_token: What it wants as ``memqual-token``.
        targets: Names as in metadata ``memqual-target``.
        timeout_seconds: For all of them together.
        raise_if_ended: Raises when a service that should live has ended; called now and then.

    Raises:
        StackError: a target is not healthy in time, or the interposer does not answer.
        MemqualError: what `raise_if_ended` raises.
    """
    began = time.monotonic()
    with open_channel(control_address) as channel:
        _await_interposer(channel, control_address, timeout_seconds, raise_if_ended)
        left_seconds = max(0.0, timeout_seconds - (time.monotonic() - began))
        interposer = interposer_pb2_grpc.InterposerServiceStub(channel)
        calls = {
            target: interposer.Refresh.future(
                interposer_pb2.RefreshRequest(
                    target=target, timeout_ms=min(int(left_seconds * 1000), REFRESH_LIMIT_MS)
                ),
                timeout=left_seconds + GRACE_SECONDS,
                metadata=(("memqual-token", control_token),),
            )
            for target in targets
        }
        for target, call in calls.items():
            _await_one(target, call, timeout_seconds, raise_if_ended)
    _log.info("healthy", targets=list(targets), seconds=round(time.monotonic() - began, 3))


def _await_interposer(
    channel: grpc.Channel,
    address: str,
    timeout_seconds: float,
    raise_if_ended: Callable[[], None],
) -> None:
    """Waits until the interposer takes connections; it may still be on its way up."""
    ready = grpc.channel_ready_future(channel)
    until = time.monotonic() + timeout_seconds
    while True:
        try:
            ready.result(timeout=WATCH_SECONDS)
            return
        except grpc.FutureTimeoutError:
            raise_if_ended()
            if time.monotonic() > until:
                ready.cancel()
                raise StackError(
                    f"The interposer does not answer at {address} within {timeout_seconds:g} s.",
                    next_step="Look at its log in the run's folder, then run again.",
                ) from None


def _await_one(
    target: str,
    call: grpc.Future[interposer_pb2.RefreshResponse],
    timeout_seconds: float,
    raise_if_ended: Callable[[], None],
) -> None:
    # Each wait is short and the call has a deadline, so that this ends.
    while True:
        try:
            call.result(timeout=WATCH_SECONDS)
            return
        except grpc.FutureTimeoutError:
            raise_if_ended()
        except grpc.RpcError as error:
            raise_if_ended()
            if _code_of(error) is grpc.StatusCode.UNIMPLEMENTED:
                _await_end(raise_if_ended)
            raise _unhealthy(target, timeout_seconds, error) from error


def _await_end(raise_if_ended: Callable[[], None]) -> None:
    """Something answers that serves no health: the service itself may not have got that far."""
    until = time.monotonic() + ENDS_WITHIN_SECONDS
    while time.monotonic() < until:
        time.sleep(WATCH_SECONDS)
        raise_if_ended()


def _code_of(error: object) -> grpc.StatusCode:
    return error.code() if isinstance(error, grpc.Call) else grpc.StatusCode.UNKNOWN


def _unhealthy(target: str, timeout_seconds: float, error: object) -> StackError:
    code = _code_of(error)
    details = error.details() if isinstance(error, grpc.Call) else str(error)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED or "not healthy" in (details or ""):
        return StackError(
            f"{target!r} did not become healthy within {timeout_seconds:g} s: {details}.",
            next_step="Check that it listens on MEMQUAL_LISTEN and serves grpc.health.v1.",
        )
    return StackError(
        f"{target!r} could not be asked for its health ({code.name}): {details}.",
        next_step="Look at the interposer's log in the run's folder, then run again.",
    )
