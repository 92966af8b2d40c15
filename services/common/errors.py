"""Errors that become gRPC statuses (DESIGN §4), and the interceptor that turns them.

    Exception
    ├── ServiceError          a status that the contract names, raised by a handler
    └── DatabaseError         services.common.database: UNAVAILABLE when it may pass, else INTERNAL

Anything else that leaves a handler is a defect: it is logged here and answered as INTERNAL with no
word of what was in the request.
"""

# types-grpcio makes RpcMethodHandler generic, grpcio does not: annotations must stay unevaluated.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, cast

import grpc
import structlog
from google.protobuf.message import DecodeError

from services.common.database import DatabaseError

__all__ = ["ErrorInterceptor", "ServiceError"]

OWN_METHODS_PREFIX = "/memqual."
INTERNAL_MESSAGE = "internal error; the service's log has it under this method's name"

_log = structlog.get_logger(__name__)


class ServiceError(Exception):
    """A refusal with the status that the contract names for it.

    Attributes:
        code: one of the statuses of DESIGN §4.
        message: diagnosis and next step for a person; never content of a request.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ErrorInterceptor(grpc.ServerInterceptor):
    """Turns what a handler of memqual's services raises into a status; leaves other services be."""

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Wraps unary-request handlers, which are all that memqual's services have."""
        handler = continuation(handler_call_details)
        method = str(handler_call_details.method)
        # Health and reflection mark their handlers with attributes that a wrapper would hide.
        if handler is None or not method.startswith(OWN_METHODS_PREFIX):
            return handler
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                _guard_unary(handler.unary_unary, method),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                _guard_stream(handler.unary_stream, method),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        return handler


class _Malformed:
    """Stands for a request whose bytes are no message of the method, or whose text is no UTF-8."""


_MALFORMED = _Malformed()


def _tolerant(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Hands a failure to read on to the handler; gRPC by itself would answer INTERNAL."""
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _MALFORMED

    return read


def _refuse_malformed(request: Any) -> None:
    if request is _MALFORMED:
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT,
            "the request cannot be read: send the method's own message, with text as UTF-8",
        )


def _guard_unary(
    handle: Callable[[Any, grpc.ServicerContext], Any], method: str
) -> Callable[[Any, grpc.ServicerContext], Any]:
    def guarded(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            _refuse_malformed(request)
            return handle(request, context)
        except Exception as error:
            _abort(error, context, method)

    return guarded


def _guard_stream(
    handle: Callable[[Any, grpc.ServicerContext], Iterator[Any]], method: str
) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
    def guarded(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            _refuse_malformed(request)
            yield from handle(request, context)
        except Exception as error:
            _abort(error, context, method)

    return guarded


def _abort(error: Exception, context: grpc.ServicerContext, method: str) -> NoReturn:
    if isinstance(error, ServiceError):
        context.abort(error.code, error.message)
    if isinstance(error, DatabaseError):
        _log.error("store_failed", method=method, cause=str(error), transient=error.transient)
        code = grpc.StatusCode.UNAVAILABLE if error.transient else grpc.StatusCode.INTERNAL
        context.abort(code, str(error))
    if cast("Any", context).code() is not None:  # types-grpcio lacks the method
        # The handler called context.abort itself, which raises a bare Exception.
        raise error
    _log.error("handler_failed", method=method, exc_info=error)
    context.abort(grpc.StatusCode.INTERNAL, INTERNAL_MESSAGE)
