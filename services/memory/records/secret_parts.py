"""Finds a secret that is split over several texts of one principal (pure).

A new text is held together with the principal's last kept ones: what looks like a piece of a key in
either is joined, in both orders, and put to the same scanner as a whole text would be. A piece by
itself proves nothing, so a find counts only when

- neither piece is one alone: the join makes it;
- its form is one that an issuer published, or, for forms that chance makes too (card numbers,
  random strings), both texts speak of a part, of a key or a card, or hold little but the piece.

Identifiers that are whole in themselves (UUIDs, digests, dates, versions, addresses) are no pieces.
Bounded: 16 texts, 8 pieces a text, chains of 4. Nothing is kept for it; the pieces are what is
stored anyway.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.memory.records.text import visible_form

__all__ = ["find_joined"]

Scan = Callable[[str], tuple[str, ...]]

EDGE_CHARACTERS = 2_048
PIECES_MAX = 8
PIECE_MIN_CHARACTERS = 5
PIECE_MAX_CHARACTERS = 2_048
LETTERS_MIN_CHARACTERS = 10
LINKED_LETTERS_MIN_CHARACTERS = 6
BARE_WORDS_MAX = 3
JOIN_MIN_CHARACTERS = 15
RANDOM_MIN_CHARACTERS = 10
RANDOM_SWITCHES_MIN = 3
CHAIN_MAX = 4
SEAM_TEXTS_MAX = 4
SEAM_CHARACTERS = 96
SEAM_WORDS_MAX = 4

_TOKEN = re.compile(r"[^\s\"'`\u2018\u2019\u201c\u201d,;<>(){}\[\]|]+")
_DIGITS = re.compile(r"(?<![\w.,/:])\d(?:[ -]?\d){3,18}(?![\w/:])")
_UPPER_INSIDE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_SWITCH = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z0-9])(?=[a-z])")
_MARK = re.compile(r"[A-Za-z0-9][_+/=.-]+[A-Za-z0-9]|[_=-]$|^[_-]")
_WHOLE = re.compile(
    r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?:sha\d{1,3}[:-]|rec_|0x)?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:t[\d:.]+z?)?|v?\d+(?:\.\d+)+|\d{1,2}:\d{2}(?::\d{2})?"
    r"|[a-z][a-z0-9+.-]*://.*|[^@]+@[^@]+\.[a-z]{2,}"
    r"|[a-z]+(?:[-/.'\u2019][a-z]+)+"
)
_OF_A_PART = re.compile(
    r"(?i)\b(?:half|halves|(?:first|second|third|last|final|other|next|remaining|missing)"
    r" (?:part|piece|chunk|portion|segment|group|bit|digits?|characters?|numbers?|\d{1,2})"
    r"|parts? (?:one|two|three|[1-9]|[ab])|[1-4]/[2-4]|[1-4] of [2-4]|the rest|rest of"
    r"|remainder|remaining|continu\w+|goes on|(?:start|begin|end)s?(?: with| in|ing (?:with|in))"
    r"|follow(?:ed|s)\b|append\w*|concatenat\w*|glue\w*|join\w*|prefix|suffix|tail)\b"
)
_OF_A_KEY = re.compile(
    r"(?i)\b(?:(?:api|access|secret|private|deploy|signing|encryption|license|master)[ _-]?)?"
    r"(?:keys?|tokens?|secrets?|passwords?|passphrases?|credentials?|bearer)\b"
)
_OF_A_CARD = re.compile(r"(?i)\b(?:card|visa|master ?card|amex|credit|debit|cvv|cvc)\b")
_NAMED_FORM = re.compile(r"(?i)(?:secret|token|api_?key|pat)[_-]")
_GOES_ON = re.compile(r"[=:]\s*$|\b(?:is|was|be|to|are|equals)\s*$", re.IGNORECASE)
_ENDED = re.compile(r"[.!?;]\s*$")

# Forms that two harmless pieces can make by chance.
_BY_CHANCE = frozenset({"random_string", "pin", "seed_phrase"})
_CARD = "card_number"
_PREFIXED = "prefixed_token"
# What only running text can be: looked for over a seam where the earlier text breaks off.
_SPOKEN = frozenset({"password", "named_key", "pin"})


@dataclass(frozen=True, slots=True)
class _Text:
    """One text, as far as it can hold a piece.

    Attributes:
        seam: its plain form, both ends of it where it is long.
        tokens: its words, stripped of punctuation.
        part, key, card: what it speaks of.
        bare: it holds little but a piece.
    """

    seam: str
    tokens: tuple[str, ...]
    part: bool
    key: bool
    card: bool
    bare: bool

    @property
    def spoken(self) -> bool:
        """It speaks of a part or of a key."""
        return self.part or self.key

    @property
    def linked(self) -> bool:
        """It speaks of a part or of a key, or says nothing else."""
        return self.spoken or self.bare


@dataclass(frozen=True, slots=True)
class _Join:
    """Two pieces in order; `spoken`: both texts speak of a part or of a key."""

    first: str
    second: str
    spoken: bool

    @property
    def whole(self) -> str:
        """The pieces as one."""
        return self.first + self.second

    @property
    def may_be_secret(self) -> bool:
        """False for what is too short for every published form."""
        return len(self.whole) >= JOIN_MIN_CHARACTERS or "=" in self.first or ":" in self.first


def find_joined(text: str, earlier: Sequence[str], scan: Scan) -> tuple[str, ...]:
    """Kinds of secrets that a text makes together with earlier ones, sorted, each once.

    Args:
        text: the new text; no secret by itself.
        earlier: the same principal's last texts, latest first.
        scan: kinds of secrets in one text.
    """
    if not earlier:
        return ()
    new = _read(text)
    others = [_read(other) for other in earlier]
    found = set(_pairs(new, others, scan)) | set(_chains(new, others, scan))
    for other in others[:SEAM_TEXTS_MAX]:
        found.update(_over_seam(other.seam, new, scan))
    return tuple(sorted(found))


def _read(text: str) -> _Text:
    if len(text) > 2 * EDGE_CHARACTERS:
        text = f"{text[:EDGE_CHARACTERS]} {text[-EDGE_CHARACTERS:]}"
    plain = visible_form(text)
    tokens = tuple(
        stripped
        for token in _TOKEN.findall(plain)
        if (stripped := token.strip(".:!?\u2026*#&").strip())
    )
    return _Text(
        seam=plain.strip(),
        tokens=tokens,
        part=_OF_A_PART.search(plain) is not None,
        key=_OF_A_KEY.search(plain) is not None,
        card=_OF_A_CARD.search(plain) is not None,
        bare=len(tokens) <= BARE_WORDS_MAX,
    )


def _pairs(new: _Text, others: Sequence[_Text], scan: Scan) -> Iterator[str]:
    """One piece of the new text with one of an earlier text."""
    for linked in (False, True):
        candidates = [
            _Join(first, second, spoken=new.spoken and other.spoken)
            for other in others
            if (new.linked and other.linked) is linked
            for mine in _pieces(new, linked)
            for theirs in _pieces(other, linked)
            for first, second in ((theirs, mine), (mine, theirs))
        ]
        yield from _made(candidates, scan)
    cards = [
        (first, second)
        for other in others
        if _speaks_of_cards(new, other)
        for mine in _digits(new)
        for theirs in _digits(other)
        for first, second in ((theirs, mine), (mine, theirs))
    ]
    for first, second in cards:
        if _CARD in scan(first + second):
            yield _CARD


def _speaks_of_cards(new: _Text, other: _Text) -> bool:
    named = new.card or other.card or (new.part and other.part)
    return named and all(text.card or text.part or text.bare for text in (new, other))


def _chains(new: _Text, others: Sequence[_Text], scan: Scan) -> Iterator[str]:
    """The last pieces of the texts before, in the order of the texts, and then the new one's."""
    linked = new.linked and all(other.linked for other in others[: CHAIN_MAX - 1])
    mine = _pieces(new, linked)[:1]
    if not mine:
        return
    before = mine[0]
    length = 1
    for other in others:
        theirs = _pieces(other, linked)[-1:]
        if not theirs:
            continue
        length += 1
        if length > 2:
            spoken = new.spoken and all(text.spoken for text in others[:CHAIN_MAX])
            for kind in _made([_Join(theirs[0], before, spoken)], scan):
                if spoken or kind not in _BY_CHANCE:
                    yield kind
        before = theirs[0] + before
        if length == CHAIN_MAX or len(before) > PIECE_MAX_CHARACTERS:
            return


