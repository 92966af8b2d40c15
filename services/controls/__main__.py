"""`python -m services.controls --flaw NAME`: one memory that is wrong on purpose.

The environment is the reference's; MEMQUAL_FLAW names the flaw where the command line does not.
"""

import argparse

from services.common import logging, settings
from services.common.settings import SettingsError, env_or_none
from services.controls.registry import FLAWS
from services.memory.process import run


def main() -> None:
    """Serves the flawed memory until SIGTERM."""
    logging.configure("memory")
    parser = argparse.ArgumentParser(prog="python -m services.controls", description=__doc__)
    parser.add_argument("--flaw", choices=sorted(FLAWS), default=None)
    name = parser.parse_args().flaw or env_or_none("MEMQUAL_FLAW")
    flaw = FLAWS.get(name or "")
    if flaw is None:
        raise SettingsError(
            f"MEMQUAL_FLAW is {name!r}; set it, or --flaw, to one of {', '.join(sorted(FLAWS))}"
        )
    run(flaw.composition)


if __name__ == "__main__":
    settings.run(main)
