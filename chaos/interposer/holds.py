"""Messages that a rule keeps until Release or Clear (interposer.proto)."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from chaos.interposer.calls import Call
from chaos.interposer.changes import Changes
from chaos.interposer.limits import HOLD_SECONDS_MAX
from chaos.interposer.rules import WORKFLOW_KEY
from memqual.v1 import interposer_pb2
from services.common.clock import monotonic_ns

__all__ = ["Hold", "HoldTable"]

DELIVER = interposer_pb2.FATE_DELIVER
DROP = interposer_pb2.FATE_DROP


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """One held message.

    Attributes:
        call: the call it belongs to.
        held_monotonic_ns: since when.
        fate: set once, by whoever ends the hold.
    """

    call: Call
    held_monotonic_ns: int = field(default_factory=monotonic_ns)
    fate: asyncio.Future[int] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def workflow_id(self) -> str:
        """The held message's workflow; empty without one."""
        return self.call.info.metadata.get(WORKFLOW_KEY, "")


class HoldTable:
    """Held messages by rule. A rule's messages outlive the rule until each has its fate."""

    def __init__(self) -> None:
        self.changes = Changes()
        self._holds: dict[str, dict[int, Hold]] = {}

    def __len__(self) -> int:
        return sum(len(holds) for holds in self._holds.values())

    def __contains__(self, rule_id: str) -> bool:
        return rule_id in self._holds

    def of(self, rule_id: str) -> tuple[Hold, ...]:
        """What a rule holds, in the order of holding."""
        return tuple(self._holds.get(rule_id, {}).values())

    def count(self, rule_id: str) -> int:
        """How many messages a rule holds."""
        return len(self._holds.get(rule_id, ()))

    async def keep(self, rule_id: str, call: Call) -> int:
        """Holds a message until it has its fate (interposer.proto); DROP after an hour."""
        hold = Hold(call)
        self._holds.setdefault(rule_id, {})[call.info.call_id] = hold
        self.changes.notify()
        try:
            return await asyncio.wait_for(hold.fate, HOLD_SECONDS_MAX)
        except TimeoutError:
            return DROP
        finally:
            self._remove(rule_id, hold)

    def end(self, rule_id: str, fate: int, workflow_ids: Collection[str] = ()) -> list[Hold]:
        """Ends the holding of a rule's messages, or of some workflows' only; returns them."""
        ended = [
            hold
            for hold in self.of(rule_id)
            if not workflow_ids or hold.workflow_id in workflow_ids
        ]
        for hold in ended:
            if not hold.fate.done():
                hold.fate.set_result(fate)
            self._remove(rule_id, hold)
        return ended

    def rule_ids(self) -> tuple[str, ...]:
        """Rules that hold something."""
        return tuple(self._holds)

    def _remove(self, rule_id: str, hold: Hold) -> None:
        holds = self._holds.get(rule_id)
        if holds is None or holds.get(hold.call.info.call_id) is not hold:
            return
        del holds[hold.call.info.call_id]
        if not holds:
            del self._holds[rule_id]
        self.changes.notify()
