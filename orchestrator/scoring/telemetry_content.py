"""What telemetry carried, by the interposer's trace: only ids and a kind are allowed (DESIGN §4).

Looked for are the operation's own secrets and contents: lease tokens, query tickets, arguments and
results, each as it is, as hexadecimal and as base64. Ids that telemetry may carry, and parts of
them, are cut out of what is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from chaos.telemetry_faults import EMIT
from chaos.windows import BEGIN, INVOKE, RECORD_RECEIPT
from memqual.v1 import continuity_pb2, destination_pb2, interposer_pb2, observer_pb2
from orchestrator.suites.continuity.families.network_points import RECORD_QUERY
from orchestrator.suites.integrity.needles import RUN_CHARACTERS_MIN, Haystack

__all__ = ["Emitted", "Secret", "emitted", "leaks", "secrets_of", "unlisted"]

_REQUEST = interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
_RESPONSE = interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
_RUN = re.compile(rf"[A-Za-z0-9]{{{RUN_CHARACTERS_MIN},}}")
_INVALID_ARGUMENT = 3
_KINDS = frozenset(observer_pb2.EventKind.values()) - {observer_pb2.EVENT_KIND_UNSPECIFIED}


@dataclass(frozen=True)
class Emitted:
    """One Emit call.

    Attributes:
        call_id: The interposer's id.
        source: Service that sent it.
        payload: The request as it was on the wire.
        workflow_ids: Workflows that its events name; empty where it cannot be read.
        refused: The observer called it malformed.
    """

    call_id: int
    source: str
    payload: bytes
    workflow_ids: frozenset[str]
    refused: bool


@dataclass(frozen=True)
class Secret:
    """Something that no telemetry may carry.

    Attributes:
        name: What it is.
        text: The text.
    """

    name: str
    text: str


def emitted(trace: Sequence[interposer_pb2.TraceRecord]) -> tuple[Emitted, ...]:
    """Every Emit of a service under test or of a host, in order; the evaluator's own left out."""
    refused = {
        record.call_id
        for record in trace
        if record.kind == _RESPONSE
        and record.method == EMIT
        and record.status_code == _INVALID_ARGUMENT
    }
    return tuple(
        Emitted(
            call_id=record.call_id,
            source=record.edge.source,
            payload=record.payload,
            workflow_ids=frozenset(event.workflow_id for event in _events(record.payload)),
            refused=record.call_id in refused,
        )
        for record in trace
        if record.kind == _REQUEST
        and record.method == EMIT
        and record.edge.source != "orchestrator"
    )


def _events(payload: bytes) -> Sequence[observer_pb2.TelemetryEvent]:
    try:
        return tuple(observer_pb2.EmitRequest.FromString(payload).events)
    except DecodeError:
        return ()


def unlisted(one: Emitted) -> str:
    """What of an Emit is outside the allow-list, in words; empty when nothing is."""
    try:
        request = observer_pb2.EmitRequest.FromString(one.payload)
    except DecodeError:
        return "it is no EmitRequest"
    if any(len(UnknownFieldSet(part)) > 0 for part in _parts(request)):
        return "a field that the contract does not have"
    if any(event.kind not in _KINDS for event in request.events):
        return "a kind that the contract does not have"
    return "the observer refused it as malformed" if one.refused else ""


def _parts(request: observer_pb2.EmitRequest) -> Iterator[Message]:
    yield request
    for event in request.events:
        yield event
        yield event.usage
        yield event.price


def secrets_of(
    trace: Iterable[interposer_pb2.TraceRecord], workflow_id: str, allowed: Sequence[str]
) -> frozenset[Secret]:
    """What the trace shows of one workflow that telemetry must not carry.

    Args:
        trace: The batch's records.
        workflow_id: The trial's workflow.
        allowed: Ids that telemetry may carry: nothing that contains only them is a secret.
    """
    texts = [
        secret
        for record in trace
        if record.metadata["memqual-workflow"] == workflow_id and record.payload
        for secret in _texts(record)
    ]
    known = "\n".join(allowed).lower()
    return frozenset(
        Secret(secret.name, run)
        for secret in texts
        for run in _RUN.findall(_without(secret.text, allowed))
        if run.lower() not in known
    )


def _texts(record: interposer_pb2.TraceRecord) -> Iterator[Secret]:
    payload, asked = record.payload, record.kind == _REQUEST
    if record.method == BEGIN and record.kind == _RESPONSE:
        decision = continuity_pb2.BeginResponse.FromString(payload).decision
        yield Secret("lease token", decision.execute.lease_token)
        yield Secret("query ticket", decision.query.query_ticket)
    elif record.method == RECORD_RECEIPT and asked:
        yield from _of_receipt(continuity_pb2.RecordReceiptRequest.FromString(payload).receipt)
    elif record.method == RECORD_QUERY and asked:
        yield from _of_receipt(continuity_pb2.RecordQueryRequest.FromString(payload).receipt)
    elif record.method == INVOKE and asked:
        request = destination_pb2.InvokeRequest.FromString(payload)
        yield Secret("arguments", request.arguments_json)


def _of_receipt(receipt: continuity_pb2.Receipt) -> Iterator[Secret]:
    # An effect's id is as opaque as an operation's, and may be made of it.
    yield Secret("result", receipt.result_json)


def _without(text: str, allowed: Sequence[str]) -> str:
    """The text with a gap in place of each id that telemetry may carry, longest first."""
    for known in sorted(filter(None, allowed), key=len, reverse=True):
        text = text.replace(known, " ")
    return text


def leaks(secrets: Iterable[Secret], calls: Iterable[Emitted]) -> Mapping[str, tuple[str, ...]]:
    """By what it is: the forms in which a secret stands in telemetry."""
    haystacks = [Haystack(call.payload) for call in calls]
    found: dict[str, set[str]] = {}
    for secret in secrets:
        forms = {str(form) for one in haystacks for form in one.find(secret.text)}
        if forms:
            found.setdefault(secret.name, set()).update(forms)
    return {name: tuple(sorted(forms)) for name, forms in sorted(found.items())}
