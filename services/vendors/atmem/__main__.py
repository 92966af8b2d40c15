"""`python -m services.vendors.atmem`: atmem as a memory under test."""

from importlib.util import find_spec

from services.common import logging, settings
from services.common.settings import SettingsError


def main() -> None:
    """Serves atmem until SIGTERM."""
    logging.configure("memory")
    if find_spec("atmem") is None:
        raise SettingsError(
            "atmem is not installed for this Python; use its image, or install "
            "requirements/vendors/atmem.lock with --no-deps --require-hashes"
        )
    from services.vendors.atmem.process import run  # noqa: PLC0415 (needs atmem, found above)

    run()


if __name__ == "__main__":
    settings.run(main)
