import json
import os
import subprocess
import sys

CODE = """
import logging, threading, structlog
from services.common.logging import configure
configure("memory")
log = structlog.get_logger("memqual.test")
thread = threading.Thread(target=lambda: log.warning("from_a_thread", count=2))
thread.start(); thread.join()
logging.getLogger("grpc").error("from %s", "a library")
try:
    1 / 0
except ZeroDivisionError as error:
    log.error("failed", exc_info=error)
log.debug("not written")
"""


def run(**environment: str) -> list[dict[str, object]]:
    finished = subprocess.run(
        [sys.executable, "-c", CODE],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        timeout=30,
    )
    assert finished.stdout == b""
    return [json.loads(line) for line in finished.stderr.splitlines()]


def test_every_line_is_json_with_run_and_service() -> None:
    lines = run(MEMQUAL_RUN="run-1", MEMQUAL_SERVICE="")
    assert [(line["event"], line["level"], line["run"], line["service"]) for line in lines] == [
        ("from_a_thread", "warning", "run-1", "memory"),
        ("from a library", "error", "run-1", "memory"),
        ("failed", "error", "run-1", "memory"),
    ]
    assert lines[0]["count"] == 2
    assert "ZeroDivisionError" in str(lines[2]["exception"])


def test_the_environment_names_the_service() -> None:
    assert {line["service"] for line in run(MEMQUAL_SERVICE="standby")} == {"standby"}
