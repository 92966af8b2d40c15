"""A receipt of the storage's faults says what is lacking, and comes back from its JSON."""

import pytest

from chaos.kill_receipt import TargetKill
from chaos.receipt_base import FaultReceipt
from chaos.receipts import parse_receipt
from chaos.storage_receipts import (
    CheckpointCutReceipt,
    CheckpointForkReceipt,
    CheckpointRestoreReceipt,
    FullVolumeReceipt,
    PowerLossReceipt,
    RollbackReceipt,
    StormKill,
    StormReceipt,
    TornWriteReceipt,
)

KILL = TargetKill(
    service="memory",
    pid=1,
    started_before_ns=1,
    kill_monotonic_ns=2,
    exit_code=137,
    oom_killed=False,
    exit_monotonic_ns=3,
    started_after_ns=4,
)
POWER = PowerLossReceipt(
    target=KILL,
    dropped_writes=0,
    dropped_bytes=0,
    dropped_names=0,
    unsynced_gone=True,
    synced_there=True,
    operations_before=1,
    operations_after=1,
)
FULL = FullVolumeReceipt(
    service="memory",
    operations_let=1,
    operations_refused=1,
    operations_before=1,
    operations_after=1,
)
ROLLBACK = RollbackReceipt(
    target=KILL, content_bytes=1, differs=True, operations_before=1, operations_after=1
)
TORN = TornWriteReceipt(
    target=KILL,
    written="f",
    offset=0,
    asked_bytes=8,
    kept_bytes=4,
    operations_before=1,
    operations_after=1,
)
STORM = StormReceipt(
    service="memory",
    phase="recovery",
    undisturbed_operations=9,
    kills=tuple(StormKill(target=KILL, operation=number, at="x") for number in (1, 2, 3)),
    operations_before=1,
    operations_after=1,
)
CUT = CheckpointCutReceipt(
    service="standby",
    workflow_ids=("w",),
    bytes_before=2,
    bytes_after=1,
    operations_before=1,
    operations_after=1,
)
WHOLE = (POWER, FULL, ROLLBACK, TORN, STORM, CUT)
ALIVE = KILL.model_copy(update={"exit_code": 0})


@pytest.mark.parametrize("receipt", WHOLE, ids=lambda one: one.kind)
def test_a_whole_receipt_lacks_nothing_and_comes_back(receipt: FaultReceipt) -> None:
    assert receipt.missing() == []
    assert parse_receipt(receipt.model_dump_json()) == receipt


@pytest.mark.parametrize(
    ("receipt", "changes", "words"),
    [
        (POWER, {"unsynced_gone": False}, "what was not synced was still there"),
        (POWER, {"synced_there": False}, "what was synced was gone"),
        (POWER, {"target": ALIVE}, "exit code of a SIGKILL"),
        (FULL, {"operations_refused": 0}, "wanted room where there was none"),
        (ROLLBACK, {"differs": False}, "had not changed"),
        (ROLLBACK, {"target": ALIVE}, "exit code of a SIGKILL"),
        (TORN, {"kept_bytes": 8}, "a part of it is not there"),
        (STORM, {"kills": STORM.kills[:2]}, "2 kills within the start, 3 are wanted"),
        (STORM, {"kills": (*STORM.kills, StormKill(target=ALIVE, operation=4))}, "exit code"),
        (CUT, {"bytes_after": 2}, "lost its second half"),
        (CUT, {"workflow_ids": ()}, "lost its second half"),
    ],
)
def test_what_is_lacking_is_named(
    receipt: FaultReceipt, changes: dict[str, object], words: str
) -> None:
    (lacking,) = receipt.model_copy(update=changes).missing()
    assert words in lacking


def test_a_start_with_few_operations_is_struck_as_often_as_it_can_be() -> None:
    short = STORM.model_copy(update={"undisturbed_operations": 1, "kills": STORM.kills[:1]})
    assert short.missing() == []
    lazy = STORM.model_copy(update={"undisturbed_operations": 0, "kills": ()})
    assert lazy.missing() == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {}, "none was set back"),
        ({"w": 2}, {"w": 2}, "checkpoint of w"),
        ({"w": 2}, {}, "checkpoint of w"),
    ],
)
def test_a_checkpoint_that_was_not_set_back_is_missed(
    before: dict[str, int], after: dict[str, int], words: str
) -> None:
    receipt = CheckpointRestoreReceipt(
        operations_before=1, operations_after=1, service="agent", before=before, after=after
    )
    assert words in "; ".join(receipt.missing())


def test_a_checkpoint_that_was_set_back_lacks_nothing_and_comes_back() -> None:
    receipt = CheckpointRestoreReceipt(
        operations_before=1, operations_after=1, service="agent", before={"w": 2}, after={"w": 0}
    )
    assert receipt.missing() == []
    assert parse_receipt(receipt.model_dump_json()) == receipt


@pytest.mark.parametrize(("kept", "lacks"), [({"w": 3}, False), ({"w": 0}, True), ({}, True)])
def test_a_fork_keeps_what_is_newer(kept: dict[str, int], lacks: bool) -> None:
    receipt = CheckpointForkReceipt(
        operations_before=1,
        operations_after=1,
        service="agent",
        before={"w": 2},
        after={"w": 0},
        kept=kept,
    )
    assert ("checkpoint of w: that newer ones are there" in receipt.missing()) is lacks
    assert parse_receipt(receipt.model_dump_json()) == receipt
    still = receipt.model_copy(update={"after": {"w": 2}})
    assert "checkpoint of w: that messages of it are gone" in still.missing()
