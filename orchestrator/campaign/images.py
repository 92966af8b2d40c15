"""The images that a run's stacks are made of."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.campaign.sink import Progress
from orchestrator.images import ImageRef, ensure_images
from orchestrator.runtimes.base import Runtime
from orchestrator.vendors import VendorConfig

__all__ = ["images_for"]

_SERVICES = ("interposer", "memory", "destination", "observer", "agent", "control")


def images_for(
    runtime: Runtime,
    vendor: VendorConfig | None,
    *,
    base_image: str | None,
    progress: Progress,
) -> Mapping[str, ImageRef]:
    """Build what is missing; local processes need none.

    Raises:
        ImageError: One cannot be built.
        EngineError: The engine does not answer.
    """
    if runtime.name != "docker":
        return {}
    recipes = list(_SERVICES)
    if vendor is not None and vendor.recipe is not None:
        recipes.append(vendor.recipe)
    return ensure_images(recipes, base_image=base_image, progress=progress.note)
