"""The supported subset of compose: what it gives; all else is refused by name and line."""

from pathlib import Path

import pytest

from orchestrator.errors import StackError
from orchestrator.runtimes.topology import (
    SUPPORTED_KEYS,
    Attachment,
    Mount,
    Network,
    ProcessSpec,
    PublishedPort,
    Tmpfs,
    Topology,
    parse_topology,
)

GOOD = """\
x-common: &common
  read_only: true
  mem_limit: 1g
services:
  one:
    <<: *common
    image: ${IMAGE:-some/image:1}
    command: [run, "${ARGUMENT:-now}"]
    x-memqual-process: {module: some.module, args: [--fast]}
    environment: {LISTEN: "one:7000"}
    networks:
      inner: {aliases: [one.inner]}
      outer:
    ports: ["127.0.0.1::7100"]
    volumes:
      - data:/data
      - ${FOLDER:-spare}:/keys:ro
    tmpfs: ["/tmp:size=64m,mode=1777"]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    dns: ["203.0.113.1"]
    dns_opt: ["timeout:1"]
    pids_limit: 10
    memswap_limit: 512m
    cpus: 0.5
    logging: {driver: json-file, options: {max-size: 1m}}
networks:
  inner: {internal: true, driver_opts: {some.option: "true"}}
  outer: {}
volumes:
  data:
  spare: {}
"""


def _parse(tmp_path: Path, text: str, variables: dict[str, str] | None = None) -> Topology:
    path = tmp_path / "compose.yaml"
    path.write_text(text, encoding="utf-8")
    return parse_topology(path, variables or {})


def test_every_supported_key_arrives(tmp_path: Path) -> None:
    topology = _parse(tmp_path, GOOD)
    one = topology.service("one")
    assert one.image == "some/image:1"
    assert one.command == ("run", "now")
    assert one.process == ProcessSpec(module="some.module", arguments=("--fast",))
    assert one.environment == {"LISTEN": "one:7000"}
    assert one.networks == (Attachment("inner", ("one.inner",)), Attachment("outer"))
    assert one.ports == (PublishedPort("127.0.0.1", 7100),)
    assert one.mounts == (Mount("data", "/data", False), Mount("spare", "/keys", True))
    assert one.tmpfs == (Tmpfs("/tmp", "size=64m,mode=1777"),)
    assert (one.read_only, one.cap_drop) == (True, ("ALL",))
    assert one.security_opt == ("no-new-privileges:true",)
    assert (one.dns, one.dns_opt) == (("203.0.113.1",), ("timeout:1",))
    assert (one.pids_limit, one.cpus) == (10, 0.5)
    assert (one.mem_limit_bytes, one.memswap_limit_bytes) == (1 << 30, 512 << 20)
    assert (one.log_driver, one.log_options) == ("json-file", {"max-size": "1m"})
    assert topology.networks == (
        Network("inner", True, {"some.option": "true"}),
        Network("outer", False, {}),
    )
    assert topology.volumes == ("data", "spare")
    assert one.hostnames() == ("one", "one.inner")


@pytest.mark.parametrize("folder", ["/srv/keys", "C:\\keys", "D:/keys"])
def test_a_folder_takes_a_volumes_place(tmp_path: Path, folder: str) -> None:
    topology = _parse(tmp_path, GOOD, {"FOLDER": folder})
    mount = topology.service("one").mount_at("/keys")
    assert mount == Mount(folder, "/keys", True)
    assert mount.is_folder
    assert topology.used_volumes() == ("data",)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("    pids_limit: 10", "    pid_limit: 10", 23, "did you mean 'pids_limit'"),
        ("    pids_limit: 10", "    privileged: true", 23, "unknown key 'privileged'"),
        ("    pids_limit: 10", "    network_mode: host", 23, "unknown key 'network_mode'"),
        ("    pids_limit: 10", "    depends_on: [two]", 23, "unknown key 'depends_on'"),
        ("    pids_limit: 10", "    pids_limit: many", 23, "'pids_limit' in services.one"),
        ("{aliases: [one.inner]}", "{alias: [one.inner]}", 12, "did you mean 'aliases'"),
        ("127.0.0.1::7100", "7100:7100", 14, "127.0.0.1::<container port>"),
        ("127.0.0.1::7100", "0.0.0.0::7100", 14, "127.0.0.1::<container port>"),
        ("127.0.0.1::7100", "127.0.0.1::99999", 14, "127.0.0.1::<container port>"),
        ("- data:/data", "- ./data:/data", 15, "declare a volume"),
        ("- data:/data", "- data", 15, "write name:/target"),
        ("- data:/data", "- lost:/data", 16, "'lost' is not declared"),
        ("- data:/data", "- data:/keys", 15, "two volumes have the same target"),
        ("      outer:", "      lost:", 11, "'lost' is not declared"),
        ('["/tmp:size=64m,mode=1777"]', '["/tmp"]', 18, "has no bound"),
        ("mem_limit: 1g", "mem_limit: lots", 3, "is no size"),
        ("${ARGUMENT:-now}", "${ARGUMENT}", 8, "ARGUMENT is not set"),
        ('LISTEN: "one:7000"', "LISTEN: 7000", 10, "LISTEN"),
        ("  outer: {}", "  outer: {driver: host}", 29, "unknown key 'driver'"),
        (
            "  spare: {}",
            "  spare: {external: true}",
            32,
            "unknown key 'external' in volumes.spare; No key can stand there",
        ),
        ("  inner: {internal", "  Inner: {internal", 27, "is no name"),
        ("services:", "version: '3'\nservices:", 4, "unknown key 'version'"),
    ],
)
def test_everything_else_is_refused_with_key_and_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in GOOD
    with pytest.raises(StackError, match="line") as caught:
        _parse(tmp_path, GOOD.replace(old, new, 1))
    assert f"compose.yaml line {line}: " in caught.value.diagnosis
    assert words in caught.value.diagnosis


def test_a_published_port_needs_a_network_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="internal networks only"):
        _parse(tmp_path, GOOD.replace("  outer: {}", "  outer: {internal: true}"))


def test_two_services_cannot_have_one_name(tmp_path: Path) -> None:
    second = "  one.inner:\n    image: x\n    networks: [inner]\nnetworks:"
    with pytest.raises(StackError, match=r"'one\.inner' belongs to 'one' already"):
        _parse(tmp_path, GOOD.replace("networks:\n  inner", f"{second}\n  inner", 1))


def test_an_unknown_service_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="no service named 'two'"):
        _parse(tmp_path, GOOD).service("two")


def test_a_missing_file_is_a_stack_error(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="cannot be read"):
        parse_topology(tmp_path / "none.yaml", {})


def test_the_list_of_supported_keys_is_what_the_parser_takes() -> None:
    assert SUPPORTED_KEYS[""] == ("services", "networks", "volumes")
    assert SUPPORTED_KEYS["services.*.x-memqual-process"] == ("module", "args")
    assert SUPPORTED_KEYS["services.*.networks.*"] == ("aliases",)
    assert SUPPORTED_KEYS["networks.*"] == ("internal", "driver_opts")
    assert SUPPORTED_KEYS["volumes.*"] == ()
    used = {line.strip().partition(":")[0] for line in GOOD.splitlines() if line[:4] == "    "}
    assert set(SUPPORTED_KEYS["services.*"]) <= used | {"mem_limit", "read_only", "inner"}
