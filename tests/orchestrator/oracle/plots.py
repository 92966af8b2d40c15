"""Beginnings that the oracle's stories share, and the specifications they are about."""

from memqual.v1 import common_pb2, continuity_pb2
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import spec

NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
PRESENT = common_pb2.EFFECT_PRESENCE_PRESENT
FINAL = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
UNCERTAIN = common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
UNKNOWN = common_pb2.EFFECT_PRESENCE_UNKNOWN
EVIDENCE = continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
ALREADY = continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
REFUSED = 7
LEASE = 121
KEYED = spec(capability=IDEMPOTENT, retention=600)
ASKABLE = spec(capability=QUERY)


def granted(story: Story | None = None) -> Story:
    """A story in which the first attempt was granted."""
    made = story or Story()
    made.grants()
    return made


def expired(story: Story | None = None) -> Story:
    """A story in which the first attempt's lease is over."""
    made = granted(story)
    made.jumps(LEASE)
    return made


def again(story: Story, attempt: int = 2, **particulars: int) -> None:
    """The next incarnation is granted a new attempt."""
    story.grants("B", f"b{attempt}", attempt, f"t{attempt}", **particulars)
