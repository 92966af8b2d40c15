"""manifest.json in two steps: what was planned before anything starts, then what was found.

A run that is cut between the two can be continued like any other. A continued run must be of the
same plan and the same memory, or it is refused (DESIGN §7, §8).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from memqual.v1 import vendor_pb2
from orchestrator.campaign.options import QualifyOptions
from orchestrator.campaign.preflight import PreflightReport
from orchestrator.errors import RunDirectoryError
from orchestrator.evidence.manifest import (
    ImageRecord,
    Manifest,
    commit_of,
    dependencies,
    interpreter,
    platform_name,
    sha256_of,
    tree_digest,
)
from orchestrator.evidence.records import message_to_json
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.images import ImageRef
from orchestrator.runtimes.base import ServiceHandle
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION
from orchestrator.suites.continuity.paper.cassette import TAU2_STORE_SHA256
from orchestrator.suites.continuity.paper.planned import planned_study
from orchestrator.suites.narrative.corpus import STORIES_FILE, Corpus
from orchestrator.vendors import VendorConfig

__all__ = [
    "examined_manifest",
    "keep_expected",
    "keep_manifest",
    "keep_stories",
    "planned_manifest",
]

_ROOT = Path(__file__).resolve().parent.parent.parent
_FILE = "manifest.json"
_EXPECTED_FILE = "expected-cells.json"
_PINNED = ("grpcio", "protobuf", "langgraph", "langgraph-checkpoint-sqlite", "libfaketime")
_PLANNED_FIELDS = (
    "runtime",
    "subject_source",
    "vendor_json",
    "retail_store_digest",
    "stories_digest",
    "study",
)
_EXAMINED_FIELDS = ("images", "subject_name", "subject_version")
_SUBJECT_IMAGE = "subject"


def planned_manifest(
    options: QualifyOptions,
    vendor: VendorConfig | None,
    *,
    run_id: str,
    runtime: str,
    reason: str,
    images: Mapping[str, ImageRef],
    expected_trials: int,
    batches: int,
    corpus: Corpus | None = None,
) -> Manifest:
    """The manifest before the preflight: nothing is known of the memory but what was asked for.

    Args:
        options: What a person asked for.
        vendor: The memory; None for the reference.
        run_id: The run's id.
        runtime: Name of the runtime.
        reason: Why it was taken.
        images: Images of the recipes by name; empty without an engine.
        expected_trials: Trials that the profile plans.
        batches: Continuity batches that it plans.
        corpus: Stories of its narrative cells; None without any.
    """
    return Manifest(
        run_id=run_id,
        profile=options.profile.value,
        seed=options.seed,
        requirement_revision=REQUIREMENT_REVISION,
        runtime=runtime,
        runtime_detail=reason,
        commit=commit_of(_ROOT),
        interpreter=interpreter(),
        platform=platform_name(),
        lock_digest=sha256_of(_ROOT / "requirements" / "dev.lock"),
        tools_digest=tree_digest(_ROOT / "services" / "destination"),
        dependencies=dependencies(_PINNED),
        images=tuple(
            ImageRecord(name=name, tag=ref.tag, digest=ref.digest)
            for name, ref in sorted(images.items())
        ),
        subject_name="",
        subject_version="",
        subject_source=_source_of(vendor),
        vendor_json="" if vendor is None else _told(vendor).model_dump_json(),
        describe_json="",
        lease_mode="auto" if vendor is None else vendor.lease.mode.value,
        lease_seconds=0,
        skew_proven=False,
        skew_detail="not examined",
        isolation="not examined",
        stacks=options.stacks,
        # It was compared with this digest before anything began.
        retail_store_digest="" if options.retail_store is None else TAU2_STORE_SHA256,
        stories_digest="" if corpus is None else corpus.digest,
        stories_own=corpus is not None and corpus.own,
        study=planned_study(options.profile, options.seed),
        expected_trials=expected_trials,
        batches=batches,
        started_unix_ns=time.time_ns(),
    )


def examined_manifest(
    planned: Manifest,
    describe: vendor_pb2.DescribeResponse,
    report: PreflightReport,
    memory: ServiceHandle,
) -> Manifest:
    """The manifest with what the preflight found.

    Args:
        planned: The one before.
        describe: The memory's declaration.
        report: What was found out.
        memory: The running memory, for the digest of a vendor's own image.
    """
    return planned.model_copy(
        update={
            "images": _with_subject(planned.images, memory),
            "subject_name": describe.name,
            "subject_version": describe.version,
            "describe_json": message_to_json(describe),
            "lease_seconds": describe.limits.lease_seconds,
            "skew_proven": report.skew_proven,
            "skew_detail": report.skew_detail,
            "isolation": report.isolation,
            "findings": report.findings,
        }
    )


def keep_manifest(folder: RunDirectory, now: Manifest) -> None:
    """Write the manifest, or check that a continued run's is the same in all that matters.

    Raises:
        RunDirectoryError: The run to continue is of another memory, runtime or checkout.
        EvidenceError: Its manifest cannot be read.
    """
    if not (folder.root / _FILE).exists():
        folder.write_json(_FILE, now)
        return
    before = folder.read_model(_FILE, Manifest)
    whole = _is_examined(before) and _is_examined(now)
    fields = (*_PLANNED_FIELDS, *_EXAMINED_FIELDS) if whole else _PLANNED_FIELDS
    changed = {name for name in fields if getattr(before, name) != getattr(now, name)}
    if _of_recipes(before) != _of_recipes(now):
        changed.add("images")
    if changed:
        raise RunDirectoryError(
            f"The run to resume differs in: {', '.join(sorted(changed))}.",
            next_step="Resume with the same memory, runtime and checkout, or start a new run.",
        )
    if _is_examined(now) and not _is_examined(before):
        folder.write_json(_FILE, now.model_copy(update={"started_unix_ns": before.started_unix_ns}))


def keep_expected(folder: RunDirectory, text: str) -> None:
    """Write what is expected, or check that a continued run expects the same.

    Raises:
        RunDirectoryError: It expects something else.
    """
    if not _kept(folder, _EXPECTED_FILE, text):
        raise RunDirectoryError(
            "The run to resume was planned with another profile, seed or requirement revision.",
            next_step="Resume it with the PROFILE and SEED in its manifest.json.",
        )


def keep_stories(folder: RunDirectory, corpus: Corpus) -> None:
    """Write the stories of a run, or check that a continued run has the same.

    Raises:
        RunDirectoryError: It has others.
    """
    if not _kept(folder, STORIES_FILE, corpus.text):
        raise RunDirectoryError(
            "The run to resume was planned with other stories.",
            next_step="Resume it with the same --stories, at the commit in its manifest.json.",
        )


def _kept(folder: RunDirectory, name: str, text: str) -> bool:
    """Write a file of the plan; False where another one is there already."""
    path = folder.root / name
    if not path.exists():
        folder.write_text(name, text)
        return True
    return path.read_bytes() == text.encode()


def _is_examined(manifest: Manifest) -> bool:
    return bool(manifest.describe_json)


def _of_recipes(manifest: Manifest) -> list[ImageRecord]:
    """The images that are known before the preflight."""
    return [image for image in manifest.images if image.name != _SUBJECT_IMAGE]


def _with_subject(
    images: tuple[ImageRecord, ...], memory: ServiceHandle
) -> tuple[ImageRecord, ...]:
    """The images with a vendor's own; that of a recipe is among them already."""
    if not memory.digest or any(image.digest == memory.digest for image in images):
        return images
    return (*images, ImageRecord(name=_SUBJECT_IMAGE, tag=memory.image, digest=memory.digest))


def _told(vendor: VendorConfig) -> VendorConfig:
    """The vendor as a bundle tells of it: a folder of this checkout without this machine's path."""
    here = Path.cwd().resolve()
    if vendor.folder is None or not vendor.folder.is_relative_to(here):
        return vendor
    return vendor.model_copy(update={"folder": vendor.folder.relative_to(here)})


def _source_of(vendor: VendorConfig | None) -> str:
    if vendor is None:
        return "services.memory"
    return vendor.image or vendor.recipe or vendor.name
