"""Facts: what a turn tells, clause by clause, each with its verbatim text (CP2, CP3)."""

from dataclasses import dataclass

from services.memory.narrative import lexicon
from services.memory.narrative.analysis import Word
from services.memory.narrative.book import ANSWER_WORDS
from services.memory.narrative.index import Index
from services.memory.narrative.marking import HYPOTHETICAL, REPORTED
from services.memory.narrative.model import TemporalReference
from services.memory.narrative.phrases import is_content

__all__ = ["Fact", "fact_of_segment", "facts_of", "groups"]

FACTS_A_TURN = 1_000
QUERIES_A_FACT = 3
TURN_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a speaker told.

    Attributes:
        fact_id: the turn's id and the fact's place in it.
        text: the words that tell it, verbatim.
        first: its first segment in the book.
        last: one past its last segment.
        subject: whom or what it is about, as far as the parse says.
        predicate: base form of its verb.
        object: what the verb is done to.
        negated: it says that something is not so.
        modality: told, hypothetical or reported.
        time: the turn's own time.
        times: the times that it names.
        about: words that it means by reference.
        queries: questions that it answers.
    """

    fact_id: str
    text: str
    first: int
    last: int
    subject: str
    predicate: str
    object: str
    negated: bool
    modality: str
    time: str
    times: tuple[TemporalReference, ...]
    about: tuple[str, ...]
    queries: tuple[str, ...]


def facts_of(index: Index, turn: int | None = None) -> tuple[Fact, ...]:
    """The facts of a book, or of one turn of it, in order."""
    found = []
    numbers: dict[int, int] = {}
    for first, last in groups(index):
        number = numbers.get(index.book.segments[first].turn, 0)
        numbers[index.book.segments[first].turn] = number + 1
        if number < FACTS_A_TURN and turn in {None, index.book.segments[first].turn}:
            found.append(_fact(index, first, last, number))
    return tuple(found)


def groups(index: Index) -> list[tuple[int, int]]:
    """Segments of one sentence, joined up to the length of an answer."""
    groups: list[tuple[int, int]] = []
    size = 0
    for row, segment in enumerate(index.book.segments):
        joins = (
            groups
            and index.sentence_of[row] == index.sentence_of[row - 1]
            and size + segment.size <= ANSWER_WORDS
        )
        if joins:
            groups[-1] = (groups[-1][0], row + 1)
            size += segment.size
        else:
            groups.append((row, row + 1))
            size = segment.size
    return groups


def fact_of_segment(facts: tuple[Fact, ...], segments: int) -> tuple[int, ...]:
    """For each segment of the book the place of its fact."""
    places = [-1] * segments
    for place, fact in enumerate(facts):
        for row in range(fact.first, fact.last):
            places[row] = place
    return tuple(places)


def _fact(index: Index, first: int, last: int, number: int) -> Fact:
    book = index.book
    segments = book.segments[first:last]
    told = book.turns[segments[0].turn]
    words = told.analysis.words[segments[0].first : segments[-1].last]
    start, end = words[0].start, words[-1].end
    verb = _verb(words)
    low = {word.text.lower() for word in words}
    own = {word.lemma for word in words}
    about = index.means[first:last].sum(axis=0)
    modality = "hypothetical" if low & HYPOTHETICAL else "reported" if own & REPORTED else "told"
    subject = _role(words, ("nsubj", "nsubjpass", "expl"))
    target = _role(words, ("dobj", "attr", "pobj", "acomp", "oprd"))
    return Fact(
        fact_id=f"{told.turn_id[:TURN_CHARACTERS]}.{number}",
        text=told.text[start:end],
        first=first,
        last=last,
        subject=subject,
        predicate=verb.lemma if verb else "",
        object=target,
        negated=bool(low & {"not", "n't", "no", "never", "nobody", "nothing", "none"}),
        modality=modality,
        time=told.time,
        times=tuple(t for t in told.analysis.times if t.start < end and t.end > start),
        about=tuple(index.lemmas[c] for c in about.nonzero()[0] if index.lemmas[c] not in own),
        queries=_queries(words, subject, verb),
    )


def _verb(words: tuple[Word, ...]) -> Word | None:
    verbs = [word for word in words if word.tag.startswith("VB")]
    main = [word for word in verbs if word.dep in {"ROOT", "ccomp", "conj", "advcl"}]
    chosen = main or verbs
    return chosen[0] if chosen else None


def _role(words: tuple[Word, ...], deps: tuple[str, ...]) -> str:
    for dep in deps:
        for word in words:
            if word.dep == dep:
                return word.text
    return ""


def _queries(words: tuple[Word, ...], subject: str, verb: Word | None) -> tuple[str, ...]:
    """Questions that a person would ask to hear this again."""
    content = [word for word in words if is_content(word)]
    nouns = [word.text for word in content if word.tag.startswith(("NN", "CD", "JJ"))]
    topic = " ".join(dict.fromkeys(word.text for word in content[:6]))
    if not topic:
        topic = " ".join(word.text for word in words[:8])
    queries = [f"What did I say about {topic}?"]
    if verb is not None and nouns:
        who = subject if subject and subject.lower() not in lexicon.STOP else "I"
        queries.append(f"What about {who} and {' '.join(nouns[:4])}: {verb.lemma}?")
    return tuple(dict.fromkeys(queries))[:QUERIES_A_FACT]
