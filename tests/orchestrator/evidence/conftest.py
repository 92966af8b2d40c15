"""One small bundle a session, and a copy of it for each test."""

import shutil
from pathlib import Path

import pytest

from tests.orchestrator.evidence.bundles import RUN_ID, make_bundle
from tests.orchestrator.scoring.mini_memory import ExpiredNoneExecutes


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that nobody changes."""
    root = tmp_path_factory.mktemp("whole") / RUN_ID
    make_bundle(root)
    return root


@pytest.fixture(scope="session")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of a memory that retries where it must not; nobody changes it."""
    root = tmp_path_factory.mktemp("failed") / RUN_ID
    make_bundle(root, ExpiredNoneExecutes)
    return root


@pytest.fixture
def bundle(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(whole, tmp_path / RUN_ID))
