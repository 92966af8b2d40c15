"""What tests of both runtimes share: stacks of their own run, and an orchestrator to be killed."""

import functools
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Mapping
from pathlib import Path

import grpc

from memqual.v1 import vendor_pb2, vendor_pb2_grpc
from orchestrator.images import ImageRef, ensure_images
from orchestrator.runtimes.base import ServiceHandle, Stack, StackSpec
from orchestrator.runtimes.plan import required_recipes
from services.common.channels import open_channel

CALL_SECONDS = 30.0
EXIT_SECONDS = 30.0

# An orchestrator that starts a stack, says so, and then waits to be killed.
ORCHESTRATOR = """
    import sys, time
    from pathlib import Path
    from orchestrator.images import ensure_images
    from orchestrator.runtimes.base import StackSpec
    from orchestrator.runtimes.plan import required_recipes
    from orchestrator.runtimes.select import select_runtime

    name, run_id, folder = sys.argv[1:]
    images = ensure_images(required_recipes()) if name == "docker" else {}
    spec = StackSpec(run_id=run_id, stack_id="s1", folder=Path(folder), images=images)
    runtime = select_runtime(name).runtime
    print("starting", flush=True)
    runtime.start(spec)
    print("started", flush=True)
    time.sleep(120)
"""


def new_run_id() -> str:
    """A run id that no other test has."""
    return f"test-{uuid.uuid4().hex[:12]}"


@functools.cache
def _images() -> Mapping[str, ImageRef]:
    return ensure_images(required_recipes())


def new_spec(folder: Path, *, docker: bool, **changes: object) -> StackSpec:
    """A stack of its own run; with images for docker."""
    images = _images() if docker else {}
    fields = {"run_id": new_run_id(), "stack_id": "s1", "folder": folder, "images": images}
    return StackSpec(**{**fields, **changes})  # type: ignore[arg-type]  # the keys are the dataclass's


def describe_memory(stack: Stack) -> str:
    """Name of the memory that answers through the control port."""
    with open_channel(stack.control_address) as channel:
        stub = vendor_pb2_grpc.VendorServiceStub(channel)
        metadata = (("memqual-token", stack.control_token), ("memqual-target", "memory"))
        answer = stub.Describe(
            vendor_pb2.DescribeRequest(), timeout=CALL_SECONDS, metadata=metadata
        )
    return answer.name


def refusal_of(stack: Stack, token: str) -> grpc.StatusCode:
    """What the control port answers to a caller with another token."""
    with open_channel(stack.control_address) as channel:
        stub = vendor_pb2_grpc.VendorServiceStub(channel)
        metadata = (("memqual-token", token), ("memqual-target", "memory"))
        try:
            stub.Describe(vendor_pb2.DescribeRequest(), timeout=CALL_SECONDS, metadata=metadata)
        except grpc.RpcError as error:
            refusal: object = error
        else:
            return grpc.StatusCode.OK
    assert isinstance(refusal, grpc.Call)
    code: grpc.StatusCode = refusal.code()
    return code


def kill_and_restart(stack: Stack, name: str) -> ServiceHandle:
    """Kills a service, checks how it ended, and starts it again until it is healthy."""
    service = stack.service(name)
    born_ns, pid = service.started_at_ns(), service.pid()
    service.kill()
    ended = service.wait_exit(EXIT_SECONDS)
    assert (ended.exit_code, ended.oom_killed) == (137, False)
    assert ended.started_at_ns == born_ns
    assert ended.finished_at_ns > born_ns
    assert not service.running()
    service.start()
    stack.await_healthy((name,), CALL_SECONDS)
    assert service.started_at_ns() > born_ns
    assert service.pid() != pid
    return service


def start_orchestrator(name: str, run_id: str, folder: Path) -> subprocess.Popen[str]:
    """Starts an orchestrator of another process; its lines tell how far it is."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ORCHESTRATOR), name, run_id, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def await_line(process: subprocess.Popen[str], line: str) -> None:
    """Waits until it has printed a line; the test's own time limit bounds this."""
    assert process.stdout is not None
    for found in process.stdout:
        if found.strip() == line:
            return
    raise AssertionError(f"the orchestrator ended ({process.wait(5)}) before it said {line!r}")
