"""`memqual doctor`: what this machine can run, what it lacks, and what to do about it (DESIGN §3).

Nothing is started, built, pulled or removed. Each line is something that a run depends on: `ok`,
`warning` when a run goes on without it, `missing` when a runtime, or every run, does not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from orchestrator.campaign.doctor_engine import (
    check_debootstrap,
    check_engine,
    check_images,
    check_leftovers,
)
from orchestrator.campaign.doctor_findings import Finding, State
from orchestrator.campaign.doctor_machine import (
    check_disk,
    check_fuse,
    check_loopback,
    check_memory,
    check_ports,
    check_python,
    check_skew,
    check_state_folder,
)
from orchestrator.model import RunVerdict
from orchestrator.report.text import say, visible

__all__ = ["Diagnosis", "diagnose", "examine"]

_READY, _NOT_READY = 0, RunVerdict.INCOMPLETE.exit_code


@dataclass(frozen=True)
class Diagnosis:
    """Everything that was found.

    Attributes:
        findings: In the order in which they are read.
        runtimes: Runtimes that can run the quick profile, best first.
    """

    findings: tuple[Finding, ...]
    runtimes: tuple[str, ...]


def examine(*, json_output: bool) -> int:
    """Look at the machine and print what was found.

    Args:
        json_output: One JSON object in place of lines.

    Returns:
        0 when some runtime can run the quick profile, 4 when none can.
    """
    diagnosis = diagnose()
    if json_output:
        findings = [asdict(finding) for finding in diagnosis.findings]
        runtimes = list(diagnosis.runtimes)
        value = {"ready": bool(runtimes), "runtimes": runtimes, "findings": findings}
        say(json.dumps(value, indent=1))
    else:
        _print(diagnosis)
    return _READY if diagnosis.runtimes else _NOT_READY


def diagnose() -> Diagnosis:
    """Look at everything once."""
    python = check_python()
    loopback = check_loopback()
    ports = check_ports()
    memory = check_memory()
    disk = check_disk()
    state = check_state_folder()
    engine = check_engine()
    answers = engine.state is not State.MISSING
    debootstrap = check_debootstrap()
    images = check_images(debootstrap) if answers else None
    every_run = (python, loopback, memory, disk)
    findings = (
        python,
        *(engine, *((images,) if images is not None else ()), debootstrap),
        *(state, ports, loopback, disk, memory),
        *(check_skew(), check_fuse(), *check_leftovers(engine=answers)),
    )
    runtimes = []
    if images is not None and _can((*every_run, engine, images)):
        runtimes.append("docker")
    if _can((*every_run, state, ports)):
        runtimes.append("process")
    return Diagnosis(findings, tuple(runtimes))


def _can(needed: Sequence[Finding]) -> bool:
    return all(finding.state is not State.MISSING for finding in needed)


def _print(diagnosis: Diagnosis) -> None:
    for finding in diagnosis.findings:
        say(f"{finding.state.value:<8} {finding.name:<18} {visible(finding.detail)}")
        if finding.next_step:
            say(f"{'':<8} {'':<18} next step: {visible(finding.next_step)}")
    if diagnosis.runtimes:
        say(f"This machine can run the quick profile with: {', '.join(diagnosis.runtimes)}.")
    else:
        say("This machine cannot run the quick profile: mend what is missing above.")
