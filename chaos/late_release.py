"""Gives held messages their fate long after the kill: late delivery has an oracle of its own."""

from chaos.client import Fate, InterposerClient
from chaos.errors import ChaosError, ReleaseFailed
from chaos.plans import KillPlan, Step
from chaos.receipts import KillReceipt, ReleaseRecord

__all__ = ["release_late"]


def release_late(
    receipt: KillReceipt,
    plan: KillPlan,
    client: InterposerClient,
    *,
    fate: Fate,
    point: str,
) -> KillReceipt:
    """Gives held messages their fate long after the kill.

    Args:
        receipt: of the injection that kept them.
        plan: of the same.
        client: control of the stack's interposer.
        fate: what becomes of them.
        point: where in the trial this is, such as "after_decision".

    Returns:
        The receipt with the release.

    Raises:
        ReleaseFailed: not all of them got it, or they had it before.
    """
    if receipt.release is not None:
        raise ReleaseFailed(Step.RELEASED, "the held messages have their fate already")
    try:
        released = plan.hold.release(fate, plan.times.released)
        position = client.mark(
            {
                "kind": "injection",
                "injection": plan.injection_id,
                "step": Step.RELEASED.value,
                "fate": fate.name.lower(),
                "point": point,
                "released": released,
            }
        )
    except ChaosError as error:
        raise ReleaseFailed(Step.RELEASED, str(error)) from error
    if released != len(receipt.held_workflows):
        raise ReleaseFailed(
            Step.RELEASED, f"{released} of {len(receipt.held_workflows)} messages got their fate"
        )
    record = ReleaseRecord.model_validate(
        {
            "fate": fate.name.lower(),
            "point": point,
            "released": released,
            "interposer_monotonic_ns": position.monotonic_ns,
        }
    )
    return receipt.model_copy(update={"release": record})
