"""Households of the namespaces, opened for one block; atmem's refusals leave it as statuses."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import grpc

from services.common.errors import ServiceError
from services.vendors.atmem.model import NativeRefusal
from services.vendors.atmem.record_model import HouseholdPort, ReviewerAuthority
from services.vendors.atmem.refusals import service_error
from services.vendors.atmem.vaults import Vaults

__all__ = ["Households", "OpenHousehold", "Opened"]

OpenHousehold = Callable[[Path, Sequence[ReviewerAuthority]], HouseholdPort]


class Opened:
    """A household that is open for one block."""

    def __init__(self, household: HouseholdPort) -> None:
        """Takes a household that is not open yet."""
        self._household = household

    def __enter__(self) -> HouseholdPort:
        """Opens it; raises ServiceError."""
        try:
            return self._household.__enter__()
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        """Closes it; raises ServiceError for a refusal, of closing or of the block."""
        try:
            self._household.__exit__(kind, error, trace)
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal
        if isinstance(error, NativeRefusal):
            raise service_error(error) from error


class Households:
    """Opens the household of a namespace; the caller holds the namespace's lock."""

    def __init__(self, vaults: Vaults, open_household: OpenHousehold) -> None:
        """Opens the files of these vaults in this way."""
        self._vaults = vaults
        self._open = open_household

    def lock(self, namespace: str) -> threading.RLock:
        """The lock that every call on a namespace holds."""
        return self._vaults.lock(namespace)

    def exists(self, namespace: str) -> bool:
        """Whether anything was ever written."""
        return self._vaults.household(namespace).exists()

    def known(self, namespace: str, trusted: Sequence[ReviewerAuthority] = ()) -> Opened:
        """The household that is there, with the reviewers that it is to trust.

        Raises:
            ServiceError: NOT_FOUND: there is none, so there is no record in it.
        """
        if not self.exists(namespace):
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no such record")
        return Opened(self._open(self._vaults.household(namespace), trusted))

    def made(self, namespace: str) -> Opened:
        """The household, which is made on first sight."""
        path = self._vaults.household(namespace)
        path.parent.mkdir(parents=True, exist_ok=True)
        return Opened(self._open(path, ()))

    def reviews(self, namespace: str) -> Path:
        """Folder of open challenges; it may not exist yet."""
        return self._vaults.reviews(namespace)
