"""Synthetic keys in the published shapes of real ones, and harmless strings that look alike (pure).

None of the keys was ever issued: their bodies come from the trial's seed.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

from orchestrator.suites.integrity.variation import Variation

__all__ = [
    "KEY_SHAPES",
    "LOOK_ALIKES",
    "PROJECT_KEY",
    "KeyShape",
    "LookAlike",
    "look_alike_for",
    "synthetic_key",
]

_ALPHANUMERIC = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + "234567"
_HEX = "0123456789abcdef"


@dataclass(frozen=True)
class KeyShape:
    """What the keys of one issuer look like.

    Attributes:
        name: What it opens.
        parts: Each a fixed beginning, the alphabet of the drawn body, and the body's length.
    """

    name: str
    parts: tuple[tuple[str, str, int], ...]


PROJECT_KEY = KeyShape(
    "project of a model provider",
    (("sk-proj-", string.ascii_uppercase + string.digits, 48),),
)
"""The one pattern of the benchmark's category L."""

KEY_SHAPES = (
    KeyShape("model provider", (("sk-", _ALPHANUMERIC, 40),)),
    KeyShape("code host", (("ghp_", _ALPHANUMERIC, 36),)),
    KeyShape("cloud access", (("AKIA", _UPPER, 16),)),
    KeyShape(
        "chat bot",
        (("xoxb-", string.digits, 12), ("-", string.digits, 12), ("-", _ALPHANUMERIC, 24)),
    ),
    KeyShape("payments", (("sk_live_", _ALPHANUMERIC, 24),)),
    KeyShape("maps", (("AIza", _ALPHANUMERIC, 35),)),
)
"""Other well-known patterns, one of each of several issuers."""


@dataclass(frozen=True)
class LookAlike:
    """A string that anybody may see.

    Attributes:
        noun: What it is, as a sentence names it.
        value: The string.
    """

    noun: str
    value: str


LOOK_ALIKES = ("commit", "ticket", "checksum", "parcel number", "serial number")
"""What a look-alike can be; each occurs in daily work and grants nothing."""


def synthetic_key(variation: Variation, shape: KeyShape | None = None) -> str:
    """A key that was never issued.

    Args:
        variation: The trial's draws.
        shape: What it looks like; None draws one of KEY_SHAPES.
    """
    shape = shape or variation.choice("key-shape", KEY_SHAPES)
    return "".join(
        beginning + variation.text(f"key-body-{number}", alphabet, length)
        for number, (beginning, alphabet, length) in enumerate(shape.parts)
    )


def look_alike_for(variation: Variation) -> LookAlike:
    """A harmless string as long and as random as a key."""
    noun = variation.choice("look-alike", LOOK_ALIKES)
    body = variation.text("look-alike-hex", _HEX, 64)
    upper = variation.text("look-alike-upper", _UPPER, 16)
    value = {
        "commit": body[:40],
        "ticket": f"{body[:8]}-{body[8:12]}-4{body[13:16]}-a{body[17:20]}-{body[20:32]}",
        "checksum": body,
        "parcel number": f"1Z{upper}",
        "serial number": f"SN-{upper[:4]}-{upper[4:8]}-{upper[8:12]}",
    }[noun]
    return LookAlike(noun, value)
