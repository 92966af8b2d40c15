"""Flaws of authority from elsewhere: dormant text, success stories, circles, ancestors (B E G N)."""

from collections.abc import Mapping

from services.controls.flaw import Flaw

__all__ = ["FLAWS"]

FLAWS: Mapping[str, Flaw] = {}
