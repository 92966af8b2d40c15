"""How often a kill hits the window that it was to hit, held against timed (DESIGN §11)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from orchestrator.bench.bench import Bench
from orchestrator.bench.crashes import batch_of, crash_cells
from orchestrator.bench.held import Hits, count_held
from orchestrator.bench.results import Measurement, Reach, quantile
from orchestrator.bench.timed import TimedKills, kill_at_random
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import CapabilityVariant, Cell, WindowName
from orchestrator.suites.continuity.cells import OPERATIONS_PER_KILL
from orchestrator.suites.continuity.driver import carry_out

__all__ = ["windows"]

# The windows that a rule holds: at the others the host itself stops, which no trace shows.
_WINDOWS = (
    WindowName.BEFORE_INTENT,
    WindowName.AFTER_LEASE,
    WindowName.IN_REQUEST,
    WindowName.AFTER_COMMIT,
    WindowName.AFTER_RESPONSE,
    WindowName.AFTER_RECEIPT,
)
_OPERATIONS_WANTED = 1_000
_HELD_SECONDS = 420.0
_SINGLE_KILLS = 12
_SINGLE_SECONDS = 90.0
_TIMED_KILLS = 50
_TIMED_SECONDS = 240.0


@dataclass
class _Held:
    """Held kills so far."""

    hits: Hits
    kills: int = 0
    seconds: float = 0.0
    cause: str = ""

    @property
    def per_second(self) -> float:
        return self.hits.hit / self.seconds if self.seconds else 0.0


def windows(bench: Bench) -> list[Measurement]:
    """Kill at windows by twenties and one by one, then at random.

    Raises:
        MemqualError, ChaosError, grpc.RpcError: A stack cannot be had, or does not answer.
    """
    cells = crash_cells(_WINDOWS)
    timed_cell = crash_cells((WindowName.IN_REQUEST,), (CapabilityVariant.NONE,))[0]
    with bench.open_stack("w0") as context:
        many = _hold(
            context,
            cells,
            "held",
            operations=OPERATIONS_PER_KILL,
            wanted=_OPERATIONS_WANTED,
            seconds=_HELD_SECONDS,
        )
        single = _Held(Hits(0, 0, 0))
        if not many.cause:
            single = _hold(
                context,
                cells,
                "single",
                operations=1,
                wanted=_SINGLE_KILLS,
                seconds=_SINGLE_SECONDS,
            )
    with bench.open_stack("w1") as context:
        timed = kill_at_random(
            context,
            timed_cell,
            OPERATIONS_PER_KILL,
            _TIMED_KILLS,
            time.monotonic() + _TIMED_SECONDS,
        )
    return [*_held_measurements(many, single), *_timed_measurements(many, timed)]


def _hold(
    context: StackContext,
    cells: tuple[Cell, ...],
    label: str,
    *,
    operations: int,
    wanted: int,
    seconds: float,
) -> _Held:
    """Kill at one cell's window after the other until enough operations were held."""
    if not cells:
        raise StackError(
            "The matrix has no cell that could be held.", next_step="Reinstall memqual."
        )
    found = _Held(Hits(0, 0, 0))
    began = time.monotonic()
    while found.hits.operations < wanted and time.monotonic() - began < seconds:
        number, at = divmod(found.kills, len(cells))
        result = carry_out(context, batch_of(cells[at], label, number, operations))
        found.hits += count_held(result.evidence, result.trace)
        found.kills += 1
        if context.progress.spoiled:
            found.cause = f"; ended early: {context.progress.spoiled}"
            break
    found.seconds = time.monotonic() - began
    return found


def _held_measurements(many: _Held, single: _Held) -> list[Measurement]:
    return [
        Measurement(
            name="held_hit_rate",
            measured="operations held exactly once and killed there, by trace and receipt, "
            f"{OPERATIONS_PER_KILL} a kill",
            unit="share",
            value=many.hits.rate,
            samples=many.hits.operations,
            reach=Reach(at_least=1.0),
            note=f"{many.hits.hit} of {many.hits.operations} in {many.kills} kills over "
            f"{len(_WINDOWS)} windows; held once: {many.hits.held_once}{many.cause}",
        ),
        Measurement(
            name="held_operations",
            measured="operations that this rate was taken from",
            unit="operations",
            value=many.hits.operations,
            samples=many.kills,
            reach=Reach(at_least=_OPERATIONS_WANTED),
        ),
        Measurement(
            name="held_hit_rate_single",
            measured="the same with one operation a kill",
            unit="share",
            value=single.hits.rate,
            samples=single.hits.operations,
            note=f"{single.hits.hit} of {single.hits.operations} in {single.kills} kills"
            f"{single.cause}",
        ),
        Measurement(
            name="twenty_over_single",
            measured=f"operations hit a second with {OPERATIONS_PER_KILL} a kill over with one",
            unit="ratio",
            value=many.per_second / single.per_second if single.per_second else 0.0,
            samples=many.kills + single.kills,
            note=f"{many.per_second:.2f} against {single.per_second:.2f} operations/s, whole "
            "trials with takeover and lease's end",
        ),
    ]


def _timed_measurements(many: _Held, timed: TimedKills) -> list[Measurement]:
    observed = (
        f"{timed.kills} kills; operations take {quantile(timed.durations, 0.5):.3f} s (p50), "
        f"{max(timed.durations):.3f} s at most, from the batch's start"
        if timed.durations
        else "no operation was observed"
    )
    found = []
    for name, cut in timed.cut.items():
        share = cut / timed.operations if timed.operations else 0.0
        found.append(
            Measurement(
                name="timed_hit_rate_" + name.replace(" ", "_"),
                measured=f"operations that a kill after a random delay cut in {name}: the whole "
                "call counts, so this is more than either window",
                unit="share",
                value=share,
                samples=timed.operations,
                note=f"{cut} of {timed.operations}; held: {many.hits.rate:.0%} of a chosen window; "
                + observed,
            )
        )
    return found
