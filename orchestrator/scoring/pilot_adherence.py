"""Whether a simulated customer kept to its part, by what can be told without an opinion.

Notes, and no verdicts: a customer that strays says something of its model and of the trial's worth,
nothing of the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.model import Frozen

__all__ = ["Said", "adherence"]

# What looks like an id of the retail store, or an address of a person.
_IDS = re.compile(
    r"#W\d+|\b\d{10}\b|\b(?:credit_card|gift_card|paypal)_\d+\b|\b[a-z]+_[a-z]+_\d+\b"
    r"|[\w.+-]+@[\w-]+\.[\w.]*\w",
    re.IGNORECASE,
)
_USER_CHARACTERS_MAX = 1_000
_TOLD_MAX = 5


class Said(Frozen):
    """One message of the conversation.

    Attributes:
        speaker: `agent` or `user`.
        text: What was said.
    """

    speaker: str
    text: str


def adherence(wish: str, said: Sequence[Said], stop_token: str) -> tuple[str, ...]:
    """Notes about the simulated customer, each with `simulator:` before it.

    Args:
        wish: What the customer was told of itself.
        said: The conversation in order, what was said only.
        stop_token: What its last message must hold.
    """
    notes: list[str] = []
    own = [one.text for one in said if one.speaker == "user"]
    if not own:
        return ("simulator: said nothing",)
    if stop_token not in own[-1]:
        notes.append("simulator: did not end with its stop token")
    elif own[-1].strip() != stop_token:
        notes.append("simulator: said more than the stop token in its last message")
    early = sum(stop_token in text for text in own[:-1])
    if early:
        notes.append(f"simulator: {early} earlier messages hold the stop token")
    invented = _invented(wish, said)
    if invented:
        told = ", ".join(invented[:_TOLD_MAX])
        notes.append(f"simulator: {len(invented)} ids that nobody told it: {told}")
    long = sum(len(text) > _USER_CHARACTERS_MAX for text in own)
    if long:
        notes.append(f"simulator: {long} messages of more than {_USER_CHARACTERS_MAX} characters")
    return tuple(notes) or ("simulator: kept to its part",)


def _invented(wish: str, said: Sequence[Said]) -> list[str]:
    """Ids in the customer's messages that stand neither in its wish nor in what it was told."""
    known = {one.lower() for one in _IDS.findall(wish)}
    invented: dict[str, None] = {}
    for one in said:
        ids = {found.lower() for found in _IDS.findall(one.text)}
        if one.speaker == "user":
            invented.update(dict.fromkeys(sorted(ids - known)))
        known |= ids
    return list(invented)
