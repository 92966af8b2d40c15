"""Where the orchestrator's own log lines go: JSON in the run folder (DESIGN §8)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TextIO

import structlog

__all__ = ["log_to"]

_opened: list[TextIO] = []


def log_to(path: Path, *, run_id: str) -> None:
    """Send every log line of this process to a file, as JSON with the run id.

    Args:
        path: File to append to; its folder exists.
        run_id: Bound into every line, in every thread.
    """
    for file in _opened:
        file.close()
    _opened[:] = [path.open("a", encoding="utf-8", buffering=1)]

    def add_run(
        _: object, __: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event.setdefault("run", run_id)
        return event

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            add_run,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(_opened[0]),
        cache_logger_on_first_use=False,
    )
