"""Flaws of what should be gone or the same: resurrection, re-entry, paths, secrets (J, R, S, T)."""

from collections.abc import Mapping

from services.controls.flaw import Flaw

__all__ = ["FLAWS"]

FLAWS: Mapping[str, Flaw] = {}
