"""vendor.yaml: what a memory vendor hands over, and nothing that would let them in further.

A vendor.yaml names an image (or a program of this machine), its port, its environment and its
limits. What confines the memory (networks, capabilities, read-only root) stays with compose.yaml
and cannot be named here. Unknown keys are errors: a misspelt key that is ignored would qualify
something else than the vendor meant.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from memqual.v1 import vendor_pb2
from orchestrator.errors import VendorConfigError
from orchestrator.runtimes.compose_schema import parse_size_bytes
from orchestrator.runtimes.interpolation import InterpolationError, interpolate
from orchestrator.runtimes.yamlmodel import validate
from orchestrator.runtimes.yamltext import YamlProblem, load_yaml

__all__ = [
    "CAPABILITY_NAMES",
    "VENDOR_VARIABLES",
    "LeaseMode",
    "VendorConfig",
    "VendorLease",
    "VendorProcess",
    "VendorResources",
    "load_vendor",
    "vendor_for_image",
]

# Names of the contract's capabilities as vendor.yaml writes them.
CAPABILITY_NAMES = tuple(
    name.removeprefix("CAPABILITY_").lower()
    for name, number in vendor_pb2.Capability.items()
    if number != vendor_pb2.CAPABILITY_UNSPECIFIED
)

# What ${…} in a vendor's environment may name: settings of the run that a memory may want under a
# name of its own.
VENDOR_VARIABLES = ("MEMQUAL_LEASE_SECONDS", "MEMQUAL_RUN")

_IMAGE = re.compile(r"[a-z0-9]+(?:[._/:@-]+[A-Za-z0-9]+)*")
# Paths of every service that hold something else already.
_TAKEN_PATHS = ("/run/memqual", "/tmp", "/proc", "/sys", "/dev")
_RESERVED = ("MEMQUAL_", "LD_PRELOAD", "FAKETIME")


class LeaseMode(StrEnum):
    """How a lease's end is reached (DESIGN §5); `auto`: `skewed` where the preflight allows."""

    AUTO = "auto"
    SKEWED = "skewed"
    CONFIGURED = "configured"
    REAL = "real"


