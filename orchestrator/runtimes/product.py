"""The services as a user installs them: one wheel, apart from the checkout and the testbed.

A stack of an installed product runs its services from the wheel's own folder. As a process each
gets an interpreter that knows this folder and the libraries' and no other; as a container the
folder stands in place of the code that the image was built with (DESIGN §5, installed acceptance).
"""

from __future__ import annotations

import dataclasses
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from orchestrator.runtimes.topology import Mount, ServiceSpec

__all__ = ["CONTAINER_FOLDER", "Product", "Wheel", "is_of_product", "with_product"]

CONTAINER_FOLDER = "/opt/memqual/app"
"""Where the images have their own code (compose/images), and containers find the wheel's."""

_PACKAGE = "services."
# An adapter of a vendor needs the vendor's libraries, which no wheel of ours brings.
_VENDORS = "services.vendors."


@dataclass(frozen=True)
class Wheel:
    """The wheel that was installed.

    Attributes:
        name: Of the distribution.
        version: Of the distribution.
        sha256: Of the file, lower-case hex.
    """

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Product:
    """One installation.

    Attributes:
        wheel: What was installed.
        code: Folder with the wheel's packages and nothing else.
        libraries: Folder with what it requires.
    """

    wheel: Wheel
    code: Path
    libraries: Path

    def python_arguments(self) -> tuple[str, ...]:
        """An interpreter that looks into no site-packages and not into its working folder."""
        return (sys.executable, "-S", "-P")

    def python_path(self) -> str:
        """What such an interpreter needs as PYTHONPATH."""
        return os.pathsep.join((str(self.code), str(self.libraries)))


def is_of_product(service: ServiceSpec) -> bool:
    """Whether a service is one that the wheel holds: neither the testbed's nor a vendor's own."""
    module = service.process.module if service.process is not None else None
    return module is not None and module.startswith(_PACKAGE) and not module.startswith(_VENDORS)


def with_product(service: ServiceSpec, product: Product | None) -> ServiceSpec:
    """The service with the wheel's folder where its container looks for code.

    A service that is not of the product stays as it is.
    """
    if product is None or not is_of_product(service):
        return service
    code = Mount(source=str(product.code), target=CONTAINER_FOLDER, read_only=True)
    return dataclasses.replace(service, mounts=(*service.mounts, code))
