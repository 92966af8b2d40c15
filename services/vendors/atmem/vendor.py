"""VendorService: who atmem is here, this process's clocks, and all that a namespace holds."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import grpc

from memqual.v1 import vendor_pb2, vendor_pb2_grpc
from services.common import clock
from services.common.canonical import JsonValue, digest_hex
from services.common.errors import ServiceError
from services.common.limits import check_id
from services.vendors.atmem.continuity import OpenWorkflows
from services.vendors.atmem.surfaces import (
    Item,
    Plane,
    household_items,
    household_state,
    vault_items,
    vault_state,
)
from services.vendors.atmem.vaults import Vaults

__all__ = ["VendorServicer"]

_MESSAGE_BYTES: Final = 1024 * 1024
_PLANES: Final = {
    vendor_pb2.SURFACE_CANONICAL: Plane.CANONICAL,
    vendor_pb2.SURFACE_GRAPH: Plane.GRAPH,
    vendor_pb2.SURFACE_INDEX: Plane.INDEX,
    vendor_pb2.SURFACE_AUDIT: Plane.AUDIT,
}


class VendorServicer(vendor_pb2_grpc.VendorServiceServicer):
    """The contract's VendorService over the vaults of one process."""

    def __init__(
        self,
        vaults: Vaults,
        open_workflows: OpenWorkflows,
        description: vendor_pb2.DescribeResponse,
        on_reset: Callable[[str], None],
    ) -> None:
        """Serves these vaults under this description; `on_reset` is told of removed namespaces."""
        self._vaults = vaults
        self._open = open_workflows
        self._description = description
        self._on_reset = on_reset

    def Describe(
        self, request: vendor_pb2.DescribeRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.DescribeResponse:
        """Name, version, limits and declared capabilities."""
        return self._description

    def Now(
        self, request: vendor_pb2.NowRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.NowResponse:
        """This process's clocks: the wall clock is the one that atmem's leases run on."""
        return vendor_pb2.NowResponse(clock=clock.reading())

    def StateHash(
        self, request: vendor_pb2.StateHashRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.StateHashResponse:
        """Digest over operations and records of a namespace, without times and tokens."""
        namespace = check_id("namespace", request.namespace)
        with self._vaults.lock(namespace):
            state: dict[str, JsonValue] = {
                "operations": vault_state(self._documents(namespace)),
                "records": household_state(self._vaults.household(namespace)),
            }
        return vendor_pb2.StateHashResponse(digest=digest_hex(state))

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        """Streams everything that one scored surface of a namespace holds."""
        namespace = check_id("namespace", request.namespace)
        plane = _PLANES.get(request.surface)
        if plane is None:
            raise ServiceError(
                grpc.StatusCode.INVALID_ARGUMENT,
                "surface is none of the scored surfaces; ask for one that Describe names",
            )
        with self._vaults.lock(namespace):
            items = list(self._items(namespace, plane))
        for item_id, content in items:
            for start in range(0, max(len(content), 1), _MESSAGE_BYTES):
                yield vendor_pb2.ExportResponse(
                    item_id=item_id, content=content[start : start + _MESSAGE_BYTES]
                )

    def Reset(
        self, request: vendor_pb2.ResetRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.ResetResponse:
        """Removes the vault of a namespace."""
        namespace = check_id("namespace", request.namespace)
        with self._vaults.lock(namespace):
            self._vaults.reset(namespace)
            self._on_reset(namespace)
        return vendor_pb2.ResetResponse()

    def _items(self, namespace: str, plane: Plane) -> Iterator[Item]:
        yield from household_items(self._vaults.household(namespace), plane)
        yield from vault_items(self._documents(namespace), plane)

    def _documents(self, namespace: str) -> Iterator[Mapping[str, JsonValue]]:
        folder: Path = self._vaults.continuity(namespace)
        if folder.exists():
            yield from self._open(folder).documents()
