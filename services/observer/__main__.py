"""`python -m services.observer`."""

from services.common.settings import run
from services.observer.app import main

if __name__ == "__main__":
    run(main)
