"""`python -m services.memory`: the reference memory."""

from services.common.startup import importing

with importing():
    from services.common import logging, settings
    from services.memory.process import Composition, run


def main() -> None:
    """Serves the reference memory until SIGTERM."""
    logging.configure("memory")
    run(Composition())


if __name__ == "__main__":
    settings.run(main)
