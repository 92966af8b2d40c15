"""Makes the specification of a stack that is not the usual one (`orchestrator.stacks`)."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace

import structlog

from orchestrator.campaign.model_endpoint import endpoint_variables
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.process_state import StateFolder
from orchestrator.runtimes.product_install import install_product
from orchestrator.stacks import StackVariant
from services.common.origin import TELL_VARIABLE
from services.common.telemetry import INGEST_VARIABLE

__all__ = ["SENDERS", "VariantStacks", "sender_settings"]

SENDERS = ("agent", "standby", "memory")
"""Services of the topology that send telemetry."""

_TOKENS_VARIABLE = "MEMQUAL_INGEST_TOKENS"
_HOSTS = ("agent", "standby")
_TELLERS = ("agent", "standby", "memory", "destination", "observer")


class VariantStacks:
    """What the variants of one lane need; made when it is first wanted, removed by `close`.

    Args:
        runtime: Name of the runtime that the stacks are of.
    """

    def __init__(self, runtime: str) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._folder: StateFolder | None = None

    def spec(self, spec: StackSpec, variant: StackVariant) -> StackSpec:
        """The specification of a stack of this variant.

        Raises:
            StackError: what it needs cannot be made.
        """
        match variant:
            case StackVariant.INSTALLED:
                return self._installed(spec)
            case StackVariant.FAILING_STORAGE:
                return replace(spec, failing_storage=True)
            case StackVariant.FRESH_MODEL:
                variables = endpoint_variables(self._runtime)
                hosts = dict.fromkeys(_HOSTS, variables)
                return replace(spec, environment=_merged(spec.environment, hosts))
            case _:
                return spec

    def close(self) -> None:
        """Removes what was made; may be called again. What cannot be removed is gc's."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            folder.remove()
        except OSError as error:
            log = structlog.get_logger(__name__)
            log.warning("not_removed", folder=folder.path.name, cause=error.strerror)

    def _installed(self, spec: StackSpec) -> StackSpec:
        self.close()
        # Outside of every checkout; gc finds it by its owner.
        folder = StateFolder.create(spec.run_id, f"{spec.stack_id}-product")
        with self._lock:
            self._folder = folder
        product = install_product(folder.volume("product"))
        environment = _merged(spec.environment, sender_settings())
        tell = {name: {TELL_VARIABLE: "1"} for name in _TELLERS}
        return replace(spec, product=product, environment=_merged(environment, tell))


def sender_settings() -> dict[str, dict[str, str]]:
    """Variables by service: a fresh token for each sender, all of them for the observer."""
    tokens = {name: secrets.token_hex(16) for name in SENDERS}
    senders = {token: name for name, token in tokens.items()}
    return {
        **{name: {INGEST_VARIABLE: token} for name, token in tokens.items()},
        "observer": {_TOKENS_VARIABLE: json.dumps(senders)},
    }


def _merged(
    first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    names = dict.fromkeys((*first, *second))
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in names}
