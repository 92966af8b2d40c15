"""Owners: a living one, a dead one, one whose id was given away, and one of another machine."""

import dataclasses
import os
import platform
import subprocess
import sys

import pytest

from orchestrator.runtimes.owner import Liveness, Owner, same_mark, start_mark


def test_this_process_is_alive() -> None:
    owner = Owner.this_process()
    assert (owner.pid, owner.machine) == (os.getpid(), platform.node())
    assert owner.liveness() is Liveness.ALIVE


def test_a_process_that_ended_is_dead_before_and_after_it_is_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    owner = Owner(child.pid, start_mark(child.pid) or "", platform.node())
    assert child.stdout is not None
    child.stdout.read()
    child.wait(10)
    assert owner.liveness() is Liveness.DEAD


def test_another_process_with_the_same_id_is_not_the_owner() -> None:
    owner = Owner.this_process()
    mark, _, ticks = owner.started.rpartition(":")
    other = f"{mark}:{int(ticks) - 1}" if mark else f"{float(owner.started) - 60:.3f}"
    assert dataclasses.replace(owner, started=other).liveness() is Liveness.DEAD


@pytest.mark.parametrize(
    "owner",
    [
        dataclasses.replace(Owner.this_process(), machine="another-machine"),
        dataclasses.replace(Owner.this_process(), started=""),
        Owner(0, "", ""),
    ],
)
def test_what_cannot_be_judged_is_unknown(owner: Owner) -> None:
    assert owner.liveness() is Liveness.UNKNOWN


def test_an_id_that_nobody_has_is_dead_whatever_else_is_known() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(10)
    assert Owner(child.pid, "", "").liveness() is Liveness.DEAD


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("boot:1", "boot:1", True),
        ("boot:1", "boot:2", False),
        ("boot:1", "other:1", False),
        ("100.0", "101.5", True),
        ("100.0", "103.0", False),
        ("boot:1", "100.0", False),
        ("", "100.0", False),
    ],
)
def test_marks(one: str, other: str, same: bool) -> None:
    assert same_mark(one, other) is same
