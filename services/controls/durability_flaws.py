"""Flaws of changes that a crash undoes, halves or repeats (integrity under fire)."""

from collections.abc import Mapping

from services.controls.flaw import Flaw

__all__ = ["FLAWS"]

FLAWS: Mapping[str, Flaw] = {}
