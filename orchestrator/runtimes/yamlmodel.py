"""Puts a pydantic model over what `yamltext` read and turns its complaints into sentences.

A sentence names the key and, for a misspelt key or value, the nearest valid one.
"""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from orchestrator.runtimes.yamltext import YamlDocument, YamlPath

__all__ = ["Complaint", "examine", "validate"]

ModelT = typing.TypeVar("ModelT", bound=BaseModel)


def validate(
    model: type[ModelT], document: YamlDocument, problem: Callable[[int, str], Exception]
) -> ModelT:
    """Puts a model over a document.

    Args:
        model: The shape that the data must have.
        document: What was read.
        problem: Makes the exception to raise from a line and a sentence.
    """
    found, complaints = examine(model, document)
    if found is None:
        raise problem(complaints[0].line, complaints[0].sentence)
    return found


@dataclass(frozen=True)
class Complaint:
    """One thing that a model has against a document.

    Attributes:
        path: Keys and indexes of the value.
        line: Its line, from 1, or that of the nearest part of the file above it.
        kind: pydantic's name for what is wrong, such as `missing`.
        sentence: What is wrong, naming the key.
    """

    path: YamlPath
    line: int
    kind: str
    sentence: str


def examine(model: type[ModelT], document: YamlDocument) -> tuple[ModelT | None, list[Complaint]]:
    """Puts a model over a document; what was read, or None and everything that is wrong."""
    try:
        return model.model_validate(document.data), []
    except ValidationError as error:
        # A misspelt key is the cause of one that is missing: it goes first.
        found = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    return None, [
        Complaint(
            loc, document.line_of(loc), each["type"], _sentence(model, each["type"], loc, each)
        )
        for each in found
        for loc in (each["loc"],)
    ]


def _sentence(
    model: type[BaseModel], kind: str, path: YamlPath, error: Mapping[str, object]
) -> str:
    where = ".".join(str(part) for part in path[:-1])
    inside = f" in {where}" if where else ""
    key = str(path[-1]) if path else "the file"
    if kind == "extra_forbidden":
        valid = sorted(_keys_at(model, path[:-1]))
        near = difflib.get_close_matches(key, valid, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"unknown key {key!r}{inside}; {hint}{_valid_keys(valid)}"
    if kind == "missing":
        return f"the key {key!r} is missing{inside}"
    text = str(error["msg"]).removeprefix("Value error, ") + _near_value(error)
    return f"{key!r}{inside}: {text}" if path else text


def _near_value(error: Mapping[str, object]) -> str:
    """What a value that is not of the list may have been meant to be."""
    value = error["input"]
    if error["type"] not in ("enum", "literal_error") or not isinstance(value, str):
        return ""
    near = difflib.get_close_matches(value, re.findall(r"'([^']+)'", str(error["msg"])), n=1)
    return f", not {value[:40]!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _valid_keys(valid: list[str]) -> str:
    return f"Valid keys: {', '.join(valid)}" if valid else "No key can stand there"


def _keys_at(model: type[BaseModel], path: YamlPath) -> Iterator[str]:
    """Keys that the model takes at a path, walking through mappings and lists of models."""
    current = model
    for part in path:
        field = next(
            (field for name, field in current.model_fields.items() if part in (name, field.alias)),
            None,
        )
        if field is not None:
            current = _model_within(field.annotation) or current
    for name, field in current.model_fields.items():
        yield field.alias or name


def _model_within(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in typing.get_args(annotation):
        found = _model_within(part)
        if found is not None:
            return found
    return None
