"""What a question asks: its terms, what kind of phrase answers it, and which time it means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.memory.narrative import lexicon
from services.memory.narrative.analysis import Word, analyse
from services.memory.narrative.model import QueryClass
from services.memory.narrative.phrases import Kind, is_content, is_name

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["Query", "Term", "as_own", "read"]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question that an answer should be about."""

    lemma: str
    name: bool
    verb: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read.

    Attributes:
        text: as asked.
        query_class: what it asks for.
        form: who, where, when, clock, much, many, long, old, often, name, which, feel, why, do, how
            or what.
        terms: content words, in order, each once.
        wants: kinds of phrase that would answer, with weights.
        focus: the noun of "what X" or "which X", or "".
        now: asks for what holds at the end.
        before: asks for what held earlier.
        own: is about the speaker ("I", "my").
        negative: holds a negation.
        subject_own: the speaker is the subject.
        subject: else words for the subject.
        past: asks about what was.
        months: months that it names.
        definite: speaks of something known ("the …", "that …", "his …").
    """

    text: str
    query_class: QueryClass
    form: str
    terms: tuple[Term, ...]
    wants: dict[Kind, float]
    focus: str
    now: bool
    before: bool
    own: bool
    negative: bool
    subject_own: bool
    subject: frozenset[str]
    past: bool
    definite: bool
    months: frozenset[int]


MONTH_NUMBERS = {
    name: number
    for number, name in enumerate(
        (
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ),
        1,
    )
}
OWN = frozenset("i me my mine myself we us our ours".split())
NOW = re.compile(
    r"\b(now|these days|nowadays|currently|at the moment|today|still|in the end|finally|final"
    r"|latest|new|present|eventually|end up|ended up|settled|at last|any ?more|current|actually)\b",
    re.IGNORECASE,
)
BEFORE = re.compile(
    r"\b(before|used to|originally|original|at first|first|previous|previously|initially|old"
    r"|former|formerly|earlier|back then|once|until|in the beginning|to begin with)\b",
    re.IGNORECASE,
)
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
    "feel": {Kind.FEELING: 1.0},
    "why": {Kind.REASON: 1.0},
    "role": {Kind.ROLE: 1.0, Kind.THING: 0.3},
    "do": {Kind.NEGATION: 1.0},
    "said": {Kind.QUOTE: 1.0},
    "how": {Kind.THING: 0.5},
    "which": {Kind.THING: 0.5, Kind.NAME: 0.4},
    "what": {Kind.THING: 0.5, Kind.NAME: 0.3},
}
PRICED = (
    r"\b(cost|pays?|paid|earns?|earned|charged?|spend|spent|owe[sd]?|worth|set (me|us|him|her) back|score[ds]?"
    r"|weigh(s|ed)?|asking for|sold for|fetch(ed)?|quoted?)\b"
)
_PLACES = lexicon.PLACE_NOUNS | frozenset("place country area location venue".split())
_MONEY = frozenset("price cost salary pay rent fee wage budget amount fare bill deposit sum loan debt fine"
                   " charge bonus income".split())  # fmt: skip
_NUMBERS = frozenset("number size score weight temperature percentage dose strength pressure speed distance"
                     " length height age rate floor result mark grade".split())  # fmt: skip
_TIMES = frozenset("date day month year weekday".split())
_CLOCKS = frozenset("hour shift".split())
_ORGANIZATIONS = frozenset("company employer firm business organisation organization shop school bank"
                           " charity agency team club".split())  # fmt: skip
_ROLES = frozenset("job work occupation profession position role trade career living".split())


def as_own(question: str, speaker: str) -> str:
    """The question in the speaker's own words: their name becomes "I" and "my"."""
    name = re.escape(speaker)
    text = re.sub(rf"\b{name}(?:['’]s|['’])", "my", question, flags=re.IGNORECASE)
    text = re.sub(rf"\b{name}\b", "I", text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:]


