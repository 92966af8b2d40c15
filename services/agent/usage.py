"""What fresh models took, kept with the messages that it was taken for (agent.proto, ModelUsage).

An answer whose provider told nothing stays unknown: it is never counted as none.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage

from memqual.v1 import agent_pb2, observer_pb2
from services.agent.conversation import Answer

__all__ = ["PROVENANCE", "event_usage", "told_with", "usage_of"]

PROVENANCE = "provider"
MODELS_MAX = 16
_USAGE = "usage"
_MODEL = "model"


def told_with(answer: Answer) -> dict[str, Any]:
    """What a message carries of its answer beside what is said."""
    told: dict[str, Any] = {}
    if answer.usage is not None:
        told[_USAGE] = [answer.usage.input_tokens, answer.usage.output_tokens]
    if answer.model:
        told[_MODEL] = answer.model
    return told


def event_usage(answer: Answer) -> observer_pb2.Usage | None:
    """An answer's usage as telemetry tells it; None where it is unknown."""
    if answer.usage is None:
        return None
    return observer_pb2.Usage(
        input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens
    )


def usage_of(messages: Sequence[AnyMessage]) -> agent_pb2.ModelUsage | None:
    """The sum over a conversation; None where no message tells anything."""
    told = [message.additional_kwargs for message in messages]
    counts = [one[_USAGE] for one in told if _USAGE in one]
    models = dict.fromkeys(str(one[_MODEL]) for one in told if _MODEL in one)
    if not counts and not models:
        return None
    return agent_pb2.ModelUsage(
        input_tokens=sum(int(count[0]) for count in counts),
        output_tokens=sum(int(count[1]) for count in counts),
        answers_with_usage=len(counts),
        provenance=PROVENANCE,
        models=list(models)[:MODELS_MAX],
    )
