"""Finds a secret that is split over several texts of one principal (pure).

A new text is held together with the principal's last kept ones: what looks like a piece of a key in
either is joined, in both orders, and put to the same scanner as a whole text would be. A piece by
itself proves nothing, so a find counts only when

- neither piece is one alone: the join makes it;
- its form is one that an issuer published, or, for forms that chance makes too (card numbers,
  random strings), both texts speak of a part, of a key or a card, or hold little but the piece.

Identifiers that are whole in themselves (UUIDs, digests, dates, versions, addresses) are no
pieces. Bounded: 8 pieces a text, chains of 4, 32 KiB of joins a text. Nothing is kept for it; the
pieces are what is stored anyway.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.memory.records.secret_pieces import (
    PIECE_MAX_CHARACTERS,
    Text,
    looks_random,
    read_text,
)

__all__ = ["find_joined"]

Scan = Callable[[str], tuple[str, ...]]

JOINED_MAX_CHARACTERS = 32 * 1024
JOIN_MIN_CHARACTERS = 15
CHAIN_MAX = 4
SEAM_TEXTS_MAX = 4
SEAM_CHARACTERS = 96
SEAM_WORDS_MAX = 4

_NAMED_FORM = re.compile(r"(?i)(?:secret|token|api_?key|pat)[_-]")
_GOES_ON = re.compile(r"[=:]\s*$|\b(?:is|was|be|to|are|equals)\s*$", re.IGNORECASE)
_ENDS = (".", "!", "?", ";")

# Forms that two harmless pieces can make by chance.
_BY_CHANCE = frozenset({"random_string", "pin", "seed_phrase"})
_CARD = "card_number"
_PREFIXED = "prefixed_token"
# What only running text can be: looked for over a seam where the earlier text breaks off.
_NOT_OVER_SEAMS = frozenset({_CARD, _PREFIXED})
_SPOKEN = frozenset({"password", "named_key", "pin"})


@dataclass(frozen=True, slots=True)
class _Join:
    """Two pieces in order.

    Attributes:
        spoken: all texts speak of a part or of a key.
        chained: the second piece is made of several.
    """

    first: str
    second: str
    spoken: bool
    chained: bool = False

    @property
    def whole(self) -> str:
        """The pieces as one."""
        return self.first + self.second

    @property
    def no_chance(self) -> bool:
        """A form that chance makes, too, counts here."""
        if self.spoken or self.chained:
            return self.spoken
        return looks_random(self.first) and looks_random(self.second)


def find_joined(text: str, earlier: Sequence[str], scan: Scan) -> tuple[str, ...]:
    """Kinds of secrets that a text makes together with earlier ones, sorted, each once.

    Args:
        text: the new text; no secret by itself.
        earlier: the same principal's last texts, latest first.
        scan: kinds of secrets in one text.
    """
    if not earlier:
        return ()
    new = read_text(text)
    others = [read_text(other) for other in earlier]
    joins = [*_chains(new, others), *_pairs(new, others)]
    found = {*_made(joins, scan), *_cards(new, others, scan), *_over_seams(new, others, scan)}
    return tuple(sorted(found))


def _cards(new: Text, others: Sequence[Text], scan: Scan) -> Iterator[str]:
    """Card numbers out of two groups of digits, where both texts speak of that."""
    for first, second in _orders(
        (theirs, mine)
        for other in others
        if new.digits and _speaks_of_cards(new, other)
        for mine in new.digits
        for theirs in other.digits
    ):
        if _CARD in scan(first + second):
            yield _CARD


def _pairs(new: Text, others: Sequence[Text]) -> Iterator[_Join]:
    """One piece of the new text with one of an earlier text, in both orders."""
    for other in others:
        if new.linked and other.linked:
            mine, theirs = new.linked_pieces, other.linked_pieces
            spoken = new.spoken and other.spoken
        else:
            mine, theirs = new.odd_pieces, other.odd_pieces if new.odd_pieces else ()
            spoken = False
        for first, second in _orders((before, after) for before in theirs for after in mine):
            if _may_be_secret(first, second):
                yield _Join(first, second, spoken)


def _may_be_secret(first: str, second: str) -> bool:
    """False for what is too short for every published form."""
    return len(first) + len(second) >= JOIN_MIN_CHARACTERS or "=" in first or ":" in first


def _orders(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for first, second in pairs:
        yield first, second
        yield second, first


def _speaks_of_cards(new: Text, other: Text) -> bool:
    named = new.card or other.card or (new.part and other.part)
    return named and all(text.card or text.part or text.bare for text in (new, other))


def _chains(new: Text, others: Sequence[Text]) -> Iterator[_Join]:
    """The last pieces of the texts before, in the order of the texts, and then the new one's."""
    spoken = new.spoken and all(text.spoken for text in others[:CHAIN_MAX])
    mine = new.linked_pieces if spoken else new.odd_pieces
    if not mine:
        return
    after = mine[0]
    length = 1
    for other in others:
        theirs = other.linked_pieces if spoken else other.odd_pieces
        if not theirs:
            continue
        length += 1
        if length > 2:
            yield _Join(theirs[-1], after, spoken, chained=True)
        after = theirs[-1] + after
        if length == CHAIN_MAX or len(after) > PIECE_MAX_CHARACTERS:
            return


def _over_seams(new: Text, others: Sequence[Text], scan: Scan) -> Iterator[str]:
    """The end of a text that breaks off, and the beginning of the new one as it goes on."""
    begin = new.seam[:SEAM_CHARACTERS]
    ends = [
        other.seam[-SEAM_CHARACTERS:]
        for other in others[:SEAM_TEXTS_MAX]
        if not other.seam.endswith(_ENDS)
    ]
    seams = [(end, f"{end}{blank}{begin}") for end in ends for blank in ("", " ")]
    if not seams or not scan(_apart(whole for _, whole in seams)):
        return
    for end, whole in seams:
        goes_on = _GOES_ON.search(end) is not None and len(new.words) <= SEAM_WORDS_MAX
        for kind in set(scan(whole)) - {*scan(end), *scan(begin)} - _BY_CHANCE - _NOT_OVER_SEAMS:
            if goes_on or kind not in _SPOKEN:
                yield kind


def _made(candidates: Iterable[_Join], scan: Scan) -> Iterator[str]:
    """Kinds that a join makes and neither piece is; the scan of all at once is the quick no."""
    likely = _bounded(candidates)
    kinds = set(scan(_apart(join.whole for join in likely))) - {_CARD} if likely else set()
    if kinds <= _BY_CHANCE:
        likely = [join for join in likely if kinds and join.no_chance]
    for join in likely:
        found = set(scan(join.whole)) - {_CARD}  # cards are judged by what both texts speak of
        if found:
            alone = {*scan(join.first), *scan(join.second)}
            yield from (kind for kind in found - alone if _counts(kind, join))


def _bounded(joins: Iterable[_Join]) -> list[_Join]:
    """The first of them, those with the latest texts, as far as the bound goes."""
    kept: list[_Join] = []
    characters = 0
    for join in joins:
        characters += len(join.whole)
        if characters > JOINED_MAX_CHARACTERS:
            break
        kept.append(join)
    return kept


def _counts(kind: str, join: _Join) -> bool:
    """True when the form is no work of chance."""
    if kind == _PREFIXED:
        named = _NAMED_FORM.search(join.whole)
        return named is not None and named.start() < len(join.first)
    return kind not in _BY_CHANCE or join.no_chance


def _apart(texts: Iterable[str]) -> str:
    """Texts in one, so that no form reaches from one into the next."""
    return "\n\n".join(texts)
