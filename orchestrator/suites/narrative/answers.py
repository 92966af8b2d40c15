"""Joins what ATANT publishes in two files: a story's turns as YAML, its questions as JSON.

The JSON of expected answers has the turns, too, so it is the story; of the YAML only the feelings
of the turns, which the JSON lacks, are added to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.runtimes.yamltext import JsonData, YamlDocument
from orchestrator.suites.narrative.reading import Draft
from orchestrator.suites.narrative.stories import Form

__all__ = ["join_published"]

_FEELING = "expected_adaptation"


def join_published(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each published story without questions joined to one of its id that has some.

    Drafts that do not belong together in this way, turn by turn, stay as they are.
    """
    answers = {
        draft.content.data["story_id"]: draft
        for draft in drafts
        if draft.form is Form.PUBLISHED
        and draft.content.data.get("questions")
        and isinstance(draft.content.data.get("story_id"), str)
    }
    joined: dict[int, Draft] = {}
    left_out: set[int] = set()
    for draft in drafts:
        story_id = draft.content.data.get("story_id")
        if draft.form is not Form.PUBLISHED or "questions" in draft.content.data:
            continue
        other = answers.get(story_id) if isinstance(story_id, str) else None
        if other is not None and _said(other) == _said(draft) and _said(draft):
            joined[id(other)] = _with_feelings(other, draft)
            left_out.add(id(draft))
    return [joined.get(id(draft), draft) for draft in drafts if id(draft) not in left_out]


def _turns(draft: Draft) -> list[dict[str, JsonData]]:
    turns = draft.content.data.get("batches")
    found = turns if isinstance(turns, list) else []
    return [turn for turn in found if isinstance(turn, dict)]


def _said(draft: Draft) -> list[str]:
    return [" ".join(str(turn.get("user_input")).split()) for turn in _turns(draft)]


def _with_feelings(answers: Draft, turns: Draft) -> Draft:
    batches: list[JsonData] = [
        {**answer, **{name: turn[name] for name in (_FEELING,) if name in turn}}
        for answer, turn in zip(_turns(answers), _turns(turns), strict=True)
    ]
    data = {**answers.content.data, "batches": batches}
    content = YamlDocument(data, answers.content.lines)
    return Draft(answers.path, content, answers.form, answers.written)
