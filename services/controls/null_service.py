"""The memory that answers everything at once, with nothing: OK and an empty message.

Vendor stays the reference's own: what `null` declares, no cell may excuse.
"""

from collections.abc import Sequence

import grpc

from services.common.server import Registrar

__all__ = ["EMPTY_SERVICES", "answer_empty"]

EMPTY_SERVICES = ("ContinuityService", "MemoryService", "NarrativeService")
PREFIXES = tuple(f"/memqual.v1.{name}/" for name in EMPTY_SERVICES)


class _EmptyAnswers(grpc.GenericRpcHandler):
    """Serves every method of the services, unary as they all are, without reading the request."""

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        """A handler for methods of the empty services; None leaves the call to others."""
        if not str(handler_call_details.method).startswith(PREFIXES):
            return None
        return grpc.unary_unary_rpc_method_handler(_answer)


def _answer(request: bytes, context: grpc.ServicerContext) -> bytes:
    return b""


def answer_empty(reference: Sequence[Registrar]) -> Sequence[Registrar]:
    """Serves empty answers in place of the reference's own services."""

    def register(server: grpc.Server) -> None:
        server.add_generic_rpc_handlers((_EmptyAnswers(),))

    return (register,)
