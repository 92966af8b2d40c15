"""What a caller offers, as atmem takes it (pure).

The declared source decides both of what atmem's trust rests on: the type of the source and who
vouches for it. Labels, the time of the event and the purpose have no place in atmem and are not
passed.
"""

from typing import Final

import grpc

from memqual.v1 import memory_pb2
from services.common.errors import ServiceError
from services.common.limits import CONTENT_BYTES, check_content, check_id, check_optional_id
from services.vendors.atmem import names
from services.vendors.atmem.record_model import Capture, Circle, Offer

__all__ = [
    "FACT",
    "circle_of",
    "derived",
    "observed",
    "outcome_of",
    "proposal_id_of",
    "replacing",
]

FACT: Final = "durable_fact"

_LABELS_MAX: Final = 32
_PARENTS_MAX: Final = 1_000
_DEFAULT_AGENT: Final = "any-agent"
_DEFAULT_WORKSPACE: Final = "any-workspace"

_CLASSES: Final = {
    memory_pb2.RECORD_KIND_FACT: FACT,
    memory_pb2.RECORD_KIND_PROCEDURE: "procedure",
    memory_pb2.RECORD_KIND_EPISODE: "episode",
}
_SOURCES: Final = {
    memory_pb2.SOURCE_TYPE_USER: "user_message",
    memory_pb2.SOURCE_TYPE_AGENT: "agent_message",
    memory_pb2.SOURCE_TYPE_TOOL: "tool_output",
    memory_pb2.SOURCE_TYPE_WEB: "website",
    memory_pb2.SOURCE_TYPE_DOCUMENT: "document",
    # No type of atmem's own: what a tool answered.
    memory_pb2.SOURCE_TYPE_RECEIPT: "tool_output",
}
_ASSURANCES: Final = {
    memory_pb2.SOURCE_BINDING_CALLER_ASSERTED: "caller_asserted",
    memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED: "host_authenticated",
    # atmem's verified_by_atmem would say that atmem checked a proof. It was given none, so this is
    # what the host vouches for.
    memory_pb2.SOURCE_BINDING_VERIFIED: "host_authenticated",
}
_OUTCOMES: Final = {
    memory_pb2.PROCEDURE_OUTCOME_HELPFUL: "helpful",
    memory_pb2.PROCEDURE_OUTCOME_HARMFUL: "harmful",
    memory_pb2.PROCEDURE_OUTCOME_NEUTRAL: "neutral",
}


