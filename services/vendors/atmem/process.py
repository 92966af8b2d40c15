"""Puts the adapter's process together out of the environment (compose/compose.yaml sets it)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import grpc
import structlog

from memqual.v1 import continuity_pb2_grpc, memory_pb2_grpc, vendor_pb2_grpc
from services.common import server
from services.common.challenges import KeyFileError, load_public_keys
from services.common.settings import SettingsError, data_dir, env, env_int, env_or_none
from services.vendors.atmem.continuity import ContinuityServicer
from services.vendors.atmem.describe import NAME, describe
from services.vendors.atmem.household import Household
from services.vendors.atmem.memory import MemoryServicer
from services.vendors.atmem.model import LEASE_SECONDS
from services.vendors.atmem.native import HAS_CONTINUITY, native_version
from services.vendors.atmem.opened import Households
from services.vendors.atmem.record_model import ReviewerAuthority
from services.vendors.atmem.reviews import Desk
from services.vendors.atmem.vaults import Vaults
from services.vendors.atmem.vendor import VendorServicer
from services.vendors.atmem.workflows import Workflows

__all__ = ["registrars", "run"]

SERVICE_NAMES: Final = (
    "memqual.v1.VendorService",
    "memqual.v1.MemoryService",
    *(("memqual.v1.ContinuityService",) if HAS_CONTINUITY else ()),
)
DEFAULT_LISTEN: Final = "0.0.0.0:7000"
LEASE_SECONDS_MAX: Final = 86_400

_log = structlog.get_logger(__name__)


def registrars(data_folder: Path, keys_path: Path | None) -> tuple[server.Registrar, ...]:
    """Adds every service that the installed atmem can serve to a server.

    Raises:
        SettingsError: the file of reviewers' keys cannot be used.
    """
    try:
        desk = Desk(load_public_keys(keys_path))
    except KeyFileError as error:
        raise SettingsError(f"MEMQUAL_REVIEWER_KEYS: {error}") from error
    vaults = Vaults(data_folder)
    continuity = ContinuityServicer(vaults, Workflows)
    memory = MemoryServicer(Households(vaults, _household), desk)
    description = describe(native_version(), continuity=HAS_CONTINUITY)
    vendor = VendorServicer(vaults, Workflows, description, continuity.forget)

    def register(grpc_server: grpc.Server) -> None:
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(vendor, grpc_server)
        if HAS_CONTINUITY:
            continuity_pb2_grpc.add_ContinuityServiceServicer_to_server(continuity, grpc_server)
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(memory, grpc_server)

    return (register,)


def run() -> None:
    """Serves atmem until SIGTERM, with everything from the environment.

    Raises:
        SettingsError: a variable or the file of keys cannot be used.
    """
    asked = env_int("MEMQUAL_LEASE_SECONDS", LEASE_SECONDS, minimum=1, maximum=LEASE_SECONDS_MAX)
    if HAS_CONTINUITY and asked != LEASE_SECONDS:
        _log.warning("lease_is_fixed", asked_seconds=asked, lease_seconds=LEASE_SECONDS)
    keys = env_or_none("MEMQUAL_REVIEWER_KEYS")
    server.serve(
        name=NAME,
        listen=env("MEMQUAL_LISTEN", DEFAULT_LISTEN),
        registrars=registrars(data_dir(), None if keys is None else Path(keys)),
        service_names=SERVICE_NAMES,
    )


def _household(path: Path, reviewers: Sequence[ReviewerAuthority]) -> Household:
    return Household(path, reviewers)
