"""`python -m services.destination`."""

from services.common.settings import run
from services.destination.app import main

if __name__ == "__main__":
    run(main)
