"""The study's design, fixed before its first trial: split, arms in random order, hypotheses.

The split is drawn once and for all, since what was held out cannot be held out again; orders of
arms are drawn by the run's seed. The manifest holds it with its digest
before anything is played, and `memqual verify` works it out again (DESIGN §7, §8).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from orchestrator.model import Arm, Frozen
from orchestrator.suites.continuity.paper.cassette import (
    TAU2_STORE_SHA256,
    TAU2_TASK,
    Cassette,
    all_tasks,
    cassette_of,
)
from services.common.canonical import digest_hex

__all__ = [
    "ArmOrder",
    "FrozenCassette",
    "Hypothesis",
    "Split",
    "StudiedCase",
    "Study",
    "arm_order",
    "cassette_for",
    "recorded_split",
    "split_of",
    "study_of",
    "tau2_split",
]

STUDY_VERSION = 1
SPLIT_SEED = 20260922
TAU2_TASKS = 114
"""Tasks of the benchmark's retail environment, numbered from 0."""

_ARMS = (Arm.BASELINE, Arm.MEMORY, Arm.OBSERVER, Arm.BOTH)


class Hypothesis(Frozen):
    """What the study expects.

    Attributes:
        hypothesis_id: Stable id.
        text: The expectation.
    """

    hypothesis_id: str
    text: str


HYPOTHESES = (
    Hypothesis(
        hypothesis_id="H1",
        text="Without a fault the four arms make one trajectory on one graph: every recorded model "
        "request is matched, and the final state is the same.",
    ),
    Hypothesis(
        hypothesis_id="H2",
        text="A host killed after the sixth tool committed and before its response calls it again "
        "in the baseline and observer arms, and not in the memory and both arms, which are left "
        "for confirmation.",
    ),
    Hypothesis(
        hypothesis_id="H3",
        text="The tool's own precondition turns the second call into a native error without an "
        "effect; without it the second call has a second effect.",
    ),
    Hypothesis(
        hypothesis_id="H4",
        text="The installed product completes an operation with one effect after a kill with the "
        "receipt durable, and after a kill between effect and receipt.",
    ),
    Hypothesis(
        hypothesis_id="H5",
        text="What the observer sees changes no decision.",
    ),
)


class Split(Frozen):
    """Tasks that the testbed was made with, and tasks that only a study's trials play.

    Attributes:
        development, held_out: Names, in order; a task is in one of them.
    """

    development: tuple[str, ...]
    held_out: tuple[str, ...]


class ArmOrder(Frozen):
    """In which order the arms of one repetition are handed out."""

    case: str
    repetition: int
    arms: tuple[Arm, ...]


class FrozenCassette(Frozen):
    """One recorded task and the digest of all that a host plays of it."""

    task_id: str
    digest: str


class StudiedCase(Frozen):
    """One case of the study.

    Attributes:
        case: Name.
        arms: In which it is played.
        repetitions: Batches of each arm.
        evidence_class: What its trials are; classes are never summed together.
    """

    case: str
    arms: tuple[Arm, ...]
    repetitions: int
    evidence_class: str


class Study(Frozen):
    """The design as it was fixed.

    Attributes:
        version: Of this form.
        seed: Root of every draw.
        recorded_split: Split of the recorded tasks of the generated store.
        tau2_split: Split of the benchmark's tasks, for fresh models.
        cases: What is played.
        arm_orders: The drawn orders.
        hypotheses: What is expected.
        cassettes: What hosts play in the recorded cases.
        tau2_store_sha256: Of the only store that counts as the benchmark's.
        digest: SHA-256 of the canonical JSON of all the others.
    """

    version: int = STUDY_VERSION
    seed: str
    recorded_split: Split
    tau2_split: Split
    cases: tuple[StudiedCase, ...]
    arm_orders: tuple[ArmOrder, ...]
    hypotheses: tuple[Hypothesis, ...] = HYPOTHESES
    cassettes: tuple[FrozenCassette, ...]
    tau2_store_sha256: str = TAU2_STORE_SHA256
    digest: str = ""

    def sealed(self) -> Study:
        """The same design with its digest."""
        content = self.model_dump(mode="json", exclude={"digest"})
        return self.model_copy(update={"digest": digest_hex(content)})


def study_of(seed: int, cases: Sequence[StudiedCase]) -> Study:
    """The design of a run.

    Args:
        seed: The run's.
        cases: What is played, in order.
    """
    return Study(
        # Whole numbers of canonical JSON end at 2**53.
        seed=str(seed),
        recorded_split=recorded_split(),
        tau2_split=tau2_split(),
        cases=tuple(cases),
        arm_orders=tuple(
            ArmOrder(case=one.case, repetition=at, arms=arm_order(seed, one.case, at, one.arms))
            for one in cases
            for at in range(one.repetitions)
        ),
        cassettes=tuple(
            FrozenCassette(task_id=name, digest=cassette_of(name).digest) for name in all_tasks()
        ),
    ).sealed()


def recorded_split() -> Split:
    """Split of the recorded tasks of the generated store."""
    return split_of(tuple(name for name, task in all_tasks().items() if not task.of_tau2))


def tau2_split() -> Split:
    """Split of the benchmark's tasks; the recorded one is of development, since we saw it."""
    rest = split_of(tuple(f"tau2-{number}" for number in range(1, TAU2_TASKS)))
    return rest.model_copy(update={"development": (TAU2_TASK, *rest.development)})


def split_of(tasks: Sequence[str]) -> Split:
    """A half of the tasks for development, the other held out.

    Both halves are in the order of `tasks`; of an odd number the larger half is held out.
    """
    ranked = sorted(tasks, key=lambda name: _rank(SPLIT_SEED, "split", name))
    development = set(ranked[: len(ranked) // 2])
    return Split(
        development=tuple(name for name in tasks if name in development),
        held_out=tuple(name for name in tasks if name not in development),
    )


def arm_order(
    seed: int, case: str, repetition: int, arms: Sequence[Arm] = _ARMS
) -> tuple[Arm, ...]:
    """The order of one repetition's arms, drawn by the seed."""
    return tuple(sorted(arms, key=lambda arm: _rank(seed, f"{case}:{repetition}", arm.value)))


def cassette_for(trial_number: int, *, tau2: bool) -> Cassette:
    """What a trial plays: the published task on its store, else a held-out task of the other.

    Args:
        trial_number: Number of the trial in its cell, so that every arm plays the same.
        tau2: Whether the destination's store is the benchmark's.
    """
    if tau2:
        return cassette_of(TAU2_TASK)
    held_out = recorded_split().held_out
    return cassette_of(held_out[trial_number % len(held_out)])


def _rank(seed: int, what: str, name: str) -> str:
    return hashlib.sha256(f"{seed}:study:{what}:{name}".encode()).hexdigest()
