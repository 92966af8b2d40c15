"""One stack's own topology: tokens, images, clocks, and a vendor in the memory's place."""

import json
from pathlib import Path, PurePosixPath

import pytest

from orchestrator.errors import ImageError, StackError, UsageError
from orchestrator.images import ImageRef
from orchestrator.runtimes import clock_mounts
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.clock_mounts import CLOCK_TARGET, FAKETIME_TARGET
from orchestrator.runtimes.plan import StackPlan, make_plan, memory_service
from orchestrator.runtimes.product import CONTAINER_FOLDER, Product, Wheel
from orchestrator.vendors import VendorConfig, VendorProcess, VendorResources

CONFIG = "MEMQUAL_INTERPOSER_CONFIG"


def _images(*names: str) -> dict[str, ImageRef]:
    return {name: ImageRef(name, f"memqual/{name}:abc", f"sha256:{name}") for name in names}


def _spec(tmp_path: Path, **changes: object) -> StackSpec:
    return StackSpec(**{"run_id": "run", "stack_id": "s1", "folder": tmp_path, **changes})  # type: ignore[arg-type]  # the keys are the dataclass's


def _config(plan: StackPlan) -> dict[str, dict[str, str]]:
    config: dict[str, dict[str, str]] = json.loads(
        plan.topology.service("interposer").environment[CONFIG]
    )
    return config


def test_tokens_are_new_for_each_stack_and_known_to_the_interposer(tmp_path: Path) -> None:
    plan, other = make_plan(_spec(tmp_path)), make_plan(_spec(tmp_path))
    interposer = plan.topology.service("interposer").environment
    edge = {
        name: plan.topology.service(name).environment["MEMQUAL_EDGE_TOKEN"]
        for name in ("agent", "standby", "memory")
    }
    assert interposer["MEMQUAL_CONTROL_TOKEN"] == plan.control_token
    assert len({*edge.values(), plan.control_token, other.control_token}) == 5
    listeners = json.loads(interposer[CONFIG])["listeners"]
    assert listeners[0]["tokens"] == {edge["agent"]: "agent", edge["standby"]: "standby"}
    assert listeners[3]["tokens"] == {edge["memory"]: "memory"}


def test_the_control_port_is_found(tmp_path: Path) -> None:
    plan = make_plan(_spec(tmp_path))
    assert (plan.control_service, str(plan.control)) == ("interposer", "interposer.control:7100")


def test_images_lease_run_and_overrides_arrive(tmp_path: Path) -> None:
    spec = _spec(
        tmp_path,
        images=_images("agent", "memory"),
        lease_seconds=7,
        environment={"agent": {"EXTRA": "1", "MEMQUAL_OBSERVER_ADDRESS": ""}},
    )
    topology = make_plan(spec).topology
    assert topology.service("standby").image == "memqual/agent:abc"
    assert topology.service("memory").image == "memqual/memory:abc"
    assert topology.service("memory").environment["MEMQUAL_LEASE_SECONDS"] == "7"
    assert {service.environment["MEMQUAL_RUN"] for service in topology.services} == {"run"}
    agent, standby = (topology.service(name).environment for name in ("agent", "standby"))
    assert (agent["EXTRA"], agent["MEMQUAL_OBSERVER_ADDRESS"]) == ("1", "")
    assert "EXTRA" not in standby


def test_an_override_for_no_service_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="no service named 'agnet'"):
        make_plan(_spec(tmp_path, environment={"agnet": {}}))


@pytest.mark.parametrize(
    ("run_id", "stack_id"), [("Run", "s1"), ("", "s1"), ("run", "a/b"), ("r" * 41, "s1")]
)
def test_ids_that_an_engine_would_refuse_are_refused_first(
    tmp_path: Path, run_id: str, stack_id: str
) -> None:
    with pytest.raises(StackError, match="is no"):
        make_plan(_spec(tmp_path, run_id=run_id, stack_id=stack_id))


def test_without_skew_nothing_is_preloaded_and_no_volume_is_needed(tmp_path: Path) -> None:
    plan = make_plan(_spec(tmp_path))
    memory = plan.topology.service("memory")
    assert plan.clock_folders == {}
    assert memory.environment["LD_PRELOAD"] == ""
    assert all(mount.is_folder for mount in memory.mounts if mount.read_only)
    assert plan.topology.used_volumes() == (
        *("memory-data", "destination-data", "observer-data", "checkpoints"),
    )


def test_with_skew_each_clock_has_a_folder_that_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib" / "libfaketime.so.1"
    library.parent.mkdir()
    library.touch(mode=0o600)
    monkeypatch.setattr(clock_mounts, "shared_object", lambda: library)
    plan = make_plan(_spec(tmp_path, clock_skew=True))
    assert set(plan.clock_folders) == {"memory", "agent", "standby", "destination"}
    for name, folder in plan.clock_folders.items():
        service = plan.topology.service(name)
        clock, faketime = service.mount_at(CLOCK_TARGET), service.mount_at(FAKETIME_TARGET)
        assert clock is not None
        assert faketime is not None
        assert clock.source == str(folder)
        assert (Path(faketime.source) / library.name).stat().st_mode & 0o444 == 0o444
        assert service.environment["LD_PRELOAD"] == f"{FAKETIME_TARGET}/libfaketime.so.1"
        file = folder / Path(service.environment["FAKETIME_TIMESTAMP_FILE"]).name
        assert file.stat().st_mode & 0o444 == 0o444
        assert folder.stat().st_mode & 0o555 == 0o555


