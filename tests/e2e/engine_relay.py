"""A way to the container engine that a test can cut, so that the real engine never has to stop."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from pathlib import Path

# Containers are tested on Linux alone; elsewhere this file is only read.
if sys.platform == "win32":
    UNIX = socket.AF_INET
else:
    UNIX = socket.AF_UNIX

DEFAULT_SOCKET = "/var/run/docker.sock"
CHUNK_BYTES = 65_536
CONNECTIONS = 128


class EngineRelay:
    """A Unix socket that passes everything on to the engine's own, until it is cut.

    Args:
        path: Where the socket is made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine_socket()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.socket(UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(CONNECTIONS)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """What DOCKER_HOST is to be."""
        return f"unix://{self.path}"

    def cut(self) -> None:
        """End every connection and take no more: to its clients, the engine has stopped."""
        self.path.unlink(missing_ok=True)
        with self._lock:
            for one in (self._listener, *self._open):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                engine = socket.socket(UNIX, socket.SOCK_STREAM)
                engine.connect(self._engine)
            except OSError:
                return
            with self._lock:
                self._open |= {client, engine}
            for source, sink in ((client, engine), (engine, client)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def _engine_socket() -> str:
    """The engine's own socket, as the SDK finds it."""
    named = os.environ.get("DOCKER_HOST", "")
    return named.removeprefix("unix://") if named.startswith("unix://") else DEFAULT_SOCKET
