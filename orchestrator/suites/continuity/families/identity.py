"""Identity, rule by rule: what the first Begin bound stays bound (DESIGN §4, §6)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import End, FamilyCase, Need

__all__ = ["CASES"]

_ANY = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)
_KEYED = (CapabilityVariant.IDEMPOTENT,)


def _other(
    what: str,
    requirement_id: str = "MQ-C-20",
    capabilities: tuple[CapabilityVariant, ...] = _ANY,
) -> FamilyCase:
    return FamilyCase(
        name=f"identity.other_{what.replace(' ', '_')}",
        title=f"The same identity is asked about again with another {what}.",
        requirement_id=requirement_id,
        capabilities=capabilities,
        end=End.NO_HOST,
        operations=5,
    )


CASES = (
    _other("arguments").model_copy(
        update={"title": "The same identity is asked about again with other arguments."}
    ),
    _other("tool"),
    _other("destination"),
    _other("capability"),
    _other("key", capabilities=_KEYED),
    _other("retention", "MQ-C-21", _KEYED),
    _other("principal", "MQ-C-21"),
    _other("workflow", "MQ-C-21"),
    _other("intent", "MQ-C-21"),
    _other("namespace", "MQ-C-21"),
    FamilyCase(
        name="identity.after_expiry",
        title="What is bound outlives the lease: changes are REJECTed after its end.",
        requirement_id="MQ-C-20",
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.after_restart",
        title="What is bound outlives the memory's process: changes are REJECTed after a kill.",
        requirement_id="MQ-C-20",
        capabilities=_ANY,
        target=TargetSet.MEMORY,
        receipts=("restart:memory",),
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.wrong_digest",
        title="An operation id that is not the digest of its identity.",
        requirement_id="MQ-C-22",
        capabilities=_ANY,
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.oversize",
        title="Ids of 129 bytes, and of 128.",
        requirement_id="MQ-C-22",
        capabilities=_ANY,
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.other_life",
        title="Another incarnation repeats the begin id that was granted.",
        requirement_id="MQ-C-23",
        capabilities=_ANY,
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.repeat_after_expiry",
        title="A begin id is repeated after its lease's end: EXECUTE is not replayed.",
        requirement_id="MQ-C-23",
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.repeat_of_wait",
        title="A begin id that was told WAIT is repeated after the lease's end: it is asked anew.",
        requirement_id="MQ-C-23",
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    ),
    FamilyCase(
        name="identity.peek",
        title="Peek tells what Begin would answer, at each stage, and changes nothing.",
        requirement_id="MQ-C-24",
        expiry=ExpiryMode.SKEWED,
        needs=frozenset({Need.DECISION_PEEK}),
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    ),
)
