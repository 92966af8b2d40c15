"""A service as a command line: names become loopback ports, mounts become folders."""

import os
import sys
from pathlib import Path

import pytest

from orchestrator.errors import VendorConfigError
from orchestrator.runtimes.addresses import Address
from orchestrator.runtimes.process_launch import make_launch
from orchestrator.runtimes.process_service import Launch
from orchestrator.runtimes.product import Product, Wheel, with_product
from orchestrator.runtimes.topology import Attachment, ProcessSpec, ServiceSpec, Topology


def _launch(
    process: ProcessSpec | None,
    environment: dict[str, str],
    folders: dict[str, Path],
    product: Product | None = None,
) -> Launch:
    one = ServiceSpec(
        name="one",
        image="",
        process=process,
        networks=(Attachment("n", ("one.n",)),),
        environment=environment,
    )
    two = ServiceSpec(name="two", image="", process=None, networks=(Attachment("n"),))
    return make_launch(
        one,
        Topology((one, two), (), ()),
        ports={Address("one", 7000): 21_000, Address("two", 7000): 22_000},
        folders=folders,
        marks={"MEMQUAL_STACK": "s"},
        work_folder=Path("work"),
        log=Path("one.log"),
        clock_folder=None,
        product=product,
    )


def test_a_module_runs_with_this_python(tmp_path: Path) -> None:
    process = ProcessSpec(module="some.module", arguments=("--to", "two:7000", "--at=/data/x"))
    launch = _launch(process, {}, {"/data": tmp_path})
    assert launch.arguments == (
        *(sys.executable, "-m", "some.module"),
        *("--to", "127.0.0.1:22000", f"--at={tmp_path}/x"),
    )
    assert (launch.folder, launch.title) == (Path("work"), "some.module")


def test_a_command_counts_from_its_own_folder(tmp_path: Path) -> None:
    found = _launch(ProcessSpec(None, ("./run.sh", "x"), ("y",), tmp_path), {}, {})
    assert found.arguments == (str(tmp_path / "run.sh"), "x", "y")
    assert found.folder == tmp_path
    assert _launch(ProcessSpec(None, ("node",), (), tmp_path), {}, {}).arguments == ("node",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data", "{}"),
        ("/data/a", "{}/a"),
        ("x=/data;y=/data", "x={};y={}"),
        ("/database", "/database"),
        ("/my/data", "/my/data"),
        ("./data", "./data"),
        ("/keys/keys.json", "/keys/keys.json"),
        ("one:7000", "127.0.0.1:21000"),
        ("one.n:7000", "one.n:7000"),
    ],
)
def test_values_name_this_machine(tmp_path: Path, text: str, expected: str) -> None:
    launch = _launch(ProcessSpec(module="m"), {"V": text}, {"/data": tmp_path})
    assert launch.environment["V"] == expected.replace("{}", str(tmp_path))


def test_a_folder_with_backslashes_is_taken_as_it_is() -> None:
    folder = Path("C:\\new\\1")
    launch = _launch(ProcessSpec(module="m"), {"V": "/data"}, {"/data": folder})
    assert launch.environment["V"] == str(folder)


def test_only_what_a_program_needs_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.setenv("LD_PRELOAD", "/lib/x.so")
    monkeypatch.setenv("PATH", "/some/path")
    launch = _launch(ProcessSpec(module="m"), {"LD_PRELOAD": "", "OWN": "1"}, {})
    environment = launch.environment
    assert environment["PATH"] == "/some/path"
    assert (environment["OWN"], environment["MEMQUAL_STACK"]) == ("1", "s")
    assert not {"SECRET_KEY", "LD_PRELOAD"} & set(environment)
    roots = environment["PYTHONPATH"].split(os.pathsep)
    assert any((Path(root) / "services").is_dir() for root in roots)
    assert any((Path(root) / "memqual" / "v1").is_dir() for root in roots)


def test_an_image_alone_cannot_run_as_a_process() -> None:
    with pytest.raises(VendorConfigError, match="has no process"):
        _launch(None, {}, {})


def _product(tmp_path: Path) -> Product:
    wheel = Wheel("memqual-services", "0", "0" * 64)
    return Product(wheel, tmp_path / "code", tmp_path / "libraries")


def test_a_service_of_an_installed_product_knows_its_wheel_and_libraries_only(
    tmp_path: Path,
) -> None:
    product = _product(tmp_path)
    launch = _launch(ProcessSpec(module="services.agent"), {}, {}, product)
    assert launch.arguments == (sys.executable, "-S", "-P", "-m", "services.agent")
    assert launch.environment["PYTHONPATH"] == os.pathsep.join(
        (str(tmp_path / "code"), str(tmp_path / "libraries"))
    )


@pytest.mark.parametrize("module", ["chaos.interposer", "services.vendors.atmem", "own.memory"])
def test_the_testbed_and_vendors_run_as_ever_beside_an_installed_product(
    module: str, tmp_path: Path
) -> None:
    installed = _launch(ProcessSpec(module=module), {}, {}, _product(tmp_path))
    assert installed == _launch(ProcessSpec(module=module), {}, {})


def test_a_container_has_the_wheel_in_place_of_its_images_code(tmp_path: Path) -> None:
    agent = ServiceSpec("agent", "i", ProcessSpec("services.agent"), (Attachment("n"),))
    (mount,) = with_product(agent, _product(tmp_path)).mounts
    assert (mount.source, mount.target, mount.read_only) == (
        str(tmp_path / "code"),
        "/opt/memqual/app",
        True,
    )
    assert with_product(agent, None) is agent
