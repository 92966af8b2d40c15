"""A good memory that knows intents and takes no operator's word: the reference without Resolve.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

from services.common import logging, settings
from services.memory import process
from tests.orchestrator.suites.continuity.doubting_memory import NoWord


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    process.run(process.Composition("wordless", resolutions=NoWord))


if __name__ == "__main__":
    settings.run(main)
