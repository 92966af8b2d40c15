"""Flaws of challenges and decisions (K)."""

from collections.abc import Mapping

from services.controls.flaw import Flaw

__all__ = ["FLAWS"]

FLAWS: Mapping[str, Flaw] = {}
