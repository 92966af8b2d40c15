"""Memories that ask a person in another way than the reference does, and are as right."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.model import NotRunSubtype, Verdict
from orchestrator.suites.continuity.families import CASES
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.orchestrator.suites.continuity import one_challenge_memory, wordless_memory
from tests.orchestrator.suites.continuity.ground import Ground, ground, not_passed, sampled

OF_WORDS = ["resolve.stale", "resolve.other_challenge", "resolve.forged", "resolve.changed"]
OF_WORDS += [
    name
    for name, one in CASES.items()
    if one.family == "resolve" and not one.own_stack and name not in OF_WORDS
]


def vendor(name: str, module: str) -> VendorConfig:
    return VendorConfig(name=name, recipe="memory", process=VendorProcess(module=module))


@pytest.fixture(scope="module")
def one_challenge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    config = vendor("one-challenge", one_challenge_memory.__name__)
    with ground(tmp_path_factory.mktemp("one-challenge"), vendor=config) as on:
        yield on


@pytest.mark.e2e_process
@pytest.mark.parametrize("case", sampled(OF_WORDS, 4))
def test_one_open_challenge_an_operation_is_enough(one_challenge: Ground, case: str) -> None:
    assert not_passed(one_challenge.play(case, None, 1)) == []


@pytest.mark.e2e_process
def test_a_challenge_may_last_a_year(tmp_path: Path) -> None:
    config = vendor("one-challenge", one_challenge_memory.__name__)
    with ground(tmp_path, vendor=config) as on:
        assert not_passed(on.play("resolve.expired", None, 2)) == []


@pytest.mark.e2e_process
def test_without_a_word_an_intent_cannot_be_ruled_out(tmp_path: Path) -> None:
    config = vendor("wordless", wordless_memory.__name__)
    with ground(tmp_path, vendor=config) as on:
        records = on.play("rollback.ruled_out", None, 1)
    told = {(record.verdict, record.subtype) for record in records}
    assert told == {(Verdict.NOT_RUN, NotRunSubtype.CAPABILITY_ABSENT)}, not_passed(records)
