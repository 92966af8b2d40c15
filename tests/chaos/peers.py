"""Processes that tests kill: ``python -m tests.chaos.peers client|server ...``."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import grpc

from services.common.channels import CallMetadata
from tests.chaos.harness import AGENT_TOKEN, Target, open_channel

CALL_SECONDS = 60.0


def run_client(port: str, method: str, *workflows: str) -> None:
    """Makes one call a workflow, all at once, and prints each answer."""
    with open_channel(int(port)) as channel:
        call_method: Any = channel.unary_unary(method)
        calls = [
            call_method.future(
                workflow.encode(),
                timeout=CALL_SECONDS,
                metadata=CallMetadata(workflow=workflow, token=AGENT_TOKEN).pairs(),
            )
            for workflow in workflows
        ]
        for call in calls:
            print(call.result().decode(), flush=True)


def run_server(port: str, log: str, behaviour: str) -> None:
    """Serves; appends each request to a file before it answers, or never answers."""

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        with Path(log).open("ab") as file:
            file.write(request + b"\n")
        if behaviour == "hang":
            threading.Event().wait()
        return request + b" by %d" % os.getpid()

    target = Target(answer=answer, port=int(port)).start()
    print(target.port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "client":
        run_client(*sys.argv[2:])
    else:
        run_server(*sys.argv[2:])
