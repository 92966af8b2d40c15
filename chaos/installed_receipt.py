"""Proof that services ran from an installed wheel (`chaos.receipts`; DESIGN §5)."""

from __future__ import annotations

from typing import Literal

from chaos.receipt_base import FaultReceipt, FrozenModel

__all__ = ["InstalledReceipt", "ServiceOrigin", "WheelProof"]


class WheelProof(FrozenModel):
    """A wheel that was installed.

    Attributes:
        name: of the distribution.
        version: of the distribution.
        sha256: of the file.
    """

    name: str
    version: str
    sha256: str


class ServiceOrigin(FrozenModel):
    """What one process told of its own code.

    Attributes:
        service: exact name.
        distribution: `name==version` of the installed distribution that its code belongs to.
        modules: how many modules of memqual's packages it had loaded.
        elsewhere: files of such modules that do not lie in the wheel's folder.
        testbed_found: packages of the testbed that it had loaded or could find, with their place.
        testbed_refused: packages of the testbed that it looked for in vain.
        search_path: where it looks for modules, in order.
        working_folder: where it runs.
    """

    service: str
    distribution: str
    modules: int
    elsewhere: tuple[str, ...]
    testbed_found: tuple[str, ...]
    testbed_refused: tuple[str, ...]
    search_path: tuple[str, ...]
    working_folder: str


class InstalledReceipt(FaultReceipt):
    """Proof that a stack's services are an installed product and nothing else.

    Attributes:
        wheel: what was installed.
        expected: services that must have told.
        forbidden: packages that none of them may find.
        origins: what each service told.
    """

    kind: Literal["installed"] = "installed"
    wheel: WheelProof
    expected: tuple[str, ...]
    forbidden: tuple[str, ...]
    origins: tuple[ServiceOrigin, ...]

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        told = {origin.service for origin in self.origins}
        lacking += [f"{name}: where its code is from" for name in self.expected if name not in told]
        if not self.expected:
            lacking.append("installed: no service had to tell")
        wanted = f"{self.wheel.name}=={self.wheel.version}"
        for origin in self.origins:
            name = origin.service
            if origin.distribution != wanted:
                lacking.append(f"{name}: code of {wanted} (seen: {origin.distribution or 'none'})")
            if not origin.modules or origin.elsewhere:
                seen = ", ".join(origin.elsewhere[:3]) or "no module"
                lacking.append(f"{name}: modules of the wheel alone (seen: {seen})")
            refused = set(self.forbidden) <= set(origin.testbed_refused)
            if origin.testbed_found or not refused:
                seen = ", ".join(origin.testbed_found) or "not looked for"
                lacking.append(f"{name}: that it finds no testbed (seen: {seen})")
        return lacking