def _malformed(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def circle_of(scope: memory_pb2.Scope) -> Circle:
    """The authority scope of a caller's scope; empty agent and workspace get a name.

    Raises:
        ServiceError: INVALID_ARGUMENT: namespace or principal are missing, or a part is too long.
    """
    check_id("scope.namespace", scope.namespace)
    check_id("scope.principal", scope.principal)
    for name in ("agent", "workspace", "purpose"):
        check_optional_id(f"scope.{name}", getattr(scope, name))
    return Circle(
        subject_id=names.protocol_id(scope.principal),
        agent_id=names.protocol_id(scope.agent, default=_DEFAULT_AGENT),
        workspace_id=names.protocol_id(scope.workspace, default=_DEFAULT_WORKSPACE),
        any_workspace=not scope.workspace,
    )


def observed(observation: memory_pb2.Observation, call_id: str) -> Offer:
    """The offer of a Write; `call_id` is this call's own, since each Write observes anew.

    Raises:
        ServiceError: INVALID_ARGUMENT: malformed. UNIMPLEMENTED: with a media part.
    """
    source = observation.source
    if source.type not in _SOURCES or source.binding not in _ASSURANCES:
        raise _malformed("source.type or source.binding is not set to a known value")
    check_optional_id("source.source_id", source.source_id)
    if len(observation.labels) > _LABELS_MAX:
        raise _malformed(f"{len(observation.labels)} labels; at most {_LABELS_MAX} are allowed")
    for label in observation.labels:
        check_optional_id("labels", label)
    if observation.event_unix_ns < 0:
        raise _malformed("event_unix_ns is negative")
    if observation.HasField("media"):
        if not 1 <= len(observation.media.data) <= CONTENT_BYTES:
            raise _malformed(f"media.data is empty or larger than {CONTENT_BYTES} bytes")
        raise ServiceError(
            grpc.StatusCode.UNIMPLEMENTED,
            "atmem keeps no bytes of media: it takes a text that an observer made of them",
        )
    return _offer(
        circle_of(observation.scope),
        _class_of(observation.kind),
        observation.content,
        call_id,
        source_type=_SOURCES[source.type],
        assurance=_ASSURANCES[source.binding],
        source_id=source.source_id,
    )


def derived(request: memory_pb2.DeriveRequest, call_id: str) -> Offer:
    """The offer of a Derive: what the host's agent made, with its parents.

    The contract names no source for it; the caller is the host, and vouches for its own agent.

    Raises:
        ServiceError: INVALID_ARGUMENT: malformed. UNIMPLEMENTED: not a fact: atmem relates facts
            only.
    """
    if not 1 <= len(request.parent_ids) <= _PARENTS_MAX:
        raise _malformed(f"{len(request.parent_ids)} parents; send 1 to {_PARENTS_MAX}")
    parents = tuple(check_id("parent_ids", parent) for parent in request.parent_ids)
    check_optional_id("method", request.method)
    memory_class = _class_of(request.kind)
    if memory_class != FACT:
        raise ServiceError(
            grpc.StatusCode.UNIMPLEMENTED, "atmem relates facts to parents, and nothing else"
        )
    return _offer(
        circle_of(request.scope),
        memory_class,
        request.content,
        call_id,
        source_type="agent_message",
        assurance="host_authenticated",
        source_id=request.method,
        parents=parents,
    )


def replacing(request: memory_pb2.SupersedeRequest, call_id: str) -> Offer:
    """The offer of a Supersede; whom it replaces is atmem's id of the record, added by the caller.

    Raises:
        ServiceError: INVALID_ARGUMENT: malformed, or the observation is of another circle.
            UNIMPLEMENTED: with a media part.
    """
    check_id("record_id", request.record_id)
    offer = observed(request.observation, call_id)
    namespaces = {request.scope.namespace, request.observation.scope.namespace}
    if circle_of(request.scope) != offer.capture.circle or len(namespaces) != 1:
        raise _malformed("observation.scope is not scope; a record is replaced where it stands")
    return offer


def outcome_of(request: memory_pb2.RecordOutcomeRequest) -> str:
    """The outcome's name; raises ServiceError INVALID_ARGUMENT for a malformed request."""
    check_id("record_id", request.record_id)
    if request.outcome not in _OUTCOMES:
        raise _malformed("outcome is not set to a known value")
    # Written so that no number that is none passes.
    if not 0.0 <= request.utility <= 1.0:
        raise _malformed("utility is not between 0 and 1")
    return _OUTCOMES[request.outcome]


def proposal_id_of(offer: Offer) -> str:
    """Id of the extraction proposal: it is the contract's record id from then on."""
    return f"prop_{offer.capture.idempotency_key}"


def _class_of(kind: memory_pb2.RecordKind.ValueType) -> str:
    if kind not in _CLASSES:
        raise _malformed("kind is not set to a known value")
    return _CLASSES[kind]


def _offer(
    circle: Circle,
    memory_class: str,
    content: str,
    call_id: str,
    *,
    source_type: str,
    assurance: str,
    source_id: str,
    parents: tuple[str, ...] = (),
) -> Offer:
    check_content("content", content)
    if not content.strip():
        raise _malformed("content is blank; send at least one visible character")
    capture = Capture(
        circle=circle,
        source_id=names.source_id(source_id, call_id),
        host_message_id=source_id,
        idempotency_key=call_id,
        message=content,
        source_type=source_type,
        assurance=assurance,
    )
    return Offer(capture, memory_class, parents)
