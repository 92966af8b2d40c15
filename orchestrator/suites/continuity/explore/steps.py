"""A schedule: what each lane asks, in order, and what befalls all of them between (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from orchestrator.model import CapabilityVariant, Frozen

__all__ = ["EVERY_LANE", "LEAVING_NO_TRACE", "Act", "Schedule", "Step"]

EVERY_LANE = -1
"""Lane of a step that befalls the whole stack."""


class Act(StrEnum):
    """What a step does. The last ones befall the whole stack."""

    BEGIN = "begin"
    """Ask anew. Variant: one of SPEC_CHANGES; empty for none."""
    AGAIN = "again"
    """The agent's last question once more, as it was. Variant `other_life`: by another life."""
    TOGETHER = "together"
    """`amount` new agents ask at one moment."""
    FOLLOW = "follow"
    """Do as a host does until there is nothing to do: at most `amount` questions more than one."""
    LIFE = "life"
    """The agent dies and is another incarnation from now on."""
    PEEK = "peek"
    """Ask what would be answered. Variant: as BEGIN."""
    DISPATCH = "dispatch"
    """Call the tool under the grant that was told `amount` grants ago."""
    RECORD = "record"
    """Report a receipt under that grant. Variant: what of it is wrong; empty for nothing."""
    ASK = "ask"
    """Answer the question that was asked `amount` questions ago. Variant: what is told; after a
    colon what is wrong with the receipt that is told with it."""
    RENEW = "renew"
    """Ask for more time under a grant. Variant: what is wrong; empty for nothing."""
    RESOLVE = "resolve"
    """An operator's word. Variant: the word, and after a colon what is wrong with the signature."""
    WEAR_OUT = "wear_out"
    """Do one thing as often as the memory declares, and once more. Variant: which limit is met."""
    FAULT = "fault"
    """A fault of the network for the lane's next message. Variant: `method/phase/action`."""
    RELEASE = "release"
    """Let go what the lane's faults hold. Variant: `deliver` or `drop`."""

    JUMP = "jump"
    """Set a clock. Variant: how far, for another clock than the memory's after its service."""
    DRIFT = "drift"
    """The memory's clock runs at another rate until the next step that befalls all. Variant: the
    rate."""
    CUT = "cut"
    """Edges of a service are cut until the next step that befalls all. Variant:
    `service/direction/how`."""
    TELEMETRY = "telemetry"
    """What all telemetry meets from here on. Variant: a fault of telemetry; empty: nothing."""
    HOSTS = "hosts"
    """Let the host do every lane's workflow; when it does already, wake it."""
    SLEEP = "sleep"
    """Stop the active host; the standby takes over. When one is stopped already, it goes on."""
    SET_BACK = "set_back"
    """Restore the active host's checkpoints to before their last message, and go on from there."""
    KILL = "kill"
    """Kill services at one moment and start them again; the standby follows a host. Variant: their
    names, with a plus between; for the memory alone, after a colon, how far its clock is set while
    it is down."""
    KILL_AT_WORK = "kill_at_work"
    """Kill the memory while the lanes' next steps are under way."""

    @property
    def of_all(self) -> bool:
        """Whether it befalls the whole stack."""
        return self in _OF_ALL


_OF_ALL = frozenset(
    (
        Act.JUMP,
        Act.DRIFT,
        Act.CUT,
        Act.TELEMETRY,
        Act.HOSTS,
        Act.SLEEP,
        Act.SET_BACK,
        Act.KILL,
        Act.KILL_AT_WORK,
    )
)

LEAVING_NO_TRACE = frozenset({Act.LIFE})
"""Acts that send nothing."""


class Step(Frozen):
    """One step.

    Attributes:
        act: What is done.
        lane: Which workflow does it; EVERY_LANE for what befalls all.
        agent: Which of the lane's agents does it, from 0.
        amount: As the act says.
        variant: As the act says.
    """

    act: Act
    lane: int = EVERY_LANE
    agent: int = 0
    amount: int = 0
    variant: str = ""


class Schedule(Frozen):
    """Everything that is done on one stack, in order.

    Attributes:
        capabilities: What the destination allows each lane.
        steps: In order; steps of different lanes between two that befall all go side by side.
    """

    capabilities: tuple[CapabilityVariant, ...]
    steps: tuple[Step, ...]

    def of_lane(self, lane: int) -> Schedule:
        """What one lane does and meets, as a schedule of one lane."""
        kept = (
            step if step.act.of_all else step.model_copy(update={"lane": 0})
            for step in self.steps
            if step.act.of_all or step.lane == lane
        )
        return Schedule(capabilities=(self.capabilities[lane],), steps=tuple(kept))

    def with_steps(self, steps: Sequence[Step]) -> Schedule:
        """The same lanes with other steps."""
        return self.model_copy(update={"steps": tuple(steps)})

    def side_by_side(self, lanes: int) -> Schedule:
        """A schedule of one lane, done by so many at once."""
        steps = [
            step if step.act.of_all else step.model_copy(update={"lane": lane})
            for step in self.steps
            for lane in range(1 if step.act.of_all else lanes)
        ]
        return Schedule(capabilities=self.capabilities[:1] * lanes, steps=tuple(steps))
