"""What a question asks: its terms, what kind of phrase answers it, and which time it means."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.memory.narrative.analysis import analyse
from services.memory.narrative.forms import WANTS, form_of
from services.memory.narrative.model import WHOLES, QueryClass
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
        whole: how likely a whole is asked for, a situation or a change; 0 to 1.
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
    whole: float


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
OWN = frozenset(["i", "me", "my", "mine", "myself", "we", "us", "our", "ours"])
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


def as_own(question: str, speaker: str) -> str:
    """The question in the speaker's own words: their name becomes "I" and "my"."""
    name = re.escape(speaker)
    text = re.sub(rf"\b{name}(?:['\u2019]s|['\u2019])", "my", question, flags=re.IGNORECASE)
    text = re.sub(rf"\b{name}\b", "I", text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:]


def read(doc: "Doc", query_class: QueryClass) -> Query:
    """Reads a parsed question."""
    words = analyse(doc, ()).words
    text = doc.text
    form, focus = form_of(words)
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
        whole=float(query_class in WHOLES),
    )
