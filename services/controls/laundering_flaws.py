"""Flaws of trust that grows on the way: derivations, repetition, outcomes, approvals (A to I)."""

from collections.abc import Mapping

from services.controls.flaw import Flaw

__all__ = ["FLAWS"]

FLAWS: Mapping[str, Flaw] = {}
