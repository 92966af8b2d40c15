"""Command line of the image builder, for ``make images`` and ``make test``."""

import argparse
import os
import sys

from orchestrator.errors import EngineError, MemqualError
from orchestrator.images import ensure_images, recipe_names

REQUIRE_ENGINE_VARIABLE = "MEMQUAL_REQUIRE_ENGINE"


def main() -> int:
    """Builds the named images, or all; exit codes are those of DESIGN §7."""
    parser = argparse.ArgumentParser(prog="orchestrator.images", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="image to build; default: all")
    parser.add_argument("--base-image", help="image to build on in place of Debian packages")
    parser.add_argument(
        "--if-engine",
        action="store_true",
        help=f"without an engine do nothing, unless {REQUIRE_ENGINE_VARIABLE} is set",
    )
    arguments = parser.parse_args()
    try:
        images = ensure_images(
            arguments.names or recipe_names(),
            base_image=arguments.base_image,
            progress=lambda line: print(f"images: {line}", file=sys.stderr, flush=True),
        )
    except MemqualError as error:
        print(f"images: {error}", file=sys.stderr)
        missing_engine = isinstance(error, EngineError) and arguments.if_engine
        if missing_engine and not os.environ.get(REQUIRE_ENGINE_VARIABLE):
            return 0
        return error.exit_code
    for image in images.values():
        print(f"{image.name:16} {image.tag:48} {image.digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
