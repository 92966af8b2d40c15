"""manifest.json in two steps, and what a continued run must have in common with the cut one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.campaign import manifests
from orchestrator.campaign.manifests import (
    examined_manifest,
    keep_expected,
    keep_manifest,
    planned_manifest,
)
from orchestrator.campaign.options import QualifyOptions
from orchestrator.campaign.preflight import PreflightReport
from orchestrator.errors import RunDirectoryError
from orchestrator.evidence.manifest import ImageRecord, Manifest
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.images import ImageRef
from orchestrator.vendors import VendorConfig

IMAGES = {"memory": ImageRef(name="memory", tag="memqual/memory:1", digest="sha256:m")}
VENDOR = VendorConfig(name="v", image="v:1")
REPORT = PreflightReport(
    skew_proven=True, skew_detail="asked 2, measured 2", isolation="held", findings=("f",)
)
DESCRIBE = vendor_pb2.DescribeResponse(
    name="memory", version="2", limits=vendor_pb2.Limits(lease_seconds=40)
)


@dataclass(frozen=True)
class Memory:
    """The image that runs."""

    image: str = "v:1"
    digest: str = "sha256:v"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunDirectory]:
    with RunDirectory.create(tmp_path / "run") as made:
        yield made


def _planned(
    vendor: VendorConfig | None = VENDOR,
    images: dict[str, ImageRef] | None = None,
    runtime: str = "docker",
) -> Manifest:
    return planned_manifest(
        QualifyOptions(),
        vendor,
        run_id="run",
        runtime=runtime,
        reason="asked for",
        images=IMAGES if images is None else images,
        expected_trials=10,
        batches=2,
    )


def _examined(planned: Manifest, memory: Memory = Memory()) -> Manifest:
    return examined_manifest(planned, DESCRIBE, REPORT, memory)  # type: ignore[arg-type]  # the two fields that are read


def _kept(folder: RunDirectory) -> Manifest:
    return folder.read_model("manifest.json", Manifest)


def test_the_plan_is_kept_before_anything_is_known_of_the_memory(folder: RunDirectory) -> None:
    planned = _planned()
    keep_manifest(folder, planned)
    kept = _kept(folder)
    assert kept == planned
    assert (kept.subject_source, kept.subject_name, kept.describe_json) == ("v:1", "", "")
    assert kept.images == (ImageRecord(name="memory", tag="memqual/memory:1", digest="sha256:m"),)


def test_what_was_found_completes_it_and_keeps_its_beginning(folder: RunDirectory) -> None:
    planned = _planned()
    keep_manifest(folder, planned)
    keep_manifest(folder, _examined(_planned()))
    kept = _kept(folder)
    assert kept.started_unix_ns == planned.started_unix_ns
    assert (kept.subject_name, kept.subject_version, kept.lease_seconds) == ("memory", "2", 40)
    assert (kept.skew_proven, kept.isolation, kept.findings) == (True, "held", ("f",))
    assert kept.images[-1] == ImageRecord(name="subject", tag="v:1", digest="sha256:v")


def test_a_recipes_image_is_listed_once_and_a_process_has_none() -> None:
    recipe = _examined(_planned(None), Memory("memqual/memory:1", "sha256:m"))
    assert [image.name for image in recipe.images] == ["memory"]
    process = _examined(_planned(None, {}, "process"), Memory("services.memory", ""))
    assert process.images == ()


def test_a_continued_run_of_the_same_kind_changes_nothing(folder: RunDirectory) -> None:
    whole = _examined(_planned())
    keep_manifest(folder, whole)
    keep_manifest(folder, _planned())
    keep_manifest(folder, _examined(_planned()))
    assert _kept(folder) == whole


CHANGES = {
    "another vendor": (_planned(None), "subject_source, vendor_json"),
    "another key of its file": (
        _planned(VENDOR.model_copy(update={"port": 8000})),
        "vendor_json",
    ),
    "another runtime": (_planned(runtime="process"), "runtime"),
    "another checkout": (
        _planned(images={"memory": ImageRef("memory", "memqual/memory:2", "sha256:n")}),
        "images",
    ),
    "another image of that name": (_examined(_planned(), Memory(digest="sha256:w")), "images"),
    "another version": (
        _examined(_planned()).model_copy(update={"subject_version": "3"}),
        "subject_version",
    ),
}


@pytest.mark.parametrize(("now", "names"), CHANGES.values(), ids=CHANGES)
def test_a_continued_run_of_another_kind_is_refused(
    folder: RunDirectory, now: Manifest, names: str
) -> None:
    whole = _examined(_planned())
    keep_manifest(folder, whole)
    with pytest.raises(RunDirectoryError) as caught:
        keep_manifest(folder, now)
    assert caught.value.diagnosis == f"The run to resume differs in: {names}."
    assert caught.value.exit_code == 2
    assert _kept(folder) == whole


def test_another_plan_is_refused(folder: RunDirectory) -> None:
    keep_expected(folder, "one\n")
    keep_expected(folder, "one\n")
    with pytest.raises(RunDirectoryError, match="another profile, seed or requirement revision"):
        keep_expected(folder, "two\n")
    assert (folder.root / "expected-cells.json").read_text() == "one\n"


def test_a_vendor_of_this_checkout_is_told_of_without_this_machines_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = VendorConfig(name="v", image="v:1", folder=tmp_path / "compose" / "vendors")
    outside = inside.model_copy(update={"folder": tmp_path.parent})

    assert manifests._told(inside).folder == Path("compose/vendors")
    assert manifests._told(outside) == outside
    assert manifests._told(inside.model_copy(update={"folder": None})).folder is None
