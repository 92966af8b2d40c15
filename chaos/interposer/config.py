"""Where the interposer listens and whom it reaches: MEMQUAL_INTERPOSER_CONFIG."""

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from chaos.interposer.limits import NAMES_MAX
from services.common.settings import SettingsError

__all__ = ["ORCHESTRATOR", "InterposerConfig", "ListenerConfig", "parse_config", "service_of"]

# Edge source of everything that comes in on the control port.
ORCHESTRATOR = "orchestrator"
_AUDIT_SUFFIX = "-audit"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,127}$")]
# `name:port` or `[ip6]:port`; port 0 lets the system choose.
Address = Annotated[
    str, StringConstraints(pattern=r"^(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}$")
]
Token = Annotated[str, StringConstraints(min_length=1, max_length=256)]


def service_of(target: str) -> str:
    """The service behind a target name: "destination" for "destination-audit"."""
    return target.removesuffix(_AUDIT_SUFFIX)


class ListenerConfig(BaseModel):
    """One listener: one (source, target) pair.

    Attributes:
        source: role of the callers; "agent" covers both hosts.
        target: name of the target, a key of `InterposerConfig.targets`.
        listen: address to bind.
        tokens: memqual-token → service name of the caller; empty: no token is wanted and the caller
            is `source`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Name
    target: Name
    listen: Address
    tokens: dict[Token, Name] = Field(default_factory=dict, max_length=NAMES_MAX)


class InterposerConfig(BaseModel):
    """Everything that the interposer is told at its start, the control token apart.

    Attributes:
        control: address of the control port.
        listeners: one for each edge.
        targets: target name → address.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    control: Address
    listeners: tuple[ListenerConfig, ...] = Field(max_length=NAMES_MAX)
    targets: dict[Name, Address] = Field(min_length=1, max_length=NAMES_MAX)

    @model_validator(mode="after")
    def _known_targets(self) -> Self:
        for listener in self.listeners:
            if listener.target not in self.targets:
                raise ValueError(
                    f"listener {listener.source}→{listener.target}: no such target; "
                    f"known are {sorted(self.targets)}"
                )
        return self

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """Every (source, target) that a message can have, by role and by exact service name."""
        own = {(ORCHESTRATOR, target) for target in self.targets}
        for listener in self.listeners:
            own.update((name, listener.target) for name in _callers(listener))
        return frozenset(own)

    @property
    def services(self) -> frozenset[str]:
        """Every exact service name that can be at an end of an edge."""
        names = {service_of(target) for target in self.targets} | {ORCHESTRATOR}
        for listener in self.listeners:
            names.update(_callers(listener))
        return frozenset(names)


def _callers(listener: ListenerConfig) -> set[str]:
    return {listener.source, *listener.tokens.values()}


def parse_config(text: str) -> InterposerConfig:
    """Reads the variable's JSON.

    Raises:
        SettingsError: no JSON, or not what `InterposerConfig` describes.
    """
    try:
        return InterposerConfig.model_validate_json(text)
    except ValidationError as error:
        # The input may hold tokens, so that no value of it may reach a log.
        causes = "; ".join(
            f"{'.'.join(str(part) for part in found['loc'] if part not in ('tokens',))}: "
            f"{found['msg']}"
            for found in error.errors(include_input=False, include_url=False)
        )
        raise SettingsError(f"MEMQUAL_INTERPOSER_CONFIG: {causes}") from error
