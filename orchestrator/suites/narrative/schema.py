"""The JSON Schema of a story, for editors and for people who write stories elsewhere.

It is made of the models and of `REQUIRED`, so it cannot say another thing than the lint. What a
schema cannot say (verbatim strings, order of times, unique ids) only the lint does.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from orchestrator.suites.narrative.stories import REQUIRED, Form, Level, StoryFile

__all__ = ["story_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFINITIONS = {Level.BATCH: "Batch", Level.QUESTION: "Question"}


def story_schema() -> dict[str, Any]:
    """The schema of our form of a story, in the dialect of 2020-12."""
    schema = copy.deepcopy(StoryFile.model_json_schema())
    required = REQUIRED[Form.SUPERSET]
    _require(schema, required[Level.STORY])
    for level, name in _DEFINITIONS.items():
        _require(schema["$defs"][name], required[level])
    schema["properties"]["questions"]["minItems"] = 1
    schema["title"] = "Story of memqual's narrative axis"
    return {"$schema": _DIALECT, **schema}


def _require(part: dict[str, Any], names: Iterable[str]) -> None:
    """Makes fields required, so that `null`, which stands for an absent one, is none either."""
    part["required"] = list(names)
    for name in names:
        field = part["properties"][name]
        choices = [one for one in field.pop("anyOf", ()) if one != {"type": "null"}]
        if len(choices) == 1:
            field.pop("default", None)
            field.update(choices[0])
        elif choices:
            field["anyOf"] = choices
