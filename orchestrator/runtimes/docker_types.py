"""What the container engine is asked for and what it answers, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ContainerOptions", "ContainerState", "ImageFacts", "Labelled"]


@dataclass(frozen=True)
class ImageFacts:
    """What the engine knows of an image.

    Attributes:
        digest: Identity of its content, ``sha256:…``.
        architecture: Of the machines it runs on, as the engine names it, such as ``amd64``.
    """

    digest: str
    architecture: str


@dataclass(frozen=True)
class ContainerState:
    """One container at one moment; times in nanoseconds since 1970, 0 where there is none."""

    running: bool
    pid: int
    exit_code: int
    oom_killed: bool
    started_at_ns: int
    finished_at_ns: int
    error: str
    image_digest: str
    addresses: Mapping[str, str]
    ports: Mapping[int, int]


@dataclass(frozen=True)
class Labelled:
    """A container, network or volume with memqual's labels."""

    kind: str
    identity: str
    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class ContainerOptions:
    """What a container is made of; sizes in bytes, cpus in whole processors."""

    name: str
    image: str
    labels: Mapping[str, str]
    network: str
    aliases: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    entrypoint: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: tuple[str, ...] = ()
    tmpfs: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[int, str] = field(default_factory=dict)
    read_only: bool = True
    cap_drop: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()
    dns: tuple[str, ...] = ()
    dns_opt: tuple[str, ...] = ()
    pids_limit: int | None = None
    mem_limit_bytes: int | None = None
    memswap_limit_bytes: int | None = None
    cpus: float | None = None
    log_driver: str | None = None
    log_options: Mapping[str, str] = field(default_factory=dict)
