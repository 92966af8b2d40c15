"""compose/compose.yaml itself: who is on which network, what confines the memory (DESIGN §3)."""

import json
import shutil
import subprocess

import pytest

from chaos.clock import clock_environment
from orchestrator.runtimes.addresses import find_addresses
from orchestrator.runtimes.clock_mounts import CLOCK_TARGET, FAKETIME_TARGET
from orchestrator.runtimes.plan import COMPOSE_FILE, required_recipes
from orchestrator.runtimes.topology import Topology, parse_topology

CONFIG = "MEMQUAL_INTERPOSER_CONFIG"


@pytest.fixture
def topology() -> Topology:
    return parse_topology(COMPOSE_FILE, {})


def test_who_is_on_which_network(topology: Topology) -> None:
    members = {
        network.name: {
            service.name
            for service in topology.services
            if network.name in {attachment.network for attachment in service.networks}
        }
        for network in topology.networks
    }
    assert members == {
        "agent": {"interposer", "agent", "standby"},
        "sut": {"interposer", "memory"},
        "dest": {"interposer", "destination"},
        "obs": {"interposer", "observer"},
        "control": {"interposer"},
    }


def test_only_the_control_network_has_a_way_out(topology: Topology) -> None:
    assert {n.name for n in topology.networks if not n.internal} == {"control"}
    closed = {"com.docker.network.bridge.inhibit_ipv4": "true"}
    assert all(n.driver_options == closed for n in topology.networks if n.internal)


def test_every_service_is_confined(topology: Topology) -> None:
    for service in topology.services:
        assert service.read_only
        assert service.cap_drop == ("ALL",)
        assert service.security_opt == ("no-new-privileges:true",)
        assert service.pids_limit is not None
        assert service.mem_limit_bytes == service.memswap_limit_bytes is not None
        assert service.dns == ("203.0.113.1",)
        assert "max-size" in service.log_options
        assert not [mount for mount in service.mounts if mount.source.endswith(".sock")]


def test_the_memory_can_write_one_volume_and_no_more(topology: Topology) -> None:
    memory = topology.service("memory")
    assert [m.source for m in memory.mounts if not m.read_only] == ["memory-data"]
    assert memory.cpus is not None
    assert memory.ports == ()


def test_agent_hosts_share_the_checkpoints_and_nothing_else(topology: Topology) -> None:
    agent, standby = topology.service("agent"), topology.service("standby")
    assert agent.mount_at("/data") == standby.mount_at("/data")
    assert agent.mount_at(CLOCK_TARGET) != standby.mount_at(CLOCK_TARGET)
    assert agent.environment["MEMQUAL_EDGE_TOKEN"] != standby.environment["MEMQUAL_EDGE_TOKEN"]


def test_clocks_of_four_services_can_be_set(topology: Topology) -> None:
    settable = {s.name for s in topology.services if s.mount_at(CLOCK_TARGET)}
    assert settable == {"memory", "agent", "standby", "destination"}
    for name in settable:
        service = topology.service(name)
        assert service.environment["FAKETIME_TIMESTAMP_FILE"] == f"{CLOCK_TARGET}/timestamp"
        own = clock_environment("library", f"{CLOCK_TARGET}/timestamp")
        assert {**own, "LD_PRELOAD": ""}.items() <= service.environment.items()
        mounts = [service.mount_at(CLOCK_TARGET), service.mount_at(FAKETIME_TARGET)]
        assert [mount is not None and mount.read_only for mount in mounts] == [True, True]


def test_every_edge_goes_through_the_interposer(topology: Topology) -> None:
    config = json.loads(topology.service("interposer").environment[CONFIG])
    edges = {(each["source"], each["target"]): each["listen"] for each in config["listeners"]}
    assert edges == {
        ("agent", "memory"): "interposer.agent:7101",
        ("agent", "destination"): "interposer.agent:7102",
        ("agent", "observer"): "interposer.agent:7103",
        ("memory", "observer"): "interposer.sut:7104",
    }
    for name in ("agent", "standby"):
        environment = topology.service(name).environment
        assert environment["MEMQUAL_MEMORY_ADDRESS"] == edges["agent", "memory"]
        assert environment["MEMQUAL_DESTINATION_ADDRESS"] == edges["agent", "destination"]
        assert environment["MEMQUAL_OBSERVER_ADDRESS"] == edges["agent", "observer"]
    memory = topology.service("memory").environment
    assert memory["MEMQUAL_OBSERVER_ADDRESS"] == edges["memory", "observer"]


def test_every_target_is_an_address_that_a_service_listens_on(topology: Topology) -> None:
    config = json.loads(topology.service("interposer").environment[CONFIG])
    listening = {
        address
        for service in topology.services
        for name in ("MEMQUAL_LISTEN", "MEMQUAL_AUDIT_LISTEN")
        if (address := service.environment.get(name))
    }
    assert set(config["targets"].values()) == listening
    assert {str(a) for a in find_addresses(topology)} == listening | {
        config["control"],
        *(each["listen"] for each in config["listeners"]),
    }


def test_images_that_memqual_builds() -> None:
    assert required_recipes() == ("agent", "destination", "interposer", "memory", "observer")


def test_a_person_can_use_the_file(topology: Topology) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("no docker-compose here; ours is not made for it alone")
    command = [program, "-f", str(COMPOSE_FILE), "config", "--services"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr
    assert set(answer.stdout.split()) == {service.name for service in topology.services}
