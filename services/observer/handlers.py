"""The gRPC handlers of the observer."""

from collections.abc import Iterator

import grpc

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.errors import ServiceError
from services.observer.allowlist import check_request
from services.observer.senders import Senders
from services.observer.store import EventStore

__all__ = ["AuditHandlers", "ObserverHandlers"]


class ObserverHandlers(observer_pb2_grpc.ObserverServiceServicer):
    """What emitters call."""

    def __init__(self, store: EventStore, senders: Senders) -> None:
        self._store = store
        self._senders = senders

    def Emit(
        self, request: observer_pb2.EmitRequest, context: grpc.ServicerContext
    ) -> observer_pb2.EmitResponse:
        """Takes events, all or none."""
        try:
            source = self._senders.check(context)
            check_request(request)
            self._store.add(request.events, source)
        except ServiceError:
            self._store.count_refused(len(request.events))
            raise
        return observer_pb2.EmitResponse()


class AuditHandlers(observer_pb2_grpc.ObserverAuditServiceServicer):
    """What the evaluator calls."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def ReadEvents(
        self, request: observer_pb2.ReadEventsRequest, context: grpc.ServicerContext
    ) -> Iterator[observer_pb2.ReadEventsResponse]:
        """Streams the journal."""
        for record in self._store.journal(request.from_sequence):
            yield observer_pb2.ReadEventsResponse(record=record.to_proto())

    def ReadCounters(
        self, request: observer_pb2.ReadCountersRequest, context: grpc.ServicerContext
    ) -> observer_pb2.ReadCountersResponse:
        """The counters."""
        counters = self._store.counters()
        return observer_pb2.ReadCountersResponse(
            accepted=counters.accepted,
            duplicates=counters.duplicates,
            refused=counters.refused,
        )
