"""What a module of tools provides, and how a call of one goes.

A call is prepared outside the store's transaction (slow work such as staging a file), applied
inside it (its rows are committed with the journal's records), and finished after the commit (an
idempotent step that `recover` repeats after a crash).
"""

import abc
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from services.common.canonical import JsonObject, JsonValue

__all__ = ["Action", "Registry", "Tool", "ToolModule", "ToolRefusal", "text_argument"]


class ToolRefusal(Exception):
    """A tool's own refusal: definite, nothing applied.

    Attributes:
        code: stable, lower case.
        message: for a person, at most 1,024 bytes.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Action(abc.ABC):
    """One prepared call of a tool."""

    @abc.abstractmethod
    def apply(self, connection: sqlite3.Connection, *, guard: bool) -> JsonObject:
        """Writes the effect's rows and returns the tool's result.

        Args:
            connection: in the transaction of the effect.
            guard: whether the tool's own business precondition holds.

        Raises:
            ToolRefusal: the tool refuses; nothing may have been written before it.
        """

    def finish(self) -> None:  # noqa: B027  # most tools have nothing outside the store
        """Completes a committed effect outside the store; may be repeated. Raises OSError."""

    def discard(self) -> None:  # noqa: B027  # as above
        """Drops what was prepared for a call that was not applied."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: unique name, 1..128 bytes.
        read_only: True for a tool that never has an effect.
        prepare: makes an action of a workflow id and arguments. Raises ToolRefusal; OSError when
            the volume cannot take it.
    """

    name: str
    read_only: bool
    prepare: Callable[[str, JsonObject], Action]


class ToolModule(abc.ABC):
    """Tools that share a store. Each workflow has its own part of it."""

    name: str
    """Names this module's part in the state hash."""

    @abc.abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The module's tools."""

    @abc.abstractmethod
    def create(self, connection: sqlite3.Connection) -> None:
        """Creates tables and folders where they are missing."""

    @abc.abstractmethod
    def state(self, connection: sqlite3.Connection, workflow_id: str | None) -> JsonValue:
        """All that the tools have done, for one workflow or (None) for all; without times."""

    def recover(self, connection: sqlite3.Connection, *, starting: bool) -> None:  # noqa: B027  # see Action
        """Finishes what was committed before a crash; at the start also drops what was not.

        Raises:
            DatabaseError: what was committed cannot be completed any more.
        """


class Registry:
    """The tools of a destination by name."""

    def __init__(self, modules: Sequence[ToolModule]) -> None:
        self.modules = tuple(modules)
        found: dict[str, Tool] = {}
        for module in self.modules:
            for tool in module.tools():
                if tool.name in found:
                    raise ValueError(f"two tools are named {tool.name}")
                found[tool.name] = tool
        self._tools: Mapping[str, Tool] = found

    def find(self, name: str) -> Tool | None:
        """A tool by its name, or None."""
        return self._tools.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._tools))


def text_argument(arguments: JsonObject, name: str) -> str:
    """A text among the arguments; raises ToolRefusal bad_arguments when it is none."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolRefusal("bad_arguments", f"{name} must be a text")
    return value
