"""The process runtime: each service a local process, for machines without an engine (DESIGN §3)."""

from __future__ import annotations

import contextlib
import platform

import psutil

from chaos.clock import remove_shared_memory
from orchestrator.runtimes.base import Availability, GcReport, GcScope, StackSpec
from orchestrator.runtimes.owner import Liveness, Owner, start_mark
from orchestrator.runtimes.plan import make_plan
from orchestrator.runtimes.process_stack import ProcessStack
from orchestrator.runtimes.process_state import StateFolder, marked_processes, stored_stacks

__all__ = ["ProcessRuntime"]

EXIT_WAIT_SECONDS = 5.0


class ProcessRuntime:
    """See `base.Runtime`."""

    name = "process"

    def available(self) -> Availability:
        """Always: it needs nothing but Python."""
        return Availability(True, f"Python {platform.python_version()} on {platform.system()}")

    def start(self, spec: StackSpec) -> ProcessStack:
        """Starts a stack; see `base.Runtime.start`."""
        stack = ProcessStack(make_plan(spec))
        try:
            stack.open()
        except BaseException:
            stack.close_after_failure()
            raise
        return stack

    def gc(self, scope: GcScope) -> GcReport:
        """Ends the processes and removes the folders that dead owners, or one run, left."""
        removed: list[str] = []
        kept: list[str] = []
        failed: list[str] = []
        for marked in marked_processes():
            name = f"process {marked.process.pid}"
            if not _may_go(marked.owner, marked.run_id, scope):
                kept.append(name)
            elif _end(marked.process):
                removed.append(name)
            else:
                failed.append(f"{name}: it does not end")
        for stored in stored_stacks():
            name = f"folder {stored.path.name}"
            if not _may_go(stored.record.owner, stored.record.run_id, scope):
                kept.append(name)
                continue
            removed += _end_recorded(stored)
            try:
                stored.remove()
                removed.append(name)
            except OSError as error:
                failed.append(f"{name}: {error.strerror}")
        return GcReport(self.name, tuple(removed), tuple(kept), tuple(failed))


def _may_go(owner: Owner, run_id: str, scope: GcScope) -> bool:
    if scope.run_id is not None:
        return run_id == scope.run_id
    if owner.pid == 0:
        return True  # A folder that never got a record; `stored_stacks` gives only old ones.
    return owner.liveness() is Liveness.DEAD


def _end_recorded(stored: StateFolder) -> list[str]:
    """Ends processes whose marks cannot be read here, by their id and the moment of their start."""
    ended = []
    for each in stored.record.processes:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(each.pid)
            if each.alive() and _end(process):
                ended.append(f"process {each.pid}")
        if start_mark(each.pid) is None:
            remove_shared_memory(each.pid)
    return ended


def _end(process: psutil.Process) -> bool:
    """Kills a process (psutil makes sure that the id still means it) and waits for its end."""
    try:
        process.kill()
        process.wait(EXIT_WAIT_SECONDS)
        remove_shared_memory(process.pid)
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
    return True
