"""The scripted model: asks for the calls that the workflow lists, under ids of its own.

A model that is asked again makes a new message. Here too: ids derive from the seed that this
process was given, so one seed gives one identity and another life gives another (DESIGN §5,
before_intent_checkpoint).
"""

import json

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call

from memqual.v1 import agent_pb2
from services.common.canonical import digest_hex

__all__ = ["assistant_message"]

ID_HEX_CHARACTERS = 32


def assistant_message(workflow: agent_pb2.Workflow, turn_index: int, model_seed: str) -> AIMessage:
    """The assistant message of one turn.

    Args:
        workflow: the workflow as it was started.
        turn_index: turn, from 0.
        model_seed: seed of this process's Start or Resume call.

    Raises:
        IndexError: the script has no such turn.
    """
    turn = workflow.turns[turn_index]
    return AIMessage(
        content="",
        id="msg-" + _derived(model_seed, workflow.workflow_id, turn_index, "message"),
        tool_calls=[
            tool_call(
                name=call.tool,
                args=json.loads(call.arguments_json),
                id="call-" + _derived(model_seed, workflow.workflow_id, turn_index, call_index),
            )
            for call_index, call in enumerate(turn.calls)
        ],
    )


def _derived(model_seed: str, workflow_id: str, turn_index: int, part: int | str) -> str:
    return digest_hex([model_seed, workflow_id, turn_index, part])[:ID_HEX_CHARACTERS]
