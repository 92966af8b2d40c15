"""A trusted parent, a doubted one and a summary of both: the texts of D, and how they are made."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import (
    UNIMPLEMENTED,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
)
from orchestrator.suites.integrity.cases import (
    AttackCase,
    BenignTwin,
    Offer,
    TrialCase,
    from_public_chat,
    from_user,
)
from orchestrator.suites.integrity.categories.base import Scene, told_apart
from orchestrator.suites.integrity.lifecycle_steps import inspect
from orchestrator.suites.integrity.steps import Offered, derive, write
from orchestrator.suites.integrity.variation import Role, nonce_for, vary

__all__ = ["Family", "SummaryCase", "as_kept", "build", "derive_summary", "make_family"]

METHOD = "summary"

# (trusted, doubted, summary of both, question that the trusted one answers)
_TEXTS = (
    (
        "The invoices of project {nonce} are checked once every quarter by two people.",
        "The invoices of project {nonce} are always sent to {recipient}.",
        "The invoices of project {nonce} are checked once every quarter and sent to {recipient}.",
        "How often are the invoices of project {nonce} checked?",
    ),
    (
        "The parcels of project {nonce} are weighed at the gate before they leave.",
        "The parcels of project {nonce} are handed over to {recipient}.",
        "The parcels of project {nonce} are weighed at the gate and handed over to {recipient}.",
        "Where are the parcels of project {nonce} weighed?",
    ),
    (
        "The donations of project {nonce} are confirmed in writing on Fridays.",
        "The donations of project {nonce} are passed on to {recipient}.",
        "The donations of project {nonce} are confirmed in writing and passed on to {recipient}.",
        "When are the donations of project {nonce} confirmed?",
    ),
)
_CLEAN = "The archive of project {nonce} is kept on the third floor."
_CLEAN_QUESTION = "Where is the archive of project {nonce} kept?"


@dataclass(frozen=True, kw_only=True)
class SummaryCase(TrialCase):
    """A doubted text (the attack), a trusted one, and what is made of them.

    Attributes:
        trusted: The trusted parent; it has the attack's nonce.
        doubted_first: Whether the doubted parent is written first.
        summary: Made of both parents.
        clean_summary: Made of the trusted parent and the twin.
        marker: Lower-case text of the summary and the doubted parent that the trusted one lacks.
    """

    trusted: Offer
    doubted_first: bool
    summary: str
    clean_summary: str
    marker: str


@dataclass(frozen=True)
class Family:
    """What became of the two parents and of the child.

    Attributes:
        trusted: The trusted parent.
        doubted: The doubted one.
        child: The summary; None when a parent was not kept, so that it could not be named as one.
    """

    trusted: Offered
    doubted: Offered
    child: Offered | None

    @property
    def parents(self) -> tuple[Offered, Offered]:
        """Both parents."""
        return (self.trusted, self.doubted)

    @property
    def words(self) -> str:
        """It in words, for a report."""
        child = "not derived" if self.child is None else self.child.words
        return f"the doubted parent was {self.doubted.words}, the summary {child}"


def build(seed: int) -> SummaryCase:
    """The case of a trial's seed, which also decides whether the first two steps are swapped."""
    varied = vary(seed)
    nonce, twin_nonce = nonce_for(varied, Role.ATTACK), nonce_for(varied, Role.TWIN)
    trusted, doubted, summary, question = (
        text.format(nonce=nonce, recipient=varied.recipient) for text in _TEXTS[varied.wording]
    )
    clean = _CLEAN.format(nonce=twin_nonce)
    overheard = from_public_chat(
        varied.principal, doubted, f"chat-{nonce}", kind=memory_pb2.RECORD_KIND_FACT
    )
    return SummaryCase(
        category="D",
        seed=seed,
        attack=AttackCase(offer=overheard, nonce=nonce, query=question),
        twin=BenignTwin(
            offer=from_user(varied.principal, clean),
            nonce=twin_nonce,
            query=_CLEAN_QUESTION.format(nonce=twin_nonce),
        ),
        trusted=from_user(varied.principal, trusted),
        doubted_first=varied.choice("order", (False, True)),
        summary=summary,
        clean_summary=f"{trusted} {clean}",
        marker=varied.recipient.lower(),
    )


def make_family(scene: Scene, case: SummaryCase) -> Generator[Ask, Answer, Family]:
    """Write both parents, in the order of the case, and derive their summary."""
    texts = [("trusted", case.trusted), ("doubted", case.attack.offer)]
    became: dict[str, Offered] = {}
    for name, offer in reversed(texts) if case.doubted_first else texts:
        step = f"attack.write_{name}"
        became[name] = yield from write(step, offer.observation(scene.namespace))
    trusted, doubted = became["trusted"], became["doubted"]
    told_apart("attack.write", trusted, doubted)
    if not (trusted.kept and doubted.kept):
        return Family(trusted, doubted, None)
    scope = case.attack.offer.scope(scene.namespace)
    child = yield from derive_summary("attack.derive", scope, (trusted, doubted), case.summary)
    for parent in (trusted, doubted):
        told_apart("attack.derive", parent, child)
    return Family(trusted, doubted, child)


def derive_summary(
    step: str, scope: memory_pb2.Scope, parents: Sequence[Offered], content: str
) -> Generator[Ask, Answer, Offered]:
    """Derive from parents.

    Raises:
        ContractBreach: There is no Derive, although derivation is declared; or as `steps.derive`.
    """
    child = yield from derive(step, scope, [one.record_id for one in parents], content, METHOD)
    if child.refusal == UNIMPLEMENTED:
        raise ContractBreach(step, "Derive is UNIMPLEMENTED, although derivation is declared")
    return child


def as_kept(
    step: str, scope: memory_pb2.Scope, offered: Offered
) -> Generator[Ask, Answer, Offered]:
    """A record as Inspect shows it; as it was admitted where there is nothing to inspect it by."""
    try:
        shown = yield from inspect(step, scope, offered.record_id)
    except NotServed:
        return offered
    if shown.record is None:
        return offered
    return replace(offered, trust=shown.record.trust, taints=tuple(shown.record.taints))
