"""Reads one YAML or JSON file to plain data in which every value has its line.

Nothing in a file can make this fail with anything but `UnreadableFile`: it follows events one by
one and never recurses, so that depth costs nothing; it knows no tags and no aliases, so that a
small file cannot be a large value; and it has a limit on bytes, values and depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.runtimes.yamltext import JsonData, YamlDocument
from orchestrator.suites.narrative.events import (
    DEPTH_MAX,
    Event,
    EventKind,
    UnreadableFile,
    json_events,
    short,
    yaml_events,
)

__all__ = [
    "FILE_BYTES_MAX",
    "Document",
    "Oddity",
    "read_document",
]

Path_ = tuple[str | int, ...]

FILE_BYTES_MAX = 32 << 20
VALUES_MAX = 1_000_000


@dataclass(frozen=True)
class Oddity:
    """Something in a file that is wrong though its data can be read.

    Attributes:
        line: Line of the file, from 1.
        message: What is wrong.
        grave: Whether data was lost by it.
    """

    line: int
    message: str
    grave: bool


@dataclass(frozen=True)
class Document:
    """What a file holds.

    Attributes:
        content: Its data and the line of each value; the data is a mapping.
        written: How a value that is no text was written (`18:40`, `2026-03-02`), by its path.
        oddities: What is wrong with it beside its data.
    """

    content: YamlDocument
    written: dict[Path_, str]
    oddities: tuple[Oddity, ...]


def read_document(path: Path) -> Document:
    """Reads a file, as JSON where its name ends in .json, else as YAML.

    Raises:
        OSError: the file cannot be read.
        UnreadableFile: it is no such file.
    """
    with path.open("rb") as file:
        raw = file.read(FILE_BYTES_MAX + 1)
    if len(raw) > FILE_BYTES_MAX:
        raise UnreadableFile(1, f"the file has more than {FILE_BYTES_MAX:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(line, f"the file is no UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise UnreadableFile(1, "the file is empty")
    events = json_events(text) if path.suffix.lower() == ".json" else yaml_events(text)
    return _Builder().document(events)


@dataclass
class _Frame:
    path: Path_
    items: dict[str, JsonData] | list[JsonData]
    key: str | None = None
    # A value whose key stood there before: read, and thrown away.
    doomed: bool = False


@dataclass
class _Builder:
    """Makes data of events, and remembers lines."""

    lines: dict[Path_, int] = field(default_factory=dict)
    written: dict[Path_, str] = field(default_factory=dict)
    oddities: list[Oddity] = field(default_factory=list)

    def document(self, events: Iterator[Event]) -> Document:
        stack: list[_Frame] = []
        root: JsonData = None
        for count, event in enumerate(events):
            if count > VALUES_MAX:
                raise UnreadableFile(event.line, f"more than {VALUES_MAX:,} values")
            if event.kind is EventKind.END:
                stack.pop()
            elif stack and self._takes_key(stack[-1], event):
                continue
            else:
                root = self._place(stack, event, root)
        if not isinstance(root, dict):
            raise UnreadableFile(1, "the top level must be a mapping of fields to values")
        return Document(YamlDocument(root, self.lines), self.written, tuple(self.oddities))

    def _takes_key(self, frame: _Frame, event: Event) -> bool:
        if not isinstance(frame.items, dict) or frame.key is not None:
            return False
        if event.kind is not EventKind.SCALAR:
            raise UnreadableFile(event.line, "a field's name must be text")
        frame.key = event.value if isinstance(event.value, str) else str(event.written)
        if frame.key is not event.value:
            self._odd(event.line, f"the key {frame.key} is no text: quote it", grave=False)
        frame.doomed = frame.key in frame.items
        if frame.doomed:
            self._odd(event.line, f"the field {short(frame.key)} stands twice", grave=True)
        else:
            self.lines[(*frame.path, frame.key)] = event.line
        return True

    def _place(self, stack: list[_Frame], event: Event, root: JsonData) -> JsonData:
        if len(stack) >= DEPTH_MAX:
            raise UnreadableFile(event.line, f"more than {DEPTH_MAX} levels deep")
        value: JsonData
        match event.kind:
            case EventKind.MAPPING:
                value = {}
            case EventKind.LIST:
                value = []
            case _:
                value = event.value
        path: Path_ = ()
        if stack:
            path = self._put(stack[-1], value)
            root = root if root is not None else value
        else:
            root = value
        self.lines.setdefault(path, event.line)
        if event.written is not None:
            self.written[path] = event.written
        if isinstance(value, dict | list):
            stack.append(_Frame(path, value))
        return root

    def _put(self, frame: _Frame, value: JsonData) -> Path_:
        if isinstance(frame.items, list):
            frame.items.append(value)
            return (*frame.path, len(frame.items) - 1)
        key, frame.key = str(frame.key), None
        if frame.doomed:
            return (*frame.path, key, "")
        frame.items[key] = value
        return (*frame.path, key)

    def _odd(self, line: int, message: str, *, grave: bool) -> None:
        self.oddities.append(Oddity(line, message, grave))
