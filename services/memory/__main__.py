"""`python -m services.memory`: the reference memory."""

from services.common import settings
from services.memory.process import Composition, run


def main() -> None:
    """Serves the reference memory until SIGTERM."""
    run(Composition())


if __name__ == "__main__":
    settings.run(main)
