"""What is computed of an offered text before the store is locked (pure)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from services.memory.records.fingerprints import FingerprintKey, asked_fingerprints
from services.memory.records.model import (
    Binding,
    Kind,
    Media,
    Observation,
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Trust,
)
from services.memory.records.policy import Policy
from services.memory.records.store import Draft
from services.memory.records.text import Reading, claims, read

__all__ = [
    "SUPPORT_BYTES",
    "Admitted",
    "Derivation",
    "Offer",
    "derived",
    "observed",
    "refused_in_parts",
    "said_by",
]

# Parents' text that is read to check what a derivation adds; words beyond it count as its own.
SUPPORT_BYTES = 1024 * 1024

_DERIVED = Source(SourceType.DERIVATION, Binding.VERIFIED)
_NO_MEDIA = Media("", b"")


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of an offer; `record_id` is "" where nothing may be shown or kept."""

    record_id: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class Derivation:
    """Content that a caller made out of named parents (checked)."""

    scope: Scope
    kind: Kind
    parent_ids: tuple[str, ...]
    content: str
    method: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A draft with what is known of it.

    Attributes:
        refusal: standing of a draft with a secret, of which nothing is kept; None lets it pass.
        traceless: True when not even its scope may be kept.
        reading: its content, read for comparisons.
        asked: fingerprints that find what it repeats.
    """

    draft: Draft
    refusal: Standing | None
    traceless: bool
    reading: Reading
    asked: tuple[int, ...]


def observed(policy: Policy, key: FingerprintKey, observation: Observation) -> Offer:
    """The offer of an observation."""
    reading = read(observation.content)
    return _offer(
        policy,
        key,
        reading,
        Draft(
            scope=observation.scope,
            kind=observation.kind,
            content=observation.content,
            source=observation.source,
            media=observation.media,
            event_unix_ns=observation.event_unix_ns,
            labels=observation.labels,
            method="",
            statement=_statement(key, reading, observation.media or _NO_MEDIA),
        ),
    )


def derived(policy: Policy, key: FingerprintKey, derivation: Derivation) -> Offer:
    """The offer of a derivation."""
    reading = read(derivation.content)
    return _offer(
        policy,
        key,
        reading,
        Draft(
            scope=derivation.scope,
            kind=derivation.kind,
            content=derivation.content,
            source=_DERIVED,
            media=None,
            event_unix_ns=0,
            labels=(),
            method=derivation.method,
            statement=_statement(key, reading, _NO_MEDIA),
        ),
    )


def said_by(parents: Sequence[str]) -> frozenset[str]:
    """Every word of the parents' texts, as far as SUPPORT_BYTES go."""
    said: set[str] = set()
    read_bytes = 0
    for text in parents:
        read_bytes += len(text.encode("utf-8"))
        if read_bytes > SUPPORT_BYTES:
            break
        said.update(claims(text))
    return frozenset(said)


def refused_in_parts(offer: Offer, kinds: Iterable[str]) -> tuple[Offer, Standing]:
    """The offer of a text that completes a secret of which another part is kept, and its refusal.

    Nothing of it is kept, so that both parts never lie together.
    """
    emptied = _emptied(offer.draft, offer.reading, kinds, traceless=False)
    found = (f"{Reason.SECRET}:{kind}" for kind in sorted(kinds))
    reasons = (str(Reason.SECRET), str(Reason.SECRET_IN_PARTS), *found)
    return emptied, Standing(State.REJECTED, Trust.UNTRUSTED, (), reasons)


def _offer(policy: Policy, key: FingerprintKey, reading: Reading, draft: Draft) -> Offer:
    media = draft.media or _NO_MEDIA
    scope = draft.scope
    names = (scope.namespace, scope.principal, scope.agent, scope.workspace, scope.purpose)
    fields = (draft.source.source_id, draft.method, media.media_type, *draft.labels)
    # Text of two bytes a character reads as the same text once its zeros are gone.
    attached = media.data.replace(b"\x00", b"").decode("utf-8", "ignore")
    texts = (draft.content or "", attached, "\n".join((*names, *fields)))
    kinds = {kind for text in texts if text for kind in policy.secret_kinds(text)}
    if not kinds:
        asked = asked_fingerprints(key, reading.words)
        return Offer(draft, None, traceless=False, reading=reading, asked=asked)
    traceless = bool(policy.secret_kinds("\n".join(names)))
    return _emptied(draft, reading, kinds, traceless=traceless)


def _emptied(draft: Draft, reading: Reading, kinds: Iterable[str], *, traceless: bool) -> Offer:
    """The offer of a text with a secret: of all that the caller gave only its scope is left."""
    reasons = (str(Reason.SECRET), *(f"{Reason.SECRET}:{kind}" for kind in sorted(kinds)))
    emptied = replace(
        draft,
        content=None,
        media=None,
        event_unix_ns=0,
        labels=(),
        method="",
        source=replace(draft.source, source_id=""),
    )
    refusal = Standing(State.REJECTED, Trust.UNTRUSTED, (), reasons)
    return Offer(emptied, refusal, traceless=traceless, reading=reading, asked=())


def _statement(key: FingerprintKey, reading: Reading, media: Media) -> bytes:
    """Keyed digest of what is said: equal for texts that look the same, with the same media."""
    attached = key.digest(media.data) if media.data else b""
    return key.digest(reading.form.encode("utf-8") + b"\x00" + attached)
