"""Checks of what the orchestrator sends: everything is refused before anything is done.

Each raises ServiceError INVALID_ARGUMENT with the field's name and what to send (DESIGN §4).
"""

import json
import re
from collections.abc import Sequence

import grpc

from memqual.v1 import agent_pb2
from services.common.errors import ServiceError
from services.common.limits import JSON_BYTES, check_id, check_json_object

__all__ = [
    "CALLS_A_TURN",
    "EXCHANGES",
    "TEXT_BYTES",
    "TURNS",
    "check_barrier",
    "check_milliseconds",
    "check_model_seed",
    "check_workflow",
    "check_workflow_ids",
]

TURNS = 64
CALLS_A_TURN = 16
EXCHANGES = 64
TEXT_BYTES = 4_096
ANSWERS = 128
INSTRUCTIONS_BYTES = 32_768
STOP_TOKEN_BYTES = 64
WORKFLOWS_A_REQUEST = 1_000
_DIGEST = re.compile(r"[0-9a-f]{64}")


def _refuse(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_workflow(workflow: agent_pb2.Workflow) -> None:
    """A workflow that the host can run."""
    _check_printable_id("workflow.workflow_id", workflow.workflow_id)
    _check_printable_id("workflow.run_id", workflow.run_id)
    for name in ("namespace", "principal", "deployment"):
        check_id(f"workflow.{name}", getattr(workflow, name))
    if workflow.arm not in agent_pb2.Arm.values() or workflow.arm == agent_pb2.ARM_UNSPECIFIED:
        raise _refuse("workflow.arm is none of the arms; name one")
    if workflow.HasField("fresh"):
        _check_fresh(workflow)
        return
    if workflow.HasField("recording"):
        _check_recording(workflow)
        return
    if not 1 <= len(workflow.turns) <= TURNS:
        raise _refuse(f"workflow.turns has {len(workflow.turns)} entries; send 1 to {TURNS}")
    for turn_index, turn in enumerate(workflow.turns):
        _check_calls(f"workflow.turns[{turn_index}].calls", turn.calls)


def _check_calls(name: str, calls: Sequence[agent_pb2.ToolCall]) -> None:
    if not 1 <= len(calls) <= CALLS_A_TURN:
        raise _refuse(f"{name} has {len(calls)} entries; send 1 to {CALLS_A_TURN}")
    for call_index, call in enumerate(calls):
        check_id(f"{name}[{call_index}].tool", call.tool)
        check_json_object(f"{name}[{call_index}].arguments_json", call.arguments_json)


def _check_recording(workflow: agent_pb2.Workflow) -> None:
    """A recorded conversation that can be played."""
    if workflow.turns:
        raise _refuse("workflow has turns and a recording; send one of them")
    recording = workflow.recording
    _check_text("workflow.recording.opening", recording.opening)
    if not 1 <= len(recording.exchanges) <= EXCHANGES:
        raise _refuse(
            f"workflow.recording.exchanges has {len(recording.exchanges)} entries; "
            f"send 1 to {EXCHANGES}"
        )
    for index, exchange in enumerate(recording.exchanges):
        _check_exchange(f"workflow.recording.exchanges[{index}]", exchange)


def _check_fresh(workflow: agent_pb2.Workflow) -> None:
    """A conversation that fresh models can hold."""
    if workflow.turns or workflow.HasField("recording"):
        raise _refuse("workflow has fresh and turns or a recording; send one of them")
    fresh = workflow.fresh
    _check_text("workflow.fresh.opening", fresh.opening)
    for name in ("agent_instructions", "user_instructions"):
        if not 1 <= len(getattr(fresh, name).encode()) <= INSTRUCTIONS_BYTES:
            raise _refuse(f"workflow.fresh.{name} is not of 1 to {INSTRUCTIONS_BYTES} bytes")
    if not 1 <= len(fresh.stop_token.encode()) <= STOP_TOKEN_BYTES:
        raise _refuse(f"workflow.fresh.stop_token is not of 1 to {STOP_TOKEN_BYTES} bytes")
    if not 1 <= fresh.answers_max <= ANSWERS:
        raise _refuse(f"workflow.fresh.answers_max is {fresh.answers_max}; send 1 to {ANSWERS}")
    _check_tools(fresh.tools_json)


def _check_tools(tools_json: str) -> None:
    """Function schemas, as far as the host itself reads them; empty for none."""
    name = "workflow.fresh.tools_json"
    if not tools_json:
        return
    if len(tools_json.encode()) > JSON_BYTES:
        raise _refuse(f"{name} has more than {JSON_BYTES} bytes")
    try:
        names = [tool["function"]["name"] for tool in json.loads(tools_json)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _refuse(f"{name} is no JSON array of function schemas") from None
    for tool in names:
        check_id(name, tool)


def _check_exchange(name: str, exchange: agent_pb2.RecordedExchange) -> None:
    if exchange.role not in (agent_pb2.MODEL_ROLE_AGENT, agent_pb2.MODEL_ROLE_USER):
        raise _refuse(f"{name}.role is neither the agent nor the user; name one")
    if not _DIGEST.fullmatch(exchange.request_digest):
        raise _refuse(f"{name}.request_digest is no lower-case hexadecimal SHA-256")
    _check_text(f"{name}.text", exchange.text)
    if bool(exchange.text) == bool(exchange.calls):
        raise _refuse(f"{name} has a text and calls, or neither; send one of them")
    if exchange.role == agent_pb2.MODEL_ROLE_USER and exchange.calls:
        raise _refuse(f"{name}.calls are a user's; only an agent calls tools")
    if exchange.role == agent_pb2.MODEL_ROLE_AGENT and exchange.ends:
        raise _refuse(f"{name}.ends is an agent's; only a user ends a conversation")
    if exchange.calls:
        _check_calls(f"{name}.calls", exchange.calls)


def _check_text(name: str, text: str) -> None:
    if len(text.encode()) > TEXT_BYTES:
        raise _refuse(f"{name} has more than {TEXT_BYTES} bytes")


def check_model_seed(model_seed: str) -> str:
    """A seed for the model's ids; returns it."""
    return check_id("model_seed", model_seed)


def check_workflow_ids(workflow_ids: Sequence[str]) -> tuple[str, ...]:
    """Between 1 and 1,000 ids; returns them without repeats, in the order sent."""
    if not 1 <= len(workflow_ids) <= WORKFLOWS_A_REQUEST:
        raise _refuse(
            f"workflow_ids has {len(workflow_ids)} entries; send 1 to {WORKFLOWS_A_REQUEST}"
        )
    for index, workflow_id in enumerate(workflow_ids):
        check_id(f"workflow_ids[{index}]", workflow_id)
    return tuple(dict.fromkeys(workflow_ids))


def check_barrier(
    barrier: "agent_pb2.Barrier.ValueType",
) -> "agent_pb2.Barrier.ValueType":
    """One of the host's windows; returns it."""
    if barrier not in agent_pb2.Barrier.values() or barrier == agent_pb2.BARRIER_UNSPECIFIED:
        raise _refuse("barrier is none of the host's barriers; name one")
    return barrier


def check_milliseconds(name: str, value: int, maximum: int) -> int:
    """A wait within its bound; returns it."""
    if value > maximum:
        raise _refuse(f"{name} is {value}; at most {maximum} are allowed")
    return value


def _check_printable_id(name: str, value: str) -> None:
    check_id(name, value)
    # It travels as metadata on every call, which carries nothing else unchanged.
    if not (value.isascii() and value.isprintable()):
        raise _refuse(f"{name} is not printable ASCII; send printable ASCII")
