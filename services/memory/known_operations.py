"""The continuity part's rows as the records part may read them (`records.receipts`)."""

import sqlite3
from dataclasses import replace

from services.memory import store
from services.memory.records.model import Scope
from services.memory.records.receipts import KnownOperation

__all__ = ["OwnOperations"]

_HAS_OPERATIONS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'operations'"


class OwnOperations:
    """Reads operations of the same database file; a file without any knows none."""

    def find(
        self, conn: sqlite3.Connection, scope: Scope, operation_id: str
    ) -> KnownOperation | None:
        """The operation, if it is one of this namespace and principal."""
        if not operation_id or conn.execute(_HAS_OPERATIONS).fetchone() is None:
            return None
        stored = store.load(conn, operation_id)
        if stored is None:
            return None
        operation = stored.operation
        binding = operation.binding
        if (binding.namespace, binding.principal) != (scope.namespace, scope.principal):
            return None
        known = KnownOperation(
            operation_id=operation_id,
            workflow_id=binding.workflow_id,
            tool=binding.tool,
            destination=binding.destination,
            arguments_digest=binding.arguments_digest,
        )
        receipt = operation.receipt
        if receipt is None:
            return known
        return replace(
            known,
            complete=True,
            result_digest=receipt.result_digest,
            effect_id=receipt.effect_id,
            outcome=receipt.outcome.value,
        )
