"""Reads YAML that a person wrote, and says for every mistake the line and what was meant.

Plain data only: no tags, no dates, no duplicate keys. Anchors, aliases and merge keys (``<<``)
work, since compose files use them. `validate` puts a pydantic model over the data and turns its
complaints into sentences.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

__all__ = ["JsonData", "YamlDocument", "YamlPath", "YamlProblem", "load_yaml"]

JsonData = str | int | float | bool | None | list["JsonData"] | dict[str, "JsonData"]
YamlPath = tuple[str | int, ...]

MAX_BYTES = 1 << 20
# Aliases can make a small file large; no honest one comes near.
MAX_NODES = 50_000
# An alias can also stand inside what it names.
MAX_DEPTH = 40

_MERGE_TAG = "tag:yaml.org,2002:merge"
_SCALAR_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null")}


class YamlProblem(Exception):
    """One mistake in a file.

    Attributes:
        line: Line of the file, from 1.
        message: What is wrong, naming the key.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True)
class YamlDocument:
    """A file's data and where in the file each part of it is.

    Attributes:
        data: The top-level mapping.
        lines: Line, from 1, of each value by its path of keys and indexes.
    """

    data: dict[str, JsonData]
    lines: Mapping[YamlPath, int]

    def line_of(self, path: YamlPath) -> int:
        """Line of the value at a path, or of the nearest part of the file above it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


def load_yaml(path: Path) -> YamlDocument:
    """Reads a file whose top level is a mapping.

    Raises:
        OSError: the file cannot be read.
        YamlProblem: it is no such YAML.
    """
    raw = path.read_bytes()
    if len(raw) > MAX_BYTES:
        raise YamlProblem(1, f"the file has more than {MAX_BYTES} bytes")
    try:
        root = yaml.compose(raw.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise YamlProblem(1, f"the file is no UTF-8 text (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(mark.line + 1 if mark else 1, f"no YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise YamlProblem(1, f"no YAML: {error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise YamlProblem(1, "the top level must be a mapping of keys to values")
    builder = _Builder()
    data = builder.mapping(root, ())
    return YamlDocument(data=data, lines=builder.lines)


class _Builder:
    """Makes plain data of a node graph and remembers lines."""

    def __init__(self) -> None:
        self.lines: dict[YamlPath, int] = {}
        self._nodes = 0
        self._scalars = yaml.SafeLoader("")

    def mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, JsonData]:
        if len(path) > MAX_DEPTH:
            raise YamlProblem(_line(node), f"more than {MAX_DEPTH} levels deep")
        self.lines.setdefault(path, _line(node))
        result: dict[str, JsonData] = {}
        merged: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                merged += _merge_sources(value_node)
                continue
            key = self._key(key_node)
            if key in result:
                raise YamlProblem(_line(key_node), f"the key {key!r} stands twice")
            self.lines[(*path, key)] = _line(key_node)
            result[key] = self._value(value_node, (*path, key))
        # What stands in the mapping itself wins over what it merges; earlier sources win over later
        # ones.
        for source in merged:
            for key, value in self.mapping(source, (*path, "<<")).items():
                if key not in result:
                    self._adopt((*path, "<<"), path, key)
                    result[key] = value
        return result

    def _value(self, node: yaml.Node, path: YamlPath) -> JsonData:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise YamlProblem(_line(node), f"more than {MAX_NODES} values, aliases counted")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            self.lines.setdefault(path, _line(node))
            return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]
        if node.tag not in _SCALAR_TAGS:
            raise YamlProblem(
                _line(node), f"{node.value!r} is neither text, number nor true/false; quote it"
            )
        self.lines.setdefault(path, _line(node))
        return typing.cast(JsonData, self._scalars.construct_object(node))

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
            raise YamlProblem(_line(node), f"the key {node.value!r} is no text; quote it")
        return str(node.value)

    def _adopt(self, source: YamlPath, target: YamlPath, key: str) -> None:
        """Says that a merged value is where its source stands."""
        start = (*source, key)
        for path in [path for path in self.lines if path[: len(start)] == start]:
            self.lines.setdefault((*target, *path[len(source) :]), self.lines[path])


def _merge_sources(node: yaml.Node) -> list[yaml.MappingNode]:
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    if not all(isinstance(item, yaml.MappingNode) for item in nodes):
        raise YamlProblem(_line(node), "<<: takes mappings only")
    return list(nodes)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