def test_skew_where_there_is_no_library_leaves_clocks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_mounts, "shared_object", lambda: None)
    plan = make_plan(_spec(tmp_path, clock_skew=True))
    assert plan.clock_folders == {}
    assert plan.topology.service("memory").environment["LD_PRELOAD"] == ""


def test_stacks_of_one_run_share_no_folder(tmp_path: Path) -> None:
    first, second = (make_plan(_spec(tmp_path, stack_id=name)) for name in ("s1", "s2"))
    for one, other in zip(first.topology.services, second.topology.services, strict=True):
        shared = {m.source for m in one.mounts} & {m.source for m in other.mounts}
        assert [source for source in shared if Path(source).is_absolute()] == []


def test_reviewers_keys_are_mounted_read_only(tmp_path: Path) -> None:
    keys = tmp_path / "my-keys.json"
    keys.write_text('{"keys": []}', encoding="utf-8")
    memory = make_plan(_spec(tmp_path, reviewer_keys=keys)).topology.service("memory")
    mount = memory.mount_at(str(PurePosixPath(memory.environment["MEMQUAL_REVIEWER_KEYS"]).parent))
    assert mount is not None
    assert mount.read_only
    assert (Path(mount.source) / "keys.json").read_text(encoding="utf-8") == '{"keys": []}'
    with pytest.raises(UsageError, match="cannot be read"):
        make_plan(_spec(tmp_path, reviewer_keys=tmp_path / "none.json"))


def test_a_vendor_takes_the_memorys_place_and_not_its_confinement(tmp_path: Path) -> None:
    vendor = VendorConfig(
        name="v",
        image="v:1",
        command=("go",),
        process=VendorProcess(module="v.server"),
        port=8080,
        environment={"LEASE": "${MEMQUAL_LEASE_SECONDS}"},
        volume="/var/lib/v",
        resources=VendorResources(memory=2 << 30, cpus=0.5, pids=99),
    )
    plan = make_plan(_spec(tmp_path, vendor=vendor, lease_seconds=9))
    memory, base = plan.topology.service("memory"), plan.base_memory
    assert (memory.image, memory.command) == ("v:1", ("go",))
    assert memory.environment["MEMQUAL_LISTEN"] == "memory:8080"
    assert memory.environment["MEMQUAL_DATA_DIR"] == "/var/lib/v"
    assert memory.environment["LEASE"] == "9"
    assert (memory.mem_limit_bytes, memory.memswap_limit_bytes) == (2 << 30, 2 << 30)
    assert (memory.cpus, memory.pids_limit) == (0.5, 99)
    written = [mount for mount in memory.mounts if not mount.read_only]
    assert [(mount.source, mount.target) for mount in written] == [("memory-data", "/var/lib/v")]
    assert plan.memory_port == 8080
    assert _config(plan)["targets"]["memory"] == "memory:8080"
    for name in ("networks", "read_only", "cap_drop", "security_opt", "tmpfs", "dns", "ports"):
        assert getattr(memory, name) == getattr(base, name), name


def test_a_control_in_a_vendors_stack_listens_on_the_vendors_port(tmp_path: Path) -> None:
    vendor = VendorConfig(name="v", image="v:1", port=8080)
    plan = make_plan(_spec(tmp_path, vendor=vendor, images=_images("control")))
    control = VendorConfig(name="naive", recipe="control", command=("services.controls", "naive"))
    memory = memory_service(plan.base_memory, control, plan.spec, plan.memory_port)
    assert memory.image == "memqual/control:abc"
    assert memory.environment["MEMQUAL_LISTEN"] == "memory:8080"
    reference = memory_service(plan.base_memory, None, plan.spec, plan.memory_port)
    assert reference.environment["MEMQUAL_LISTEN"] == "memory:8080"


def test_a_recipe_that_was_not_built_is_an_image_error(tmp_path: Path) -> None:
    vendor = VendorConfig(name="v", recipe="vendor-v")
    with pytest.raises(ImageError, match="'vendor-v' of 'v' was not built"):
        make_plan(_spec(tmp_path, vendor=vendor, images=_images("memory")))


def test_an_installed_product_is_mounted_where_images_have_their_code(tmp_path: Path) -> None:
    product = Product(Wheel("memqual-services", "0", "0" * 64), tmp_path / "code", tmp_path / "lib")
    spec = _spec(tmp_path, product=product)
    plan = make_plan(spec)
    with_code = {
        service.name
        for service in plan.topology.services
        if (mount := service.mount_at(CONTAINER_FOLDER)) is not None
        and (mount.source, mount.read_only) == (str(product.code), True)
    }
    assert with_code == {"memory", "destination", "observer", "agent", "standby"}
    own, adapter, foreign = (
        memory_service(plan.base_memory, vendor, spec, plan.memory_port)
        for vendor in (
            VendorConfig(
                name="c", recipe="control", process=VendorProcess(module="services.controls")
            ),
            VendorConfig(
                name="a", recipe="r", process=VendorProcess(module="services.vendors.atmem")
            ),
            VendorConfig(name="f", image="somebody/memory:1"),
        )
    )
    assert own.mount_at(CONTAINER_FOLDER) is not None
    assert adapter.mount_at(CONTAINER_FOLDER) is None
    assert foreign.mount_at(CONTAINER_FOLDER) is None
