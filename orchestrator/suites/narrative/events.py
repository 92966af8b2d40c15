"""Walks a YAML or a JSON text as one stream of events, each with its line.

Neither walk recurses, and neither knows tags or aliases: no text costs more than its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import yaml

__all__ = [
    "DEPTH_MAX",
    "Event",
    "EventKind",
    "UnreadableFile",
    "json_events",
    "short",
    "yaml_events",
]

DEPTH_MAX = 40
_SHOWN_MAX = 60

# libyaml where it is there: the same events, ten times as quick.
_YAML_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)
_YAML_FORBIDS = yaml.reader.Reader.NON_PRINTABLE
_TEXT_TAG = "tag:yaml.org,2002:str"
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "null")}
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
# PyYAML's own, which has no annotations.
_Resolve = Callable[[type[yaml.Node], str, tuple[bool, bool]], str]


class UnreadableFile(Exception):
    """A file of which nothing can be made.

    Attributes:
        line: Line of the file, from 1.
        message: What is wrong.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class EventKind(StrEnum):
    """What an event tells."""

    MAPPING = "mapping"
    LIST = "list"
    END = "end"
    SCALAR = "scalar"


@dataclass(frozen=True)
class Event:
    """One step through a file.

    Attributes:
        kind: Start of a mapping or of a list, end of one, or a scalar.
        line: Line of the file, from 1.
        value: The scalar; a key of a mapping is one, too.
        written: How it was written, where it is no text or would be a date for other readers.
    """

    kind: EventKind
    line: int
    value: str | int | float | bool | None = None
    written: str | None = None


def yaml_events(text: str) -> Iterator[Event]:
    """Events of a YAML text of one document.

    Raises:
        UnreadableFile: it is none, or has anchors, aliases or tags.
    """
    forbidden = _YAML_FORBIDS.search(text)
    if forbidden:
        line = text.count("\n", 0, forbidden.start()) + 1
        raise UnreadableFile(line, f"the character U+{ord(forbidden[0]):04X} cannot be in YAML")
    resolver = yaml.SafeLoader("")
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_YAML_LOADER):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise UnreadableFile(line, "a second YAML document; a file holds one")
            elif isinstance(event, yaml.NodeEvent) and event.anchor:
                raise UnreadableFile(line, f"no anchors and aliases here ({short(event.anchor)})")
            elif isinstance(event, yaml.ScalarEvent):
                yield _yaml_scalar(resolver, event, line)
            elif isinstance(event, yaml.CollectionStartEvent):
                _refuse_tag(event.tag, line)
                is_map = isinstance(event, yaml.MappingStartEvent)
                yield Event(EventKind.MAPPING if is_map else EventKind.LIST, line)
            elif isinstance(event, yaml.CollectionEndEvent):
                yield Event(EventKind.END, line)
    except yaml.MarkedYAMLError as error:
        raise _no_yaml(error) from error
    except (yaml.YAMLError, ValueError) as error:
        raise UnreadableFile(1, f"no YAML: {error}") from error


def _no_yaml(error: yaml.MarkedYAMLError) -> UnreadableFile:
    problem = error.problem or error.context or "not understood"
    mark = error.problem_mark or error.context_mark
    if "end of stream" in problem and error.context and error.context_mark:
        # What was never closed: where it began says more than where the file ends.
        problem, mark = f"{error.context}, {problem}", error.context_mark
    return UnreadableFile(mark.line + 1 if mark else 1, f"no YAML: {problem}")


def _yaml_scalar(resolver: yaml.SafeLoader, event: yaml.ScalarEvent, line: int) -> Event:
    text = str(event.value)
    if _SURROGATE.search(text):
        raise UnreadableFile(line, "half of a surrogate pair is no character")
    _refuse_tag(event.tag, line)
    if event.tag == _TEXT_TAG or not event.implicit[0]:
        return Event(EventKind.SCALAR, line, text)
    resolve = cast(_Resolve, resolver.resolve)
    tag = resolve(yaml.ScalarNode, text, (True, False))
    if tag not in _PLAIN_TAGS:
        # A date, `=` or `<<`: its text is what was meant.
        return Event(EventKind.SCALAR, line, text, text if tag.endswith(":timestamp") else None)
    try:
        value = resolver.construct_object(yaml.ScalarNode(tag, text))
    except ValueError:
        # More digits than Python makes a number of.
        return Event(EventKind.SCALAR, line, text)
    return Event(EventKind.SCALAR, line, value, text)


def _refuse_tag(tag: str | None, line: int) -> None:
    if tag not in (None, "!", _TEXT_TAG):
        raise UnreadableFile(line, f"no tags here ({short(tag)})")


def json_events(text: str) -> Iterator[Event]:
    """Events of a JSON text; json.loads judges it first, so that the rest may take it for granted.

    Raises:
        UnreadableFile: it is none.
    """
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise UnreadableFile(error.lineno, f"no JSON: {error.msg}") from error
    except RecursionError as error:
        raise UnreadableFile(1, f"more than {DEPTH_MAX} levels deep") from error
    except ValueError as error:
        raise UnreadableFile(1, f"no JSON: {error}") from error
    line, seen = 1, 0
    for token in _JSON_TOKEN.finditer(text):
        line += text.count("\n", seen, token.start())
        seen = token.start()
        mark = token[0]
        if mark in "{[":
            yield Event(EventKind.MAPPING if mark == "{" else EventKind.LIST, line)
        elif mark in "}]":
            yield Event(EventKind.END, line)
        elif mark not in ",:":
            value = json.loads(mark)
            if isinstance(value, str) and _SURROGATE.search(value):
                raise UnreadableFile(line, "half of a surrogate pair is no character")
            yield Event(EventKind.SCALAR, line, value, None if isinstance(value, str) else mark)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def short(value: object) -> str:
    """A value as a message shows it: quoted, and cut where it is long."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN_MAX else f"{shown[:_SHOWN_MAX]}…"
