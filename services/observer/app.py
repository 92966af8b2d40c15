"""Puts the observer together."""

from pathlib import Path

import grpc

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common import logging, server, settings
from services.observer.handlers import AuditHandlers, ObserverHandlers
from services.observer.senders import Senders
from services.observer.store import EVENTS_MAX, EventStore

__all__ = ["AUDIT_SERVICE_NAME", "SERVICE_NAME", "Observer", "main"]

NAME = "observer"
DATABASE_FILE = "observer.db"
SERVICE_NAME = observer_pb2.DESCRIPTOR.services_by_name["ObserverService"].full_name
AUDIT_SERVICE_NAME = observer_pb2.DESCRIPTOR.services_by_name["ObserverAuditService"].full_name


class Observer:
    """An observer on one data folder, ready to be registered with a server."""

    def __init__(
        self, data_dir: Path, *, events_max: int = EVENTS_MAX, senders: Senders | None = None
    ) -> None:
        """Opens the store.

        Args:
            data_dir: the folder, which exists.
            events_max: events that are kept at most.
            senders: who may send; None: whoever reaches the port.

        Raises:
            DatabaseError: the store is damaged, or the folder cannot be used.
        """
        self._store = EventStore(data_dir / DATABASE_FILE, events_max=events_max)
        self._handlers = ObserverHandlers(self._store, senders or Senders({}))
        self._audit_handlers = AuditHandlers(self._store)

    def register(self, to: grpc.Server) -> None:
        """Adds ObserverService."""
        observer_pb2_grpc.add_ObserverServiceServicer_to_server(self._handlers, to)

    def register_audit(self, to: grpc.Server) -> None:
        """Adds ObserverAuditService."""
        observer_pb2_grpc.add_ObserverAuditServiceServicer_to_server(self._audit_handlers, to)

    def close(self) -> None:
        """Closes the store."""
        self._store.close()


def main() -> None:
    """Runs the observer until it is told to stop."""
    logging.configure(NAME)
    observer = Observer(settings.data_dir(), senders=Senders.from_environment())
    server.serve(
        name=NAME,
        listen=settings.env("MEMQUAL_LISTEN"),
        registrars=[observer.register],
        service_names=[SERVICE_NAME],
        audit_listen=settings.env("MEMQUAL_AUDIT_LISTEN"),
        audit_registrars=[observer.register_audit],
        audit_service_names=[AUDIT_SERVICE_NAME],
        on_stop=observer.close,
    )
