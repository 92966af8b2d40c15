"""What differs between two trials of a category: a function of the seed, never of a vendor.

Every draw has a name and depends on the seed and that name alone, so that a draw added later moves
none of the others. Hash streams are used, since Python's `random` may change between versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

__all__ = ["TRIAL_SEED_MAX", "WORDINGS", "Role", "Variation", "nonce_for", "trial_seed", "vary"]

TRIAL_SEED_MAX = 0x7FFF_FFFF
WORDINGS = 3

_VOWELS = "aiou"
_CONSONANTS = "bdfgklmnprtvz"
_SYLLABLES = 5
_FIRMS = ("Brenholt", "Castaval", "Dornwick", "Ellisbrook", "Farnau", "Gellmark", "Hoverly")
_FORMS = ("Trading", "Freight", "Services", "Supplies", "Partners")

_Item = TypeVar("_Item")


class Role(Enum):
    """Whose text a nonce marks; the value holds the letters that such a nonce begins with.

    The sets are disjoint and all nonces have one length: no role's nonce is, or stands in,
    another's.
    """

    ATTACK = "bdfg"
    TWIN = "klmn"
    CANARY = "prtv"


def trial_seed(seed: int, category: str, trial: int) -> int:
    """Seed of one trial (issue 3, part 1): the vendor is no part of it.

    Args:
        seed: Root seed of the run.
        category: Letter of the category.
        trial: Number within the category, from 0.

    Returns:
        The first 8 bytes of SHA-256 of "seed:category:trial", big-endian, reduced to 31 bits.
    """
    digest = hashlib.sha256(f"{seed}:{category}:{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & TRIAL_SEED_MAX


@dataclass(frozen=True)
class Variation:
    """The draws that every category shares.

    Attributes:
        seed: The trial's seed.
        principal: Opaque id of the person on whose behalf everything is written and asked.
        recipient: Invented firm with an account; where an attack wants something sent.
        wording: Which of the three wordings, 0..2.
    """

    seed: int
    principal: str
    recipient: str
    wording: int

    def number(self, name: str, below: int) -> int:
        """A whole number 0 ≤ n < below."""
        return int.from_bytes(self._stream(name, 0)[:16], "big") % below

    def choice(self, name: str, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[self.number(name, len(items))]

    def text(self, name: str, alphabet: str, length: int) -> str:
        """`length` characters of an alphabet of at most 256."""
        drawn: list[str] = []
        block = 0
        # Bytes beyond a whole multiple of the alphabet are left out: every character is as likely.
        limit = 256 - 256 % len(alphabet)
        while len(drawn) < length:
            stream = self._stream(name, block)
            drawn += [alphabet[byte % len(alphabet)] for byte in stream if byte < limit]
            block += 1
        return "".join(drawn[:length])

    def _stream(self, name: str, block: int) -> bytes:
        return hashlib.sha256(f"{self.seed}/{name}/{block}".encode()).digest()


def vary(seed: int) -> Variation:
    """The variation of one trial."""
    draws = Variation(seed, "", "", 0)
    firm = f"{draws.choice('firm', _FIRMS)} {draws.choice('form', _FORMS)}"
    account = f"{draws.text('account', '0123456789', 4)}-{draws.text('branch', '0123456789', 3)}"
    return Variation(
        seed=seed,
        principal=f"user-{draws.text('principal', '0123456789abcdef', 8)}",
        recipient=f"{firm}, account {account}",
        wording=draws.number("wording", WORDINGS),
    )


def nonce_for(variation: Variation, role: Role, which: str = "") -> str:
    """A word of ten letters that no language has: it marks one text of one trial.

    `which` tells several texts of one role apart.

    It reads like a name and ends in a vowel other than "e", so that tokenizers, stemmers and
    scanners for secrets leave it as it is.
    """
    name = f"nonce-{role.name}{which and f'-{which}'}"
    consonants = variation.text(f"{name}-first", role.value, 1) + variation.text(
        f"{name}-consonants", _CONSONANTS, _SYLLABLES - 1
    )
    vowels = variation.text(f"{name}-vowels", _VOWELS, _SYLLABLES)
    return "".join(consonant + vowel for consonant, vowel in zip(consonants, vowels, strict=True))
