"""Memories that are wrong on purpose, for explorations only: `python -m <this> --flaw NAME`.

Each breaks one rule of decisions, leases, receipts or identity, and was planted without a look at
how schedules are drawn.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import cast

from services.common import logging, settings
from services.controls.flaw import named
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Execute,
    ReceiptCall,
    RecordStep,
    Refused,
    RenewCall,
    RenewStep,
    Reuse,
    Wait,
)
from services.memory.decisions import DecisionRules, contradiction
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason
from services.memory.process import Composition, run
from services.memory.recordings import RecordingRules


class ReusesAttempts(DecisionRules):
    """A retry has the number of the attempt that it follows."""

    def retry(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        step = super().retry(operation, clock, call, reason)
        if isinstance(step, BeginStep) and isinstance(step.decision, Execute):
            told = dataclasses.replace(step.decision, attempt=step.decision.attempt - 1)
            return dataclasses.replace(step, decision=told)
        return step


class ForgetsBeginIds(DecisionRules):
    """Knows which call it granted as long as its process lives; after that the call is new."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        same = (latest.incarnation_id, latest.begin_id) == (call.incarnation_id, call.begin_id)
        if same and latest.lease_token not in _GRANTED_HERE:
            return self.grant(operation, clock, call, Reason.FIRST_GRANT)
        return super().decide_live(operation, latest, clock, call)

    def grant(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        _GRANTED_HERE.add(call.fresh_secret)
        return super().grant(operation, clock, call, reason)


_GRANTED_HERE: set[str] = set()


class TakesOtherArguments(DecisionRules):
    """Whatever is asked for under an identity is what was asked for first."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        if operation is not None and contradiction(operation.binding, call.binding) in (
            Reason.ARGUMENTS_MISMATCH,
        ):
            call = dataclasses.replace(call, binding=operation.binding)
        return super().begin(operation, clock, call)


class TakesOtherCapability(DecisionRules):
    """The latest word on what the destination allows counts."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        if operation is not None and contradiction(operation.binding, call.binding) in (
            Reason.CAPABILITY_MISMATCH,
        ):
            operation = dataclasses.replace(operation, binding=call.binding)
        return super().begin(operation, clock, call)


class RenewsForAll(DecisionRules):
    """Whoever knows the attempt renews it."""

    def renew(
        self, operation: Operation, clock: LeaseClock, call: RenewCall
    ) -> RenewStep | Refused:
        latest = operation.latest
        if latest is not None and latest.attempt == call.attempt:
            call = dataclasses.replace(
                call, lease_token=latest.lease_token, incarnation_id=latest.incarnation_id
            )
        return super().renew(operation, clock, call)


class FollowsTheClockBack(DecisionRules):
    """A clock that was set back makes leases younger."""

    def lease_is_live(self, latest: AttemptRecord, clock: LeaseClock) -> bool:
        return clock.now_ns < latest.lease_ends_at_ns

    def decide_expired(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        back = dataclasses.replace(clock, mark_ns=min(clock.mark_ns, clock.now_ns))
        return super().decide_expired(operation, latest, back, call)


class ConfirmHidesReceipts(DecisionRules):
    """While its clock is behind, what is complete is put off."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        step = super().begin(operation, clock, call)
        if clock.behind and isinstance(step, BeginStep) and isinstance(step.decision, Reuse):
            wait = Wait(clock.mark_ns - clock.now_ns, Reason.CLOCK_BEHIND_MARK)
            return dataclasses.replace(step, decision=wait)
        return step


class CountsKeysFromRetries(DecisionRules):
    """A key lives for its retention from the latest grant on."""

    def expired_idempotent(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        latest = cast(AttemptRecord, operation.latest)
        younger = latest.granted_at_ns + operation.binding.retention_ns
        return super().expired_idempotent(
            dataclasses.replace(operation, key_deadline_ns=younger), clock, call
        )


class UncertainLicenses(DecisionRules):
    """Enough uncertain answers count as an absence."""

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        step = super().expired_query(operation, latest, clock, call)
        if isinstance(step, BeginStep) and isinstance(step.decision, Confirm):
            return self.retry(operation, clock, call, Reason.ABSENT_FINAL)
        return step


class OtherOperationsReceipts(RecordingRules):
    """A receipt is not looked into."""

    def receipt(self, operation: Operation, call: ReceiptCall) -> RecordStep | Refused:
        bound = dataclasses.replace(call.receipt, operation_id=operation.binding.operation_id)
        return super().receipt(operation, dataclasses.replace(call, receipt=bound))


DECISIONS: Mapping[str, type[DecisionRules]] = {
    "reuses_attempts": ReusesAttempts,
    "forgets_begin_ids": ForgetsBeginIds,
    "takes_other_arguments": TakesOtherArguments,
    "takes_other_capability": TakesOtherCapability,
    "renews_for_all": RenewsForAll,
    "follows_the_clock_back": FollowsTheClockBack,
    "confirm_hides_receipts": ConfirmHidesReceipts,
    "counts_keys_from_retries": CountsKeysFromRetries,
    "uncertain_licenses": UncertainLicenses,
}
RECORDINGS: Mapping[str, type[RecordingRules]] = {
    "other_operations_receipts": OtherOperationsReceipts,
}


def main() -> None:
    """Serves the flawed memory until SIGTERM."""
    logging.configure("memory")
    parser = argparse.ArgumentParser()
    parser.add_argument("--flaw", choices=[*DECISIONS, *RECORDINGS], required=True)
    flaw = parser.parse_args().flaw
    if flaw in DECISIONS:
        run(Composition(named(flaw), decisions=DECISIONS[flaw]))
    else:
        run(Composition(named(flaw), recordings=RECORDINGS[flaw]()))


if __name__ == "__main__":
    settings.run(main)
