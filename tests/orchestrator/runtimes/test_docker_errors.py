"""What engines of several versions answer, and what a person is told."""

import pytest

from orchestrator.errors import EngineError, ImageError, MemqualError, StackError
from orchestrator.runtimes.docker_errors import engine_gone, from_engine

POOL_20 = "could not find an available, non-overlapping IPv4 address pool among the defaults"
POOL_27 = "all predefined address pools have been fully subnetted"
EXEC = 'exec: "/nothing": stat /nothing: no such file or directory: unknown'


@pytest.mark.parametrize(
    ("answer", "kind", "next_step"),
    [
        ("No such image: x:1", ImageError, "make images"),
        ("pull access denied for x", ImageError, "docker images"),
        ("standard_init_linux.go:228: exec user process caused: exec format error", ImageError,
         "architecture"),
        (f"OCI runtime create failed: {EXEC}", ImageError, "ENTRYPOINT"),
        ('exec: "go": executable file not found in $PATH', ImageError, "ENTRYPOINT"),
        (f"{POOL_20} to assign to the network", StackError, "memqual gc"),
        (POOL_27, StackError, "docker network prune"),
        ("Bind for 127.0.0.1:1 failed: port is already allocated", StackError, "Run again"),
        ("write /var/lib/x: no space left on device", EngineError, "docker system prune"),
        ("Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available", StackError,
         "resources"),
        ("Mounts denied: The path /x is not shared from the host", StackError, "File sharing"),
        ('Conflict. The container name "/x" is already in use by container "1"', StackError,
         "memqual gc"),
        ("network with name x already exists", StackError, "memqual gc"),
        ("Cannot kill container: x: Container x is not running", StackError, "its log"),
        ("No such container: x", StackError, "Something else removed it"),
        ("something that nobody knows", EngineError, "docker info"),
    ],
)  # fmt: skip
def test_answers(answer: str, kind: type[MemqualError], next_step: str) -> None:
    error = from_engine(answer, 500)
    assert type(error) is kind
    assert answer in error.diagnosis
    assert next_step in error.next_step


def test_an_engine_that_is_gone() -> None:
    error = engine_gone(ConnectionRefusedError("refused"))
    assert "refused" in error.diagnosis
    assert "RUNTIME=process" in error.next_step
