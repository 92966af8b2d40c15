"""What telemetry may carry: opaque ids, a kind, usage and a price of known origin (DESIGN §4).

Everything else is refused, fields that this version does not know included: content must have no
way in.
"""

import re

import grpc
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from memqual.v1 import observer_pb2
from services.common.canonical import JsonObject, JsonValue
from services.common.errors import ServiceError
from services.common.limits import (
    ATTEMPT_MAX,
    EVENTS_A_REQUEST,
    PROVENANCE_BYTES,
    check_attempt,
    check_id,
    check_optional_id,
)

__all__ = ["check_request", "event_payload"]

_KINDS = frozenset(observer_pb2.EventKind.values()) - {observer_pb2.EVENT_KIND_UNSPECIFIED}
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_PROVENANCE = re.compile(rf"[a-z0-9_.-]{{1,{PROVENANCE_BYTES}}}", re.ASCII)


def _refuse(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_request(request: observer_pb2.EmitRequest) -> None:
    """Checks a request whole.

    Raises:
        ServiceError: INVALID_ARGUMENT, a field or value outside the allow-list.
    """
    _check_known("request", request)
    if len(request.events) > EVENTS_A_REQUEST:
        raise _refuse(f"events has {len(request.events)}; at most {EVENTS_A_REQUEST} are allowed")
    for event in request.events:
        _check_event(event)


def event_payload(event: observer_pb2.TelemetryEvent, source: str = "") -> JsonObject:
    """The journal's payload of a checked event; what is unknown is left out.

    Args:
        event: the event.
        source: the sender that proved itself; empty where none has to.
    """
    payload: dict[str, JsonValue] = {
        "event_id": event.event_id,
        "run_id": event.run_id,
        "workflow_id": event.workflow_id,
        "operation_id": event.operation_id,
        "attempt": event.attempt,
        "kind": observer_pb2.EventKind.Name(event.kind),
    }
    if source:
        payload["source"] = source
    if event.HasField("usage"):
        payload["usage"] = {
            "input_tokens": event.usage.input_tokens,
            "output_tokens": event.usage.output_tokens,
        }
    if event.HasField("price"):
        payload["price"] = {
            "amount_micros": event.price.amount_micros,
            "currency": event.price.currency,
            "provenance": event.price.provenance,
        }
    return payload


def _check_known(name: str, message: Message) -> None:
    if len(UnknownFieldSet(message)) > 0:
        raise _refuse(f"the {name} has a field outside the allow-list; send known fields only")


def _check_event(event: observer_pb2.TelemetryEvent) -> None:
    _check_known("event", event)
    check_id("event_id", event.event_id)
    check_id("run_id", event.run_id)
    check_id("workflow_id", event.workflow_id)
    check_optional_id("operation_id", event.operation_id)
    check_attempt("attempt", event.attempt)
    if event.kind not in _KINDS:
        raise _refuse("kind is not set or unknown; send one of EventKind")
    if event.HasField("usage"):
        _check_known("usage", event.usage)
        if max(event.usage.input_tokens, event.usage.output_tokens) > ATTEMPT_MAX:
            raise _refuse(f"usage is out of range; send at most {ATTEMPT_MAX} tokens")
    if event.HasField("price"):
        _check_price(event.price)


def _check_price(price: observer_pb2.Price) -> None:
    _check_known("price", price)
    if not 0 <= price.amount_micros <= ATTEMPT_MAX:
        raise _refuse(f"amount_micros is out of range; send 0 to {ATTEMPT_MAX}")
    if _CURRENCY.fullmatch(price.currency) is None:
        raise _refuse("currency is no ISO 4217 code; leave out a price whose currency is unknown")
    if _PROVENANCE.fullmatch(price.provenance) is None:
        raise _refuse(
            f"provenance is not 1 to {PROVENANCE_BYTES} of a-z, 0-9, '_', '.', '-'; leave out a "
            "price whose origin is unknown"
        )
