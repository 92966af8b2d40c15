"""The form of a question, and the kinds of phrase that answer each form."""

import re
from collections.abc import Sequence

from services.memory.narrative import lexicon
from services.memory.narrative.analysis import Word
from services.memory.narrative.phrases import Kind

__all__ = ["WANTS", "form_of"]

WANTS: dict[str, dict[Kind, float]] = {
    "who": {Kind.PERSON: 1.0, Kind.NAME: 0.6, Kind.KIN: 0.6, Kind.ROLE: 0.5},
    "where": {Kind.PLACE: 1.0, Kind.LOCATED: 1.0, Kind.NAME: 0.5, Kind.ORGANIZATION: 0.5},
    "when": {Kind.TIME: 1.0, Kind.CLOCK: 0.4, Kind.DURATION: 0.2},
    "clock": {Kind.CLOCK: 1.0, Kind.NUMBER: 0.6, Kind.TIME: 0.5},
    "much": {Kind.MONEY: 1.0, Kind.NUMBER: 0.7, Kind.MEASURE: 0.4},
    "many": {Kind.NUMBER: 1.0, Kind.MEASURE: 0.6},
    "long": {Kind.DURATION: 1.0, Kind.NUMBER: 0.5},
    "old": {Kind.NUMBER: 1.0, Kind.DURATION: 0.6},
    "often": {Kind.DURATION: 0.6, Kind.TIME: 0.8, Kind.NUMBER: 0.3},
    "name": {Kind.NAME: 1.0, Kind.PERSON: 0.5},
    "organization": {Kind.ORGANIZATION: 1.0, Kind.NAME: 0.8, Kind.PLACE: 0.3},
    "feel": {Kind.FEELING: 1.0, Kind.FEELING_HINT: 0.5},
    "why": {Kind.REASON: 1.0},
    "role": {Kind.ROLE: 1.0, Kind.THING: 0.3},
    "do": {Kind.NEGATION: 1.0},
    "said": {Kind.QUOTE: 1.0},
    "how": {Kind.THING: 0.5},
    "which": {Kind.THING: 0.5, Kind.NAME: 0.4},
    "what": {Kind.THING: 0.5, Kind.NAME: 0.3},
}


def _nouns(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPENERS = _nouns("who whose whom where when why how what which")
BY_OPENER = {
    "who": "who",
    "whose": "who",
    "whom": "who",
    "where": "where",
    "when": "when",
    "why": "why",
}
AFTER_HOW = {
    **dict.fromkeys(("far", "tall", "big", "high", "heavy", "deep", "fast", "large"), "many"),
    **{"much": "much", "many": "many", "long": "long", "old": "old", "often": "often"},
    **{"late": "clock", "early": "clock"},
}
FEELING = re.compile(r"\b(feel|felt|feelings?|mood|emotions?)\b")
PRICED = re.compile(
    r"\b(cost|pays?|paid|earns?|earned|charged?|spend|spent|owe[sd]?|worth|asking for|sold for"
    r"|set (me|us|him|her) back|score[ds]?|weigh(s|ed)?|fetch(ed)?|quoted?)\b"
)
# What a question's words say of its form, whatever its focus; the first that fits counts.
BY_WORDS = (
    ("name", re.compile(r"\b(called|named?|nickname)\b")),
    ("clock", re.compile(r"what time|at what hour")),
    ("role", re.compile(r"\b(for a living|profession)\b")),
    ("role", re.compile(r"\b(do|does|did) \S+ ?\S* ?\S* (really )?do\b")),
)
# What the noun after "what" or "which" says of it.
BY_FOCUS = (
    ("when", _nouns("date day month year weekday")),
    ("clock", _nouns("hour shift")),
    (
        "much",
        _nouns(
            "price cost salary pay rent fee wage budget amount fare bill deposit sum loan debt fine"
            " charge bonus income"
        ),
    ),
    (
        "many",
        _nouns(
            "number size score weight temperature percentage dose strength pressure speed distance"
            " length height age rate floor result mark grade"
        ),
    ),
    (
        "organization",
        _nouns(
            "company employer firm business organisation organization shop school bank charity"
            " agency team club"
        ),
    ),
    ("role", _nouns("job work occupation profession position role trade career living")),
    ("where", lexicon.PLACE_NOUNS | _nouns("place country area location venue")),
    ("who", lexicon.PERSON_NOUNS),
)
SAID = re.compile(r"\b(say|said|tell|told)\b")
KINDS = _nouns("kind sort type")
NARROWING = _nouns("JJ VBN VBG CD HYPH")


def form_of(words: Sequence[Word]) -> tuple[str, str]:
    """A key of `WANTS`, and the noun after "what" or "which" ("" where there is none)."""
    text = " ".join(word.text for word in words).lower()
    index = next((i for i, word in enumerate(words) if word.text.lower() in OPENERS), None)
    if index is None:
        return "do", ""
    opener = words[index].text.lower()
    if opener in BY_OPENER:
        return BY_OPENER[opener], ""
    if FEELING.search(text):
        return "feel", ""
    if opener == "how":
        after = words[index + 1].text.lower() if index + 1 < len(words) else ""
        return AFTER_HOW.get(after, "how"), ""
    focus = _focus(words, index)
    return _form_of_what(text, focus), focus


def _form_of_what(text: str, focus: str) -> str:
    by_words = next((form for form, pattern in BY_WORDS if pattern.search(text)), "")
    priced = "much" if not focus and PRICED.search(text) else ""
    by_focus = next((form for form, nouns in BY_FOCUS if focus in nouns), "")
    said = "said" if SAID.search(text) else ""
    return by_words or priced or by_focus or said or ("which" if focus else "what")


def _focus(words: Sequence[Word], index: int) -> str:
    """Head noun of the phrase that "what" or "which" opens, or of "what is X"."""
    head = ""
    for word in words[index + 1 :]:
        if head in KINDS and word.lemma == "of":
            head = ""
        elif word.tag in {"NN", "NNS", "NNP"}:
            head = word.lemma
        elif head or word.tag not in NARROWING:
            break
    if head:
        return head
    # "What is my hourly pay now?": the subject of "be" is the focus.
    if index + 1 < len(words) and words[index + 1].lemma in {"be", "'s"}:
        for word in words[index + 2 :]:
            if word.tag in {"NN", "NNS"} and word.dep in {"nsubj", "attr", "ROOT"}:
                return word.lemma
    return ""
