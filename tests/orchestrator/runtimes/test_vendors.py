"""vendor.yaml: what is taken, what is refused, and in which words."""

from pathlib import Path

import pytest

from orchestrator.errors import VendorConfigError
from orchestrator.runtimes.plan import COMPOSE_FILE
from orchestrator.vendors import (
    CAPABILITY_NAMES,
    LeaseMode,
    VendorConfig,
    VendorProcess,
    VendorResources,
    load_vendor,
    vendor_for_image,
)

FULL = """\
name: My memory 2
image: registry.example:5000/my/memory:2.0
command: [serve]
process:
  command: [./run.sh]
  args: [--listen, "memory:7000"]
port: 8080
environment:
  LEASE: ${MEMQUAL_LEASE_SECONDS}
  LEVEL: 3
volume: /var/lib/memory
lease:
  mode: configured
  seconds: 30
capabilities: [continuity, begin_replay]
resources:
  memory: 2g
  cpus: 1.5
  pids: 512
"""


def _load(tmp_path: Path, text: str) -> VendorConfig:
    path = tmp_path / "vendor.yaml"
    path.write_text(text, encoding="utf-8")
    return load_vendor(path)


def test_every_key_arrives(tmp_path: Path) -> None:
    vendor = _load(tmp_path, FULL)
    assert vendor.name == "My memory 2"
    assert vendor.image == "registry.example:5000/my/memory:2.0"
    assert vendor.command == ("serve",)
    assert vendor.process == VendorProcess(command=("./run.sh",), args=("--listen", "memory:7000"))
    assert (vendor.port, vendor.volume) == (8080, "/var/lib/memory")
    assert vendor.environment_for(run_id="r", lease_seconds=7) == {"LEASE": "7", "LEVEL": "3"}
    assert (vendor.lease.mode, vendor.lease.seconds) == (LeaseMode.CONFIGURED, 30)
    assert vendor.capabilities == ("continuity", "begin_replay")
    assert vendor.resources == VendorResources(memory=2 << 30, cpus=1.5, pids=512)
    assert vendor.folder == tmp_path.resolve()


def test_defaults(tmp_path: Path) -> None:
    vendor = _load(tmp_path, "name: x\nimage: x\n")
    assert (vendor.port, vendor.volume, vendor.environment) == (7000, "/data", {})
    assert (vendor.lease.mode, vendor.lease.seconds) == (LeaseMode.AUTO, 120)
    assert vendor.capabilities is None
    assert vendor.process is None


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("port: 8080", "prot: 8080", 7, "unknown key 'prot'; did you mean 'port'?"),
        ("  seconds: 30", "  second: 30", 14, "unknown key 'second' in lease; did you mean"),
        ("  pids: 512", "  gpu: 1", 19, "unknown key 'gpu' in resources; Valid keys: cpus, memory"),
        ("  args:", "  argv:", 6, "unknown key 'argv' in process; did you mean 'args'?"),
        ("name: My memory 2", "folder: /tmp", 1, "unknown key 'folder'"),
        ("port: 8080", "networks: [dest]", 7, "unknown key 'networks'"),
        ("port: 8080", "port: 70000", 7, "'port'"),
        ("port: 8080", "port: 8080\nport: 1", 8, "'port' stands twice"),
        ("mode: configured", "mode: fast", 13, "'mode' in lease"),
        ("begin_replay]", "begin_relpay]", 15, "no capability 'begin_relpay'"),
        ("memory: 2g", "memory: 2 parrots", 17, "is no size"),
        ("memory: 2g", "memory: 1k", 17, "'memory' in resources"),
        ("LEVEL: 3", "MEMQUAL_LISTEN: x", 8, "MEMQUAL_LISTEN is set by memqual"),
        ("LEVEL: 3", "LD_PRELOAD: x", 8, "LD_PRELOAD is set by memqual"),
        ("LEVEL: 3", "LEVEL: ${HOME}", 8, "HOME is not set; what can be named: MEMQUAL_LEASE"),
        ("/var/lib/memory", "/run/memqual/clock", 11, "is taken"),
        ("/var/lib/memory", "data", 11, "'volume'"),
        ("image: reg", "recipe: x\nimage: reg", 1, "either an image or a recipe"),
        ("  command: [./run.sh]", "  module: m\n  command: [x]", 4, "either a module or a command"),
        ("image: registry.example:5000/my/memory:2.0", "image: A B", 2, "is no image"),
    ],
)
def test_mistakes_name_file_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in FULL
    with pytest.raises(VendorConfigError) as caught:
        _load(tmp_path, FULL.replace(old, new, 1))
    assert caught.value.diagnosis.startswith(f"{tmp_path / 'vendor.yaml'} line {line}: ")
    assert words in caught.value.diagnosis
    assert caught.value.exit_code == 2


def test_a_memory_must_be_runnable_somehow(tmp_path: Path) -> None:
    with pytest.raises(VendorConfigError, match="name an image, a recipe or a process"):
        _load(tmp_path, "name: x\n")


def test_a_missing_file_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(VendorConfigError, match="cannot be read") as caught:
        load_vendor(tmp_path / "vendor.yaml")
    assert "VENDOR=" in caught.value.next_step


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("memory:1", "memory"),
        ("registry.example:5000/my/memory:2.0", "memory"),
        (f"my/memory@sha256:{'0' * 64}", "memory"),
    ],
)
def test_an_image_alone_is_a_vendor(image: str, name: str) -> None:
    vendor = vendor_for_image(image)
    assert (vendor.name, vendor.image, vendor.port) == (name, image, 7000)


def test_no_image_is_no_vendor() -> None:
    with pytest.raises(VendorConfigError, match="is no image"):
        vendor_for_image("Not An Image")


def test_the_contracts_capabilities_have_names() -> None:
    assert {"continuity", "begin_replay", "derivation_tracking_direct"} <= set(CAPABILITY_NAMES)
    assert "unspecified" not in CAPABILITY_NAMES


@pytest.mark.parametrize("path", sorted(COMPOSE_FILE.parent.glob("vendors/*.yaml")), ids=str)
def test_checked_in_vendors_can_be_read(path: Path) -> None:
    vendor = load_vendor(path)
    assert vendor.process is not None
    assert (vendor.image is None) != (vendor.recipe is None)