def _over_seam(before: str, new: _Text, scan: Scan) -> Iterator[str]:
    """The end of a text that breaks off, and the beginning of the new one as it goes on."""
    if _ENDED.search(before):
        return
    end, begin = before[-SEAM_CHARACTERS:], new.seam[:SEAM_CHARACTERS]
    goes_on = _GOES_ON.search(end) is not None and len(new.tokens) <= SEAM_WORDS_MAX
    alone = {*scan(end), *scan(begin)}
    for seam in ("", " "):
        for kind in scan(end + seam + begin):
            if kind in alone or kind in _BY_CHANCE or kind in (_CARD, _PREFIXED):
                continue
            if goes_on or kind not in _SPOKEN:
                yield kind


def _made(candidates: Sequence[_Join], scan: Scan) -> Iterator[str]:
    """Kinds that a join makes and neither piece is; the scan of all at once is the quick no."""
    likely = [join for join in candidates if join.may_be_secret]
    if not likely or not scan("\n\n".join(join.whole for join in likely)):
        return
    for join in likely:
        kinds = scan(join.whole)
        alone = {*scan(join.first), *scan(join.second)} if kinds else set()
        for kind in kinds:
            if kind not in alone and _counts(kind, join):
                yield kind


def _counts(kind: str, join: _Join) -> bool:
    """True when the form is no work of chance."""
    if kind == _CARD:
        return False  # judged by what both texts speak of
    if kind == _PREFIXED:
        return _NAMED_FORM.search(join.first) is not None
    if join.spoken or kind not in _BY_CHANCE:
        return True
    return _looks_random(join.first) and _looks_random(join.second)


