"""Builds the images of the testbed from checked-in recipes, without network inside any build.

    recipes     what an image is made of, read from compose/images/<name>/Dockerfile
    contexts    the files of a build as a reproducible tar, and the SHA-256 over all inputs
    wheelhouse  the wheels of a lock file for the image's Python, downloaded on the host
    base        the base system from Debian packages, or the one that the user names
    build       puts these together: ensure_images

An image's tag is derived from all of its inputs, so a warm start builds nothing.
"""

from orchestrator.images.build import (
    ImageRef,
    Presence,
    ensure_images,
    look_for,
    prune_images,
)
from orchestrator.images.recipes import recipe_names

__all__ = [
    "ImageRef",
    "Presence",
    "ensure_images",
    "look_for",
    "prune_images",
    "recipe_names",
]
