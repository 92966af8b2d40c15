"""The nine windows of DESIGN §5, in the order in which one operation passes them, as data.

Six are held by a rule of the interposer, from outside the host and the memory; three stand inside
the agent host and are its own barriers. A new window is a row here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memqual.v1 import agent_pb2, continuity_pb2, destination_pb2
from memqual.v1 import interposer_pb2 as pb

__all__ = ["WINDOWS", "BarrierHold", "RuleHold", "Window", "rule_for", "window"]

AGENT = "agent"
WORKFLOW_KEY = "memqual-workflow"
WORKFLOWS_MAX = 1_000

_CONTINUITY = continuity_pb2.DESCRIPTOR.services_by_name["ContinuityService"].full_name
_DESTINATION = destination_pb2.DESCRIPTOR.services_by_name["DestinationService"].full_name

BEGIN = f"/{_CONTINUITY}/Begin"
RECORD_RECEIPT = f"/{_CONTINUITY}/RecordReceipt"
INVOKE = f"/{_DESTINATION}/Invoke"

REQUEST = pb.MESSAGE_PHASE_REQUEST
RESPONSE = pb.MESSAGE_PHASE_RESPONSE


@dataclass(frozen=True, slots=True)
class RuleHold:
    """Held by the interposer: the message of one method on one edge.

    Attributes:
        source: role of the caller.
        target: target name.
        method: full method.
        phase: which message of the call.
    """

    source: str
    target: str
    method: str
    phase: pb.MessagePhase.ValueType


@dataclass(frozen=True, slots=True)
class BarrierHold:
    """Held by the agent host itself, which no message shows.

    Attributes:
        barrier: the host's barrier.
    """

    barrier: agent_pb2.Barrier.ValueType


@dataclass(frozen=True, slots=True)
class Window:
    """A point of an operation's life at which a fault can hit it.

    Attributes:
        name: as in the cell table.
        hold: how an operation is kept there.
        needs_memory: the window exists only in arms with a memory.
        effect: True: the destination has applied the effect; False: it has not.
    """

    name: str
    hold: RuleHold | BarrierHold
    needs_memory: bool
    effect: bool


WINDOWS: tuple[Window, ...] = (
    Window(
        "before_intent_checkpoint",
        BarrierHold(agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT),
        needs_memory=False,
        effect=False,
    ),
    Window(
        "before_intent",
        RuleHold(AGENT, "memory", BEGIN, REQUEST),
        needs_memory=True,
        effect=False,
    ),
    Window(
        "after_lease",
        RuleHold(AGENT, "memory", BEGIN, RESPONSE),
        needs_memory=True,
        effect=False,
    ),
    Window(
        "in_request",
        RuleHold(AGENT, "destination", INVOKE, REQUEST),
        needs_memory=False,
        effect=False,
    ),
    Window(
        "after_commit",
        RuleHold(AGENT, "destination", INVOKE, RESPONSE),
        needs_memory=False,
        effect=True,
    ),
    Window(
        "after_response",
        RuleHold(AGENT, "memory", RECORD_RECEIPT, REQUEST),
        needs_memory=True,
        effect=True,
    ),
    Window(
        "after_receipt",
        RuleHold(AGENT, "memory", RECORD_RECEIPT, RESPONSE),
        needs_memory=True,
        effect=True,
    ),
    Window(
        "before_checkpoint",
        BarrierHold(agent_pb2.BARRIER_BEFORE_CHECKPOINT),
        needs_memory=False,
        effect=True,
    ),
    Window(
        "after_checkpoint",
        BarrierHold(agent_pb2.BARRIER_AFTER_CHECKPOINT),
        needs_memory=False,
        effect=True,
    ),
)

_BY_NAME = {one.name: one for one in WINDOWS}


def window(name: str) -> Window:
    """The window of that name.

    Raises:
        ValueError: there is none.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ValueError(f"no window {name!r}; there are {sorted(_BY_NAME)}") from None


def rule_for(
    window: Window, workflow_ids: Sequence[str], rule_id: str, skipped: int = 0
) -> pb.Rule:
    """The rule that holds these workflows at a window, each once.

    Args:
        window: a window that is held by a rule.
        workflow_ids: 1..1,000 workflows.
        rule_id: 1..128 bytes.
        skipped: how many messages of each workflow pass the window before one is held.

    Raises:
        ValueError: the window is held by the host's barrier, or the number of workflows is wrong.
    """
    hold = window.hold
    if not isinstance(hold, RuleHold):
        raise ValueError(f"{window.name} is held by the agent host's barrier, not by a rule")
    if not 1 <= len(workflow_ids) <= WORKFLOWS_MAX:
        raise ValueError(f"a rule holds 1..{WORKFLOWS_MAX} workflows, not {len(workflow_ids)}")
    return pb.Rule(
        rule_id=rule_id,
        edge=pb.Edge(source=hold.source, target=hold.target),
        method=hold.method,
        phase=hold.phase,
        matches=[pb.MetadataMatch(key=WORKFLOW_KEY, values=workflow_ids)],
        action=pb.RULE_ACTION_HOLD,
        # A host that asks again after a release must get through.
        max_hits_per_workflow=1,
        skip_hits_per_workflow=skipped,
    )
