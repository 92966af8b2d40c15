"""What a runtime, a stack and a service promise, whichever runtime they come from (DESIGN §3).

A runtime starts stacks; a stack is one copy of the whole topology with networks and volumes of its
own; a service of a stack can be killed, stopped, continued and started again. Nothing here knows
containers or processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orchestrator.images import ImageRef
from orchestrator.runtimes.product import Product
from orchestrator.runtimes.storage import StorageSlot
from orchestrator.vendors import VendorConfig

__all__ = [
    "Availability",
    "ExitInfo",
    "GcReport",
    "GcScope",
    "IsolationCheck",
    "IsolationReport",
    "Runtime",
    "ServiceHandle",
    "Stack",
    "StackSpec",
]


@dataclass(frozen=True)
class Availability:
    """Whether a runtime can be used on this machine, now.

    Attributes:
        available: It can.
        reason: Why it cannot, in a sentence; or what was found, such as the engine's version.
    """

    available: bool
    reason: str


@dataclass(frozen=True)
class StackSpec:
    """One stack to start.

    Attributes:
        run_id: Run that it belongs to; lower-case letters, digits, ``. _ -``, at most 40.
        stack_id: Name within the run; same letters, at most 16.
        folder: Folder of this machine; the stack keeps its logs, clocks and keys in a folder of its
            own there, named by the stack id, which outlives the stack.
        images: Image of each recipe that the topology or the vendor needs, by the recipe's name
            (docker only).
        vendor: The memory under test, or None for the reference.
        lease_seconds: Lease that the memory is asked for.
        environment: Further variables by service; they win over the topology's.
        reviewer_keys: File with reviewers' public keys that the memory sees, or None for no
            reviewer.
        retail_store: The benchmark's db.json, which the destination's retail tools begin with; its
            folder is mounted read-only. None: a generated store.
        clock_skew: Services that have a clock folder start with a clock that can be set, where this
            platform and their image allow it; `ServiceHandle.clock_folder` tells.
        product: The installation from which the services run; None: the code that runs this, or
            the images' own.
        failing_storage: The memory's volume lies on a layer whose power can fail, where this
            machine can have one; `Stack.storage` tells.
        healthy_within_seconds: How long a start, or a swap of the memory, may take until all is
            healthy.
    """

    run_id: str
    stack_id: str
    folder: Path
    images: Mapping[str, ImageRef] = field(default_factory=dict)
    vendor: VendorConfig | None = None
    lease_seconds: int = 120
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reviewer_keys: Path | None = None
    retail_store: Path | None = None
    clock_skew: bool = False
    product: Product | None = None
    failing_storage: bool = False
    healthy_within_seconds: float = 30.0

    @property
    def stack_folder(self) -> Path:
        """The stack's own folder: ``<service>.log``, ``clocks/`` and ``reviewers/``."""
        return self.folder.resolve() / self.stack_id


@dataclass(frozen=True)
class ExitInfo:
    """How one life of a service ended: evidence for a fault receipt.

    Attributes:
        exit_code: 137 after SIGKILL, in both runtimes; otherwise the process's own.
        oom_killed: The kernel ended it for want of memory; always False where that cannot be told.
        started_at_ns: When that life began, wall clock of the engine or of this machine,
            nanoseconds.
        finished_at_ns: When its end was recorded, same clock.
    """

    exit_code: int
    oom_killed: bool
    started_at_ns: int
    finished_at_ns: int


@dataclass(frozen=True)
class IsolationCheck:
    """One thing that the memory must, or must not, be able to do.

    Attributes:
        name: What was tried.
        expected: ``reachable`` or ``unreachable``.
        observed: The same, or what else was seen.
        detail: The errno or answer behind `observed`.
    """

    name: str
    expected: str
    observed: str
    detail: str

    @property
    def held(self) -> bool:
        """What was seen is what must be."""
        return self.observed == self.expected


@dataclass(frozen=True)
class IsolationReport:
    """What the preflight found from inside the memory's network.

    Attributes:
        supported: False where the runtime cannot isolate at all: N/R with subtype ``platform``.
        reason: Why not; empty when supported.
        checks: One for each thing tried; empty when not supported.
    """

    supported: bool
    reason: str = ""
    checks: tuple[IsolationCheck, ...] = ()

    @property
    def held(self) -> bool:
        """Isolation was looked at, and nothing was found that must not be."""
        return self.supported and bool(self.checks) and all(check.held for check in self.checks)


@dataclass(frozen=True)
class GcScope:
    """What may be removed.

    Attributes:
        run_id: Everything of this run, whoever owns it and alive or not; None: what dead owners
            left, of any run.
    """

    run_id: str | None = None