class _Vendor(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VendorLease(_Vendor):
    """The memory's lease.

    Attributes:
        mode: How its end is reached.
        seconds: Length that the memory is asked for (MEMQUAL_LEASE_SECONDS), or that a fixed one
            has.
    """

    mode: LeaseMode = LeaseMode.AUTO
    seconds: int = Field(default=120, ge=1, le=86_400)


class VendorProcess(_Vendor):
    """The memory as a local process: a Python module, or a program.

    Attributes:
        module: Module for the interpreter that runs memqual; its folder may be that of the
            vendor.yaml.
        command: Program and first arguments; a path with a slash counts from the folder of the
            vendor.yaml.
        args: What follows. ``memory:<port>`` and the volume's path become this machine's address
            and folder, in args and environment alike.
    """

    module: str | None = Field(default=None, pattern=r"^[A-Za-z_][\w.]*$")
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_way(self) -> VendorProcess:
        if (self.module is None) == (not self.command):
            raise ValueError("name either a module or a command")
        return self


class VendorResources(_Vendor):
    """Limits of the memory's container, where the default of compose.yaml does not suffice.

    Attributes:
        memory: Bytes of RAM (``512m``, ``2g``, or a number); swap is never added.
        cpus: Processors; all that the engine has where it has fewer.
        pids: Processes and threads.
    """

    memory: int | None = Field(default=None, ge=64 << 20, le=64 << 30)
    cpus: float | None = Field(default=None, gt=0, le=64)
    pids: int | None = Field(default=None, ge=16, le=16_384)

    @field_validator("memory", mode="before")
    @classmethod
    def _bytes(cls, value: object) -> int | None:
        return None if value is None else parse_size_bytes(value)


class _VendorFile(_Vendor):
    """The keys of a vendor.yaml."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}$")
    image: str | None = None
    recipe: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.-]*$")
    command: tuple[str, ...] | None = None
    process: VendorProcess | None = None
    port: int = Field(default=7000, ge=1, le=65_535)
    environment: dict[str, str] = {}
    second_environment: dict[str, str] = {}
    volume: str = Field(default="/data", pattern=r"^/[^:]*[^/:]$")
    lease: VendorLease = VendorLease()
    capabilities: tuple[str, ...] | None = None
    resources: VendorResources = VendorResources()

    @field_validator("image")
    @classmethod
    def _image_reference(cls, value: str | None) -> str | None:
        if value is not None and not _IMAGE.fullmatch(value):
            raise ValueError(f"{value!r} is no image; write name:tag")
        return value

    @field_validator("environment", "second_environment", mode="before")
    @classmethod
    def _numbers_are_text(cls, value: object) -> object:
        if isinstance(value, dict):
            return {
                key: str(item) if type(item) in (int, float) else item
                for key, item in value.items()
            }
        return value

    @field_validator("environment", "second_environment")
    @classmethod
    def _environment_is_free(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if name.startswith(_RESERVED):
                raise ValueError(f"{name} is set by memqual; a vendor.yaml cannot")
            try:
                interpolate(text, dict.fromkeys(VENDOR_VARIABLES, "1"))
            except InterpolationError as error:
                known = ", ".join(VENDOR_VARIABLES)
                raise ValueError(f"{error}; what can be named: {known}") from error
        return value

    @field_validator("volume")
    @classmethod
    def _volume_is_free(cls, value: str) -> str:
        if any(value == taken or value.startswith(f"{taken}/") for taken in _TAKEN_PATHS):
            raise ValueError(f"{value!r} is taken; there are mounts at {', '.join(_TAKEN_PATHS)}")
        return value

    @field_validator("capabilities")
    @classmethod
    def _capabilities_exist(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        unknown = [name for name in value or () if name not in CAPABILITY_NAMES]
        if unknown:
            raise ValueError(
                f"no capability {unknown[0]!r}; there are: {', '.join(CAPABILITY_NAMES)}"
            )
        return value

    @model_validator(mode="after")
    def _one_memory(self) -> _VendorFile:
        if self.image is not None and self.recipe is not None:
            raise ValueError("name either an image or a recipe, not both")
        if self.image is None and self.recipe is None and self.process is None:
            raise ValueError("name an image, a recipe or a process")
        return self


class VendorConfig(_VendorFile):
    """One memory under test, as its vendor describes it.

    Attributes:
        name: Name for people.
        image: ``name:tag`` in the container engine.
        recipe: In place of an image: a folder of compose/images, which memqual builds itself.
        command: Arguments of the image's entry point, if its own do not suit.
        process: How to start it without a container; the process runtime needs it.
        port: Port that it listens on; MEMQUAL_LISTEN tells it.
        environment: Further variables; ``${MEMQUAL_LEASE_SECONDS}`` and ``${MEMQUAL_RUN}`` may
            stand in values.
        volume: Path of its data folder, its only place to write beside /tmp; MEMQUAL_DATA_DIR tells
            it.
        second_environment: Variables of a second configuration, on top of the first: what one of
            them was told, the other must answer (ATANT's model independence).
        lease: Length of a lease and how its end is reached.
        capabilities: What it claims, checked against its Describe; None leaves the claim to
            Describe.
        resources: Limits.
        folder: Folder of the vendor.yaml, for relative paths; None without a file.
    """

    folder: Path | None = None

    def environment_for(self, *, run_id: str, lease_seconds: int) -> dict[str, str]:
        """The environment with its ``${…}`` filled in."""
        return _filled(self.environment, run_id=run_id, lease_seconds=lease_seconds)

    def second_for(self, *, run_id: str, lease_seconds: int) -> dict[str, str]:
        """The second configuration's variables, filled in likewise."""
        return _filled(self.second_environment, run_id=run_id, lease_seconds=lease_seconds)


def _filled(environment: dict[str, str], *, run_id: str, lease_seconds: int) -> dict[str, str]:
    values = {"MEMQUAL_LEASE_SECONDS": str(lease_seconds), "MEMQUAL_RUN": run_id}
    return {name: interpolate(text, values) for name, text in environment.items()}


def load_vendor(path: Path) -> VendorConfig:
    """Reads a vendor.yaml.

    Raises:
        VendorConfigError: it cannot be read, is no YAML, has an unknown key, or a value that cannot
            be; the diagnosis names the line, the key and, for a misspelt one, the nearest valid
            key.
    """
    try:
        document = load_yaml(path)
    except OSError as error:
        raise VendorConfigError(
            f"{path} cannot be read: {error.strerror or error}.",
            next_step="Give the path of a vendor.yaml: VENDOR=path/to/vendor.yaml.",
        ) from error
    except YamlProblem as error:
        raise _problem(path, error.line, error.message) from error
    found = validate(_VendorFile, document, lambda line, text: _problem(path, line, text))
    return VendorConfig(**dict(found), folder=path.resolve().parent)


def vendor_for_image(name_tag: str) -> VendorConfig:
    """A memory of which only the image is known (MEMORY_IMAGE=name:tag); the rest is default.

    Raises:
        VendorConfigError: that is no reference of an image.
    """
    if not _IMAGE.fullmatch(name_tag):
        raise VendorConfigError(
            f"{name_tag!r} is no image.",
            next_step="Write MEMORY_IMAGE=name:tag, as `docker images` shows it.",
        )
    name = name_tag.partition("@")[0].rsplit("/", 1)[-1].partition(":")[0]
    return VendorConfig(name=name[:64], image=name_tag)


def _problem(path: Path, line: int, text: str) -> VendorConfigError:
    return VendorConfigError(
        f"{path} line {line}: {text}.",
        next_step="Correct the file; compose/vendors/example.yaml explains every key.",
    )