def _looks_random(piece: str) -> bool:
    switches = len(_SWITCH.findall(piece))
    return len(piece) >= RANDOM_MIN_CHARACTERS and switches >= RANDOM_SWITCHES_MIN


def _pieces(text: _Text, linked: bool) -> tuple[str, ...]:
    """What may be a piece of a key, the first and the last of them."""
    found = tuple(piece for token in text.tokens for piece in _sides(token, linked))
    if len(found) <= PIECES_MAX:
        return found
    return found[: PIECES_MAX // 2] + found[-(PIECES_MAX // 2) :]


def _sides(token: str, linked: bool) -> Iterator[str]:
    """The token, and what stands after its last "=" or ":"."""
    if _is_piece(token, linked):
        yield token
    value = re.split(r"[=:]", token)[-1]
    if value != token and _is_piece(value, linked):
        yield value


def _is_piece(token: str, linked: bool) -> bool:
    if not PIECE_MIN_CHARACTERS <= len(token) <= PIECE_MAX_CHARACTERS or _WHOLE.fullmatch(token):
        return False
    has_digit = any(char.isdigit() for char in token)
    has_letter = any(char.isalpha() for char in token)
    if not has_letter:
        return linked and has_digit
    if has_digit or _UPPER_INSIDE.search(token) or _MARK.search(token):
        return True
    if linked:
        return len(token) >= LINKED_LETTERS_MIN_CHARACTERS
    return len(token) >= LETTERS_MIN_CHARACTERS and token == token.upper()


def _digits(text: _Text) -> tuple[str, ...]:
    found = ("".join(filter(str.isdigit, match)) for match in _DIGITS.findall(text.seam))
    return tuple(found)[:PIECES_MAX]
