"""Memories that declare one limit and keep to another, each the reference but for one."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial

from memqual.v1 import vendor_pb2
from services.controls.flaw import Flaw, named
from services.memory.answers import RecordStep, Refusal, Refused, RenewCall
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, Operation, Policy, Receipt
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = ["FLAWS"]

_PREFIX = "continuity.limits"
_DECISIONS = ("unsafe_decision", "needless_decision", "malformed_answer")


def _by(change: Callable[[Policy], Policy], policy: Policy) -> DecisionRules:
    """The rules under another policy than the declared one."""
    return DecisionRules(change(policy))


def _policy(name: str, change: Callable[[Policy], Policy], wrong: str, check: str) -> Flaw:
    composition = Composition(named(name), decisions=partial(_by, change))
    return Flaw(composition, wrong, f"{_PREFIX}.{check}", "M", consequences=_DECISIONS)


def _three_revisions(described: vendor_pb2.DescribeResponse) -> vendor_pb2.DescribeResponse:
    """So few that grants alone reach the limit."""
    described.limits.max_revisions_per_operation = 3
    return described


class AnybodyRenews(DecisionRules):
    """Renews for whoever names the latest attempt."""

    def may_renew(self, latest: AttemptRecord, call: RenewCall) -> bool:
        """True, whoever asks."""
        return True


class FullIsFull(RecordingRules):
    """Takes no receipt where no revision is left."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """As the reference while revisions are left."""
        if operation.receipt is None and operation.revision >= Policy().max_revisions:
            return Refused(Refusal.LIMIT, "no revision is left")
        return super().complete(operation, receipt)


FLAWS: Mapping[str, Flaw] = {
    "one_renewal_more": _policy(
        "one_renewal_more",
        lambda policy: dataclasses.replace(policy, max_renewals=policy.max_renewals + 1),
        "takes one renewal more than it declares",
        "renewals",
    ),
    "one_renewal_less": _policy(
        "one_renewal_less",
        lambda policy: dataclasses.replace(policy, max_renewals=policy.max_renewals - 1),
        "takes one renewal less than it declares",
        "renewals",
    ),
    "anybody_renews": Flaw(
        Composition(named("anybody_renews"), decisions=AnybodyRenews),
        "renews a lease for others than its holder",
        f"{_PREFIX}.renewal_holder",
        consequences=_DECISIONS,
    ),
    "one_attempt_more": _policy(
        "one_attempt_more",
        lambda policy: dataclasses.replace(policy, max_attempts=policy.max_attempts + 1),
        "grants one attempt more than it declares",
        "attempts",
    ),
    "one_operation_more": _policy(
        "one_operation_more",
        lambda policy: dataclasses.replace(
            policy, max_operations_per_workflow=policy.max_operations_per_workflow + 1
        ),
        "holds one operation more than it declares",
        "operations",
    ),
    "one_revision_more": Flaw(
        Composition(
            named("one_revision_more"),
            declared=_three_revisions,
            decisions=partial(_by, lambda policy: dataclasses.replace(policy, max_revisions=4)),
        ),
        "takes one revision more than it declares",
        f"{_PREFIX}.revisions",
        "M",
        consequences=_DECISIONS,
    ),
    "full_is_full": Flaw(
        Composition(named("full_is_full"), recordings=FullIsFull()),
        "takes no receipt where no revision is left",
        f"{_PREFIX}.revisions",
        consequences=_DECISIONS,
    ),
}
