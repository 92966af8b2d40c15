"""Which clocks a stack lacks, told by what a case needs."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from orchestrator.runtimes.base import Stack
from orchestrator.suites.continuity.clocks import lacking_clocks


def stack(**folders: Path | None) -> Stack:
    def service(name: str) -> SimpleNamespace:
        return SimpleNamespace(clock_folder=folders.get(name, Path("clock")))

    return cast(Stack, SimpleNamespace(service=service))


def test_nothing_is_lacking_where_every_clock_can_be_set() -> None:
    assert lacking_clocks(stack()) == {}


def test_the_memorys_own_clock_is_another_need() -> None:
    assert lacking_clocks(stack(memory=None)) == {}


def test_clocks_that_cannot_be_set_are_named() -> None:
    assert lacking_clocks(stack(destination=None, standby=None)) == {
        "other_clocks": "the clocks of standby, destination cannot be set here"
    }
