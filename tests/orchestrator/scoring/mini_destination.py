"""The destination of a played trial: one workflow, its effects and its journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memqual.v1 import common_pb2, destination_pb2
from orchestrator.suites.continuity.workload import UNSEEN_VISIBILITY_MS
from services.common.canonical import sha256_hex
from tests.orchestrator.oracle.tracing import SECOND

REFUSED = 9


@dataclass
class MiniDestination:
    """Applies once a call, once a key while it is kept, and never behind the fence."""

    settings: destination_pb2.WorkflowSettings
    journal: list[dict[str, Any]] = field(default_factory=list)
    effects: dict[str, dict[str, Any]] = field(default_factory=dict)
    fence: int = 0

    def invoke(self, request: destination_pb2.InvokeRequest, now: int) -> tuple[Any, int]:
        """A call at a time of the destination's own clock."""
        fields = {
            "workflow_id": request.workflow_id,
            "operation_id": request.operation_id,
            "attempt": request.attempt,
            "arguments_digest": sha256_hex(request.arguments_json.encode()),
        }
        self._write(event="received", **fields)
        if request.attempt <= self.fence:
            self._write(event="refused", refused_by="destination", reason="fenced", **fields)
            return None, REFUSED
        key = request.idempotency_key
        kept = self.effects.get(key) if key else None
        if kept is not None and now <= kept["until"]:
            self._write(event="replayed", **fields)
            return kept["response"], 0
        self._write(event="applied", **fields)
        result = destination_pb2.ToolResult(
            result_json='{"done":true}', effect_id=f"e{len(self.journal)}"
        )
        response = destination_pb2.InvokeResponse(result=result)
        until = now + self.settings.retention_seconds * SECOND
        self.effects[key or str(len(self.journal))] = {"response": response, "until": until}
        return response, 0

    def _write(self, **payload: Any) -> None:
        self.journal.append(payload)

    def query(self, attempt: int) -> common_pb2.EffectPresence.ValueType:
        """QueryEffect: fences at the attempt where it can; what is never seen stays uncertain."""
        seen = self.settings.visibility_delay_ms < UNSEEN_VISIBILITY_MS
        if self.effects and seen:
            return common_pb2.EFFECT_PRESENCE_PRESENT
        if self.settings.fenced:
            self.fence = attempt
            return common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
        return common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
