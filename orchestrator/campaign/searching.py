"""`memqual search`: the adversary search on one stack, and single finds played again (issue 3)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis.configuration import set_hypothesis_home_dir
from pydantic import ValidationError

from chaos.client import InterposerClient
from orchestrator.campaign.hunting import (
    FOUND,
    NOTHING,
    TELL_SECONDS,
    Hunt,
    HuntOptions,
    hunting,
    revision,
)
from orchestrator.campaign.lane import declaration
from orchestrator.campaign.signals import StopSignals
from orchestrator.errors import MemqualError, StackError, UsageError
from orchestrator.evidence.rundir import json_bytes
from orchestrator.model import Frozen
from orchestrator.report.text import visible
from orchestrator.runtimes.base import Stack
from orchestrator.runtimes.plan import MEMORY_SERVICE
from orchestrator.session import CALL_SECONDS, Session
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.engine import Bounds, Search, SearchResult
from orchestrator.suites.integrity.search.moves import Case
from orchestrator.suites.integrity.search.replaying import replay
from orchestrator.suites.integrity.search.signing import Signers
from orchestrator.suites.integrity.trial import LONG_CALL_SECONDS
from services.common.platform import atomic_write_bytes

__all__ = ["SearchOptions", "run_search"]

_RESTART_SECONDS = 30.0


class SearchOptions(HuntOptions):
    """The options of `memqual search`.

    Attributes:
        sequences: End after so many sequences.
        restarts: Whether the memory is killed and started again now and then.
    """

    sequences: int = 2_000
    restarts: bool = False


class _Summary(Frozen):
    """search.json: what was searched, how far, and what was found."""

    run_id: str
    seed: int
    memory: str
    revision: str
    runtime: str
    sequences: int
    calls: int
    seconds: float
    statuses: dict[str, int]
    unserved: tuple[str, ...]
    stopped: bool
    cases: tuple[str, ...]


def run_search(options: SearchOptions) -> int:
    """Search one memory, or play one case; print what was found.

    Returns:
        0 when nothing was found, 1 when something was.

    Raises:
        UsageError: The vendor's file or the case cannot be read.
        MemqualError: It could not be run.
    """
    case = None if options.replay is None else _read_case(options.replay)
    with _no_storage(), hunting(options, "search") as hunt, _memory(options, hunt) as memory:
        return _play(memory, case) if case is not None else _search(memory, hunt)


@contextmanager
def _no_storage() -> Iterator[None]:
    """Keeps what Hypothesis stores of its own out of the folder that a person is in."""
    with tempfile.TemporaryDirectory(prefix="memqual-search-") as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


class _Memory:
    """A running memory, ready to be searched."""

    def __init__(
        self, options: SearchOptions, run_id: str, runtime: str, stack: Stack, reviewer: Reviewer
    ) -> None:
        self.options = options
        self.run_id = run_id
        self.runtime = runtime
        self.stack = stack
        self.session = Session(stack.control_address, stack.control_token, run_id)
        self.describe = declaration(self.session, stack)
        self.name = visible(f"{self.describe.name} {self.describe.version}")
        self.revision = revision()
        self.subject = Subject(
            stub=self.session.memory.memory,
            declared=Declared.of(self.describe),
            signers=Signers(reviewer),
            seconds=LONG_CALL_SECONDS if self.describe.llm_in_loop else CALL_SECONDS,
            restart=self._restart if options.restarts else None,
        )

    def searching(
        self,
        signals: StopSignals | None = None,
        on_sequence: Callable[[int, int], None] | None = None,
    ) -> Search:
        """A search of it."""
        return Search(
            self.subject,
            seed=self.options.seed,
            token=self.run_id[-6:],
            memory=self.name,
            revision=self.revision,
            stopping=None if signals is None else signals.stopping,
            on_sequence=on_sequence,
        )

    def require_service(self) -> None:
        """See that there is something to search.

        Raises:
            StackError: The memory does not serve MemoryService, or not its Write.
        """
        self.searching().probe()
        if not self.subject.serves("Write"):
            raise StackError(
                f"{self.name} serves no MemoryService.Write: there is nothing to search.",
                next_step="Serve memqual.v1.MemoryService, or leave this memory's search out.",
            )

    def _restart(self) -> None:
        memory = self.stack.service(MEMORY_SERVICE)
        memory.kill()
        memory.wait_exit(_RESTART_SECONDS)
        memory.start()
        self.stack.await_healthy((MEMORY_SERVICE,), _RESTART_SECONDS)
        client = InterposerClient(self.session.channel, self.stack.control_token)
        client.refresh(MEMORY_SERVICE, _RESTART_SECONDS)


@contextmanager
def _memory(options: SearchOptions, hunt: Hunt) -> Iterator[_Memory]:
    """One stack with the memory in it, ended afterwards."""
    stack = hunt.runtime.start(hunt.spec)
    try:
        memory = _Memory(options, hunt.root.name, hunt.runtime.name, stack, hunt.reviewer)
        try:
            memory.require_service()
            yield memory
        finally:
            memory.session.close()
    finally:
        with suppress(MemqualError):
            stack.close()


def _search(memory: _Memory, hunt: Hunt) -> int:
    options, root, signals, progress = memory.options, hunt.root, hunt.signals, hunt.progress
    progress.note(f"Searching {memory.name} with seed {options.seed}.")
    said_at = [time.monotonic()]

    def tell(sequences: int, cases: int) -> None:
        if time.monotonic() - said_at[0] >= TELL_SECONDS:
            said_at[0] = time.monotonic()
            calls = memory.subject.calls
            progress.note(f"{sequences} sequences, {calls} calls, {cases} found.")

    search = memory.searching(signals, tell)
    result = search.run(Bounds(sequences=options.sequences, seconds=options.minutes * 60))
    names = []
    for number, case in enumerate(result.cases, start=1):
        name = f"cases/{number:02d}-{case.violation.kind.value}.json"
        atomic_write_bytes(root / name, json_bytes(case))
        names.append(name)
        print(_told(case, root / name))
    _write_summary(memory, root, result, tuple(names), stopped=signals.stopping.is_set())
    rate = result.calls / max(result.seconds, 1e-9)
    print(
        f"{len(names)} found in {result.sequences} sequences, {result.calls} calls, "
        f"{result.seconds:.0f} s ({rate:.0f} calls a second); {root}"
    )
    if signals.stopping.is_set() and not names:
        raise StackError("The search was stopped before its bounds.", next_step="Start it again.")
    return FOUND if names else NOTHING


def _play(memory: _Memory, case: Case) -> int:
    """Play a case; 1 when it breaks its rule again."""
    played = replay(memory.searching(), case)
    for move, before, now in zip(case.moves, case.answers, played.answers, strict=False):
        mark = "" if before == now else f"   ({before} before)"
        print(f"  {move.op:<16} {now}{mark}")
    if played.violation is not None:
        print(f"{played.violation.kind.value}: {visible(played.violation.words)}")
    if played.same:
        print("The same rule is broken again.")
    if played.divergence:
        print(f"First divergence: {visible(played.divergence)}")
    return FOUND if played.violation is not None else NOTHING


def _told(case: Case, path: Path) -> str:
    """A case for a person."""
    lines = [f"{case.violation.kind.value}: {visible(case.violation.words)}"]
    lines += [
        f"  {number}. {answer:<20} {visible(move.model_dump_json(exclude_defaults=True), 600)}"
        for number, (move, answer) in enumerate(zip(case.moves, case.answers, strict=True), start=1)
    ]
    lines.append(f"  Again: memqual search --replay {path}")
    return "\n".join(lines)


def _write_summary(
    memory: _Memory, root: Path, result: SearchResult, names: tuple[str, ...], *, stopped: bool
) -> None:
    summary = _Summary(
        run_id=root.name,
        seed=memory.options.seed,
        memory=memory.name,
        revision=memory.revision,
        runtime=memory.runtime,
        sequences=result.sequences,
        calls=result.calls,
        seconds=result.seconds,
        statuses=dict(result.statuses),
        unserved=result.unserved,
        stopped=stopped,
        cases=names,
    )
    atomic_write_bytes(root / "search.json", json_bytes(summary))


def _read_case(path: Path) -> Case:
    try:
        return Case.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{path} is no case of a search: {error}.",
            next_step="Give a file of a search's folder `cases`, of the version that wrote it.",
        ) from error
