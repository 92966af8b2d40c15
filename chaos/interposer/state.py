"""What the parts of one interposer share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chaos.interposer.calls import CallTable
from chaos.interposer.config import InterposerConfig
from chaos.interposer.freeze import FreezeGate
from chaos.interposer.holds import HoldTable
from chaos.interposer.rules import RuleBook
from chaos.interposer.trace import TraceRing
from chaos.interposer.upstream import Upstream

__all__ = ["State", "new_state"]


@dataclass(frozen=True, slots=True)
class State:
    """Everything that lives as long as the process; owned by the event loop, never by a thread.

    Attributes:
        config: what was given at the start.
        upstreams: target name → its channel.
        trace: what passed.
        rules: what is armed.
        holds: what is held.
        gate: who is frozen.
        calls: what is open.
    """

    config: InterposerConfig
    upstreams: Mapping[str, Upstream]
    trace: TraceRing = field(default_factory=TraceRing)
    rules: RuleBook = field(default_factory=RuleBook)
    holds: HoldTable = field(default_factory=HoldTable)
    gate: FreezeGate = field(default_factory=FreezeGate)
    calls: CallTable = field(default_factory=CallTable)


def new_state(config: InterposerConfig) -> State:
    """A fresh state with a channel for each target, opened at the first call."""
    upstreams = {name: Upstream(name, address) for name, address in config.targets.items()}
    return State(config=config, upstreams=upstreams)
