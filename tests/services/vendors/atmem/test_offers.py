"""What a caller offers keeps its declared source, and nothing that atmem has no place for."""

import grpc
import pytest

from memqual.v1 import memory_pb2
from services.common.errors import ServiceError
from services.vendors.atmem.offers import circle_of, derived, observed, proposal_id_of
from tests.services.vendors.atmem.samples import observation, scope

CALL = "c" * 32


@pytest.mark.parametrize(
    ("source_type", "native"),
    [
        (memory_pb2.SOURCE_TYPE_USER, "user_message"),
        (memory_pb2.SOURCE_TYPE_AGENT, "agent_message"),
        (memory_pb2.SOURCE_TYPE_TOOL, "tool_output"),
        (memory_pb2.SOURCE_TYPE_WEB, "website"),
        (memory_pb2.SOURCE_TYPE_DOCUMENT, "document"),
        (memory_pb2.SOURCE_TYPE_RECEIPT, "tool_output"),
    ],
)
def test_the_type_of_the_source_is_the_declared_one(
    source_type: memory_pb2.SourceType.ValueType, native: str
) -> None:
    assert observed(observation(source_type=source_type), CALL).capture.source_type == native


@pytest.mark.parametrize(
    ("binding", "assurance"),
    [
        (memory_pb2.SOURCE_BINDING_CALLER_ASSERTED, "caller_asserted"),
        (memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED, "host_authenticated"),
        (memory_pb2.SOURCE_BINDING_VERIFIED, "host_authenticated"),
    ],
)
def test_nobody_vouches_for_more_than_was_declared(
    binding: memory_pb2.SourceBinding.ValueType, assurance: str
) -> None:
    assert observed(observation(binding=binding), CALL).capture.assurance == assurance


@pytest.mark.parametrize(
    ("kind", "memory_class"),
    [
        (memory_pb2.RECORD_KIND_FACT, "durable_fact"),
        (memory_pb2.RECORD_KIND_PROCEDURE, "procedure"),
        (memory_pb2.RECORD_KIND_EPISODE, "episode"),
    ],
)
def test_the_kind_decides_the_class(
    kind: memory_pb2.RecordKind.ValueType, memory_class: str
) -> None:
    assert observed(observation(kind=kind), CALL).memory_class == memory_class


def test_the_message_is_taken_word_for_word() -> None:
    offer = observed(observation("  Two blanks stay.  ", source_id="chat-7"), CALL)
    assert offer.capture.message == "  Two blanks stay.  "
    assert offer.capture.source_id == f"chat-7.{CALL}"
    assert offer.capture.host_message_id == "chat-7"
    assert proposal_id_of(offer) == f"prop_{CALL}"


def test_labels_reach_atmem_nowhere() -> None:
    labelled = observation()
    labelled.labels.extend(["reviewer", "admin"])
    assert observed(labelled, CALL) == observed(observation(), CALL)


def test_an_empty_agent_and_workspace_get_a_name() -> None:
    circle = circle_of(scope())
    assert (circle.subject_id, circle.agent_id) == ("alice", "any-agent")
    assert (circle.workspace_id, circle.any_workspace) == ("any-workspace", True)
    named = circle_of(scope(agent="helper", workspace="shop"))
    assert (named.agent_id, named.workspace_id, named.any_workspace) == ("helper", "shop", False)


def test_a_derivation_is_the_agents_word_with_its_parents() -> None:
    offer = derived(
        memory_pb2.DeriveRequest(
            scope=scope(),
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=["rec_1", "rec_2"],
            content="Both open at nine.",
            method="summary",
        ),
        CALL,
    )
    assert offer.parents == ("rec_1", "rec_2")
    assert (offer.capture.source_type, offer.capture.assurance) == (
        "agent_message",
        "host_authenticated",
    )


def test_only_facts_are_derived() -> None:
    request = memory_pb2.DeriveRequest(
        scope=scope(), kind=memory_pb2.RECORD_KIND_PROCEDURE, parent_ids=["rec_1"], content="x"
    )
    with pytest.raises(ServiceError) as refused:
        derived(request, CALL)
    assert refused.value.code is grpc.StatusCode.UNIMPLEMENTED


def test_media_is_refused_and_not_dropped() -> None:
    attached = observation()
    attached.media.media_type = "text/plain"
    attached.media.data = b"a plan"
    with pytest.raises(ServiceError) as refused:
        observed(attached, CALL)
    assert refused.value.code is grpc.StatusCode.UNIMPLEMENTED


def _malformed() -> list[memory_pb2.Observation]:
    blank, kindless, sourceless, early = (observation() for _ in range(4))
    blank.content = "  "
    kindless.kind = memory_pb2.RECORD_KIND_UNSPECIFIED
    sourceless.source.type = memory_pb2.SOURCE_TYPE_UNSPECIFIED
    early.event_unix_ns = -1
    nobody, many, long = (observation() for _ in range(3))
    nobody.scope.principal = ""
    many.labels.extend(["label"] * 33)
    long.content = "x" * 65_537
    return [blank, kindless, sourceless, early, nobody, many, long]


@pytest.mark.parametrize("sent", _malformed())
def test_a_malformed_observation_is_refused(sent: memory_pb2.Observation) -> None:
    with pytest.raises(ServiceError) as refused:
        observed(sent, CALL)
    assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("parents", [[], ["p"] * 1_001, [""]])
def test_malformed_parents_are_refused(parents: list[str]) -> None:
    request = memory_pb2.DeriveRequest(
        scope=scope(), kind=memory_pb2.RECORD_KIND_FACT, parent_ids=parents, content="x"
    )
    with pytest.raises(ServiceError) as refused:
        derived(request, CALL)
    assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
