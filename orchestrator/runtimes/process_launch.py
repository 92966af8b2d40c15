"""Turns a service of the topology into a command line and an environment of this machine.

Names become loopback ports, mounted paths become folders. Both may stand anywhere in a value or an
argument. Of this process's own environment only what a program needs to run at all is passed on: no
token, key or preload of a person's shell reaches a service.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from orchestrator.errors import VendorConfigError
from orchestrator.runtimes.addresses import Address, rewrite_addresses
from orchestrator.runtimes.ports import LOOPBACK
from orchestrator.runtimes.process_service import Launch
from orchestrator.runtimes.product import Product, is_of_product
from orchestrator.runtimes.topology import ProcessSpec, ServiceSpec, Topology

__all__ = ["make_launch"]

_PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA"),
)
# Services that need no home.
_OWN_MODULES = ("services.memory", "services.controls", "services.destination", "services.agent")
# Packages that a service imports: one found through an installed wheel, a source tree, or both.
_PACKAGES = ("memqual", "services", "chaos")


def make_launch(
    service: ServiceSpec,
    topology: Topology,
    *,
    ports: Mapping[Address, int],
    folders: Mapping[str, Path],
    marks: Mapping[str, str],
    work_folder: Path,
    log: Path,
    clock_folder: Path | None,
    product: Product | None = None,
) -> Launch:
    """The launch of one service.

    Args:
        service: The service.
        topology: What else there is, for its names.
        ports: Port of this machine for each address.
        folders: Folder of this machine for each mounted path of the service.
        marks: What tells gc whose process this is.
        work_folder: Where it runs, unless it says otherwise.
        log: File for its output.
        clock_folder: Folder that sets its clock, or None.
        product: Installation from which a service of the product runs, or None for this code.

    Raises:
        VendorConfigError: it cannot run as a process.
    """
    process = service.process
    if process is None:
        raise VendorConfigError(
            f"{service.name!r} has no process, only an image.",
            next_step="Name a process in the vendor.yaml, or use RUNTIME=docker.",
        )
    hostnames = [name for each in topology.services for name in each.hostnames()]

    def local(text: str) -> str:
        text = rewrite_addresses(text, hostnames, lambda address: _local(address, ports))
        return _rewrite_paths(text, folders)

    environment = {name: local(text) for name, text in service.environment.items()}
    installed = product if is_of_product(service) else None
    return Launch(
        name=service.name,
        arguments=tuple(map(local, _arguments(process, installed))),
        environment={
            **_environment(process, environment, marks, installed),
            **_second_clock_file(process, clock_folder),
        },
        folder=process.folder or work_folder,
        log=log,
        clock_folder=clock_folder,
        title=process.module or process.command[0],
    )


def _second_clock_file(process: ProcessSpec, clock_folder: Path | None) -> Mapping[str, str]:
    """Where libfaketime looks second (chaos.clock); a foreign memory keeps its own home."""
    own = process.module is not None and process.module.startswith(_OWN_MODULES)
    return {"HOME": str(clock_folder)} if own and clock_folder is not None else {}


def _local(address: Address, ports: Mapping[Address, int]) -> str:
    return f"{LOOPBACK}:{ports[address]}" if address in ports else str(address)


def _rewrite_paths(text: str, folders: Mapping[str, Path]) -> str:
    for target in sorted(folders, key=len, reverse=True):
        pattern = rf"(?<![\w./-]){re.escape(target)}(?=$|[/:,;\s\"'])"
        # A function's result is taken as it is; in a template a backslash would mean something.
        text = re.sub(pattern, functools.partial(_constant, str(folders[target])), text)
    return text


def _constant(text: str, match: re.Match[str]) -> str:
    return text


def _arguments(process: ProcessSpec, product: Product | None) -> tuple[str, ...]:
    if process.module is not None:
        python = (sys.executable,) if product is None else product.python_arguments()
        return (*python, "-m", process.module, *process.arguments)
    program, *rest = process.command
    if process.folder is not None and re.search(r"[/\\]", program):
        program = str(process.folder / program)
    return (program, *rest, *process.arguments)


def _environment(
    process: ProcessSpec,
    environment: Mapping[str, str],
    marks: Mapping[str, str],
    product: Product | None,
) -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    own_folder = [str(process.folder)] if process.folder else []
    roots = [*(_package_roots() if product is None else [product.python_path()]), *own_folder]
    own = {name: text for name, text in environment.items() if name != "LD_PRELOAD" or text}
    return {
        **passed_on,
        "PYTHONPATH": os.pathsep.join(roots),
        "PYTHONUNBUFFERED": "1",
        **own,
        **marks,
    }


def _package_roots() -> list[str]:
    roots: dict[str, None] = {}
    for package in _PACKAGES:
        found = importlib.util.find_spec(package)
        for location in (found.submodule_search_locations or ()) if found else ():
            roots[str(Path(location).resolve().parent)] = None
    return list(roots)
