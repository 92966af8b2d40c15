"""A process tells where its code is from, where it was asked to."""

from pathlib import Path

import grpc
import pytest

from memqual.v1 import origin_pb2, origin_pb2_grpc
from services.common import origin
from services.common.channels import open_channel
from services.common.server import start

DEADLINE_SECONDS = 5.0


def ask(port: int) -> origin_pb2.ReadOriginResponse | grpc.StatusCode:
    with open_channel(f"127.0.0.1:{port}") as channel:
        stub = origin_pb2_grpc.OriginServiceStub(channel)
        try:
            return stub.ReadOrigin(origin_pb2.ReadOriginRequest(), timeout=DEADLINE_SECONDS)
        except grpc.RpcError as error:
            return error.code()


def test_files_and_the_testbed_that_can_be_found_are_told() -> None:
    told = origin.read_origin()
    files = {module.name: module.file for module in told.modules}
    assert files["services.common.origin"] == origin.__file__
    # In the checkout the testbed stands beside the services.
    places = {module.name: Path(module.file) for module in told.present}
    assert places["orchestrator"].parent.name == "orchestrator"
    assert "orchestrator" not in told.absent
    assert told.working_folder == str(Path.cwd())


def test_only_the_audit_port_tells_and_only_when_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(origin.TELL_VARIABLE, "1")
    running = start(
        listen="127.0.0.1:0", registrars=[], service_names=[], audit_listen="127.0.0.1:0"
    )
    assert ask(running.port) == grpc.StatusCode.UNIMPLEMENTED
    assert isinstance(ask(running.audit_port), origin_pb2.ReadOriginResponse)
    running.stop()


def test_a_service_without_an_audit_port_tells_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(origin.TELL_VARIABLE, "1")
    running = start(listen="127.0.0.1:0", registrars=[], service_names=[])
    assert isinstance(ask(running.port), origin_pb2.ReadOriginResponse)
    running.stop()


def test_nothing_is_served_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(origin.TELL_VARIABLE, raising=False)
    running = start(listen="127.0.0.1:0", registrars=[], service_names=[])
    assert ask(running.port) == grpc.StatusCode.UNIMPLEMENTED
    running.stop()
