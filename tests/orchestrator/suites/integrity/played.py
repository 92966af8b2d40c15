"""Cases that are played straight at a memory in this process: quick, with restarts and scans."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from memqual.v1 import vendor_pb2
from orchestrator.model import Check, CheckOutcome
from orchestrator.session import Session
from orchestrator.suites.integrity.calls import (
    OK,
    Answer,
    Ask,
    ContractBreach,
    NotExpressible,
    NotPossible,
    NotServed,
    Restart,
    ScanVolume,
    Together,
    Want,
)
from orchestrator.suites.integrity.categories import Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.needles import Haystack
from orchestrator.suites.integrity.playing import play
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.trial import LiveMemory, Patience
from orchestrator.suites.integrity.variation import trial_seed
from services.common import server
from services.memory.process import Composition, MemorySettings, build
from tests.orchestrator.suites.integrity.memories import SmallMemory, serve

SEED = 20260922
CALL_SECONDS = 30.0

Start: TypeAlias = Callable[[], tuple[int, Callable[[], None]]]


@dataclass(frozen=True)
class Played:
    """What one trial came to."""

    trial: int
    checks: tuple[Check, ...]
    not_run: str = ""

    def ids(self, outcome: CheckOutcome) -> list[str]:
        """Ids of the checks that came to an outcome."""
        return [check.check_id for check in self.checks if check.outcome is outcome]

    @property
    def violated(self) -> list[str]:
        """Ids of the violated checks."""
        return self.ids(CheckOutcome.VIOLATED)

    @property
    def lacking(self) -> list[str]:
        """Ids of required checks without a conclusion."""
        outcome = CheckOutcome.NOT_EVALUATED
        return [c.check_id for c in self.checks if c.required and c.outcome is outcome]

    def told(self, check_id: str) -> str:
        """What a check rests on."""
        return next(check.actual for check in self.checks if check.check_id == check_id)


class Playground:
    """A memory that can be stopped and started again.

    Args:
        volume: Its volume.
        start: Starts it; returns its port and what stops it.
        reviewer: Whose signatures it believes.
    """

    def __init__(self, volume: Path, start: Start, reviewer: Reviewer) -> None:
        self.volume = volume
        self._start_memory = start
        self._reviewer = reviewer
        self._namespaces = 0
        self._start()

    def trials(self, category: Category, numbers: Iterable[int] = range(3)) -> list[Played]:
        """Play trials of a category, one after another; each in a namespace of its own."""
        return [self.trial(category, number) for number in numbers]

    def trial(self, category: Category, number: int) -> Played:
        """Play one trial."""
        vendor = self._session.memory.vendor
        declared = Declared.of(vendor.Describe(vendor_pb2.DescribeRequest(), timeout=CALL_SECONDS))
        findings = Findings(category.checks)
        lacks = category.not_run(declared)
        if lacks is not None:
            return Played(number, findings.checks(), lacks.cause)
        self._namespaces += 1
        scene = Scene(
            case=category.build(trial_seed(SEED, category.case, number)),
            namespace=f"played-{self._namespaces}",
            declared=declared,
            reviewed=True,
            findings=findings,
        )
        cause = ""
        try:
            play(category.script(scene), lambda want: self._answer(scene.namespace, want))
            findings.held(category.contract, "played")
        except NotServed as unserved:
            cause = f"{unserved.method} is not served"
        except (NotExpressible, NotPossible) as impossible:
            cause = impossible.cause
        except ContractBreach as breach:
            findings.violated(category.contract, str(breach))
        return Played(number, findings.checks(), cause)

    def close(self) -> None:
        """Stop it."""
        self._session.close()
        self._stop_memory()

    def _start(self) -> None:
        port, self._stop_memory = self._start_memory()
        self._session = Session(f"127.0.0.1:{port}", "token", "run-of-test")

    def _answer(self, namespace: str, want: Want) -> Answer:
        match want:
            case Ask() | Together():
                stubs = self._session.with_workflow(namespace)
                return LiveMemory("t", stubs, self._reviewer, Patience(llm_in_loop=False)).answer(
                    want
                )
            case Restart():
                self.close()
                self._start()
                return Answer(OK)
            case ScanVolume():
                files = sorted(self.volume.rglob("*"))
                haystack = Haystack(b"".join(f.read_bytes() for f in files if f.is_file()))
                found = ((n.name, tuple(map(str, haystack.find(n.text)))) for n in want.needles)
                return Answer(OK, found=tuple((name, forms) for name, forms in found if forms))
            case _:
                raise AssertionError(f"{want.step}: no such step here")


@contextmanager
def playground(
    folder: Path,
    composition: Composition | None = None,
    reviewer: Reviewer | None = None,
    kind: type[Playground] = Playground,
) -> Iterator[Playground]:
    """A memory in this process, the reference unless told otherwise."""
    reviewer = reviewer or Reviewer.generate()
    volume, keys = folder / "volume", folder / "keys.json"
    volume.mkdir()
    keys.write_text(reviewer.public_keys_json())
    settings = MemorySettings(volume / "memory.db", reviewer_keys_path=keys)

    def start() -> tuple[int, Callable[[], None]]:
        process = build(settings, composition or Composition())
        running = server.start(
            listen="127.0.0.1:0",
            registrars=process.registrars,
            service_names=process.service_names,
        )

        def stop() -> None:
            running.stop()
            process.close()

        return running.port, stop

    yield from _playing(kind(volume, start, reviewer))


@contextmanager
def small_playground(folder: Path, memory: SmallMemory) -> Iterator[Playground]:
    """A small memory, which keeps everything over a restart; its volume is empty."""

    def start() -> tuple[int, Callable[[], None]]:
        running = serve(memory)
        return running.port, running.stop

    yield from _playing(Playground(folder, start, Reviewer.generate()))


def _playing(ground: Playground) -> Iterator[Playground]:
    try:
        yield ground
    finally:
        ground.close()
