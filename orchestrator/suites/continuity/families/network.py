"""Faults of the network, at every message of an operation and on every edge (DESIGN §5, §6).

Where a case meets every message, its operations take the messages in turn: the first operation's
Begin request, the second one's Begin response, and so on. Edges are cut in two ways: `cut` is
refused at once, `silent` is noticed only at a client's own deadline.
"""

from __future__ import annotations

from orchestrator.model import Arm, CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Weight
from orchestrator.suites.continuity.families.network_points import (
    ALL_POINTS,
    EDGES_ALONE,
    MESSAGES,
    PARTITIONS,
    STANDS,
    Messages,
    Partition,
)

__all__ = ["CASES"]

_KEYLESS = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_FENCED,
    CapabilityVariant.QUERY_UNFENCED,
)
_KEYED = (CapabilityVariant.IDEMPOTENT, CapabilityVariant.IDEMPOTENT_EXPIRED)
_QUERIES = (CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED)
_BASIC = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)
_ONE_WAY = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED)
_OPERATIONS = 2 * len(ALL_POINTS)
_FEW = 6


def _title(fault: Messages) -> str:
    names = ", ".join(point.name for point in fault.points)
    once = "; the destination applies an attempt once" if fault.once else ""
    return f"One message of each operation is {fault.action}: {names}{once}."


def _messages(name: str, capabilities: tuple[CapabilityVariant, ...], **more: object) -> FamilyCase:
    fields: dict[str, object] = {
        "name": name,
        "title": _title(MESSAGES[name]),
        "requirement_id": "MQ-C-60",
        "capabilities": capabilities,
        "expiry": ExpiryMode.SKEWED,
        "receipts": ("network", "clock:memory"),
        "operations": _OPERATIONS,
        **more,
    }
    return FamilyCase.model_validate(fields)


_EVERY = tuple(CapabilityVariant)
_SINGLE = (
    _messages("network.lost", _EVERY),
    _messages("network.delayed", _BASIC),
    _messages("network.reset", _EVERY, weight=Weight.QUICK),
    _messages("network.reordered", _EVERY),
    _messages("network.duplicated.begin", _EVERY, operations=_FEW),
    _messages("network.duplicated.receipt", _EVERY, operations=_FEW),
    _messages("network.duplicated.invoke", _KEYLESS, operations=_FEW, account=Account.NETWORK),
    _messages("network.duplicated.invoke_with_key", _KEYED, operations=_FEW),
    _messages("network.duplicated.invoke_applied_once", _KEYLESS, operations=_FEW),
)
_AFTER_A_DEATH = tuple(
    _messages(
        f"network.query.{action}",
        _QUERIES,
        target=TargetSet.AGENT,
        receipts=("kill:agent", "network", "clock:memory"),
        weight=Weight.FULL if action in ("delayed", "reordered") else Weight.STANDARD,
    )
    for action in ("lost", "delayed", "reset", "duplicated", "reordered")
)
_RENEWED = tuple(
    _messages(
        f"network.renew.{action}",
        (CapabilityVariant.NONE,),
        receipts=("network",),
        expiry=ExpiryMode.NONE,
        operations=_FEW,
        end=End.NO_HOST,
        weight=Weight.FULL if action in ("lost", "delayed") else Weight.STANDARD,
    )
    for action in ("duplicated", "reset", "reordered", "lost", "delayed")
)


def _cut_capabilities(cut: Partition) -> tuple[CapabilityVariant, ...]:
    """Every one where time is no matter; one way, those that differ most in what they allow."""
    if cut.silent:
        return _EVERY
    return _BASIC if cut.direction == "both" else _ONE_WAY


def _of_observer_only(cut: Partition) -> bool:
    return all(target == "observer" for _, target in cut.edges)


def _is_finer(cut: Partition) -> bool:
    """One edge of a service, or one way of what carries telemetry alone."""
    return cut.service in EDGES_ALONE or (cut.service == "observer" and cut.direction != "both")


def _partition(name: str, cut: Partition) -> FamilyCase:
    if cut.service in EDGES_ALONE:
        source, _, target = cut.service.partition("_to_")
        owner = "hosts'" if source == "agent" else f"{source}'s"
        what = f"the {owner} edge to the {target} alone is"
    else:
        whose = "all edges of the hosts" if cut.service == "agent" else f"the {cut.service}'s edges"
        what = f"{whose} are"
    how = "silently " if cut.silent else ""
    return FamilyCase(
        name=name,
        title=f"While operations stand at each window, {what} {how}cut ({cut.direction}).",
        requirement_id="MQ-C-61",
        capabilities=_cut_capabilities(cut),
        arms=(Arm.BOTH,) if _of_observer_only(cut) else (Arm.MEMORY,),
        expiry=ExpiryMode.SKEWED,
        receipts=("network", "clock:memory"),
        weight=Weight.FULL if cut.silent or _is_finer(cut) else Weight.STANDARD,
        operations=2 * len(STANDS),
    )


def _copy(
    what: str,
    title: str,
    capabilities: tuple[CapabilityVariant, ...],
    end: End,
    account: Account = Account.NOBODY,
) -> FamilyCase:
    receipts = {
        "begin": ("clock:memory",),
        "query": ("clock:memory", "clock:memory"),
        "invoke_fenced": ("network", "clock:memory"),
    }.get(what, ())
    return FamilyCase(
        name=f"network.late_copy.{what}",
        title=title,
        requirement_id="MQ-C-62",
        capabilities=capabilities,
        expiry=ExpiryMode.SKEWED if receipts else ExpiryMode.NONE,
        receipts=receipts,
        account=account,
        end=end,
        operations=_FEW,
    )


CASES = (
    *_SINGLE,
    *_AFTER_A_DEATH,
    *_RENEWED,
    *(_partition(name, cut) for name, cut in PARTITIONS.items()),
    _copy(
        "begin",
        "A granted Begin arrives once more when its lease is over, when another attempt is live, "
        "and when the operation is complete.",
        _EVERY,
        End.NO_HOST,
    ),
    _copy(
        "receipt",
        "A receipt that completed its operation arrives once more.",
        _EVERY,
        End.RESOLVED,
    ),
    _copy(
        "query",
        "ABSENT_FINAL for an attempt arrives once more when a later attempt's lease is over.",
        (CapabilityVariant.QUERY_FENCED,),
        End.NO_HOST,
    ),
    _copy(
        "invoke",
        "An Invoke arrives once more when its operation is complete.",
        _KEYLESS,
        End.RESOLVED,
        Account.NETWORK,
    ),
    _copy(
        "invoke_fenced",
        "An Invoke arrives for the first time when its attempt was fenced and another completed.",
        (CapabilityVariant.QUERY_FENCED,),
        End.RESOLVED,
    ),
    FamilyCase(
        name="network.begin_id_of_another_life",
        title="Another life of the host asks with the begin id of a grant whose lease is live.",
        requirement_id="MQ-C-63",
        end=End.NO_HOST,
        operations=_FEW,
    ),
)
