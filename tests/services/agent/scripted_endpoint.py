"""An OpenAI-compatible endpoint on a real socket whose answers a test scripts."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int = 200
    body: bytes = b""
    delay_seconds: float = 0.0


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    authorization: str
    body: dict[str, Any]


Script = Callable[[Asked], Reply]


@dataclass
class ScriptedEndpoint:
    """A running server."""

    base_url: str
    asked: list[Asked] = field(default_factory=list)


def said(text: str, usage: tuple[int, int] | None = (10, 5), model: str = "scripted") -> Reply:
    return _completion({"role": "assistant", "content": text}, usage, model)


def called(
    *calls: tuple[str, dict[str, Any] | str], usage: tuple[int, int] | None = (10, 5)
) -> Reply:
    asked = [
        {
            "id": f"theirs-{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": text if isinstance(text, str) else json.dumps(text),
            },
        }
        for number, (name, text) in enumerate(calls)
    ]
    return _completion({"role": "assistant", "content": None, "tool_calls": asked}, usage)


def _completion(
    message: dict[str, Any], usage: tuple[int, int] | None, model: str = "scripted"
) -> Reply:
    body: dict[str, Any] = {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Reply(body=json.dumps(body).encode())


def in_order(*replies: Reply) -> Script:
    """Each reply once; the last one for ever after."""
    left = list(replies)
    lock = threading.Lock()

    def script(asked: Asked) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


@contextmanager
def scripted_endpoint(script: Script) -> Iterator[ScriptedEndpoint]:
    endpoint = ScriptedEndpoint("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            asked = Asked(
                self.path,
                self.headers.get("Authorization", ""),
                json.loads(self.rfile.read(length)),
            )
            endpoint.asked.append(asked)
            reply = script(asked)
            time.sleep(reply.delay_seconds)
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    endpoint.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
