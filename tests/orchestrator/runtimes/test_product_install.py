"""The services' wheel holds the services and the contract, and finds no testbed."""

import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from orchestrator.errors import StackError
from orchestrator.runtimes import product_install
from orchestrator.runtimes.product import Product
from orchestrator.runtimes.product_install import install_product

pytestmark = pytest.mark.e2e_process

ASKED = """
import json, importlib.util
import services.agent.app, services.memory.process, services.destination.app, services.observer.app
from services.common.origin import read_origin
told = read_origin()
print(json.dumps([told.distribution, list(told.absent), len(told.present),
                  sorted({one.file for one in told.modules})]))
"""


def run(product: Product, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*product.python_arguments(), "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": product.python_path()},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return install_product(tmp_path_factory.mktemp("product"))


def test_the_wheel_holds_services_and_contract_only(product: Product) -> None:
    (file,) = (product.code.parent / "wheels").iterdir()
    with zipfile.ZipFile(file) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    metadata = f"memqual_services-{product.wheel.version}.dist-info"
    assert tops == {"memqual", "services", metadata}
    assert product.wheel.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_its_processes_find_neither_checkout_nor_testbed(product: Product, tmp_path: Path) -> None:
    answer = run(product, ASKED, tmp_path)
    assert answer.returncode == 0, answer.stderr
    distribution, absent, present, files = json.loads(answer.stdout)
    assert distribution == f"memqual-services=={product.wheel.version}"
    assert (absent, present) == (["chaos", "orchestrator", "tests", "tools"], 0)
    assert files
    assert all(Path(file).is_relative_to(product.code) for file in files)


@pytest.mark.parametrize("package", ["chaos", "orchestrator", "docker"])
def test_what_the_services_do_not_require_cannot_be_imported(
    package: str, product: Product, tmp_path: Path
) -> None:
    answer = run(product, f"import {package}", tmp_path)
    assert answer.returncode == 1
    assert f"No module named '{package}'" in answer.stderr


def test_the_same_sources_give_the_same_wheel(product: Product, tmp_path: Path) -> None:
    assert install_product(tmp_path).wheel == product.wheel


def test_a_requirement_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product_install, "REQUIREMENTS", ("structlog", "memqual-absent"))
    with pytest.raises(StackError, match="memqual-absent, which is not installed"):
        install_product(tmp_path)
