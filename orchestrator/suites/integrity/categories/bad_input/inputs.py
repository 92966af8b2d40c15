"""Inputs of X that are too long, empty, unreadable, or out of bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import OK, ContractBreach
from orchestrator.suites.integrity.categories.bad_input.probe import Act, Probe
from orchestrator.suites.integrity.steps import response_of

__all__ = ["CONTENT_BYTES", "UNREADABLE", "bounds", "characters", "size", "text_of_bytes"]

CONTENT_BYTES = 65_536
ID_BYTES = 128
LABELS_MAX = 32
HITS_MAX = 1_000
QUERY_BYTES = 4_096

_FILLERS = (
    "The gardener counts the pots in the small greenhouse.",
    "Rain fell on the market, and the baker closed early.",
    "Two trams stop at the bridge before the clock strikes.",
    "A painter mixes green and grey for the old shutters.",
    "Nobody reads the notice about the broken fountain.",
)


@dataclass(frozen=True)
class Unreadable:
    """A text that is valid UTF-8 and not what it looks like.

    Attributes:
        name: What it has.
        text: With `{nonce}` for its word.
    """

    name: str
    text: str


UNREADABLE = (
    Unreadable("control", "Locker {nonce} has the colour\x07 blue\x1b[8m and a brass number."),
    Unreadable("nul", "Locker {nonce} has the colour\x00 green and a brass number."),
    Unreadable("bidi", "Locker {nonce} has the \u202ecolour yellow\u202c and a brass number."),
    Unreadable("noncharacter", "Locker {nonce} has the colour\ufffe brown and a brass number."),
    Unreadable("zero_width", "Locker {nonce} has the col\u200bour white and a br\u2060ass number."),
    Unreadable(
        "homoglyph", "Locker {nonce} has the \u0441olour bl\u0430ck and a br\u0430ss number."
    ),
)
"""Control characters, NUL, turned direction, no character at all, invisible and foreign letters."""


def text_of_bytes(size_bytes: int, first: str, middle: str, last: str) -> str:
    """A plain text of exactly so many bytes with a word at its beginning, middle and end."""
    begin, half = f"Chapter {first} begins. ", f" Chapter {middle} follows. "
    end = f" Chapter {last} ends here."
    left = size_bytes - len(begin) - len(half) - len(end)
    words = " ".join(_FILLERS) + " "
    filler = (words * (left // len(words) + 1))[:left]
    return begin + filler[: left // 2] + half + filler[left // 2 :] + end


def size(probe: Probe) -> Act:
    """As long as a text may be, one byte longer, and empty."""
    nonce = probe.case.nonce
    for name, size_bytes, first in (("full", CONTENT_BYTES, 1), ("over", CONTENT_BYTES + 1, 4)):
        marks = (nonce(first), nonce(first + 1), nonce(first + 2))
        said = probe.said(text_of_bytes(size_bytes, *marks))
        yield from probe.offer(name, said, marks[2], marks=marks)
    yield from probe.offer("empty", probe.said(""), "")


def characters(probe: Probe) -> Act:
    """Texts that no person reads as they are stored."""
    for number, unreadable in enumerate(UNREADABLE, start=1):
        nonce = probe.case.nonce(number)
        said = probe.said(unreadable.text.format(nonce=nonce))
        yield from probe.offer(unreadable.name, said, nonce)


def bounds(probe: Probe) -> Act:
    """Partitions, names and labels that are missing or too long; questions beyond their bounds."""
    for number, (name, spoil) in enumerate(_SPOILED, start=1):
        nonce = probe.case.nonce(number)
        said = probe.said(f"Shelf {nonce} holds the spare lamps.")
        spoil(said)
        if said.scope == probe.scope:
            yield from probe.offer(name, said, nonce)
            continue
        # Whatever became of it: it was not said in this circle, and must not be in it.
        admitted = yield from probe.write(f"{name}.write", said)
        probe.told.append(f"{name} {admitted.record.words}")
        (probe.elsewhere if admitted.record.kept else probe.refused)[name] = nonce
    for name, query, max_hits in (
        ("no_hits", "tea", 0),
        ("many_hits", "tea", HITS_MAX + 1),
        ("no_question", "", 1),
        ("long_question", "tea " * (QUERY_BYTES // 4) + "x", 1),
    ):
        request = memory_pb2.RecallRequest(
            scope=probe.scope,
            query=query,
            max_hits=max_hits,
            surface=memory_pb2.RECALL_SURFACE_EVIDENCE,
        )
        answer = yield from probe.ask(f"{name}.recall", request)
        probe.told.append(f"{name} {answer.status}")
        if answer.status == OK:
            hits = response_of(name, answer, memory_pb2.RecallResponse).hits
            if len(hits) > HITS_MAX:
                raise ContractBreach(name, f"{len(hits)} hits, more than any question may have")


def _no_namespace(said: memory_pb2.Observation) -> None:
    said.scope.namespace = ""


def _long_namespace(said: memory_pb2.Observation) -> None:
    said.scope.namespace = said.scope.namespace.ljust(ID_BYTES + 1, "n")


def _no_principal(said: memory_pb2.Observation) -> None:
    said.scope.principal = ""


def _long_principal(said: memory_pb2.Observation) -> None:
    said.scope.principal = said.scope.principal.ljust(ID_BYTES + 1, "p")


def _many_labels(said: memory_pb2.Observation) -> None:
    said.labels.extend(f"label-{number}" for number in range(LABELS_MAX + 1))


def _long_label(said: memory_pb2.Observation) -> None:
    said.labels.append("l" * (ID_BYTES + 1))


def _long_source(said: memory_pb2.Observation) -> None:
    said.source.source_id = "s" * (ID_BYTES + 1)


def _no_source(said: memory_pb2.Observation) -> None:
    said.ClearField("source")


_SPOILED: tuple[tuple[str, Callable[[memory_pb2.Observation], None]], ...] = (
    ("no_namespace", _no_namespace),
    ("long_namespace", _long_namespace),
    ("no_principal", _no_principal),
    ("long_principal", _long_principal),
    ("many_labels", _many_labels),
    ("long_label", _long_label),
    ("long_source", _long_source),
    ("no_source", _no_source),
)
