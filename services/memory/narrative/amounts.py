"""Sums of money, quantities and spans of time in a turn."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from services.memory.narrative.kinds import CURRENCY
from services.memory.narrative.model import TagType

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["find_amounts"]

_ONES = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen"
    "|seventeen|eighteen|nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORD = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_ONES})"
_SCALE = r"(?:\s?(?:k|m|bn)\b|\s(?:hundred|thousand|million|billion|lakh|crore|grand))"
_NUMBER = rf"(?:\d+(?:[.,\u00a0 ]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,:]\d+)?|{_WORD})"
_AMOUNT = rf"{_NUMBER}(?:{_SCALE})?(?:\s(?:and\s)?{_WORD}(?=\s))?"
_SYMBOL = r"[\u00a3$\u20ac\u20b9\u00a5\u20a6\u20a9\u20b1\u20ba\u20b4\u0e3f]"
_CURRENCIES = "|".join(sorted((re.escape(c) for c in CURRENCY), key=len, reverse=True))
_MONEY = re.compile(
    rf"(?:(?:usd|eur|gbp|inr|nz|us|a|c)?{_SYMBOL}\s?\d[\d.,\u00a0]*\d(?:{_SCALE})?"
    rf"|{_SYMBOL}\s?\d(?:{_SCALE})?"
    rf"|\b{_AMOUNT}\s?{_SYMBOL}|\b{_AMOUNT}\s(?:(?:\w+\s)?)?(?:{_CURRENCIES})(?:s|es)?\b)",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"\b(?:{_NUMBER}|an?|half an?|a couple of|several)(?:\s(?:and a half|more|whole|full"
    rf"|long))?[\s-]"
    r"(?:seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|fortnights?|months?|years?"
    r"|yrs?|decades?)\b"
    rf"(?:\s(?:and\s)?{_NUMBER}(?:\s(?:seconds?|minutes?|hours?|months?|days?))?)?",
    re.IGNORECASE,
)
_RECURRING = re.compile(
    r"\b(?:(?:every|each)\s(?:other\s)?)?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:s"
    r"|\s(?:morning|evening|night)s)?\b"
    r"|\b(?:every|each)\s(?:day|week|month|year|morning|evening|night)\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    rf"(?<![\w.,:/-])(?:{_AMOUNT})(?:\s?%|\s?(?:per ?cent|percent|mg|kg|g|km|cm|mm|m|ml|l|kwh|hz"
    rf"|mph)\b)?(?![\w])",
    re.IGNORECASE,
)
_MONEY_CUE = re.compile(
    r"\b(?:pay|pays|paid|paying|costs?|price[sd]?|charge[sd]?|rent|fee|salary|wages?|sell|sold"
    r"|sells|bill|bills"
    r"|deposit|offer(?:ed|s)?|owed?|lend|lent|borrow(?:ed)?|saved|savings|budget|cheap(?:er)?"
    r"|expensive|refund(?:ed)?"
    r"|bargain|earn[s]?|worth|bid|loan|an hour|a month|a week|a session|a night|a lesson|a head"
    r"|each|apiece|quid"
    r"|discount|tip|fine|claim|invoice|quote[sd]?)\b",
    re.IGNORECASE,
)
# Written with thousands, and counting nothing: a sum.
_LARGE = re.compile(
    r"^\d{1,3}(?:[.,]\d{3})+$|(?:hundred|thousand|million|lakh|crore|grand|k)$", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?](?:\s|$)|\n")

Found = tuple[int, int, TagType]


def find_amounts(doc: "Doc") -> Iterator[Found]:
    """Start, end and type of amounts: sums first, then spans of time, then other quantities.

    Args:
        doc: the parsed turn.
    """
    text = doc.text
    for match in _MONEY.finditer(text):
        yield match.start(), match.end(), TagType.MONEY
    for pattern in (_DURATION, _RECURRING):
        for match in pattern.finditer(text):
            # "4.2 seconds" is a measure, "three weeks" a stretch of somebody's time.
            measured = match[0][:1].isdigit()
            yield match.start(), match.end(), TagType.QUANTITY if measured else TagType.TIME
    for match in _QUANTITY.finditer(text):
        end = _unit_end(doc, match.end())
        if end is not None:
            yield match.start(), end, TagType.QUANTITY
        elif match[0].lower() != "one":
            money = _is_money(text, match.start(), match.end())
            yield match.start(), match.end(), TagType.MONEY if money else TagType.QUANTITY


def _unit_end(doc: "Doc", end: int) -> int | None:
    """Where the noun ends that a number counts, adjectives between them skipped; else None."""
    span = doc.char_span(end - 1, end, alignment_mode="expand")
    if span is None:
        return None
    last: int | None = None
    for token in doc[span.end : span.end + 3]:
        if token.pos_ == "NOUN" and not token.is_title:
            last = token.idx + len(token.text)
            if token.dep_ != "compound":
                break
        elif token.pos_ != "ADJ" or last is not None:
            break
    return last


def _is_money(text: str, start: int, end: int) -> bool:
    """A bare number is a sum where its sentence speaks of paying."""
    if _LARGE.search(text[start:end]):
        return True
    low = max(0, start - 160)
    before = text[low:start]
    breaks = [match.end() for match in _SENTENCE.finditer(before)]
    after = _SENTENCE.split(text[end : end + 60], maxsplit=1)[0]
    here = before[breaks[-1] :] if breaks else before
    return _MONEY_CUE.search(here) is not None or _MONEY_CUE.search(after) is not None
