"""Users, products and orders: a base that never changes, and what a workflow changed of it.

The base is the same for every workflow; a write keeps the whole user or order that it changed, so
that a workflow's state is the base with its own documents in place of the base's.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.destination.tools.base import ToolRefusal

__all__ = [
    "OPTIONAL_ORDER_FIELDS",
    "Kind",
    "RetailBase",
    "StateDigests",
    "View",
    "load_base",
    "state_digests",
]

Kind = str
Document = dict[str, Any]

KINDS: tuple[Kind, ...] = ("products", "users", "orders")
OPTIONAL_ORDER_FIELDS = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
_COMPACT = (",", ":")
_SPACED = (", ", ": ")


@dataclass(frozen=True, slots=True)
class RetailBase:
    """What every workflow begins with.

    Attributes:
        documents: by kind (`products`, `users`, `orders`) and id; nobody changes them.
    """

    documents: Mapping[Kind, Mapping[str, Document]]


@dataclass(frozen=True, slots=True)
class StateDigests:
    """SHA-256 of a workflow's whole state, keys sorted (DESIGN §10).

    Attributes:
        compact: with separators without spaces: the paper's.
        spaced: with Python's default separators: the benchmark's own.
    """

    compact: str
    spaced: str


@dataclass(slots=True)
class View:
    """One workflow's store during one call.

    Attributes:
        base: what it began with.
        kept: what earlier calls changed, by (kind, id).
        changed: what this call changes.
    """

    base: RetailBase
    kept: Mapping[tuple[Kind, str], Document]
    changed: dict[tuple[Kind, str], Document] = field(default_factory=dict)

    def find(self, kind: Kind, identity: str) -> Document:
        """A document as it stands; the caller must not change it.

        Raises:
            ToolRefusal: there is none.
        """
        key = (kind, identity)
        found = self.changed.get(key) or self.kept.get(key)
        found = found or self.base.documents[kind].get(identity)
        if found is None:
            raise ToolRefusal("not_found", f"{kind.removesuffix('s')} not found")
        return found

    def change(self, kind: Kind, identity: str) -> Document:
        """A copy of a document that is kept when the call succeeds.

        Raises:
            ToolRefusal: there is none.
        """
        key = (kind, identity)
        if key not in self.changed:
            self.changed[key] = json.loads(json.dumps(self.find(kind, identity)))
        return self.changed[key]

    def every(self, kind: Kind) -> Iterator[Document]:
        """All documents of a kind as they stand, in the base's order."""
        for identity in self.base.documents[kind]:
            yield self.find(kind, identity)


def load_base(path: Path) -> RetailBase:
    """Reads a store from a file as the benchmark publishes it.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no such store.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or set(document) != set(KINDS):
        raise ValueError(f"{path.name} must hold exactly {', '.join(KINDS)}")
    return as_base(document)


def as_base(document: Mapping[Kind, Mapping[str, Document]]) -> RetailBase:
    """The store of a document, with every optional field of its orders present.

    Raises:
        ValueError: an entry is no object.
    """
    for kind in KINDS:
        entries = document[kind]
        if not all(isinstance(entry, dict) for entry in entries.values()):
            raise ValueError(f"an entry of {kind} is no object")
    orders = {
        identity: {**dict.fromkeys(OPTIONAL_ORDER_FIELDS), **order}
        for identity, order in document["orders"].items()
    }
    return RetailBase({**document, "orders": orders})


def state_digests(base: RetailBase, kept: Mapping[tuple[Kind, str], Document]) -> StateDigests:
    """Digests of the base with a workflow's changes in place."""
    state = {
        kind: {
            identity: kept.get((kind, identity), entry)
            for identity, entry in base.documents[kind].items()
        }
        for kind in KINDS
    }
    return StateDigests(_digest(state, _COMPACT), _digest(state, _SPACED))


def _digest(state: object, separators: tuple[str, str]) -> str:
    text = json.dumps(state, sort_keys=True, separators=separators)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