def read(doc: "Doc", query_class: QueryClass) -> Query:
    """Reads a parsed question."""
    words = analyse(doc, ()).words
    text = doc.text
    form, focus = _form(words, text.lower())
    terms: dict[str, Term] = {}
    for word in words:
        if is_content(word) and word.lemma not in terms:
            terms[word.lemma] = Term(word.lemma, is_name(word), word.tag.startswith("VB"))
    lowered = {word.text.lower() for word in words}
    subjects = [word for word in words if word.dep in {"nsubj", "nsubjpass"}]
    own_subject = any(word.text.lower() in {"i", "we"} for word in subjects)
    return Query(
        text=text,
        query_class=query_class,
        form=form,
        terms=tuple(terms.values()),
        wants=WANTS[form],
        focus=focus,
        now=NOW.search(text) is not None,
        before=BEFORE.search(text) is not None,
        own=bool(lowered & OWN),
        negative=bool(lowered & {"not", "n't", "never", "no"}),
        subject_own=own_subject,
        subject=frozenset(word.lemma for word in subjects if is_content(word)),
        past=any(word.tag in {"VBD"} for word in words),
        months=frozenset(
            MONTH_NUMBERS[word.text.lower()]
            for word in words
            if word.text.lower() in MONTH_NUMBERS and word.text[0].isupper()
        ),
        definite=bool(lowered & {"the", "that", "this", "his", "her", "their"}),
    )


def _form(words: Sequence[Word], text: str) -> tuple[str, str]:
    """The question's form, and the noun after "what" or "which"."""
    index = next(
        (
            i
            for i, word in enumerate(words)
            if word.text.lower()
            in {"who", "whose", "whom", "where", "when", "why", "how", "what", "which"}
        ),
        None,
    )
    if index is None:
        return "do", ""
    asked = words[index].text.lower()
    if asked in {"who", "whose", "whom"}:
        return "who", ""
    if asked in {"where", "when", "why"}:
        return asked, ""
    if re.search(r"\b(feel|felt|feeling|mood|emotion|emotions|feelings)\b", text):
        return "feel", ""
    if asked == "how":
        return _how(words, index), ""
    focus = _focus(words, index)
    if re.search(r"\b(called|name|named|nickname)\b", text):
        return "name", focus
    if re.search(r"what time|at what hour", text):
        return "clock", focus
    if re.search(r"\b(for a living|profession|(do|does|did) \S+ ?\S* ?\S* (really )?do\b)", text):
        return "role", focus
    if not focus and re.search(PRICED, text):
        return "much", focus
    for form, nouns in (
        ("when", _TIMES),
        ("clock", _CLOCKS),
        ("much", _MONEY),
        ("many", _NUMBERS),
        ("organization", _ORGANIZATIONS),
        ("role", _ROLES),
        ("where", _PLACES),
    ):
        if focus in nouns:
            return form, focus
    if focus and focus in lexicon.PERSON_NOUNS:
        return "who", focus
    if re.search(r"\bsay|said|tell|told\b", text):
        return "said", focus
    return ("which" if focus else "what"), focus


def _how(words: Sequence[Word], index: int) -> str:
    after = words[index + 1].text.lower() if index + 1 < len(words) else ""
    forms = {"much": "much", "many": "many", "long": "long", "old": "old", "often": "often",
             "far": "many", "tall": "many", "big": "many",
             "high": "many", "heavy": "many", "deep": "many", "fast": "many", "large": "many", "late": "clock", "early": "clock"}  # fmt: skip
    return forms.get(after, "how")


def _focus(words: Sequence[Word], index: int) -> str:
    """Head noun of the phrase that "what" or "which" opens, or of "what is X"."""
    last = ""
    for word in words[index + 1 :]:
        if word.tag in {"NN", "NNS", "NNP"}:
            last = word.lemma
        elif (
            word.tag in {"JJ", "VBN", "VBG", "CD", "HYPH", "IN", "DT", "PRP$"}
            and not last
            and word.lemma in {"kind", "sort", "type", "of"}
        ):
            continue
        elif word.tag in {"JJ", "VBN", "VBG", "CD", "HYPH"} and not last:
            continue
        elif last in {"kind", "sort", "type"} and word.lemma == "of":
            last = ""
        else:
            break
    if last:
        return last
    # "What is my hourly pay now?": the subject of "be" is the focus.
    after = words[index + 1] if index + 1 < len(words) else None
    if after is not None and after.lemma in {"be", "'s"}:
        for word in words[index + 2 :]:
            if word.tag in {"NN", "NNS"} and word.dep in {"nsubj", "attr", "ROOT"}:
                return word.lemma
    return ""
