"""Checks of control requests, and the errors that become statuses."""

import json
from collections.abc import Iterable

import grpc

from chaos.interposer.limits import MARK_BYTES_MAX, MATCH_VALUES_MAX, NAMES_MAX, WAIT_MS_MAX
from chaos.interposer.rules import RuleBook
from memqual.v1 import interposer_pb2

__all__ = ["ControlError", "checked_fate", "checked_json", "checked_services", "wait_seconds"]

MILLISECONDS_PER_SECOND = 1_000

_FATES = (
    interposer_pb2.FATE_DELIVER,
    interposer_pb2.FATE_DROP,
    interposer_pb2.FATE_DISCONNECT,
)


class ControlError(Exception):
    """A control call cannot be answered as asked.

    Attributes:
        code: the status that `interposer.proto` names for it.
        message: diagnosis and next step.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> ControlError:
    """A malformed request."""
    return ControlError(grpc.StatusCode.INVALID_ARGUMENT, message)


def wait_seconds(name: str, milliseconds: int) -> float:
    """A waiting time within its bound, in seconds.

    Raises:
        ControlError: beyond 60,000 ms.
    """
    if milliseconds > WAIT_MS_MAX:
        raise invalid(f"{name} is {milliseconds}; at most {WAIT_MS_MAX} is allowed")
    return milliseconds / MILLISECONDS_PER_SECOND


def checked_services(names: Iterable[str], known: frozenset[str]) -> frozenset[str]:
    """Exact service names that exist, at least one.

    Raises:
        ControlError: none, too many, or an unknown one.
    """
    wanted = frozenset(names)
    if not 1 <= len(wanted) <= NAMES_MAX:
        raise invalid(f"name 1..{NAMES_MAX} services")
    unknown = sorted(wanted - known)
    if unknown:
        raise invalid(f"no service {unknown[0]!r}; there are {sorted(known)}")
    return wanted


def checked_fate(request: interposer_pb2.ReleaseRequest) -> int:
    """DELIVER, DROP or DISCONNECT.

    Raises:
        ControlError: no fate, or more workflows than a rule can name.
    """
    if request.fate not in _FATES:
        raise invalid("fate must be DELIVER, DROP or DISCONNECT")
    if len(request.workflow_ids) > MATCH_VALUES_MAX:
        raise invalid(f"at most {MATCH_VALUES_MAX} workflow_ids are allowed")
    return request.fate


def checked_json(text: str) -> str:
    """One JSON object within its bound, as it was sent.

    Raises:
        ControlError: too long, or no JSON object.
    """
    size_bytes = len(text.encode())
    if size_bytes > MARK_BYTES_MAX:
        raise invalid(f"mark_json has {size_bytes} bytes; at most {MARK_BYTES_MAX} are allowed")
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise invalid("mark_json is no JSON") from error
    if not isinstance(parsed, dict):
        raise invalid("mark_json is no JSON object")
    return text


def armed_or_holding(rule_id: str, rules: RuleBook, holding: bool) -> None:
    """A rule that can still be asked about.

    Raises:
        ControlError: NOT_FOUND.
    """
    if rule_id not in rules and not holding:
        raise ControlError(
            grpc.StatusCode.NOT_FOUND, f"no rule {rule_id!r} is armed or holds a message"
        )
