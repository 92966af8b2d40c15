"""Waiting for health through a fake interposer."""

from collections.abc import Callable, Iterator
from concurrent import futures

import grpc
import pytest

from memqual.v1 import interposer_pb2
from orchestrator.errors import StackError
from orchestrator.runtimes import health
from orchestrator.runtimes.health import await_targets, targets_of
from orchestrator.runtimes.topology import Attachment, ServiceSpec

TOKEN = "token"


class _Interposer:
    def __init__(self) -> None:
        self.refreshed: list[tuple[str, int]] = []
        self.answer: Callable[[grpc.ServicerContext, str], None] = lambda context, target: None

    def refresh(
        self, request: interposer_pb2.RefreshRequest, context: grpc.ServicerContext
    ) -> interposer_pb2.RefreshResponse:
        if ("memqual-token", TOKEN) not in [tuple(pair) for pair in context.invocation_metadata()]:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "no token")
        self.answer(context, request.target)
        self.refreshed.append((request.target, request.timeout_ms))
        return interposer_pb2.RefreshResponse(healthy_after_ms=1)


@pytest.fixture
def interposer() -> Iterator[tuple[_Interposer, str]]:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    fake = _Interposer()
    handler = grpc.unary_unary_rpc_method_handler(
        fake.refresh,
        request_deserializer=interposer_pb2.RefreshRequest.FromString,
        response_serializer=interposer_pb2.RefreshResponse.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler(
        "memqual.v1.InterposerService", {"Refresh": handler}
    )
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield fake, f"127.0.0.1:{port}"
    server.stop(None).wait(5)


def _nothing_ended() -> None:
    pass


def test_every_target_is_refreshed(interposer: tuple[_Interposer, str]) -> None:
    fake, address = interposer
    await_targets(address, TOKEN, ["a", "b"], timeout_seconds=5, raise_if_ended=_nothing_ended)
    assert sorted(target for target, _ in fake.refreshed) == ["a", "b"]
    assert all(0 < timeout_ms <= 5000 for _, timeout_ms in fake.refreshed)


def test_a_target_that_is_not_healthy_in_time(interposer: tuple[_Interposer, str]) -> None:
    fake, address = interposer
    why = "b was not healthy within 5000 ms; UNAVAILABLE: connection refused"
    fake.answer = lambda context, target: (
        context.abort(grpc.StatusCode.UNAVAILABLE, why) if target == "b" else None
    )
    with pytest.raises(StackError, match="'b' did not become healthy within 5 s") as caught:
        await_targets(address, TOKEN, ["a", "b"], timeout_seconds=5, raise_if_ended=_nothing_ended)
    assert "connection refused" in caught.value.diagnosis
    assert "MEMQUAL_LISTEN" in caught.value.next_step


def test_a_service_that_ends_meanwhile_is_noticed_at_once(
    interposer: tuple[_Interposer, str],
) -> None:
    fake, address = interposer
    ended = StackError("it ended", next_step="look")

    def one_has_ended() -> None:
        raise ended

    fake.answer = lambda context, target: context.abort(grpc.StatusCode.UNAVAILABLE, "not healthy")
    with pytest.raises(StackError, match="it ended"):
        await_targets(address, TOKEN, ["a"], timeout_seconds=5, raise_if_ended=one_has_ended)


def test_another_programs_answer_on_its_port_is_known_by_its_end(
    interposer: tuple[_Interposer, str],
) -> None:
    fake, address = interposer
    looks = iter([None, None, StackError("another program has its port", next_step="again")])

    def ends_at_third_look() -> None:
        if (told := next(looks)) is not None:
            raise told

    fake.answer = lambda context, target: context.abort(
        grpc.StatusCode.UNIMPLEMENTED, "Method not found!"
    )
    with pytest.raises(StackError, match="another program has its port"):
        await_targets(address, TOKEN, ["a"], timeout_seconds=5, raise_if_ended=ends_at_third_look)


def test_one_that_lives_and_serves_no_health_is_told_as_that(
    interposer: tuple[_Interposer, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, address = interposer
    monkeypatch.setattr(health, "ENDS_WITHIN_SECONDS", 0.5)
    fake.answer = lambda context, target: context.abort(
        grpc.StatusCode.UNIMPLEMENTED, "Method not found!"
    )
    with pytest.raises(StackError, match=r"could not be asked for its health \(UNIMPLEMENTED\)"):
        await_targets(address, TOKEN, ["a"], timeout_seconds=5, raise_if_ended=_nothing_ended)


def test_a_wrong_token_is_not_the_targets_fault(interposer: tuple[_Interposer, str]) -> None:
    _, address = interposer
    with pytest.raises(StackError, match="could not be asked") as caught:
        await_targets(address, "other", ["a"], timeout_seconds=5, raise_if_ended=_nothing_ended)
    assert "PERMISSION_DENIED" in caught.value.diagnosis


def test_an_interposer_that_is_not_there() -> None:
    with pytest.raises(StackError, match=r"does not answer at 127\.0\.0\.1:1 within"):
        await_targets(
            "127.0.0.1:1", TOKEN, ["a"], timeout_seconds=0.1, raise_if_ended=_nothing_ended
        )


def test_an_audit_twin_is_a_target_of_its_own() -> None:
    networks = (Attachment("n"),)
    plain = ServiceSpec(name="memory", image="", process=None, networks=networks)
    audited = ServiceSpec(
        name="destination",
        image="",
        process=None,
        networks=networks,
        environment={"MEMQUAL_AUDIT_LISTEN": "destination:7001"},
    )
    assert targets_of(plain) == ("memory",)
    assert targets_of(audited) == ("destination", "destination-audit")
