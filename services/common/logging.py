"""Log lines: structlog JSON on stderr, each with run and service."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from services.common.settings import env_or_none

__all__ = ["configure"]


class _Bound:
    """Adds fields to every line, from whichever thread it comes."""

    def __init__(self, **fields: str) -> None:
        self._fields = fields

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        for key, value in self._fields.items():
            event.setdefault(key, value)
        return event


def configure(service: str, *, level: int = logging.INFO) -> None:
    """Sets up logging for this process; lines of other libraries take the same form.

    Args:
        service: the service's name in every line (MEMQUAL_SERVICE overrides it).
        level: the lowest level that is written.
    """
    bound = _Bound(
        service=env_or_none("MEMQUAL_SERVICE") or service, run=env_or_none("MEMQUAL_RUN") or ""
    )
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        bound,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
