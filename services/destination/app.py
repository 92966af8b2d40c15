"""Puts the destination together."""

from collections.abc import Callable
from pathlib import Path

import grpc

from memqual.v1 import destination_pb2, destination_pb2_grpc
from services.common import logging, server, settings
from services.common.database import Database
from services.destination.engine import Engine, Step
from services.destination.handlers import AuditHandlers, DestinationHandlers
from services.destination.sent import SentRecorder
from services.destination.tools.base import Registry
from services.destination.tools.documents import Documents
from services.destination.tools.funds import Funds
from services.destination.tools.retail.generated import generated_base
from services.destination.tools.retail.module import Retail
from services.destination.tools.retail.store import load_base

__all__ = ["AUDIT_SERVICE_NAME", "SERVICE_NAME", "Destination", "main"]

NAME = "destination"
DATABASE_FILE = "destination.db"
SERVICE_NAME = destination_pb2.DESCRIPTOR.services_by_name["DestinationService"].full_name
AUDIT_SERVICE_NAME = destination_pb2.DESCRIPTOR.services_by_name[
    "DestinationAuditService"
].full_name


class Destination:
    """A destination on one data folder, ready to be registered with a server."""

    def __init__(
        self,
        data_dir: Path,
        *,
        name: str = NAME,
        retail_store: Path | None = None,
        on_step: Callable[[Step], None] | None = None,
    ) -> None:
        """Opens the store and finishes what a crash cut off.

        Args:
            data_dir: the folder, which exists.
            name: what DescribeTool calls this destination.
            retail_store: file with the retail tools' store; None: a generated one.
            on_step: see Engine.

        Raises:
            DatabaseError: the store or the files beside it are damaged.
            OSError, ValueError: the retail tools' store cannot be read, or is none.
        """
        self._database = Database(data_dir / DATABASE_FILE)
        retail = Retail(generated_base() if retail_store is None else load_base(retail_store))
        registry = Registry([Documents(data_dir), Funds(), retail])
        if on_step is None:
            engine = Engine(self._database, registry)
        else:
            engine = Engine(self._database, registry, on_step=on_step)
        self._sent = SentRecorder(engine)
        self._handlers = DestinationHandlers(name, engine, self._sent)
        self._audit_handlers = AuditHandlers(engine, self._sent, retail)

    def register(self, to: grpc.Server) -> None:
        """Adds DestinationService."""
        destination_pb2_grpc.add_DestinationServiceServicer_to_server(self._handlers, to)

    def register_audit(self, to: grpc.Server) -> None:
        """Adds DestinationAuditService."""
        destination_pb2_grpc.add_DestinationAuditServiceServicer_to_server(self._audit_handlers, to)

    def close(self) -> None:
        """Records what was sent and closes the store."""
        self._sent.close()
        self._database.close()


def main() -> None:
    """Runs the destination until it is told to stop."""
    logging.configure(NAME)
    store = settings.env_or_none("MEMQUAL_RETAIL_STORE")
    destination = Destination(
        settings.data_dir(),
        name=settings.env("MEMQUAL_SERVICE", NAME),
        retail_store=None if store is None else Path(store),
    )
    server.serve(
        name=NAME,
        listen=settings.env("MEMQUAL_LISTEN"),
        registrars=[destination.register],
        service_names=[SERVICE_NAME],
        audit_listen=settings.env("MEMQUAL_AUDIT_LISTEN"),
        audit_registrars=[destination.register_audit],
        audit_service_names=[AUDIT_SERVICE_NAME],
        on_stop=destination.close,
    )
