"""The docker runtime: stacks of containers on this machine's engine (DESIGN §3)."""

from __future__ import annotations

from orchestrator.errors import EngineError
from orchestrator.runtimes.base import Availability, GcReport, GcScope, StackSpec
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_labels import RUN_LABEL, owner_of
from orchestrator.runtimes.docker_removal import remove_all
from orchestrator.runtimes.docker_stack import DockerStack
from orchestrator.runtimes.docker_types import Labelled
from orchestrator.runtimes.owner import Liveness
from orchestrator.runtimes.plan import make_plan

__all__ = ["DockerRuntime"]


class DockerRuntime:
    """See `base.Runtime`."""

    name = "docker"

    def available(self) -> Availability:
        """Whether an engine of this machine answers."""
        try:
            with DockerEngine.connect() as engine:
                return Availability(True, f"engine {engine.version}, {engine.architecture}")
        except EngineError as error:
            return Availability(False, error.diagnosis)

    def start(self, spec: StackSpec) -> DockerStack:
        """Starts a stack; see `base.Runtime.start`."""
        stack = DockerStack(make_plan(spec))
        try:
            stack.open()
        except BaseException:
            stack.close_after_failure()
            raise
        return stack

    def gc(self, scope: GcScope) -> GcReport:
        """Removes what dead owners, or one run, left in the engine."""
        with DockerEngine.connect() as engine:
            found = engine.labelled(RUN_LABEL)
            doomed = tuple(thing for thing in found if _may_go(thing, scope))
            failed = remove_all(engine, doomed)
        failures = {entry.partition(":")[0] for entry in failed}
        names = [f"{thing.kind} {thing.name}" for thing in doomed]
        return GcReport(
            runtime=self.name,
            removed=tuple(name for name in names if name not in failures),
            kept=tuple(f"{thing.kind} {thing.name}" for thing in found if thing not in doomed),
            failed=failed,
        )


def _may_go(thing: Labelled, scope: GcScope) -> bool:
    if scope.run_id is not None:
        return thing.labels.get(RUN_LABEL) == scope.run_id
    return owner_of(thing.labels).liveness() is Liveness.DEAD
