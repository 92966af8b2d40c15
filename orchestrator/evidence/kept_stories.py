"""The stories of a bundle's narrative cells (stories.json), and whether they are the run's."""

from __future__ import annotations

import hashlib

from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.manifest import Manifest
from orchestrator.suites.narrative.corpus import (
    STORIES_FILE,
    Corpus,
    KeptCorpus,
    package_corpus,
)

__all__ = ["check_stories", "stories_of"]


def stories_of(bundle: Bundle) -> Corpus:
    """The stories that a run played; none where it has no narrative cells.

    Raises:
        EvidenceError: stories.json cannot be read.
    """
    if not bundle.has(STORIES_FILE):
        return Corpus(())
    return Corpus(bundle.model(STORIES_FILE, KeptCorpus).stories)


def check_stories(bundle: Bundle, step: Examination, manifest: Manifest) -> None:
    """Check that the stories are those that the manifest names, and say whose they are."""
    if not manifest.stories_digest:
        if bundle.has(STORIES_FILE):
            step.problem(STORIES_FILE, "is there, and the manifest knows of no stories")
        return
    with step.reading(STORIES_FILE):
        digest = hashlib.sha256(bundle.document(STORIES_FILE)).hexdigest()
        if digest != manifest.stories_digest:
            step.problem(STORIES_FILE, "is not what the manifest has the digest of")
    if manifest.stories_own:
        step.note("the stories are the maker's own: levels are not those of memqual's corpus")
    elif manifest.stories_digest != package_corpus().digest:
        step.note("the stories are not those of this version of memqual")
