"""One namespace's continuity vault: atmem's ContinuityService over its encrypted evidence."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from services.common.canonical import JsonObject, JsonValue
from services.vendors.atmem import native
from services.vendors.atmem.definitions import CALL_NAME
from services.vendors.atmem.model import (
    NativeAttempt,
    NativeBegin,
    NativeOperation,
    NativeOutcome,
    OperationStatus,
)

__all__ = ["Workflows"]

# One deployment, one credential: atmem gives an application a coordinator's credential for one
# workspace. Receipts of the contract name neither principal nor workflow, so the credential cannot
# vary with them; both are bound as arguments.
_SCOPE: Final = ("memqual", "deployment", "governed-calls")
_COORDINATOR_ID: Final = "agent-host"
_READER_ID: Final = "evaluator"
_VAULT_ID: Final = "continuity"


class Workflows:
    """atmem's continuity service on one folder. Nothing is kept in RAM between two calls."""

    def __init__(self, folder: Path) -> None:
        """Opens the vault, and makes it on first sight.

        Raises:
            NativeRefusal: the folder cannot be used.
        """
        scope = native.EvidenceScope(*_SCOPE)
        self._coordinator = native.EvidencePrincipal(
            _COORDINATOR_ID, native.EvidenceRole.CONTINUITY_COORDINATOR, scope
        )
        self._reader = native.EvidencePrincipal(_READER_ID, native.EvidenceRole.INVESTIGATOR, scope)
        with native.native_call():
            self._evidence = native.EvidenceService(
                folder / "evidence", vault_id=_VAULT_ID, home_root=folder / "home"
            )
        # The wall clock, so that what moves it moves the leases.
        self._service = native.ContinuityService(self._evidence, clock=time.time)

    def create(self, workflow_key: str, definition: JsonObject) -> NativeOperation:
        """Makes the workflow of one governed call, or returns the one of this key."""
        with native.native_call():
            view = self._service.create(
                self._coordinator, workflow_key, [dict(definition)], activate=True
            )
        return _operation(view)

    def begin(self, workflow_id: str, run_id: str, attempt_id: str) -> NativeBegin:
        """Decides and grants."""
        with native.native_call():
            reply = self._service.begin(
                self._coordinator, workflow_id, CALL_NAME, run_id, attempt_id
            )
        return NativeBegin(
            action=str(reply["action"]),
            reason=str(reply["reason"]),
            lease_token=str(reply.get("lease_token", "")),
            lease_until_seconds=float(reply.get("lease_until", 0.0)),
            receipt=reply.get("receipt"),
        )

    def outcome(
        self,
        workflow_id: str,
        lease_token: str,
        receipt: JsonObject,
        *,
        run_id: str,
        attempt_id: str,
    ) -> NativeOutcome:
        """Takes a receipt."""
        with native.native_call():
            reply = self._service.outcome(
                self._coordinator,
                workflow_id,
                CALL_NAME,
                lease_token,
                dict(receipt),
                run_id=run_id,
                attempt_id=attempt_id,
            )
        return NativeOutcome(bool(reply["accepted"]), OperationStatus(reply["status"]))

    def renew(self, workflow_id: str, lease_token: str, *, run_id: str, attempt_id: str) -> float:
        """Extends a lease; returns its new end, seconds since the Unix epoch."""
        with native.native_call():
            reply = self._service.renew(
                self._coordinator,
                workflow_id,
                CALL_NAME,
                lease_token,
                run_id=run_id,
                attempt_id=attempt_id,
            )
        return float(reply["lease_until"])

    def get(self, workflow_id: str) -> NativeOperation:
        """Where a call stands. atmem notes each look in its own audit."""
        with native.native_call():
            return _operation(self._service.get(self._coordinator, workflow_id))

    def workflow_ids(self) -> Mapping[str, str]:
        """Ids of all workflows by their keys, oldest first."""
        with native.native_call():
            found = self._service.list(self._reader)
        return {str(one["workflow_key"]): str(one["workflow_id"]) for one in found}

    def documents(self) -> Iterator[Mapping[str, JsonValue]]:
        """Every sealed document of the vault, opened, in order."""
        with native.native_call():
            key = self._evidence.storage_key()
        with native.EncryptedEvidenceStore(self._evidence.vault_path, key) as store:
            yield from store.documents()


def _operation(view: Mapping[str, Any]) -> NativeOperation:
    call = view["operations"][0]
    first = call.get("first_dispatch")
    return NativeOperation(
        workflow_id=str(view["workflow_id"]),
        operation_id=str(call["operation_id"]),
        status=OperationStatus(call["status"]),
        definition=view["definitions"][0],
        lease_until_seconds=float(call.get("lease_until", 0.0)),
        first_dispatch_seconds=None if first is None else float(first),
        clock_high_water_seconds=float(view.get("clock_high_water", 0.0)),
        attempts=tuple(
            NativeAttempt(
                attempt_id=str(one["attempt_id"]),
                run_id=str(one["run_id"]),
                mode=str(one["mode"]),
                started_seconds=float(one["started"]),
                renewals=int(one.get("renewals", 0)),
            )
            for one in call["attempts"]
        ),
        receipt=call["receipt"],
    )
