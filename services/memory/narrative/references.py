"""Who "she" is, and that "Tom" is "my supervisor": people of one speaker's turns.

A light resolver: people are met by name or by what they are to the speaker, keep the nouns and
names that were said of them, and are what a later pronoun of their gender points to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.memory.narrative import lexicon
from services.memory.narrative.analysis import Analysis, Word
from services.memory.narrative.phrases import is_name

__all__ = ["Person", "resolve"]

PRONOUNS = {
    "he": "m", "him": "m", "his": "m", "himself": "m",
    "she": "f", "her": "f", "hers": "f", "herself": "f",
}  # fmt: skip
TITLES = frozenset(
    (
        *("mr", "mr.", "mrs", "mrs.", "ms", "ms.", "dr", "dr.", "miss", "sister", "uncle"),
        *("aunt", "auntie", "grandma", "grandpa", "father", "professor", "sir"),
    )
)


@dataclass
class Person:
    """Somebody of whom the speaker told.

    Attributes:
        names: base forms of the proper nouns that name them.
        nouns: what they are called by role or kin.
        gender: "m", "f" or "".
        seen: position of the last mention, counted in words over all turns.
    """

    names: set[str] = field(default_factory=set)
    nouns: set[str] = field(default_factory=set)
    gender: str = ""
    seen: int = -1

    def terms(self) -> frozenset[str]:
        """Everything by which a question may mean them."""
        return frozenset(self.names | self.nouns)


def resolve(analyses: Sequence[Analysis]) -> tuple[dict[int, Person], ...]:
    """For each turn: index of a word → the person that it means."""
    people: list[Person] = []
    found: list[dict[int, Person]] = []
    clock = 0
    for analysis in analyses:
        meant: dict[int, Person] = {}
        words = analysis.words
        index = 0
        while index < len(words):
            clock += 1
            index = _mention(words, index, people, meant, clock)
        found.append(meant)
    return tuple(found)


def _mention(
    words: Sequence[Word], index: int, people: list[Person], meant: dict[int, Person], clock: int
) -> int:
    word = words[index]
    low = word.text.lower()
    if low in PRONOUNS:
        person = _pointed(people, PRONOUNS[low], clock)
        if person is not None:
            person.gender = PRONOUNS[low]
            person.seen = clock
            meant[index] = person
        return index + 1
    if is_name(word) and word.ent not in {"GPE", "LOC", "FAC", "DATE"}:
        return _named(words, index, people, meant, clock)
    if word.lemma in lexicon.PERSON_NOUNS and word.tag in {"NN", "NNP"}:
        return _described(words, index, people, meant, clock)
    return index + 1


def _named(
    words: Sequence[Word], index: int, people: list[Person], meant: dict[int, Person], clock: int
) -> int:
    end = index
    names = []
    while end < len(words) and is_name(words[end]):
        names.append(words[end].lemma)
        end += 1
    place = index and words[index - 1].lemma in {"in", "at", "to", "from", "near"}
    if place and not set(names) & (TITLES | lexicon.PERSON_NOUNS):
        return end
    own = set(names) - TITLES
    person = next((p for p in reversed(people) if p.names & own), None)
    if person is None:
        person = Person()
        people.append(person)
    person.names |= own or set(names)
    person.nouns |= set(names) & lexicon.PERSON_NOUNS
    _gender(person, names)
    # "my supervisor Tom", "Tom, my supervisor", "Tom is my supervisor".
    before = index - 1
    if before >= 0 and words[before].text == "," and before:
        before -= 1
    if before >= 0 and before in meant and words[before].lemma in lexicon.PERSON_NOUNS:
        _merge(meant, people, meant[before], person)
    elif before >= 0 and words[before].lemma in lexicon.CALLED:
        described = _noun_before(words, before, meant)
        if described is not None:
            _merge(meant, people, meant[described], person)
    after = _noun_after(words, end)
    for noun in after:
        person.nouns.add(noun)
        _gender(person, [noun])
    person.seen = clock
    for place_of in range(index, end):
        meant[place_of] = person
    people.remove(person) if person in people else None
    people.append(person)
    return end


def _noun_before(words: Sequence[Word], before: int, meant: dict[int, Person]) -> int | None:
    for index in range(before - 1, max(before - 7, -1), -1):
        if index in meant and words[index].lemma in lexicon.PERSON_NOUNS:
            return index
    return None


def _noun_after(words: Sequence[Word], end: int) -> list[str]:
    """Nouns that say what the just named person is: "Tom, my boss", "Tom is a nurse"."""
    if end >= len(words) or words[end].lemma not in {",", "be", "'s", "("}:
        return []
    nouns = []
    for index in range(end + 1, min(end + 7, len(words))):
        word = words[index]
        if word.text in {".", ";", "and", "who"} or word.tag.startswith("VB"):
            break
        following = words[index + 1].text if index + 1 < len(words) else ""
        if word.tag in {"NN"} and word.lemma in lexicon.PERSON_NOUNS:
            if following in {"'s", "\u2019s"}:
                continue
            nouns.append(word.lemma)
            break
    return nouns


def _described(
    words: Sequence[Word], index: int, people: list[Person], meant: dict[int, Person], clock: int
) -> int:
    noun = words[index].lemma
    owner = _owner(words, index)
    nouns = {noun}
    if owner and (owner, noun) in lexicon.KIN_OF_KIN:
        nouns.add(lexicon.KIN_OF_KIN[owner, noun])
    person = next((p for p in reversed(people) if p.nouns & nouns), None)
    if person is None:
        person = Person()
        people.append(person)
    person.nouns |= nouns
    _gender(person, nouns)
    person.seen = clock
    meant[index] = person
    people.remove(person)
    people.append(person)
    return index + 1


def _owner(words: Sequence[Word], index: int) -> str:
    """The kin noun whose possessive stands before: "brother" in "my brother's wife"."""
    if index >= 2 and words[index - 1].text in {"'s", "\u2019s"}:
        return words[index - 2].lemma
    return ""


def _gender(person: Person, nouns: Sequence[str] | set[str]) -> None:
    for noun in nouns:
        if noun in lexicon.FEMALE:
            person.gender = "f"
        elif noun in lexicon.MALE:
            person.gender = "m"


def _merge(meant: dict[int, Person], people: list[Person], old: Person, new: Person) -> None:
    if old is new:
        return
    new.nouns |= old.nouns
    new.gender = new.gender or old.gender
    if old.names and not old.names & new.names:
        return
    for index, person in list(meant.items()):
        if person is old:
            meant[index] = new
    if old in people:
        people.remove(old)


def _pointed(people: Sequence[Person], gender: str, clock: int) -> Person | None:
    """Who a pronoun means: the latest person that may have its gender."""
    fitting = [person for person in people if person.gender in {"", gender}]
    named = [person for person in fitting if person.gender == gender or person.names]
    chosen = named or fitting
    return chosen[-1] if chosen else None
