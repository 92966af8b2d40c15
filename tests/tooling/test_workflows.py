"""Workflows start without permissions and run only actions that are pinned by commit."""

import re
from pathlib import Path

import pytest
import yaml

REPO_ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((REPO_ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_locked_down(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"] == {"contents": "read"}
        assert job["timeout-minutes"] > 0
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


def test_workflows_call_only_targets_that_exist() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    makefile = (REPO_ROOT / "Makefile").read_text(encoding="utf-8")
    called = set(re.findall(r"\bmake ([a-z][a-z-]*)", text))
    assert called
    assert called <= set(re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, re.MULTILINE))
