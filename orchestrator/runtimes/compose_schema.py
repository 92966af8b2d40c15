"""The shape of the supported subset of compose, before it becomes a Topology.

Each model lists the keys of one level; `supported_keys` reads the list for people from the models,
so that the two cannot differ. Values keep compose's short forms; `parse_mount` and its neighbours
take them apart.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = [
    "ComposeFile",
    "ComposeService",
    "parse_mount",
    "parse_port",
    "parse_size_bytes",
    "parse_tmpfs",
    "supported_keys",
]

_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[bkmg]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_PORT = re.compile(r"(?P<ip>127\.0\.0\.1)::(?P<port>\d{1,5})")
_MOUNT = re.compile(r"(?P<source>(?:[A-Za-z]:[\\/])?[^:]+):(?P<target>/[^:]*)(?::(?P<mode>ro|rw))?")
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


def parse_size_bytes(value: object) -> int:
    """Bytes of ``64m``, ``1g`` or a whole number.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match["number"]) == 0:
        raise ValueError(f"{value!r} is no size; write 512m, 1g, or a number of bytes")
    return int(match["number"]) * _FACTORS[match["unit"].lower()]


def parse_mount(text: str) -> tuple[str, str, bool]:
    """Source, target, read-only of ``source:/target[:ro]``; a source may have a Windows drive.

    Raises:
        ValueError: it is written in another form.
    """
    match = _MOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no volume; write name:/target or name:/target:ro")
    if match["source"].startswith("."):
        raise ValueError(f"{text!r}: a relative folder is not supported; declare a volume")
    return match["source"], match["target"].rstrip("/") or "/", match["mode"] == "ro"


def parse_port(text: str) -> tuple[str, int]:
    """Host address and container port of ``127.0.0.1::7100``.

    Raises:
        ValueError: another form: only loopback, and only a number that the engine chooses.
    """
    match = _PORT.fullmatch(text)
    if match is None or not 0 < int(match["port"]) < 1 << 16:
        raise ValueError(f"{text!r} is not supported; write 127.0.0.1::<container port>")
    return match["ip"], int(match["port"])


def parse_tmpfs(text: str) -> tuple[str, str]:
    """Target and options of ``/tmp:size=64m``.

    Raises:
        ValueError: the target is no absolute path, or no size bounds it.
    """
    target, _, options = text.partition(":")
    if not target.startswith("/"):
        raise ValueError(f"{text!r} is no tmpfs; write /target:size=64m")
    if not any(option.startswith("size=") for option in options.split(",")):
        raise ValueError(f"{text!r} has no bound; write {target}:size=64m")
    return target, options


class _Compose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=False)


class ComposeProcess(_Compose):
    """x-memqual-process: the service as a local process."""

    module: str = Field(pattern=r"^[A-Za-z_][\w.]*$")
    args: list[str] = []


class ComposeAttachment(_Compose):
    """A service's names on one network."""

    aliases: list[str] = []


class ComposeLogging(_Compose):
    """Where the engine puts a container's output, and how much of it."""

    driver: str
    options: dict[str, str] = {}


class ComposeService(_Compose):
    """One service."""

    image: str
    process: ComposeProcess | None = Field(default=None, alias="x-memqual-process")
    command: list[str] | None = None
    environment: dict[str, str] = {}
    networks: dict[str, ComposeAttachment | None]
    ports: list[str] = []
    volumes: list[str] = []
    tmpfs: list[str] = []
    read_only: bool = False
    cap_drop: list[str] = []
    security_opt: list[str] = []
    dns: list[str] = []
    dns_opt: list[str] = []
    pids_limit: int | None = Field(default=None, ge=1, le=65536)
    mem_limit: int | None = None
    memswap_limit: int | None = None
    cpus: float | None = Field(default=None, gt=0, le=1024)
    logging: ComposeLogging | None = None

    @field_validator("networks", mode="before")
    @classmethod
    def _networks_by_name(cls, value: object) -> object:
        if isinstance(value, list):
            return dict.fromkeys(value)
        return value

    @field_validator("mem_limit", "memswap_limit", mode="before")
    @classmethod
    def _bytes(cls, value: object) -> int:
        return parse_size_bytes(value)

    @field_validator("ports")
    @classmethod
    def _ports_parse(cls, value: list[str]) -> list[str]:
        for text in value:
            parse_port(text)
        return value

    @field_validator("volumes")
    @classmethod
    def _volumes_parse(cls, value: list[str]) -> list[str]:
        targets = [parse_mount(text)[1] for text in value]
        if len(set(targets)) < len(targets):
            raise ValueError("two volumes have the same target")
        return value

    @field_validator("tmpfs")
    @classmethod
    def _tmpfs_parse(cls, value: list[str]) -> list[str]:
        for text in value:
            parse_tmpfs(text)
        return value


class ComposeNetwork(_Compose):
    """One network."""

    internal: bool = False
    driver_opts: dict[str, str] = {}


class ComposeVolume(_Compose):
    """One volume; nothing about it can be set."""


class ComposeFile(_Compose):
    """The whole file."""

    services: dict[str, ComposeService]
    networks: dict[str, ComposeNetwork | None]
    volumes: dict[str, ComposeVolume | None] = {}

    @field_validator("services", "networks", "volumes", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        if isinstance(value, Mapping):
            for name in value:
                if not _NAME.fullmatch(str(name)):
                    raise ValueError(f"{name!r} is no name; use lower-case letters, digits, . _ -")
        return value


def supported_keys() -> Mapping[str, tuple[str, ...]]:
    """Keys of every level: "" for the file, ``services.*`` for a service, and so on."""
    found: dict[str, tuple[str, ...]] = {}
    _collect(ComposeFile, "", found)
    return found


def _collect(model: type[BaseModel], prefix: str, found: dict[str, tuple[str, ...]]) -> None:
    found[prefix] = tuple(field.alias or name for name, field in model.model_fields.items())
    for name, field in model.model_fields.items():
        inner = _inner_model(field.annotation)
        if inner is not None:
            key = field.alias or name
            step = f"{key}.*" if typing.get_origin(field.annotation) is dict else key
            _collect(inner, f"{prefix}.{step}".lstrip("."), found)


def _inner_model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_inner_model, typing.get_args(annotation))), None)
