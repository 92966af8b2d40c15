"""Puts the reference memory's process together from its parts, for itself and for the controls.

A control (services.controls) takes the same composition and replaces one part: the rules of
decisions, the rules of recordings, or how records are made.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from memqual.v1 import continuity_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from services.common import server
from services.common.challenges import KeyFileError, PublicKey, load_public_keys
from services.common.clock import wall_ns
from services.common.database import Database, DatabaseError
from services.common.settings import SettingsError, data_dir, env, env_int, env_or_none
from services.common.telemetry import Emitter
from services.memory.continuity_servicer import ContinuityServicer
from services.memory.decisions import DecisionRules
from services.memory.formats import Formats
from services.memory.model import DEFAULT_LEASE_SECONDS, Policy
from services.memory.narrative.part import create as create_narrative
from services.memory.operations import Operations
from services.memory.parts import NarrativePart, RecordsPart
from services.memory.recordings import RecordingRules
from services.memory.records.registrar import create as create_records
from services.memory.reporting import Reporter
from services.memory.resolutions import Resolutions
from services.memory.vendor_servicer import REFERENCE_NAME, VendorServicer, describe

__all__ = ["Composition", "MemoryProcess", "MemorySettings", "build", "run"]

DATABASE_FILE = "memory.db"
LEASE_SECONDS_MAX = 86_400
DEFAULT_LISTEN = "0.0.0.0:7000"
UNNAMED_RUN = "unnamed"
SERVICE_NAMES = (
    "memqual.v1.VendorService",
    "memqual.v1.ContinuityService",
)
RECORDS_SERVICE_NAME = "memqual.v1.MemoryService"
NARRATIVE_SERVICE_NAME = "memqual.v1.NarrativeService"

RecordsFactory = Callable[[Database, Path | None], RecordsPart]
NarrativeFactory = Callable[[Database], NarrativePart]


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What the environment sets.

    Attributes:
        database_path: the database file, on the service's own volume.
        lease_seconds: length of a lease (MEMQUAL_LEASE_SECONDS).
        reviewer_keys_path: JSON file of public keys, or None: nobody can decide.
        observer_address: where telemetry goes, or None for none.
        edge_token: sent with telemetry.
        run_id: id of the campaign, for telemetry.
    """

    database_path: Path
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    reviewer_keys_path: Path | None = None
    observer_address: str | None = None
    edge_token: str | None = None
    run_id: str = UNNAMED_RUN

    @classmethod
    def from_environment(cls) -> "MemorySettings":
        """Reads the variables of a memory; raises SettingsError."""
        keys = env_or_none("MEMQUAL_REVIEWER_KEYS")
        return cls(
            database_path=data_dir() / DATABASE_FILE,
            lease_seconds=env_int(
                "MEMQUAL_LEASE_SECONDS",
                DEFAULT_LEASE_SECONDS,
                minimum=1,
                maximum=LEASE_SECONDS_MAX,
            ),
            reviewer_keys_path=None if keys is None else Path(keys),
            observer_address=env_or_none("MEMQUAL_OBSERVER_ADDRESS"),
            edge_token=env_or_none("MEMQUAL_EDGE_TOKEN"),
            run_id=env("MEMQUAL_RUN", UNNAMED_RUN),
        )


def _as_it_is(described: vendor_pb2.DescribeResponse) -> vendor_pb2.DescribeResponse:
    return described


