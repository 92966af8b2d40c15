"""What a proper name names: by its own words, by a noun beside it, by its place in the clause."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.memory.narrative import kinds, lexicon
from services.memory.narrative.gazetteer import PLACES
from services.memory.narrative.model import TagType

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

__all__ = ["is_name", "name_kind"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INTO = _words("in near around across outside into towards toward throughout within")
_WHERE = _words("in at from near to on")
_MOTION = _words("go move fly drive travel ship come return sail walk cycle commute get head")
_LEAVE = _words("leave head depart set bind sail fly take move")
_CALLED = _words("call name nickname christen")
_CONTAINERS = _words("bottle glass tin can packet box jar pint cup pair")
# "a letter from X", "gave it to X": persons.
_SENT = _words(
    "letter message call note gift card email mail text news word present get hear borrow learn"
    " buy"
    " receive inherit take parcel invitation"
)
_GIVE = _words(
    "give tell say talk speak write sell send lend explain promise show lose listen belong owe"
    " pass"
    " hand thanks thank apologise apologize marry married"
)
_HUMAN_ENDINGS = ("ist", "ian", "eer", "man", "woman", "ower")
_PEOPLES = ("ish", "ese", "ian", "ean", "can", "ch", "ic", "man", "i")
_POSSESSIVE = frozenset(("'s", "\u2019s"))
_PLACE_LABELS = frozenset(("GPE", "LOC", "FAC"))
_QUOTES = frozenset(('"', "\u201c", "\u2018"))


@dataclass(frozen=True, slots=True)
class _Name:
    """A run of proper nouns in its turn."""

    doc: "Doc"
    start: int
    end: int
    words: tuple[str, ...]
    labels: frozenset[str]

    @property
    def root(self) -> "Token":
        return self.doc[self.start : self.end].root

    @property
    def before(self) -> "Token | None":
        return self.doc[self.start - 1] if self.start else None

    @property
    def lead(self) -> str:
        return self.doc[self.start - 1].lower_ if self.start else ""

    @property
    def second(self) -> str:
        """The word two before."""
        return self.doc[self.start - 2].lower_ if self.start > 1 else ""

    @property
    def governor(self) -> str:
        """What the word before depends on."""
        return self.doc[self.start - 1].head.lemma_.lower() if self.start else ""

    @property
    def owns(self) -> bool:
        return self.end < len(self.doc) and self.doc[self.end].lower_ in _POSSESSIVE

    @property
    def known_place(self) -> bool:
        return bool(self.labels & _PLACE_LABELS) or all(word in PLACES for word in self.words)


def is_name(token: "Token") -> bool:
    """True for a proper noun that is no month and no weekday."""
    if not token.text[0].isupper() or token.lower_ in lexicon.MONTHS | lexicon.WEEKDAYS:
        return False
    if token.pos_ == "PROPN":
        return True
    # The parser takes rare names for other words; capitals within a sentence tell them.
    within = token.i > 0 and not token.is_sent_start and token.doc[token.i - 1].text.isalnum()
    return within and token.is_title and token.pos_ in {"NOUN", "ADV", "X", "INTJ", "VERB"}


def name_kind(doc: "Doc", start: int, end: int) -> tuple[TagType, bool] | None:
    """What the name of some tokens names, and whether its surroundings say so.

    None for a people or a language.

    Args:
        doc: the parsed turn.
        start: index of its first token.
        end: one past its last.
    """
    words = tuple(token.lower_.rstrip(".") for token in doc[start:end])
    name = _Name(doc, start, end, words, frozenset(t.ent_type_ for t in doc[start:end]))
    for rule in (_by_words, _by_noun, _by_called, _by_what_follows, _by_preposition, _by_article):
        kind = rule(name)
        if kind is not None:
            return kind, True
    if name.labels & {"NORP", "LANGUAGE"} and words[-1].endswith(_PEOPLES):
        return None
    return _by_label(name), False


def _by_words(name: _Name) -> TagType | None:
    words = name.words
    if words[0] in kinds.TITLES:
        return TagType.PERSON
    saint = words[0] == "st" and name.owns
    if saint or "&" in words or any(word in kinds.ORGANIZATION_WORDS for word in words):
        return TagType.ORGANIZATION
    if len(words) > 1 and (words[-1] in kinds.PLACE_LAST or words[0] in kinds.PLACE_FIRST):
        return TagType.PLACE
    return TagType.OBJECT if name.lead in _QUOTES else None


def _human(noun: str) -> bool:
    return (
        noun in kinds.PERSONS
        or kinds.kind_of(noun) is TagType.ROLE
        or (noun.endswith(_HUMAN_ENDINGS) and len(noun) > 5)
    )


def _by_noun(name: _Name) -> TagType | None:
    """By a noun beside it: "my cousin X", "our cat X", "X, a ferry", "the school X"."""
    before, root = name.before, name.root
    nouns = [before.lemma_.lower()] if before is not None and before.pos_ != "VERB" else []
    if root.dep_ == "appos":
        nouns.append(root.head.lemma_.lower())
    for noun in nouns:
        if _human(noun):
            return TagType.PERSON
        if noun in kinds.ANIMALS:
            return TagType.OBJECT
    if root.dep_ == "appos" or (before is not None and before.pos_ == "NOUN"):
        known = kinds.kind_of(nouns[-1]) if nouns else None
        objects = {TagType.OBJECT} if root.dep_ == "appos" else set()
        if known in {TagType.PLACE, TagType.ORGANIZATION} | objects:
            return known
    return None


def _by_called(name: _Name) -> TagType | None:
    """By who or what is called so: "a man called X", "a barge named X"."""
    verbs = (verb for verb in (name.before, name.root.head) if verb is not None)
    called = next((verb for verb in verbs if verb.lemma_.lower() in _CALLED), None)
    if called is None:
        return None
    subjects = [child.lemma_.lower() for child in called.children if child.i < name.start]
    nouns = [called.head.lemma_.lower(), *subjects]
    if any(_human(noun) or noun in {"he", "she", "who"} for noun in nouns):
        return TagType.PERSON
    if any(noun in kinds.ANIMALS for noun in nouns):
        return TagType.OBJECT
    thing = called.head.pos_ == "NOUN" and kinds.kind_of(nouns[0]) is TagType.OBJECT
    return TagType.OBJECT if thing and called.pos_ == "VERB" else TagType.PERSON


def _by_what_follows(name: _Name) -> TagType | None:
    if name.lead == "of" and name.second in _CONTAINERS:
        return TagType.OBJECT
    if name.lead in _WHERE:
        return None
    after = [token.lower_ for token in name.doc[name.end : name.end + 2]]
    if after == [",", "which"]:
        return TagType.OBJECT
    told = after[:1] == ["who"] or (after[:1] == [","] and after[-1] in {"who", "he", "she"})
    return TagType.PERSON if told else None


def _by_preposition(name: _Name) -> TagType | None:
    lead, governor, person = name.lead, name.governor, "PERSON" in name.labels
    moves = governor in _MOTION and not person
    place = {
        "to": not name.owns and (moves or (name.known_place and governor not in _GIVE)),
        "for": name.known_place and governor in _LEAVE,
        "of": name.second == "out",
        "on": not person or name.second in {"up", "down", "out"},
        "from": not name.owns and governor not in _SENT,
        "at": not person,
        "the": name.second in {"in", "at", "near", "to"},
    }.get(lead, lead in _INTO and not name.owns)
    return TagType.PLACE if place else None


def _by_article(name: _Name) -> TagType | None:
    """By an article or an owner: "a Hoover", "her old Volvo" are things."""
    lead, person = name.lead, "PERSON" in name.labels
    if lead in {"a", "an"}:
        return TagType.PERSON if person else TagType.OBJECT
    apart = [child for child in name.root.children if child.i < name.start - 1]
    if any(child.tag_ == "PRP$" or child.lower_ in {"a", "an"} for child in apart):
        return TagType.OBJECT
    if lead in {"the", "my", "our", "his", "her", "their"} and not person:
        return TagType.ORGANIZATION if "ORG" in name.labels and lead == "the" else TagType.OBJECT
    return None


def _by_label(name: _Name) -> TagType:
    """By the parser's own label, where nothing says that it is a person."""
    if all(word in PLACES for word in name.words) and name.lead not in {"with", "by"}:
        return TagType.PLACE
    acts = name.root.dep_ in {"nsubj", "nsubjpass", "poss", "dative"}
    if name.labels & _PLACE_LABELS and not acts and name.lead not in {"with", "to", "for", "by"}:
        return TagType.PLACE
    return TagType.PERSON
