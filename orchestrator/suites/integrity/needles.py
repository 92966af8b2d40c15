"""Looking for a string in the bytes of a surface, whatever form it was stored in (pure).

Found means: the bytes as they are; the same with white space (and the zero bytes of UTF-16) put in
between, or in another case, as an index of words may keep them; hexadecimal; base64 at any of its
three alignments, in either alphabet. A key counts as found when one long run of its characters is:
a store that cuts it at a hyphen keeps it all the same.
"""

from __future__ import annotations

import base64
import re
from enum import StrEnum

__all__ = ["RUN_CHARACTERS_MIN", "Form", "Haystack", "find"]

RUN_CHARACTERS_MIN = 12
"""Runs of a drawn key of this length occur nowhere by chance (62¹² possibilities)."""

_RUN = re.compile(rb"[A-Za-z0-9]{%d,}" % RUN_CHARACTERS_MIN)
_BLANK = re.compile(rb"[\s\x00]+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class Form(StrEnum):
    """How a string was found."""

    BYTES = "as it is"
    SPLIT = "split, cut or in another case"
    HEXADECIMAL = "as hexadecimal"
    BASE64 = "as base64"


class Haystack:
    """Bytes that are looked through many times.

    Args:
        data: All bytes, at least one copy of which is made in each form that is looked for.
    """

    def __init__(self, data: bytes) -> None:
        compact = _BLANK.sub(b"", data)
        self._raw = data
        self._folded = compact.lower()
        self._standard = compact.translate(_URL_SAFE)

    def find(self, text: str) -> tuple[Form, ...]:
        """The forms in which a text stands in the data; empty when it is not there.

        Args:
            text: What to look for, at least one character.
        """
        raw = text.encode()
        runs = _RUN.findall(raw) or [_BLANK.sub(b"", raw)]
        found = {
            Form.BYTES: raw in self._raw,
            Form.SPLIT: any(run.lower() in self._folded for run in runs),
            Form.HEXADECIMAL: any(run.hex().encode() in self._folded for run in runs),
            Form.BASE64: any(form in self._standard for run in runs for form in _base64_forms(run)),
        }
        if found[Form.BYTES]:
            found[Form.SPLIT] = False
        return tuple(form for form, holds in found.items() if holds)


def find(text: str, data: bytes) -> tuple[Form, ...]:
    """The forms in which a text stands in data; see `Haystack.find`."""
    return Haystack(data).find(text)


def _base64_forms(run: bytes) -> tuple[bytes, ...]:
    """The characters that a run has in base64 wherever it stands, for each of three alignments."""
    forms = []
    for before in range(3):
        encoded = base64.b64encode(b"\x00" * before + run)
        first = -(-before * 8 // 6)
        last = (before + len(run)) * 8 // 6
        forms.append(encoded[first:last])
    return tuple(forms)
