"""Texts that another text hides: decoded forms, one step at a time (pure).

base64 and base32 (in one piece or broken into lines), hexadecimal (plain, or byte by byte with
separators or escapes), percent, entity and escape forms. What decodes to no readable text is
nothing that a reader could use, and is left out.
"""

import base64
import binascii
import html
import re
import urllib.parse
from collections.abc import Iterator

__all__ = ["decoded", "from_base64", "readable"]

PRINTABLE_SHARE = 0.95
QUOTED_TIMES_MAX = 4

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
# Broken into lines, the last "=" perhaps on a line of its own.
_BASE64_LINES = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{4,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]+)+={0,2}(?:\r?\n={1,2})?"
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0[xX])?((?:[0-9a-fA-F]{2}){12,})(?![0-9A-Za-z])")
_HEX_BYTES = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ :,-]{1,2}){11,}(?:\\x|0x)?[0-9a-fA-F]{2}"
    r"|(?:\\x[0-9a-fA-F]{2}){8,}"
)
_BYTE = re.compile(r"[0-9a-fA-F]{2}(?![xX])")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
_LAST_CODE_POINT = 0x10FFFF


def decoded(text: str) -> Iterator[str]:
    """Readable texts that a text holds in encoded form; never the text itself."""
    for match in _BASE64.finditer(text):
        token = match.group()
        yield from readable(from_base64(token))
        # "blob_TOKEN", "path/TOKEN": a name before it would shift every byte.
        for mark in "_-/":
            if mark in token:
                yield from readable(from_base64(token.rsplit(mark, 1)[1]))
    for match in _BASE64_LINES.finditer(text):
        yield from _from_lines(match.group())
    for match in _BASE32.finditer(text):
        yield from readable(_from_base32(match.group()))
    for match in _HEX.finditer(text):
        yield from readable(bytes.fromhex(match.group(1)))
    for match in _HEX_BYTES.finditer(text):
        yield from readable(bytes.fromhex("".join(_BYTE.findall(match.group()))))
    for plain in (_unquoted(text), _unescaped(text), html.unescape(text)):
        if plain != text:
            yield plain


def from_base64(token: str) -> bytes:
    """The bytes of base64 in either alphabet, padded or not; nothing where it is none."""
    compact = "".join(token.split()).rstrip("=").replace("-", "+").replace("_", "/")
    # A length of 4n + 1 is no base64; the last character is then somebody else's.
    compact = compact[: len(compact) - (len(compact) % 4 == 1)]
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4))
    except binascii.Error:
        return b""


def readable(data: bytes) -> Iterator[str]:
    """The text of bytes that are one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    printable = sum(char.isprintable() or char.isspace() for char in text)
    if text and printable >= PRINTABLE_SHARE * len(text):
        yield text


def _from_lines(block: str) -> Iterator[str]:
    """Wrapped base64; words before and after it may stand on lines of their own."""
    lines = [line.strip() for line in block.splitlines()]
    ends = [len(lines)] if lines[-1].endswith("=") else [len(lines), len(lines) - 1]
    for start in (0, 1):
        for end in ends:
            wrapped = lines[start:end]
            even = {len(line) for line in wrapped[:-1] if line.strip("=")}
            if len(wrapped) > 1 and len(even) == 1:
                yield from readable(from_base64("".join(wrapped)))


def _from_base32(token: str) -> bytes:
    compact = token.rstrip("=")
    try:
        return base64.b32decode(compact + "=" * (-len(compact) % 8))
    except binascii.Error:
        return b""


def _unquoted(text: str) -> str:
    """Percent forms are often made by one program after another: all of them are one step."""
    for _ in range(QUOTED_TIMES_MAX):
        if "%" not in text:
            break
        text = urllib.parse.unquote(text)
    return text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\u" in text else text


def _character(match: re.Match[str]) -> str:
    number = int(match.group(1) or match.group(2), 16)
    surrogate = 0xD800 <= number <= 0xDFFF
    return match.group() if surrogate or number > _LAST_CODE_POINT else chr(number)
