"""Declining: a question of the world's knowledge, or of what the speaker never told, has no answer.

What is one's own is never declined. For the rest the form of the question speaks ("how many … does
a … have"), whether it has a name that was never told, and whether the speaker once asked it here,
too: then the words are known, but only as a question. The weights of these signs were learned on
the open stories (logistic, folds by round); none is a word of a story.
"""

import re
from collections.abc import Mapping

from services.memory.narrative import lexicon
from services.memory.narrative.index import Index
from services.memory.narrative.match import Features
from services.memory.narrative.model import QueryClass
from services.memory.narrative.question import Query

__all__ = ["WEIGHTS", "signs", "told"]

# Words that fix a question in somebody's own time.
STORY_TIME = re.compile(
    r"\b(?:now|nowadays|these days|finally|in the end|at the end|really|truly|actually|still"
    r"|at first|after all|today|at present|currently|this|again|so far|any ?more|later|before|after"
    r"|until|once)\b",
    re.IGNORECASE,
)
GENERIC = re.compile(
    r"\b(?:an?|one|any|normal|usual|usually|average|typical|typically|normally|generally)\b",
    re.IGNORECASE,
)
# Somebody's own, as in "the baker's van", but not "what's".
POSSESSIVE = re.compile(r"(?<!what)(?<!who)(?<!where)(?<!when)(?<!how)['\u2019]s\b", re.IGNORECASE)
# Log-odds that a question is declined.
WEIGHTS: Mapping[str, float] = {
    "asked": 5.329,
    "bias": -2.212,
    "generic": 1.330,
    "name_strange": 2.526,
    "past": -1.786,
    "person": -1.613,
    "possessive": -2.418,
    "story_time": -1.766,
    "world": 4.922,
}


def told(query: Query, index: Index, found: Features) -> float:
    """How sure it is that the speaker told what is asked; below 0 the question is declined.

    Args:
        query: the question.
        index: a book that has segments.
        found: what `match.features` found of it there.
    """
    if query.own:
        return 1.0
    values = signs(query, index, found)
    return -sum(WEIGHTS[name] * value for name, value in values.items())


def signs(query: Query, index: Index, found: Features) -> dict[str, float]:
    """Name → value of what tells a question about the world from one of others in the story."""
    asked = found["cover_soft"][index.marks["asked"]]
    return {
        "bias": 1.0,
        "world": float(query.query_class is QueryClass.GENERAL_KNOWLEDGE),
        "past": float(query.past),
        "story_time": float(STORY_TIME.search(query.text) is not None),
        "generic": float(GENERIC.search(query.text) is not None),
        "possessive": float(POSSESSIVE.search(query.text) is not None),
        "person": float(any(term.lemma in lexicon.PERSON_NOUNS for term in query.terms)),
        "name_strange": float(
            any(term.name and term.lemma not in index.place for term in query.terms)
        ),
        "asked": float(asked.max()) if len(asked) else 0.0,
    }
