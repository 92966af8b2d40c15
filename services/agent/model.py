"""Messages of models, under ids of their own: of the script, or as a conversation's model answers.

A model that is asked again makes a new message. Here too: ids derive from the seed that this
process was given, so one seed gives one identity and another life gives another (DESIGN §5,
before_intent_checkpoint).
"""

import json

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from memqual.v1 import agent_pb2
from services.agent.conversation import ENDS, Answer
from services.agent.usage import told_with
from services.common.canonical import digest_hex

__all__ = ["agent_message", "assistant_message", "user_message"]

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
    answer = Answer("", tuple(workflow.turns[turn_index].calls))
    return agent_message(workflow.workflow_id, turn_index, model_seed, answer)


def agent_message(workflow_id: str, number: int, model_seed: str, answer: Answer) -> AIMessage:
    """A message of the agent.

    Args:
        workflow_id: its workflow.
        number: which message of a model it is, from 0.
        model_seed: seed of this process's Start or Resume call.
        answer: what the model answered.
    """
    return AIMessage(
        content=answer.text,
        id="msg-" + _derived(model_seed, workflow_id, number, "message"),
        tool_calls=[
            tool_call(
                name=call.tool,
                args=json.loads(call.arguments_json),
                id="call-" + _derived(model_seed, workflow_id, number, call_index),
            )
            for call_index, call in enumerate(answer.calls)
        ],
        additional_kwargs=told_with(answer),
    )


def user_message(workflow_id: str, number: int, model_seed: str, answer: Answer) -> HumanMessage:
    """A message of the simulated user; arguments as of `agent_message`."""
    return HumanMessage(
        content=answer.text,
        id="user-" + _derived(model_seed, workflow_id, number, "message"),
        additional_kwargs={**({ENDS: True} if answer.ends else {}), **told_with(answer)},
    )


def _derived(model_seed: str, workflow_id: str, turn_index: int, part: int | str) -> str:
    return digest_hex([model_seed, workflow_id, turn_index, part])[:ID_HEX_CHARACTERS]
