"""Proofs of what happened to a memory's volume, and in its starts (DESIGN §5, §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from chaos.kill_receipt import TargetKill
from chaos.receipt_base import FaultReceipt, FrozenModel

__all__ = [
    "CheckpointCutReceipt",
    "CheckpointForkReceipt",
    "CheckpointRestoreReceipt",
    "FullVolumeReceipt",
    "PowerLossReceipt",
    "RollbackReceipt",
    "StormKill",
    "StormReceipt",
    "TornWriteReceipt",
]

_STORM_KILLS_MIN = 3


class PowerLossReceipt(FaultReceipt):
    """Proof that a service was killed and everything that it had not synced was gone.

    Attributes:
        target: the death.
        dropped_writes: writes and truncations of the service that were taken back.
        dropped_bytes: bytes of them, in whole blocks.
        dropped_names: creations, renames and removals that were taken back.
        unsynced_gone: a file that the evaluator wrote and did not sync was gone; the proof where
            the service itself had nothing that was not synced.
        synced_there: another one that it did sync was there, whole.
    """

    kind: Literal["power_loss"] = "power_loss"
    target: TargetKill
    dropped_writes: int = Field(ge=0)
    dropped_bytes: int = Field(ge=0)
    dropped_names: int = Field(ge=0)
    unsynced_gone: bool
    synced_there: bool

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing() + self.target.missing(restarted=True)
        if not self.unsynced_gone:
            lacking.append("power: what was not synced was still there")
        if not self.synced_there:
            lacking.append("power: what was synced was gone")
        return lacking


class FullVolumeReceipt(FaultReceipt):
    """Proof that a service met the end of its volume's room.

    Attributes:
        service: exact name.
        operations_let: operations that needed room and still found some before.
        operations_refused: those that found none.
    """

    kind: Literal["full_volume"] = "full_volume"
    service: str
    operations_let: int = Field(ge=0)
    operations_refused: int = Field(ge=0)

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if not self.operations_refused:
            lacking.append(f"{self.service}: that it wanted room where there was none")
        return lacking


class RollbackReceipt(FaultReceipt):
    """Proof that a service was killed and found an older copy of its volume.

    Attributes:
        target: the death.
        content_bytes: bytes of all files of the copy.
        differs: the volume was another one than the copy.
    """

    kind: Literal["volume_rollback"] = "volume_rollback"
    target: TargetKill
    content_bytes: int = Field(ge=0)
    differs: bool

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing() + self.target.missing(restarted=True)
        if not self.differs:
            lacking.append("rollback: the volume had not changed since its copy was taken")
        return lacking


class TornWriteReceipt(FaultReceipt):
    """Proof that a service was killed within a write, of which a part got to the volume.

    Attributes:
        target: the death.
        written: name of the file.
        offset: where the write began, bytes.
        asked_bytes: length of the write.
        kept_bytes: bytes of it that got there.
    """

    kind: Literal["torn_write"] = "torn_write"
    target: TargetKill
    written: str
    offset: int = Field(ge=0)
    asked_bytes: int = Field(ge=0)
    kept_bytes: int = Field(ge=0)

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing() + self.target.missing(restarted=True)
        if not self.kept_bytes < self.asked_bytes:
            lacking.append("torn write: that a part of it is not there")
        return lacking


class CheckpointCutReceipt(FaultReceipt):
    """Proof that checkpoint files of a host were cut in half while nobody used them.

    Attributes:
        service: exact name of the host that does not run them.
        workflow_ids: workflows whose file was cut.
        bytes_before: bytes of all of them before.
        bytes_after: and after.
    """

    kind: Literal["checkpoint_cut"] = "checkpoint_cut"
    service: str
    workflow_ids: tuple[str, ...]
    bytes_before: int = Field(ge=0)
    bytes_after: int = Field(ge=0)

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        if not self.workflow_ids or not self.bytes_after < self.bytes_before:
            lacking.append("checkpoint: that a file lost its second half")
        return lacking


class StormKill(FrozenModel):
    """One kill of a storm.

    Attributes:
        target: the death.
        operation: which operation on the volume, counted from the start, it stood at; 0 when the
            start was over before the moment came.
        at: name of that operation.
    """

    target: TargetKill
    operation: int = Field(ge=0)
    at: str = ""


class StormReceipt(FaultReceipt):
    """Proof that a service was killed again and again while it started.

    Attributes:
        service: exact name.
        phase: which start: on an empty volume, or on one that it had used.
        undisturbed_operations: operations on the volume of a start that nothing disturbed.
        kills: the kills, in order; each at an operation of its start that never took place.
        healthy_after_ms: how long the start after the last kill took; None: it was not seen.
    """

    kind: Literal["storm"] = "storm"
    service: str
    phase: Literal["first_start", "recovery"]
    undisturbed_operations: int = Field(ge=0)
    kills: tuple[StormKill, ...]
    healthy_after_ms: int | None = None

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        for kill in self.kills:
            lacking += kill.target.missing(restarted=True)
        within = {kill.operation for kill in self.kills if kill.operation}
        wanted = min(_STORM_KILLS_MIN, self.undisturbed_operations)
        if len(within) < wanted:
            lacking.append(f"storm: {len(within)} kills within the start, {wanted} are wanted")
        return lacking


class CheckpointRestoreReceipt(FaultReceipt):
    """Proof that a host's checkpoints were set back to an older state.

    Attributes:
        service: the host.
        before: messages in the latest checkpoint of each workflow.
        after: the same after it was set back.
    """

    kind: Literal["checkpoint_restore"] = "checkpoint_restore"
    service: str
    before: dict[str, int]
    after: dict[str, int]

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        return [*super().missing(), *_not_set_back(self.before, self.after)]


class CheckpointForkReceipt(FaultReceipt):
    """Proof that a host's workflows go on from older checkpoints while the newer ones are there.

    Attributes:
        service: the host.
        before: messages in the latest checkpoint of each workflow.
        after: the same after it was forked.
        kept: checkpoints newer than the one that it was forked from.
    """

    kind: Literal["checkpoint_fork"] = "checkpoint_fork"
    service: str
    before: dict[str, int]
    after: dict[str, int]
    kept: dict[str, int]

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = [*super().missing(), *_not_set_back(self.before, self.after)]
        for workflow in self.before:
            if self.kept.get(workflow, 0) <= 0:
                lacking.append(f"checkpoint of {workflow}: that newer ones are there")
        return lacking


def _not_set_back(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    if not before:
        return ["checkpoint: none was set back"]
    return [
        f"checkpoint of {workflow}: that messages of it are gone"
        for workflow, messages in before.items()
        if after.get(workflow, messages) >= messages
    ]
