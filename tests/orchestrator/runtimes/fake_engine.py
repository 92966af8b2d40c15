"""A container engine that answers what a test tells it to, and can go away in the middle."""

import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

VERSION = {"Version": "20.10.0", "Arch": "amd64", "ApiVersion": "1.41"}
PROCESSORS = 2
Answer = tuple[int, Any]


class FakeEngine:
    """Answers ``METHOD /path`` (no API version in it) from `answers`; 500 for anything else."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[], Answer]] = {
            "GET /version": (200, VERSION),
            "GET /info": (200, {"NCPU": PROCESSORS}),
        }
        self.seen: list[str] = []
        self.bodies: dict[str, Any] = {}
        self.gone = False


class _Server(http.server.ThreadingHTTPServer):
    engine: FakeEngine


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        engine = self.server.engine
        asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        if path.startswith("/v1."):
            path = "/" + path.split("/", 2)[2]
        engine.seen.append(f"{self.command} {path}")
        engine.bodies[f"{self.command} {path}"] = json.loads(asked) if asked else None
        if engine.gone:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        found = engine.answers.get(f"{self.command} {path}", (500, {"message": "no answer"}))
        status, content = found() if callable(found) else found
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_engine() -> Iterator[tuple[FakeEngine, str]]:
    """A running fake and the value of DOCKER_HOST that leads to it."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.engine = FakeEngine()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server.engine, f"tcp://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(5)
