"""What a stack has that the usual one has not."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["StackVariant"]


class StackVariant(StrEnum):
    """A kind of stack; work of different kinds never shares one."""

    USUAL = "usual"
    INSTALLED = "installed"
    """Its services run from an installed wheel, tell where their code is from, and prove to the
    observer who they are."""
    FAILING_STORAGE = "failing_storage"
    """Its memory's volume lies on a layer whose power can fail and whose room can end."""
    FRESH_MODEL = "fresh_model"
    """Its agent hosts may ask the model endpoint that this machine's environment names."""
