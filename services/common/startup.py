"""Starting a service soon after a kill: what costs time before it can serve."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["importing"]


@contextmanager
def importing() -> Iterator[None]:
    """Imports modules without collecting garbage meanwhile.

    A thousand modules make many objects and leave none behind: looking for garbage among them took
    a seventh of a host's start. What was imported is never garbage, so that it is not looked at
    later either.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
