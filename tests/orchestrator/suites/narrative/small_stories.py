"""A small story of each form, for tests that bend them."""

import copy
import json
from pathlib import Path
from typing import Any

import yaml

GOOD: dict[str, Any] = {
    "story_id": "r1-90",
    "story_name": "The hive",
    "category": "Learning",
    "description": "Somebody begins to keep bees.",
    "duration_simulated": "9 days",
    "total_batches": 3,
    "narrator": "Quill Vantongeren",
    "patterns": ["multi_fact", "temporal_update", "emotional_overlay", "general_knowledge_trap"],
    "engines_tested": ["write", "update"],
    "batches": [
        {
            "batch": 1,
            "time": "2026-03-02T18:40",
            "expected_type": "statement",
            "user_input": "I bought a hive from Otterly for 95 euros and put it behind the shed.",
            "expected_stores": ["Otterly", "95 euros", "shed"],
            "expected_tags": {"Otterly": "PERSON", "95 euros": "MONEY"},
        },
        {
            "batch": 2,
            "time": "2026-03-09T07:15",
            "expected_type": "statement",
            "user_input": "The bees come this coming Saturday and I am so happy about them all.",
            "expected_stores": ["bees"],
            "expected_temporal": [
                {
                    "text": "this coming Saturday",
                    "resolves_to": "2026-03-14",
                    "status": "upcoming",
                }
            ],
            "expected_adaptation": {"emotion_detected": "happy", "warmth_direction": "increase"},
        },
        {
            "batch": 3,
            "time": "2026-03-11T07:15",
            "expected_type": "update",
            "user_input": "I moved the hive, it is in the orchard now and no longer by the shed.",
            "expected_stores": ["orchard"],
        },
    ],
    "questions": [
        {
            "question_id": "q1",
            "question": "Who sold me my hive?",
            "question_open": "Who sold Quill Vantongeren the hive?",
            "expected_type": "factual",
            "expected_contains": ["Otterly"],
        },
        {
            "question_id": "q2",
            "question": "Where do my bees live now?",
            "question_open": "Where do Quill Vantongeren's bees live now?",
            "expected_type": "change",
            "expected_contains": ["orchard"],
            "must_not_contain": ["shed"],
        },
        {
            "question_id": "q3",
            "question": "On which date were the insects to arrive?",
            "question_open": "On which date were Quill Vantongeren's insects to arrive?",
            "expected_type": "temporal",
            "expected_contains": ["2026-03-14"],
        },
        {
            "question_id": "q4",
            "question": "What is going on with my new hobby?",
            "question_open": "What is going on with Quill Vantongeren's new hobby?",
            "expected_type": "situation",
            "expected_contains": ["hive", "orchard"],
            "min_facts": 2,
        },
        {
            "question_id": "q5",
            "question": "How heavy is the moon?",
            "question_open": "How heavy is the moon?",
            "expected_type": "general_knowledge",
            "expected_contains": [],
        },
    ],
}

PUBLISHED_YAML = """\
story_id: 7
story_name: The interview
category: Career
description: A first interview.
duration_simulated: 1 week
total_batches: 2
engines_tested:
  memory: true
  proactive: false
batches:
  - batch: 1
    time: Monday 9:00 AM
    user_input: Talked to Ferris at Plumbline about the job, I start at 5.
    expected_memory_stores: [Ferris, 5]
    expected_adaptation:
      emotion_detected: nervous
      warmth_direction: increase
      vulnerability: true
  - batch: 2
    time: Wednesday evening
    user_input: They offered me the job!
    expected_adaptation: {emotion_detected: over the moon, warmth_direction: increase}
questions:
  - question_id: 7_q1
    question: Whom did I talk to?
    expected_contains: [Ferris]
"""

PUBLISHED_JSON: dict[str, Any] = {
    "stories": [
        {
            "story_id": 8,
            "story_name": "The ferry",
            "category": "Daily Life",
            "facts": [
                {
                    "batch": 1,
                    "time": "Day 1, 8:00 AM",
                    "user_input": "The ferry costs 12 dollars \U0001f6f3 now.",
                    "expected_stores": ["12 dollars"],
                    "expected_triples": [
                        {"subject": "ferry", "predicate": "costs", "object": "12 dollars"}
                    ],
                }
            ],
            "questions": [
                {
                    "question_id": "8_q1",
                    "question": "What does the ferry cost?",
                    "expected_contains": ["12 dollars"],
                    "expected_triples": [],
                }
            ],
        }
    ]
}


def good() -> dict[str, Any]:
    """A story of our form without an error, to be bent; it has warnings for its few turns."""
    return copy.deepcopy(GOOD)


def write_story(folder: Path, story: object, name: str = "story.yaml") -> Path:
    """Writes a story as YAML, or as JSON by its name."""
    path = folder / name
    if name.endswith(".json"):
        path.write_text(json.dumps(story, indent=1), encoding="utf-8")
    else:
        text = yaml.safe_dump(story, allow_unicode=True, sort_keys=False)
        path.write_text(text, encoding="utf-8")
    return path
