"""Which handler serves a call: an edge's proxy, or on the control port whatever the token opens."""

import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, TypeAlias

import grpc
import grpc.aio

from chaos.interposer.config import ORCHESTRATOR, ListenerConfig
from chaos.interposer.methods import INTERPOSER_PREFIX, UNARY_METHODS
from chaos.interposer.proxy import Context, Proxy, Route
from chaos.interposer.streams import StreamProxy

__all__ = ["ControlHandlers", "EdgeHandlers", "Handler", "HandlerCollector"]

TOKEN_KEY = "memqual-token"
TARGET_KEY = "memqual-target"

# Quoted: generic for type checkers only.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Metadata = Sequence[tuple[str, str | bytes]]


class HandlerCollector:
    """Stands in for a server and keeps the handlers that generated code registers with it."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Ignores them: generated code registers the same handlers by name, too."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """Keeps the handlers under their full method names."""
        for name, handler in method_handlers.items():
            self.handlers[f"/{service_name}/{name}"] = handler


class _Carrying(grpc.GenericRpcHandler):
    """What the edges and the control port share."""

    def __init__(self, proxy: Proxy, streams: StreamProxy) -> None:
        self._proxy = proxy
        self._streams = streams

    def _carry(self, route: Route, method: str, metadata: Metadata) -> Handler:
        if method in UNARY_METHODS:

            async def unary(request: bytes, context: Context) -> bytes:
                return await self._proxy.unary(route, method, metadata, request, context)

            return grpc.unary_unary_rpc_method_handler(unary)

        async def stream(requests: AsyncIterator[bytes], context: Context) -> None:
            await self._streams.stream(route, method, metadata, requests, context)

        return grpc.stream_stream_rpc_method_handler(stream)


class EdgeHandlers(_Carrying):
    """Everything that comes in on one listener goes to its target."""

    def __init__(self, proxy: Proxy, streams: StreamProxy, listener: ListenerConfig) -> None:
        super().__init__(proxy, streams)
        self._routes = tuple(
            (token.encode(), Route(source, listener.source, listener.target))
            for token, source in listener.tokens.items()
        )
        self._open_route = Route(listener.source, listener.source, listener.target)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        """The handler for one call; refuses a call without one of the listener's tokens."""
        method, metadata = _details(handler_call_details)
        if not self._routes:
            return self._carry(self._open_route, method, metadata)
        token = _value(metadata, TOKEN_KEY).encode()
        for known, route in self._routes:
            if hmac.compare_digest(known, token):
                return self._carry(route, method, metadata)
        return _refusal(
            grpc.StatusCode.PERMISSION_DENIED,
            f"interposer: this listener wants the token of a caller in metadata {TOKEN_KEY}",
        )


class ControlHandlers(_Carrying):
    """The control port: the interposer's own services, and with memqual-target any target's."""

    def __init__(
        self,
        proxy: Proxy,
        streams: StreamProxy,
        token: str,
        own: Mapping[str, Handler],
        targets: Sequence[str],
    ) -> None:
        super().__init__(proxy, streams)
        self._token = token.encode()
        self._own = own
        self._routes = {name: Route(ORCHESTRATOR, ORCHESTRATOR, name) for name in targets}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler:
        """The handler for one call; nothing is told to a caller without the run's token."""
        method, metadata = _details(handler_call_details)
        if not hmac.compare_digest(self._token, _value(metadata, TOKEN_KEY).encode()):
            return _refusal(
                grpc.StatusCode.PERMISSION_DENIED,
                f"interposer: the control port wants the run's token in metadata {TOKEN_KEY}",
            )
        target = _value(metadata, TARGET_KEY)
        if method.startswith(INTERPOSER_PREFIX) or not target:
            return self._own.get(method) or _refusal(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"interposer: {method} is none of its own methods; name the target in metadata "
                f"{TARGET_KEY}",
            )
        route = self._routes.get(target)
        if route is None:
            return _refusal(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"interposer: no target {target!r}; there are {sorted(self._routes)}",
            )
        return self._carry(route, method, metadata)


def _details(details: grpc.HandlerCallDetails) -> tuple[str, Metadata]:
    return details.method, details.invocation_metadata or ()


def _value(metadata: Metadata, wanted: str) -> str:
    for key, value in metadata:
        if key == wanted and isinstance(value, str):
            return value
    return ""


def _refusal(code: grpc.StatusCode, details: str) -> Handler:
    async def refuse(requests: AsyncIterator[bytes], context: Context) -> None:
        await context.abort(code, details)

    return grpc.stream_stream_rpc_method_handler(refuse)