@dataclass(frozen=True, slots=True)
class Composition:
    """The parts that a memory is made of; the default is the reference.

    Attributes:
        name: product name in Describe.
        declared: what Describe answers, from what the parts say of themselves.
        decisions: makes the rules of Begin, Peek and Renew for a policy.
        recordings: the rules of RecordReceipt, RecordQuery and Resolve.
        resolutions: what issues challenges of operations and takes their answers.
        formats: how requests are read.
        records: makes the part that serves MemoryService, or None for no such part.
        narrative: makes the part that serves NarrativeService, or None for no such part.
        open_database: opens or creates the store at a path.
        read_clock_ns: the lease clock, nanoseconds since the Unix epoch; tests give another.
        reporter: makes what tells the observer of decisions and recordings, from an emitter and
            the run's id.
        replace_registrars: takes the registrars of Continuity, Memory and Narrative and gives what
            is served in their place.
    """

    name: str = REFERENCE_NAME
    declared: Callable[[vendor_pb2.DescribeResponse], vendor_pb2.DescribeResponse] = _as_it_is
    decisions: Callable[[Policy], DecisionRules] = DecisionRules
    recordings: RecordingRules = field(default_factory=RecordingRules)
    resolutions: type[Resolutions] = Resolutions
    formats: Formats = field(default_factory=Formats)
    records: RecordsFactory | None = create_records
    narrative: NarrativeFactory | None = create_narrative
    open_database: Callable[[Path], Database] = Database
    read_clock_ns: Callable[[], int] = wall_ns
    reporter: Callable[[Emitter, str], Reporter] = Reporter
    replace_registrars: Callable[[Sequence[server.Registrar]], Sequence[server.Registrar]] = tuple


@dataclass(frozen=True, slots=True)
class MemoryProcess:
    """A memory that is ready to be served.

    Attributes:
        registrars: add its services to a server.
        service_names: full names for health and reflection.
        close: ends telemetry and closes the store; call once, after the server has stopped.
    """

    registrars: tuple[server.Registrar, ...]
    service_names: tuple[str, ...]
    close: Callable[[], None]


def build(memory_settings: MemorySettings, composition: Composition) -> MemoryProcess:
    """Opens the store and composes the services.

    Raises:
        SettingsError: the store or the file of keys cannot be used.
    """
    keys = _keys(memory_settings.reviewer_keys_path)
    policy = Policy(lease_seconds=memory_settings.lease_seconds)
    try:
        database = composition.open_database(memory_settings.database_path)
        operations = Operations(
            database,
            composition.decisions(policy),
            composition.recordings,
            read_clock_ns=composition.read_clock_ns,
        )
        resolutions = composition.resolutions(
            database,
            composition.recordings,
            policy,
            keys,
            read_clock_ns=composition.read_clock_ns,
        )
        records = (
            None
            if composition.records is None
            else composition.records(database, memory_settings.reviewer_keys_path)
        )
        narrative = None if composition.narrative is None else composition.narrative(database)
    except DatabaseError as error:
        raise SettingsError(f"the store cannot be used: {error}") from error
    emitter = Emitter(memory_settings.observer_address, memory_settings.edge_token)
    reporter = composition.reporter(emitter, memory_settings.run_id)
    continuity = ContinuityServicer(operations, resolutions, reporter, composition.formats)
    vendor = VendorServicer(
        database,
        operations,
        records,
        narrative,
        composition.declared(describe(policy, records, narrative, composition.name)),
    )

    def register_vendor(grpc_server: grpc.Server) -> None:
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(vendor, grpc_server)

    def register_continuity(grpc_server: grpc.Server) -> None:
        continuity_pb2_grpc.add_ContinuityServiceServicer_to_server(continuity, grpc_server)

    def close() -> None:
        reporter.close()
        database.close()

    own: tuple[server.Registrar, ...] = (register_continuity,)
    names: tuple[str, ...] = SERVICE_NAMES
    if records is not None:
        own = (*own, records.registrar)
        names = (*names, RECORDS_SERVICE_NAME)
    if narrative is not None:
        own = (*own, narrative.registrar)
        names = (*names, NARRATIVE_SERVICE_NAME)
    return MemoryProcess((register_vendor, *composition.replace_registrars(own)), names, close)


def run(composition: Composition) -> None:
    """Serves a memory until SIGTERM, with everything from the environment.

    Raises:
        SettingsError: a variable, the store or the file of keys cannot be used.
    """
    memory_settings = MemorySettings.from_environment()
    listen = env("MEMQUAL_LISTEN", DEFAULT_LISTEN)
    process = build(memory_settings, composition)
    server.serve(
        name=composition.name,
        listen=listen,
        registrars=process.registrars,
        service_names=process.service_names,
        on_stop=process.close,
    )


def _keys(path: Path | None) -> dict[str, PublicKey]:
    try:
        return dict(load_public_keys(path))
    except KeyFileError as error:
        raise SettingsError(f"MEMQUAL_REVIEWER_KEYS: {error}") from error
