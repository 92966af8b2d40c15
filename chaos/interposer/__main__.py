"""``python -m chaos.interposer``: serves until it is asked to stop."""

import asyncio
import sys

import structlog

from chaos.interposer.config import parse_config
from chaos.interposer.server import BindError, start
from services.common import settings
from services.common.logging import configure
from services.common.platform import on_stop_signal

EXIT_BIND = 1

_log = structlog.get_logger(__name__)


async def _serve() -> int:
    config = parse_config(settings.env("MEMQUAL_INTERPOSER_CONFIG"))
    token = settings.env("MEMQUAL_CONTROL_TOKEN")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask_to_stop() -> None:
        loop.call_soon_threadsafe(stop.set)

    on_stop_signal(ask_to_stop)
    try:
        running = await start(config, token)
    except BindError as error:
        _log.error("cannot_bind", cause=str(error))
        return EXIT_BIND
    await stop.wait()
    await running.stop()
    return 0


def main() -> None:
    """Entry point; exit code 2 for a wrong setting, 1 when an address cannot be bound."""
    configure("interposer")
    sys.exit(asyncio.run(_serve()))


if __name__ == "__main__":
    settings.run(main)
