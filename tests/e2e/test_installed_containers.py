"""Installed acceptance on containers: the wheel stands in place of the images' own code."""

from pathlib import Path

import pytest

from chaos.receipts import InstalledReceipt, parse_receipt
from orchestrator.images import ensure_images
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.plan import required_recipes
from orchestrator.runtimes.product import CONTAINER_FOLDER
from orchestrator.stacks import StackVariant
from tests.orchestrator.suites.continuity.ground import ground, not_passed

pytestmark = pytest.mark.e2e_docker

CASES = ("paper_acceptance.receipt_durable", "paper_acceptance.effect_unreported")


def test_containers_publish_from_the_wheel(tmp_path: Path) -> None:
    changes = {"images": ensure_images(required_recipes()), "healthy_within_seconds": 90.0}
    with ground(
        tmp_path, runtime=DockerRuntime(), changes=changes, variant=StackVariant.INSTALLED
    ) as on:
        records = [record for case in CASES for record in on.play(case, operations=2)]
    assert not_passed(records) == []
    assert len(records) == 4
    receipts = [
        parse_receipt(text) for evidence, _, _ in on.kept.batches for text in evidence.receipts_json
    ]
    installed = [one for one in receipts if isinstance(one, InstalledReceipt)]
    assert len(installed) == len(CASES)
    for receipt in installed:
        assert {origin.service for origin in receipt.origins} == {
            *("agent", "standby", "destination", "observer", "memory")
        }
        assert {origin.search_path[0] for origin in receipt.origins} == {CONTAINER_FOLDER}
