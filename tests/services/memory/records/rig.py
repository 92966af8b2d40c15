"""The records part without a server, with its operations at hand."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memqual.v1 import common_pb2
from services.common.challenges import PublicKey, signing_bytes
from services.common.database import Database, Synchronous
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Binding,
    Kind,
    Observation,
    Scope,
    Source,
    SourceType,
    State,
    Surface,
)
from services.memory.records.offers import Admitted, Derivation
from services.memory.records.policy import Policy
from services.memory.records.recalling import Found, Recalling, Viewed
from services.memory.records.review import APPROVE, Decision, Review
from services.memory.records.writing import Writing

ALICE = Scope("n", "alice")
BOB = Scope("n", "bob")
USER = Source(SourceType.USER, Binding.HOST_AUTHENTICATED, "u-1")
CLAIMED = Source(SourceType.USER, Binding.CALLER_ASSERTED, "u-1")
AGENT = Source(SourceType.AGENT, Binding.HOST_AUTHENTICATED, "a-1")
TOOL = Source(SourceType.TOOL, Binding.HOST_AUTHENTICATED, "t-1")
WEB = Source(SourceType.WEB, Binding.CALLER_ASSERTED, "https://forum.example")
RECEIPT = Source(SourceType.RECEIPT, Binding.HOST_AUTHENTICATED, "op-1")

PRIVATE = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
REVIEWER = PublicKey("k-1", "alice", PRIVATE.public_key().public_bytes_raw())


def write_keys(path: Path, *keys: PublicKey) -> None:
    """A mounted file of public keys."""
    entries = [
        {
            "key_id": key.key_id,
            "principal": key.principal,
            "public_key_base64": base64.b64encode(key.public_key).decode(),
        }
        for key in keys
    ]
    path.write_text(json.dumps({"keys": entries}))


@dataclass
class Memory:
    """An open records part; `restart` closes and opens it again."""

    folder: Path
    policy: Policy
    keys: dict[str, PublicKey]

    def __post_init__(self) -> None:
        self.open()

    @property
    def file(self) -> Path:
        """The database file."""
        return self.folder / "memory.sqlite3"

    def open(self) -> None:
        """Opens the file; what it promises to survive here is the death of a process."""
        self.database = Database(self.file, synchronous=Synchronous.NORMAL)
        self.desk = Desk(self.database, self.policy)
        self.writing = Writing(self.desk)
        self.recalling = Recalling(self.desk)
        self.lifecycle = Lifecycle(self.desk)
        self.review = Review(self.desk, self.keys)

    def restart(self) -> None:
        """As a new process sees it."""
        self.database.close()
        self.open()

    def write(
        self,
        content: str,
        source: Source = USER,
        *,
        scope: Scope = ALICE,
        kind: Kind = Kind.FACT,
        labels: tuple[str, ...] = (),
    ) -> Admitted:
        """Offers one observation."""
        return self.writing.write(Observation(scope, kind, content, source, labels=labels))

    def supersede(
        self,
        record_id: str,
        content: str,
        source: Source = USER,
        *,
        scope: Scope = ALICE,
        kind: Kind = Kind.FACT,
        labels: tuple[str, ...] = (),
    ) -> Admitted:
        """Offers one observation in place of a record."""
        newcomer = Observation(scope, kind, content, source, labels=labels)
        return self.writing.supersede(scope, record_id, newcomer)

    def derive(
        self,
        content: str,
        *parent_ids: str,
        scope: Scope = ALICE,
        kind: Kind = Kind.FACT,
        method: str = "summary",
    ) -> Admitted:
        """Offers one derivation."""
        return self.writing.derive(Derivation(scope, kind, parent_ids, content, method))

    def recall(
        self,
        query: str,
        surface: Surface = Surface.AUTHORITATIVE,
        *,
        scope: Scope = ALICE,
        max_hits: int = 20,
    ) -> list[Found]:
        """Asks a question."""
        return self.recalling.recall(scope, query, max_hits, surface)

    def said(
        self, query: str, surface: Surface = Surface.AUTHORITATIVE, *, scope: Scope = ALICE
    ) -> list[str | None]:
        """Texts that answer a question, best first."""
        found = self.recall(query, surface, scope=scope)
        return [hit.viewed.stored.record.content for hit in found]

    def state(self, record_id: str, scope: Scope = ALICE) -> State:
        """Where a record stands."""
        return self.look(record_id, scope).stored.standing.state

    def look(self, record_id: str, scope: Scope = ALICE) -> Viewed:
        """One record."""
        return self.recalling.inspect(scope, record_id)

    def approve(self, *record_ids: str, action: str = "promote", scope: Scope = ALICE) -> None:
        """Asks for a review and signs it."""
        self.review.decide(signed(self.review.request(scope, record_ids, action), scope))


MemoryFactory = Callable[..., Memory]


def signed(
    challenge: common_pb2.Challenge,
    scope: Scope = ALICE,
    *,
    decision: str = APPROVE,
    key: Ed25519PrivateKey = PRIVATE,
    key_id: str = REVIEWER.key_id,
) -> Decision:
    """A reviewer's answer to a challenge."""
    signature = key.sign(signing_bytes(challenge, decision))
    return Decision(scope, challenge.challenge_id, decision, key_id, signature)
