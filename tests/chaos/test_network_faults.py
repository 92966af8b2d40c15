"""Faults of the network, each on real calls through a real interposer."""

import grpc
import pytest

from chaos.errors import RuleRefused
from chaos.network_faults import (
    Action,
    Direction,
    Disturbance,
    edges_between,
    message_rule,
    partition_rules,
)
from chaos.windows import BEGIN, REQUEST, RESPONSE, RuleHold
from tests.chaos.harness import EMIT, INVOKE, Rig, wait_for

LIVELY = {"operations_before": 1, "operations_after": 1}
BEGIN_REQUEST = RuleHold("agent", "memory", BEGIN, REQUEST)
BEGIN_RESPONSE = RuleHold("agent", "memory", BEGIN, RESPONSE)


def one_message(rig: Rig, at: RuleHold, action: Action, delay_ms: int = 0) -> Disturbance:
    rule = message_rule(at, action, ["w1"], "n1", delay_ms)
    return Disturbance(rig.client, action, "requests", (rule,))


@pytest.mark.parametrize("at", [BEGIN_REQUEST, BEGIN_RESPONSE])
def test_a_reset_meets_one_message_of_the_operation_and_is_told_at_once(
    rig: Rig, at: RuleHold
) -> None:
    disturbed = one_message(rig, at, "reset").inject()
    assert rig.call(b"1").code() is grpc.StatusCode.UNAVAILABLE
    assert rig.call(b"other", workflow="w2").result() == b"answer to other"
    assert rig.call(b"1").result() == b"answer to 1"
    seen = [b"other", b"1"] if at is BEGIN_REQUEST else [b"1", b"other", b"1"]
    assert rig.memory.requests() == seen
    receipt = disturbed.receipt()
    assert (receipt.messages_affected, receipt.passed_after) == (1, 2)
    assert receipt.edges == ("agent>memory",)
    assert receipt.model_copy(update=LIVELY).missing() == []


@pytest.mark.parametrize(
    ("action", "arrivals"), [("lost", 1), ("duplicated", 3), ("delayed", 2), ("reordered", 2)]
)
def test_every_other_action_meets_one_request(rig: Rig, action: Action, arrivals: int) -> None:
    delay_ms = 50 if action in ("delayed", "reordered") else 0
    disturbed = one_message(rig, BEGIN_REQUEST, action, delay_ms).inject()
    rig.call(b"1", timeout=0.5).exception()
    rig.call(b"2").result()
    wait_for(lambda: len(rig.memory.requests()) == arrivals, "requests arrive")
    receipt = disturbed.receipt()
    assert receipt.messages_affected == 1
    assert receipt.passed_after >= 1
    assert receipt.model_copy(update=LIVELY).missing() == []


def test_a_fault_that_met_nothing_or_is_never_over_has_no_proof(rig: Rig) -> None:
    unmet = one_message(rig, BEGIN_REQUEST, "reset").inject().receipt()
    assert [text.partition(":")[0] for text in unmet.model_copy(update=LIVELY).missing()] == [
        "network",
        "network",
    ]
    disturbed = one_message(rig, BEGIN_REQUEST, "reset").inject()
    rig.call(b"1").exception()
    (lacking,) = disturbed.receipt().model_copy(update=LIVELY).missing()
    assert "passed when the fault was over" in lacking


@pytest.mark.parametrize(
    ("direction", "reached"), [("requests", False), ("responses", True), ("both", False)]
)
@pytest.mark.parametrize("action", ["lost", "reset"])
def test_a_partition_cuts_one_edge_one_way_until_it_is_lifted(
    rig: Rig, action: Action, direction: Direction, reached: bool
) -> None:
    assert action in ("lost", "reset")
    rules = partition_rules([("agent", "memory")], direction, action, "cut")
    disturbed = Disturbance(rig.client, action, direction, rules, until_lifted=True).inject()
    for number in range(2):
        assert rig.call(b"%d" % number, timeout=0.5).exception() is not None
    assert rig.memory.requests() == ([b"0", b"1"] if reached else [])
    assert rig.call(b"there", edge="destination", method=INVOKE).result() == b"answer to there"
    disturbed.lift()
    assert disturbed.receipt().passed_after == 0
    assert rig.call(b"again").result() == b"answer to again"
    receipt = disturbed.receipt()
    assert (receipt.messages_affected, receipt.passed_after) == (2, 1)
    assert receipt.until_lifted
    assert receipt.model_copy(update=LIVELY).missing() == []


def test_the_edges_of_the_observer_are_the_hosts_and_the_memorys(rig: Rig) -> None:
    assert edges_between("observer") == (("agent", "observer"), ("memory", "observer"))
    assert len(edges_between("agent")) == 3
    rules = partition_rules([("memory", "observer")], "both", "reset", "cut")
    disturbed = Disturbance(rig.client, "reset", "both", rules, until_lifted=True).inject()
    call = rig.call(b"", edge="observer", method=EMIT)
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert disturbed.receipt().edges == ("memory>observer",)


def test_a_response_cannot_be_duplicated(rig: Rig) -> None:
    with pytest.raises(RuleRefused, match="a call has one response"):
        one_message(rig, BEGIN_RESPONSE, "duplicated").inject()
