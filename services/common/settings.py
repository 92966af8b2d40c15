"""Settings from the environment, one variable a setting, read once at start.

A SettingsError says which variable is missing or malformed; `run` ends the process for it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import structlog

from services.common.database import DatabaseError

__all__ = [
    "EXIT_STORE",
    "EXIT_USAGE",
    "SettingsError",
    "data_dir",
    "env",
    "env_int",
    "env_or_none",
    "env_path",
    "run",
]

EXIT_STORE = 1
EXIT_USAGE = 2
DEFAULT_DATA_DIR = "/data"


class SettingsError(Exception):
    """A setting is missing or malformed; the message names the variable and the next step."""


def env(name: str, default: str | None = None) -> str:
    """A variable's text; an empty one counts as unset.

    Raises:
        SettingsError: unset and no default.
    """
    value = os.environ.get(name, "") or default
    if value is None:
        raise SettingsError(f"{name} is not set; set it (compose/compose.yaml does)")
    return value


def env_or_none(name: str) -> str | None:
    """A variable's text, or None when it is unset or empty."""
    return os.environ.get(name, "") or None


def env_int(name: str, default: int | None = None, *, minimum: int, maximum: int) -> int:
    """A whole number within bounds.

    Raises:
        SettingsError: unset without a default, no whole number, or out of bounds.
    """
    text = env(name, None if default is None else str(default))
    try:
        value = int(text, 10)
    except ValueError as error:
        raise SettingsError(f"{name} is no whole number; set it to {minimum}..{maximum}") from error
    if not minimum <= value <= maximum:
        raise SettingsError(f"{name} is {value}; set it to {minimum}..{maximum}")
    return value


def env_path(name: str, default: str | None = None) -> Path:
    """A path; raises SettingsError when unset without a default."""
    return Path(env(name, default))


def data_dir() -> Path:
    """The service's data folder (MEMQUAL_DATA_DIR, default /data).

    Raises:
        SettingsError: no folder there that can be written to.
    """
    path = env_path("MEMQUAL_DATA_DIR", DEFAULT_DATA_DIR)
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise SettingsError(
            f"MEMQUAL_DATA_DIR: {path} is no folder that can be written to; create or mount it"
        )
    return path


def run(main: Callable[[], None]) -> None:
    """Runs a service's main; a bad setting or store becomes one log line and an exit code.

    Exit codes: 2 for a setting, 1 for a store or volume that cannot be used.
    """
    log = structlog.get_logger(__name__)
    try:
        main()
    except SettingsError as error:
        log.error("bad_settings", cause=str(error))
        sys.exit(EXIT_USAGE)
    except (DatabaseError, OSError) as error:
        log.error("bad_store", cause=str(error))
        sys.exit(EXIT_STORE)
