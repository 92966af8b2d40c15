"""Whether the observer takes telemetry only from senders that prove themselves (DESIGN §4).

Both steps leave marks in the trace, beside the messages that they are about.
"""

from __future__ import annotations

import json
from collections import Counter

import grpc

from memqual.v1 import observer_pb2
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import JsonValue

__all__ = ["EVENTS_MARK", "STRANGERS_MARK", "strangers_are_refused", "tell_events"]

STRANGERS_MARK = "ingestion_strangers"
EVENTS_MARK = "ingestion_events"
_STRANGERS: dict[str, tuple[tuple[str, str], ...]] = {
    "without a token": (),
    "with a wrong token": (("authorization", "Bearer wrong"),),
}


def strangers_are_refused(stage: Stage) -> None:
    """Send an event without a token and one with a wrong one, and note what came of them.

    Raises:
        grpc.RpcError: The observer's counters cannot be read.
    """
    before = _counters(stage)
    answers: dict[str, JsonValue] = {}
    for name, metadata in _STRANGERS.items():
        event = observer_pb2.TelemetryEvent(
            event_id=f"stranger-{stage.batch.batch_id}-{len(answers)}",
            run_id=stage.context.run_id,
            workflow_id=f"stranger-{stage.batch.batch_id}",
            kind=observer_pb2.EVENT_KIND_DISPATCHED,
        )
        try:
            request = observer_pb2.EmitRequest(events=[event])
            stage.context.session.observer.Emit(request, metadata=metadata)
        except grpc.RpcError as error:
            answers[name] = error.code().name
        else:
            answers[name] = grpc.StatusCode.OK.name
    after = _counters(stage)
    stage.interposer.mark(
        {
            "kind": STRANGERS_MARK,
            "answers": answers,
            "refused": after.refused - before.refused,
        }
    )


def tell_events(stage: Stage) -> None:
    """Note the observer's events of the batch by sender and kind, and of strangers.

    Raises:
        grpc.RpcError: The observer's journal cannot be read.
    """
    request = observer_pb2.ReadEventsRequest(from_sequence=1)
    stream = stage.context.session.observer_audit.ReadEvents(request, timeout=60)
    counts: dict[str, Counter[str]] = {}
    strangers = 0
    workflows = set(stage.rig.workflow_ids)
    for answer in stream:
        event = json.loads(answer.record.payload_json)
        strangers += event["workflow_id"].startswith("stranger-")
        if event["workflow_id"] in workflows:
            by_kind = counts.setdefault(event.get("source", ""), Counter())
            by_kind[event["kind"].removeprefix("EVENT_KIND_").lower()] += 1
    stage.interposer.mark(
        {
            "kind": EVENTS_MARK,
            "senders": {sender: dict(kinds) for sender, kinds in counts.items()},
            "strangers": strangers,
        }
    )


def _counters(stage: Stage) -> observer_pb2.ReadCountersResponse:
    return stage.context.session.observer_audit.ReadCounters(observer_pb2.ReadCountersRequest())
