"""Imports run without the collector, which works again afterwards."""

import gc
from collections.abc import Iterator

import pytest

from services.common.startup import importing


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_nothing_is_collected_while_importing_and_again_afterwards() -> None:
    assert gc.isenabled()
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_a_failed_import_leaves_the_collector_on() -> None:
    with pytest.raises(ImportError), importing():
        raise ImportError
    assert gc.isenabled()
