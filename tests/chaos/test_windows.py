"""The nine windows, and the rules that hold them."""

import pytest

from chaos.interposer.methods import UNARY_METHODS
from chaos.interposer.rules import compile_rule
from chaos.windows import WINDOWS, BarrierHold, RuleHold, Window, rule_for, window
from memqual.v1 import interposer_pb2 as pb

EDGES = frozenset({("agent", "memory"), ("standby", "memory"), ("agent", "destination")})
RULE_WINDOWS = [one for one in WINDOWS if isinstance(one.hold, RuleHold)]
BARRIER_WINDOWS = [one for one in WINDOWS if isinstance(one.hold, BarrierHold)]


def test_windows_are_those_of_the_design_in_its_order() -> None:
    assert [one.name for one in WINDOWS] == [
        "before_intent_checkpoint",
        "before_intent",
        "after_lease",
        "in_request",
        "after_commit",
        "after_response",
        "after_receipt",
        "before_checkpoint",
        "after_checkpoint",
    ]
    # Once the destination has applied the effect, it stays applied.
    effects = [one.effect for one in WINDOWS]
    assert effects == sorted(effects)
    assert len(BARRIER_WINDOWS) == 3


@pytest.mark.parametrize("one", RULE_WINDOWS, ids=lambda one: one.name)
def test_rule_of_a_window_is_one_that_the_interposer_takes(one: Window) -> None:
    found = window(one.name)
    made = rule_for(found, ["w1", "w2"], "hold-1")
    compiled = compile_rule(made, EDGES)
    assert isinstance(found.hold, RuleHold)
    assert found.hold.method in UNARY_METHODS
    assert (compiled.rule_id, compiled.action) == ("hold-1", pb.RULE_ACTION_HOLD)
    assert (compiled.source, compiled.target) == (found.hold.source, found.hold.target)
    assert (compiled.method, compiled.phase) == (found.hold.method, found.hold.phase)
    assert compiled.matches == (("memqual-workflow", frozenset({"w1", "w2"})),)
    assert compiled.max_hits_per_workflow == 1


@pytest.mark.parametrize("one", BARRIER_WINDOWS, ids=lambda one: one.name)
def test_barrier_windows_have_no_rule(one: Window) -> None:
    with pytest.raises(ValueError, match="barrier"):
        rule_for(one, ["w1"], "hold-1")


@pytest.mark.parametrize("count", [0, 1_001])
def test_number_of_workflows_is_bounded(count: int) -> None:
    with pytest.raises(ValueError, match=r"1\.\.1000"):
        rule_for(window("in_request"), [str(number) for number in range(count)], "hold-1")


def test_unknown_window_names_the_known() -> None:
    with pytest.raises(ValueError, match="after_commit"):
        window("after_comit")
