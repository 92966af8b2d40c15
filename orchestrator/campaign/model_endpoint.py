"""The model endpoint of this machine's environment: who gets it, and why nobody does.

The key is handed to the agent hosts of the pilot's stacks and to nothing else; it is never part of
what is written down.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from orchestrator.suites.continuity.families.model import Need

__all__ = ["endpoint_variables", "lacking_endpoint"]

_NEEDED = ("MEMQUAL_MODEL_BASE_URL", "MEMQUAL_MODEL_NAME")
_FURTHER = (
    "MEMQUAL_MODEL_API_KEY",
    # How this machine reaches endpoints, and whom it trusts.
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_RUNTIME = "process"


def endpoint_variables(runtime: str) -> Mapping[str, str]:
    """What an agent host needs to ask the endpoint; empty where it cannot.

    Args:
        runtime: Name of the runtime.
    """
    if lacking_endpoint(runtime):
        return {}
    return {name: os.environ[name] for name in (*_NEEDED, *_FURTHER) if os.environ.get(name)}


def lacking_endpoint(runtime: str) -> Mapping[str, str]:
    """What is lacking for fresh models, by `Need`, with the reason; empty: nothing is.

    Args:
        runtime: Name of the runtime.
    """
    missing = [name for name in _NEEDED if not os.environ.get(name)]
    if missing:
        reason = f"no model endpoint is named: set {' and '.join(missing)}"
    elif runtime != _RUNTIME:
        reason = "containers of agent hosts have no way out of their network: --runtime process"
    else:
        return {}
    return {Need.MODEL_ENDPOINT.value: reason}