@dataclass(frozen=True)
class GcReport:
    """What was removed, by name.

    Attributes:
        runtime: Where.
        removed: ``kind name`` of each thing that is gone now.
        kept: ``kind name`` of each thing whose owner lives, or cannot be judged from this machine.
        failed: ``kind name: cause`` of what could not be removed.
    """

    runtime: str
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class ServiceHandle(Protocol):
    """One service of a stack over all its lives. What chaos asks of a target."""

    @property
    def name(self) -> str:
        """Name in the topology."""

    @property
    def image(self) -> str:
        """Reference of its image, or the module or program that runs."""

    @property
    def digest(self) -> str:
        """Identity of the image's content; empty without an image."""

    @property
    def clock_folder(self) -> Path | None:
        """Folder of this machine whose timestamp file sets its clock; None: it cannot be set."""

    def pid(self) -> int | None:
        """Process id of its present life in this machine's numbering, or None."""

    def started_at_ns(self) -> int:
        """When its present or last life began, wall clock, nanoseconds.

        Raises:
            StackError: it was never started.
        """

    def running(self) -> bool:
        """Whether it lives."""

    def kill(self) -> None:
        """Sends SIGKILL to everything in the service and returns; `wait_exit` sees the end.

        Raises:
            StackError: it does not run, so a kill would prove nothing.
            EngineError: the engine does not answer.
        """

    def stop(self) -> None:
        """Stops it where it is (SIGSTOP), without its knowledge. Raises as `kill`."""

    def cont(self) -> None:
        """Lets it go on (SIGCONT). Raises as `kill`."""

    def wait_exit(self, timeout_seconds: float) -> ExitInfo:
        """Waits until its life has ended.

        Raises:
            StackError: it still runs after that time.
            EngineError: the engine does not answer.
        """

    def start(self) -> None:
        """Begins a new life with the same volume and configuration; does not wait for health.

        Raises:
            StackError: it runs already, or could not be started.
            EngineError: the engine does not answer.
        """

    def logs_tail(self, line_count: int) -> str:
        """The last lines it wrote, at most 10,000; empty when there are none."""


class Stack(Protocol):
    """One running copy of the topology."""

    @property
    def spec(self) -> StackSpec:
        """What was asked for; after `replace_memory` its vendor is the present one."""

    @property
    def control_address(self) -> str:
        """``127.0.0.1:port`` of the interposer's control port."""

    @property
    def control_token(self) -> str:
        """Token that the control port wants as metadata ``memqual-token``."""

    @property
    def storage(self) -> StorageSlot:
        """The layer under the memory's volume, or why there is none."""

    @property
    def service_names(self) -> tuple[str, ...]:
        """Services in the topology's order."""

    def service(self, name: str) -> ServiceHandle:
        """One service.

        Raises:
            StackError: the topology has none of that name.
        """

    def await_healthy(self, names: tuple[str, ...], timeout_seconds: float) -> None:
        """Waits until these services are SERVING, as seen by the interposer over fresh channels.

        Raises:
            StackError: one ended, or is not healthy in time; the diagnosis has its exit code and
                last lines.
            ImageError: it ended because its image is for another kind of machine.
            EngineError: the engine does not answer.
        """

    def replace_memory(self, vendor: VendorConfig | None) -> None:
        """Puts another memory (None: the reference) in place, on an empty volume; healthy after.

        Raises:
            StackError: as `await_healthy`; or it listens on another port than the memory that the
                stack began with.
            VendorConfigError: it has no image (docker) or no process (process).
            EngineError: the engine does not answer.
        """

    def reconfigure_memory(self, environment: Mapping[str, str]) -> None:
        """Ends the memory and starts it on its own volume with further variables; healthy after.

        Raises:
            StackError: as `await_healthy`.
            EngineError: the engine does not answer.
        """

    def volume_bytes(self, name: str) -> Iterator[bytes]:
        """Everything that lies on a service's data volumes now, in pieces, whoever wrote it.

        Files follow one another; what stands in one file stands together. The service may run.

        Raises:
            StackError: the topology has no such service, or a file cannot be read.
            EngineError: the engine does not answer.
        """

    def describe_isolation(self) -> IsolationReport:
        """Looks from inside the memory's network at what it can reach.

        Raises:
            PreflightError: it could not be looked at.
        """

    def close(self) -> None:
        """Removes all of the stack but its folder; may be called again, and in a signal handler.

        Raises:
            EngineError: the engine does not answer, or something could not be removed;
                ``memqual gc`` will find it.
        """


class Runtime(Protocol):
    """A way to start stacks on this machine."""

    @property
    def name(self) -> str:
        """``docker`` or ``process``; reports name it."""

    def available(self) -> Availability:
        """Whether it can be used here."""

    def start(self, spec: StackSpec) -> Stack:
        """Starts a stack and returns when every service is healthy; on an error nothing is left.

        Raises:
            StackError: a service did not start or did not become healthy.
            ImageError: an image is missing or is for another kind of machine.
            VendorConfigError: the vendor cannot run in this runtime.
            EngineError: the engine does not answer.
        """

    def gc(self, scope: GcScope) -> GcReport:
        """Removes what runs left behind.

        Raises:
            EngineError: the engine does not answer.
        """
