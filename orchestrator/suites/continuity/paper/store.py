"""The benchmark's retail store, where a run was given it (DESIGN §10)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.runtimes.base import StackSpec
from orchestrator.suites.continuity.families.model import Need
from orchestrator.suites.continuity.paper.cassette import TAU2_STORE_SHA256

__all__ = ["checked_store", "lacking_store"]


def checked_store(path: Path | None) -> Path | None:
    """The path, when the file is the published store byte for byte; None without a path.

    Raises:
        UsageError: It cannot be read, or is another file.
    """
    if path is None:
        return None
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(
            f"The retail store {path} cannot be read: {error.strerror}.",
            next_step="Name the db.json of the benchmark's retail environment, or none.",
        ) from error
    if digest != TAU2_STORE_SHA256:
        raise UsageError(
            f"{path} is not the published retail store: its SHA-256 is {digest}, not "
            f"{TAU2_STORE_SHA256}.",
            next_step="Fetch the db.json that the study pinned, or run without a store.",
        )
    return path.resolve()


def lacking_store(spec: StackSpec) -> Mapping[str, str]:
    """What a stack lacks of the study's needs, by `Need`, with the reason."""
    if spec.retail_store is not None:
        return {}
    return {Need.TAU2_STORE.value: "needs the benchmark's own store: --retail-store PATH"}
