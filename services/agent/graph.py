"""The durable graph: (user →) model → act → … → finish (DESIGN §4, §5).

One graph for every arm, script and conversation; `graph_digest` is the proof. `act` is the governed
node: one execution, one tool call. The host's own barriers sit in the nodes' bodies, since
LangGraph writes a node's result on other threads once the node has returned.
"""

from dataclasses import dataclass
from typing import TypeAlias

import grpc
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from memqual.v1 import agent_pb2, observer_pb2
from services.agent.barriers import Barriers
from services.agent.calls import ToolCaller
from services.agent.conversation import (
    Answer,
    Mismatch,
    entries_of,
    is_conversation,
    recorded_answer,
    requests_answered,
)
from services.agent.events import HostEvents
from services.agent.fresh_model import FreshModel
from services.agent.model import agent_message, assistant_message, user_message
from services.agent.operations import DefiniteAnswer, stored_result
from services.agent.runs import Run
from services.agent.state import (
    AgentState,
    PendingCall,
    StateUpdate,
    first_node,
    next_node,
    pending_call,
    result_update,
    settled_operations,
    workflow_of,
)
from services.agent.stops import ConfirmationNeeded, Failed
from services.agent.usage import event_usage, usage_of
from services.common.canonical import digest_hex
from services.common.conversation import Role, trajectory_digest

__all__ = ["AgentGraph", "Drive", "build_graph", "graph_digest"]

CONFIRMATIONS_A_CALL = 10_000


@dataclass(slots=True)
class Drive:
    """What the nodes of one drive of a workflow work with.

    Attributes:
        run: what Status tells of the workflow.
        caller: performs tool calls.
        barriers: the host's own windows.
        events: telemetry.
        graph_digest: digest of the graph that is driven.
        fresh_model: answers in conversations that were not recorded.
        acted: True from the end of `act` until the next node, which finds its result durable.
    """

    run: Run
    caller: ToolCaller
    barriers: Barriers
    events: HostEvents
    graph_digest: str
    fresh_model: FreshModel
    acted: bool = False

    def enter(self, state: AgentState) -> agent_pb2.Workflow:
        """What every node does first: shows what is durable now, and stands at the barrier for it.

        With durability "sync" and one writer thread, a node starts only after both the writes and
        the checkpoint of the step before are committed.
        """
        workflow = workflow_of(state)
        self.show(workflow, state)
        if self.acted:
            self.acted = False
            self.barriers.stand(agent_pb2.BARRIER_AFTER_CHECKPOINT, self.run.workflow_id)
        return workflow

    def show(self, workflow: agent_pb2.Workflow, state: AgentState) -> None:
        """Lets Status tell what is in the state."""
        self.run.stored(workflow, state["results"].values())
        if is_conversation(workflow):
            self.run.conversed(
                requests=requests_answered(state["messages"]),
                trajectory_digest=trajectory_digest(entries_of(state["messages"])),
                graph_digest=self.graph_digest,
                usage=usage_of(state["messages"]),
            )

    def answer(self, workflow: agent_pb2.Workflow, role: Role, state: AgentState) -> Answer:
        """What the model of a conversation answers.

        Raises:
            Failed: it has no answer to this request.
        """
        if workflow.HasField("fresh"):
            answer = self.fresh_model.answer(workflow.fresh, role, state["messages"])
            self.events.emit(
                workflow, observer_pb2.EVENT_KIND_MODEL_CALLED, usage=event_usage(answer)
            )
            return answer
        self.events.emit(workflow, observer_pb2.EVENT_KIND_MODEL_CALLED)
        try:
            return recorded_answer(workflow.recording, role, state["messages"])
        except Mismatch as mismatch:
            self.run.mismatched(mismatch.number)
            raise


AgentGraph: TypeAlias = CompiledStateGraph[AgentState, Drive, AgentState, AgentState]


def build_graph() -> AgentGraph:
    """Compiles the graph, without a checkpointer: each workflow's file brings its own."""
    builder = StateGraph(AgentState, context_schema=Drive)
    builder.add_node("user", _user)
    builder.add_node("model", _model)
    builder.add_node("act", _act)
    builder.add_node("finish", _finish)
    builder.add_conditional_edges(START, first_node, ["user", "model"])
    builder.add_conditional_edges("user", next_node, ["model", "finish"])
    builder.add_conditional_edges("model", next_node, ["act", "user"])
    builder.add_conditional_edges("act", next_node, ["act", "model", "finish"])
    builder.add_edge("finish", END)
    return builder.compile()


def graph_digest(graph: AgentGraph) -> str:
    """Digest of the compiled graph's nodes and edges, by name: equal for equal topologies."""
    drawn = graph.get_graph()
    return digest_hex(
        {
            "nodes": sorted(drawn.nodes),
            "edges": sorted([edge.source, edge.target, edge.conditional] for edge in drawn.edges),
        }
    )


def _user(state: AgentState, runtime: Runtime[Drive]) -> StateUpdate:
    """The simulated user's next message; its id is not durable before this node returns."""
    drive = runtime.context
    workflow = drive.enter(state)
    answer = drive.answer(workflow, "user", state)
    number = requests_answered(state["messages"])
    return {"messages": [user_message(workflow.workflow_id, number, drive.run.model_seed, answer)]}


def _model(state: AgentState, runtime: Runtime[Drive]) -> StateUpdate:
    """The agent's next message; its ids are not durable before this node returns."""
    drive = runtime.context
    workflow = drive.enter(state)
    seed = drive.run.model_seed
    if is_conversation(workflow):
        answer = drive.answer(workflow, "agent", state)
        number = requests_answered(state["messages"])
        message = agent_message(workflow.workflow_id, number, seed, answer)
    else:
        turn_index = sum(isinstance(message, AIMessage) for message in state["messages"])
        message = assistant_message(workflow, turn_index, seed)
        drive.events.emit(workflow, observer_pb2.EVENT_KIND_MODEL_CALLED)
    drive.barriers.stand(agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT, drive.run.workflow_id)
    return {"messages": [message]}


def _act(state: AgentState, runtime: Runtime[Drive]) -> StateUpdate:
    """Dispatches the next pending call of the last message, and that one only."""
    drive = runtime.context
    workflow = drive.enter(state)
    call = pending_call(workflow, state["messages"])
    if call is None:
        raise Failed(grpc.StatusCode.INTERNAL, "no call is pending; the checkpoint is not ours")
    drive.run.known(call.operation_id, call.identity, call.tool)
    answer = _perform(drive, workflow, call, settled_operations(state))
    drive.barriers.stand(agent_pb2.BARRIER_BEFORE_CHECKPOINT, drive.run.workflow_id)
    drive.acted = True
    return result_update(call, answer.result_json, stored_result(call, answer))


def _finish(state: AgentState, runtime: Runtime[Drive]) -> StateUpdate:
    """Where the last result is known to be durable."""
    runtime.context.enter(state)
    return {}


def _perform(
    drive: Drive, workflow: agent_pb2.Workflow, call: PendingCall, settled: tuple[str, ...]
) -> DefiniteAnswer:
    try:
        return drive.caller.perform(workflow, call, drive.run, settled)
    except ConfirmationNeeded as needed:
        # LangGraph answers the interrupts of earlier wake-ups with their resume values; the first
        # that has none stops the graph. A wake-up carries no answer: it made the host ask again,
        # and that was done above.
        for _ in range(CONFIRMATIONS_A_CALL):
            interrupt({"operation_id": needed.operation_id})
        raise Failed(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many confirmations") from needed
