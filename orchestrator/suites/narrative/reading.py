"""Finds the story files of a path and the stories in each, in whichever form they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.runtimes.yamltext import JsonData, YamlDocument
from orchestrator.suites.narrative.documents import Document, read_document
from orchestrator.suites.narrative.events import UnreadableFile, short
from orchestrator.suites.narrative.findings import Finding, Rule, Severity
from orchestrator.suites.narrative.published import is_published, rewrite_published
from orchestrator.suites.narrative.stories import Form, StoryFile

__all__ = ["Draft", "read_drafts", "story_files"]

_SUFFIXES = (".yaml", ".yml", ".json")
Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Draft:
    """One story as a file has it, before anything in it is believed.

    Attributes:
        path: The file.
        content: Its fields, of whatever kinds they are, and the line of each.
        form: The format that it was written in.
        written: How a value that is no text was written, by its path.
    """

    path: Path
    content: YamlDocument
    form: Form
    written: Mapping[Path_, str]


def story_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files that paths name: a file itself, of a folder every .yaml, .yml and .json below.

    Raises:
        UsageError: a path does not exist, or a folder holds no such file.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(
                each
                for each in path.rglob("*")
                if each.suffix.lower() in _SUFFIXES and each.is_file()
            )
            if not inside:
                raise UsageError(
                    f"{path} holds no story: no file of {', '.join(_SUFFIXES)}.",
                    next_step="Give story files, or a folder that holds some.",
                )
            found |= dict.fromkeys(inside)
        elif path.is_file():
            found[path] = None
        else:
            raise UsageError(
                f"{path} is no file and no folder.",
                next_step="Give story files, or a folder that holds some.",
            )
    return tuple(found)


def read_drafts(path: Path) -> tuple[list[Draft], list[Finding]]:
    """The stories of a file, and what is wrong with it as a file; never an exception."""
    try:
        document = read_document(path)
    except UnreadableFile as error:
        return [], [Finding(path, error.line, Severity.ERROR, Rule.FILE, error.message)]
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return [], [Finding(path, 1, Severity.ERROR, Rule.FILE, message)]
    findings = [
        Finding(
            path,
            oddity.line,
            Severity.ERROR if oddity.grave else Severity.WARNING,
            Rule.FIELDS,
            oddity.message,
        )
        for oddity in document.oddities
    ]
    findings += _beside(path, document)
    drafts = []
    for data, lines, written in _stories(document):
        if not isinstance(data, dict):
            line = lines.get((), 1)
            findings.append(
                Finding(path, line, Severity.ERROR, Rule.FIELDS, "a story must be a mapping")
            )
        elif is_published(data):
            new = rewrite_published(data, lines, written)
            drafts.append(Draft(path, YamlDocument(new.data, new.lines), Form.PUBLISHED, {}))
            findings += [
                Finding(path, line, Severity.WARNING, Rule.FIELDS, message)
                for line, message in new.doubts
            ]
        else:
            drafts.append(Draft(path, YamlDocument(data, lines), Form.SUPERSET, written))
    return drafts, findings


def _beside(path: Path, document: Document) -> Iterator[Finding]:
    """What is wrong with a file of several stories apart from them."""
    data = document.content.data
    many = data.get("stories")
    if not isinstance(many, list):
        return
    if not many:
        line = document.content.line_of(("stories",))
        yield Finding(path, line, Severity.ERROR, Rule.COUNT, "no stories")
    for name in data:
        if name != "stories":
            # A word about the whole corpus is read over; a story's field is on the wrong level.
            grave = name in StoryFile.model_fields
            message = f"{short(name)} stands beside `stories`, where nothing is read"
            severity = Severity.ERROR if grave else Severity.WARNING
            yield Finding(path, document.content.line_of((name,)), severity, Rule.FIELDS, message)


def _stories(
    document: Document,
) -> list[tuple[JsonData, dict[Path_, int], dict[Path_, str]]]:
    """One story, or those of a file whose top level is `stories`: the published JSON form."""
    data, lines = document.content.data, document.content.lines
    many = data.get("stories")
    if not isinstance(many, list):
        return [(data, dict(lines), document.written)]
    parts: list[tuple[JsonData, dict[Path_, int], dict[Path_, str]]]
    parts = [(item, {}, {}) for item in many]
    for path, line in lines.items():
        if len(path) > 1 and path[0] == "stories" and isinstance(path[1], int):
            parts[path[1]][1][path[2:]] = line
    for path, text in document.written.items():
        if len(path) > 1 and path[0] == "stories" and isinstance(path[1], int):
            parts[path[1]][2][path[2:]] = text
    return parts
