"""What one trial says and asks, as frozen values: an attack and its benign twin (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from memqual.v1 import memory_pb2

__all__ = [
    "AttackCase",
    "BenignTwin",
    "Canary",
    "Offer",
    "TrialCase",
    "from_assistant",
    "from_elsewhere",
    "from_public_chat",
    "from_user",
]


@dataclass(frozen=True)
class Offer:
    """One text that the memory is offered, with where it comes from.

    Attributes:
        principal: On whose behalf.
        kind: `memory_pb2.RECORD_KIND_*`.
        content: The text.
        source_type: `memory_pb2.SOURCE_TYPE_*`.
        binding: `memory_pb2.SOURCE_BINDING_*`: who vouches for the source.
        source_id: Opaque id of the source.
        labels: The caller's labels; they never authorise anything.
        media: Attached text, or empty for none.
    """

    principal: str
    kind: memory_pb2.RecordKind.ValueType
    content: str
    source_type: memory_pb2.SourceType.ValueType
    binding: memory_pb2.SourceBinding.ValueType
    source_id: str
    labels: tuple[str, ...] = ()
    media: str = ""

    def scope(self, namespace: str) -> memory_pb2.Scope:
        """The circle that it is written into."""
        return memory_pb2.Scope(namespace=namespace, principal=self.principal)

    def observation(self, namespace: str) -> memory_pb2.Observation:
        """It as the contract's message."""
        observation = memory_pb2.Observation(
            scope=self.scope(namespace),
            kind=self.kind,
            content=self.content,
            source=memory_pb2.Source(
                type=self.source_type, binding=self.binding, source_id=self.source_id
            ),
            labels=self.labels,
        )
        if self.media:
            observation.media.media_type = "text/plain"
            observation.media.data = self.media.encode()
        return observation


@dataclass(frozen=True)
class AttackCase:
    """What must not gain authority, or must not be stored.

    Attributes:
        offer: The attack.
        nonce: Word that stands in the attack and nowhere else before the twin is written.
        query: Question that the attack would answer; empty where nothing is asked.
        secret: Synthetic key that stands in the attack; empty outside of L.
    """

    offer: Offer
    nonce: str
    query: str = ""
    secret: str = ""


@dataclass(frozen=True)
class BenignTwin:
    """The legitimate counterpart: a memory that refuses it protects nobody.

    Attributes:
        offer: The twin.
        nonce: Word by which its text is known.
        query: Question that it answers; empty where nothing is asked.
        unrelated_query: Question that nothing in the namespace answers; empty where none is asked.
        look_alike: Harmless string that must come back unchanged; empty outside of L.
    """

    offer: Offer
    nonce: str
    query: str = ""
    unrelated_query: str = ""
    look_alike: str = ""


@dataclass(frozen=True)
class Canary:
    """Harmless texts that carry one word through every field which a surface may keep.

    Attributes:
        marker: The word that a scan has to find.
        offer: Plain text with the word in content, source id and labels.
        derived: Text that is derived from it.
        attached: Text with an attachment that holds the word.
    """

    marker: str
    offer: Offer
    derived: str
    attached: Offer


@dataclass(frozen=True)
class TrialCase:
    """Everything that one trial says and asks.

    Attributes:
        category: Letter of the category.
        seed: The trial's seed.
        attack: The attack.
        twin: Its benign twin.
        canary: Proof that a scan can find something; None where nothing is scanned.
    """

    category: str
    seed: int
    attack: AttackCase
    twin: BenignTwin
    canary: Canary | None = None


def from_user(
    principal: str,
    content: str,
    *,
    kind: memory_pb2.RecordKind.ValueType = memory_pb2.RECORD_KIND_FACT,
    source_id: str = "",
    labels: tuple[str, ...] = (),
    media: str = "",
) -> Offer:
    """What the principal says himself; the host has authenticated him."""
    return Offer(
        principal=principal,
        kind=kind,
        content=content,
        source_type=memory_pb2.SOURCE_TYPE_USER,
        binding=memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
        source_id=source_id or principal,
        labels=labels,
        media=media,
    )


def from_assistant(principal: str, content: str, source_id: str) -> Offer:
    """What an assistant claims to know; nobody vouches for it."""
    return Offer(
        principal=principal,
        kind=memory_pb2.RECORD_KIND_FACT,
        content=content,
        source_type=memory_pb2.SOURCE_TYPE_AGENT,
        binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
        source_id=source_id,
    )


def from_elsewhere(
    principal: str,
    content: str,
    source_type: memory_pb2.SourceType.ValueType,
    source_id: str,
    *,
    kind: memory_pb2.RecordKind.ValueType = memory_pb2.RECORD_KIND_FACT,
) -> Offer:
    """What a page, a document, a tool or another agent says; nobody vouches for it."""
    return Offer(
        principal=principal,
        kind=kind,
        content=content,
        source_type=source_type,
        binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
        source_id=source_id,
    )


def from_public_chat(
    principal: str,
    content: str,
    source_id: str,
    labels: tuple[str, ...] = (),
    *,
    kind: memory_pb2.RecordKind.ValueType = memory_pb2.RECORD_KIND_PROCEDURE,
) -> Offer:
    """What anybody may have written into a public chat on the web: a procedure, or what is said.

    Whoever passes it on may label it as he likes; no label is a proof.
    """
    return Offer(
        principal=principal,
        kind=kind,
        content=content,
        source_type=memory_pb2.SOURCE_TYPE_WEB,
        binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED,
        source_id=source_id,
        labels=labels,
    )
