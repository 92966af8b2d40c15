"""Serves methods over real gRPC, records every call with its metadata, holds and fails them."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message


@dataclass(frozen=True)
class Call:
    """One call as it arrived."""

    method: str
    request: Message
    metadata: dict[str, str]


class StatusError(Exception):
    """What a switch raises to answer with a status."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code.name)
        self.code = code


class Recorder:
    """Serves some methods, records their calls, and lets a test step in before or after."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.calls: list[Call] = []
        self.before: dict[str, deque[grpc.StatusCode]] = defaultdict(deque)
        self.after: dict[str, deque[grpc.StatusCode]] = defaultdict(deque)
        self.held: dict[str, Hold] = {}
        self.changed = threading.Condition(self.lock)

    def of(self, method: str) -> list[Call]:
        """Calls of one method, in order."""
        with self.lock:
            return [call for call in self.calls if call.method == method]

    def hold(self, method: str, *, before: bool) -> "Hold":
        """Keeps calls of a method, before or after their work, until the hold is released."""
        hold = Hold(self, _key(method, before=before))
        with self.lock:
            self.held[hold.key] = hold
        return hold

    def handler(
        self,
        method: str,
        work: Callable[[Message], Message],
        request_type: type[Message],
    ) -> "grpc.RpcMethodHandler[Message, Message]":
        """A handler with recording, switches and holds around the work."""

        def handle(request: Message, context: grpc.ServicerContext) -> Message:
            metadata = {
                key: value
                for key, value in context.invocation_metadata()
                if key.startswith("memqual-") and isinstance(value, str)
            }
            with self.lock:
                self.calls.append(Call(method, request, metadata))
            try:
                self._pass("before", method)
                response = work(request)
                self._pass("after", method)
            except StatusError as error:
                context.abort(error.code, "as the test wants")
            return response

        return grpc.unary_unary_rpc_method_handler(
            handle,
            request_deserializer=request_type.FromString,
            response_serializer=lambda response: response.SerializeToString(),
        )

    def _pass(self, side: str, method: str) -> None:
        with self.changed:
            hold = self.held.get(f"{side} {method}")
            if hold is not None:
                hold.standing += 1
                self.changed.notify_all()
        if hold is not None:
            hold.wait()
        with self.lock:
            switches = (self.before if side == "before" else self.after)[method]
            if switches:
                raise StatusError(switches.popleft())


class Hold:
    """Calls that stand still at one place."""

    def __init__(self, recorder: Recorder, key: str) -> None:
        self.key = key
        self.standing = 0
        self._recorder = recorder
        self._released = threading.Event()
        self._dropped = False

    def await_standing(self, count: int) -> None:
        """Waits until so many calls stand here."""
        with self._recorder.changed:
            assert self._recorder.changed.wait_for(lambda: self.standing >= count, 30), self.key

    def release(self, *, drop: bool = False) -> None:
        """Lets the calls that stand here go on, or drops them; holds no other."""
        with self._recorder.lock:
            self._recorder.held.pop(self.key, None)
            self._dropped = drop
        self._released.set()

    def wait(self) -> None:
        """Stands still; raises StatusError when dropped."""
        self._released.wait(60)
        if self._dropped:
            raise StatusError(grpc.StatusCode.UNAVAILABLE)


def _key(method: str, *, before: bool) -> str:
    return f"{'before' if before else 'after'} {method}"
