"""Fingerprints of what a text says, for following it where nobody declared a parent (pure).

A fingerprint is a keyed hash of a run of meaningful words in order (stop words do not count, so
articles and word endings cannot break a run). Keyed with a secret of this store: outside of it, and
after the text is forgotten, the numbers say nothing. Long texts keep a winnowed selection
(Schleimer et al. 2003: of every window of runs the smallest hash), short ones all of it; a question
asks with every run, so each run that both texts share for one window's length is found.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["RUN_WORDS", "FingerprintKey", "asked_fingerprints", "kept_fingerprints"]

# So many meaningful words in a row are no coincidence.
RUN_WORDS = 5
# Shorter texts are kept as one run; inside of longer ones they are found from this length on.
SHORT_RUN_WORDS = 3
KEPT_MAX = 256
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class FingerprintKey:
    """The store's secret, 32 bytes."""

    secret: bytes

    def fingerprint(self, words: Sequence[str]) -> int:
        """A signed 64-bit number that stands for these words in this order."""
        digest = hashlib.blake2b(
            "\x1f".join(words).encode("utf-8"), digest_size=_HASH_BYTES, key=self.secret
        ).digest()
        return int.from_bytes(digest, "big", signed=True)

    def digest(self, data: bytes) -> bytes:
        """A 32-byte stand-in for data; says nothing without the secret."""
        return hashlib.blake2b(data, digest_size=32, key=self.secret).digest()


def kept_fingerprints(key: FingerprintKey, words: Sequence[str]) -> tuple[int, ...]:
    """Fingerprints to keep of a text, at most about twice KEPT_MAX, sorted, each once."""
    if len(words) < RUN_WORDS:
        return (key.fingerprint(words),)
    runs = _runs(key, words, RUN_WORDS)
    window = max(1, len(runs) // KEPT_MAX)
    kept = {min(runs[start : start + window]) for start in range(len(runs) - window + 1)}
    return tuple(sorted(kept))


def asked_fingerprints(key: FingerprintKey, words: Sequence[str]) -> tuple[int, ...]:
    """Fingerprints that find every kept text which these words contain or overlap, sorted.

    A kept text of one or two words is found only where these words are no more.
    """
    asked = set()
    for length in range(min(SHORT_RUN_WORDS, len(words)), RUN_WORDS + 1):
        asked.update(_runs(key, words, length))
    return tuple(sorted(asked))


def _runs(key: FingerprintKey, words: Sequence[str], length: int) -> list[int]:
    return [
        key.fingerprint(words[start : start + length]) for start in range(len(words) - length + 1)
    ]
