"""Labels that say that something in the engine is memqual's, and whose (DESIGN §3)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.owner import Owner

__all__ = [
    "INSTANCE_LABEL",
    "OWNER_PID_LABEL",
    "RUN_LABEL",
    "SERVICE_LABEL",
    "STACK_LABEL",
    "labels_of_stack",
    "owner_of",
]

RUN_LABEL = "memqual.run"
STACK_LABEL = "memqual.stack"
SERVICE_LABEL = "memqual.service"
# One start of one stack: what its own `close` goes by.
INSTANCE_LABEL = "memqual.instance"
OWNER_PID_LABEL = "memqual.owner-pid"
OWNER_STARTED_LABEL = "memqual.owner-started"
OWNER_MACHINE_LABEL = "memqual.owner-machine"


def labels_of_stack(spec: StackSpec) -> dict[str, str]:
    """Labels of everything that belongs to a stack of this process."""
    owner = Owner.this_process()
    return {
        RUN_LABEL: spec.run_id,
        STACK_LABEL: spec.stack_id,
        INSTANCE_LABEL: uuid.uuid4().hex,
        OWNER_PID_LABEL: str(owner.pid),
        OWNER_STARTED_LABEL: owner.started,
        OWNER_MACHINE_LABEL: owner.machine,
    }


def owner_of(labels: Mapping[str, str]) -> Owner:
    """The owner that labels name; one with process id 0 where they name none."""
    pid = labels.get(OWNER_PID_LABEL, "")
    return Owner(
        pid=int(pid) if pid.isdecimal() else 0,
        started=labels.get(OWNER_STARTED_LABEL, ""),
        machine=labels.get(OWNER_MACHINE_LABEL, ""),
    )
