"""Which rule acts: against a model that says the same in one expression, and by refusal."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.interposer.limits import MATCH_VALUES_MAX, RULES_MAX
from chaos.interposer.rules import (
    MATCHED_KEYS,
    WORKFLOW_KEY,
    Message,
    Rule,
    RuleBook,
    RuleError,
    compile_rule,
)
from memqual.v1 import interposer_pb2 as pb

EDGES = frozenset(
    {
        ("agent", "memory"),
        ("standby", "memory"),
        ("agent", "destination"),
        ("memory", "observer"),
        ("orchestrator", "memory"),
    }
)
BEGIN = "/memqual.v1.ContinuityService/Begin"
INVOKE = "/memqual.v1.DestinationService/Invoke"


def proto(**changes: Any) -> pb.Rule:
    """A rule that is right, but for the changes."""
    values: dict[str, Any] = {
        "rule_id": "r",
        "edge": pb.Edge(source="agent", target="memory"),
        "method": BEGIN,
        "phase": pb.MESSAGE_PHASE_REQUEST,
        "action": pb.RULE_ACTION_HOLD,
        "matches": [pb.MetadataMatch(key=WORKFLOW_KEY, values=["w1"])],
    }
    return pb.Rule(**{**values, **changes})


def message(**changes: Any) -> Message:
    values: dict[str, Any] = {
        "source": "agent",
        "role": "agent",
        "target": "memory",
        "method": BEGIN,
        "phase": pb.MESSAGE_PHASE_REQUEST,
        "metadata": {WORKFLOW_KEY: "w1"},
    }
    return Message(**{**values, **changes})


def test_compiled_rule_keeps_every_field() -> None:
    assert compile_rule(
        proto(action=pb.RULE_ACTION_DELAY, delay_ms=600_000, max_hits_per_workflow=3), EDGES
    ) == Rule(
        rule_id="r",
        source="agent",
        target="memory",
        method=BEGIN,
        phase=pb.MESSAGE_PHASE_REQUEST,
        matches=((WORKFLOW_KEY, frozenset({"w1"})),),
        action=pb.RULE_ACTION_DELAY,
        max_hits_per_workflow=3,
        delay_ms=600_000,
        fail_code=0,
    )


def match(key: str, *values: str) -> pb.MetadataMatch:
    return pb.MetadataMatch(key=key, values=values)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rule_id": ""}, "rule_id"),
        ({"rule_id": "ü" * 65}, "rule_id"),
        ({"phase": pb.MESSAGE_PHASE_UNSPECIFIED}, "phase"),
        ({"edge": pb.Edge(source="nobody")}, "no edge nobody→"),
        ({"edge": pb.Edge(source="memory", target="destination")}, "no edge memory→destination"),
        ({"method": "/memqual.v1.ContinuityService/Beginn"}, "no method"),
        ({"method": "Begin"}, "no method"),
        ({"method": "/memqual.v1.DestinationAuditService/ReadJournal"}, "streams"),
        ({"method": "/memqual.v1.InterposerService/Arm"}, "no method"),
        ({"action": pb.RULE_ACTION_UNSPECIFIED}, "action"),
        ({"action": pb.RULE_ACTION_DELAY}, "delay_ms"),
        ({"action": pb.RULE_ACTION_DELAY, "delay_ms": 600_001}, "delay_ms"),
        ({"action": pb.RULE_ACTION_REORDER}, "delay_ms"),
        ({"delay_ms": 1}, "delay_ms"),
        ({"action": pb.RULE_ACTION_FAIL}, "fail_code"),
        ({"action": pb.RULE_ACTION_FAIL, "fail_code": 17}, "fail_code"),
        ({"fail_code": 14}, "fail_code"),
        (
            {"action": pb.RULE_ACTION_DUPLICATE, "phase": pb.MESSAGE_PHASE_RESPONSE},
            "one response",
        ),
        ({"matches": [match("memqual-token", "t")]}, "match key"),
        ({"matches": [match("x-other", "t")]}, "match key"),
        ({"matches": [match(WORKFLOW_KEY)]}, "values"),
        (
            {"matches": [match(WORKFLOW_KEY, *map(str, range(MATCH_VALUES_MAX + 1)))]},
            "values",
        ),
    ],
)
def test_rule_that_could_never_match_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RuleError, match=words):
        compile_rule(proto(**changes), EDGES)


def test_rule_of_the_role_matches_both_hosts_and_of_the_name_only_one() -> None:
    role = compile_rule(proto(), EDGES)
    standby = compile_rule(proto(edge=pb.Edge(source="standby")), EDGES)
    from_standby = message(source="standby", role="agent")
    assert role.applies_to(message())
    assert role.applies_to(from_standby)
    assert standby.applies_to(from_standby)
    assert not standby.applies_to(message())


def test_a_rule_lets_the_first_matches_of_each_workflow_pass() -> None:
    both = [pb.MetadataMatch(key=WORKFLOW_KEY, values=["w1", "w2"])]
    changes = {"matches": both, "skip_hits_per_workflow": 2, "max_hits_per_workflow": 1}
    rule = compile_rule(proto(**changes), EDGES)
    book = RuleBook()
    book.arm(rule)
    first, second = (message(metadata={WORKFLOW_KEY: name}) for name in ("w1", "w2"))
    assert [book.match(first) for _ in range(5)] == [None, None, rule, None, None]
    assert [book.match(second) for _ in range(3)] == [None, None, rule]


def test_book_is_bounded_and_ids_are_unique() -> None:
    book = RuleBook()
    rule = compile_rule(proto(), EDGES)
    book.arm(rule)
    with pytest.raises(RuleError, match="armed already"):
        book.arm(rule)
    for number in range(RULES_MAX - 1):
        book.arm(compile_rule(proto(rule_id=f"r{number}"), EDGES))
    with pytest.raises(RuleError, match="clear some"):
        book.arm(compile_rule(proto(rule_id="one too many"), EDGES))
    assert book.disarm("r")
    assert not book.disarm("r")
    book.disarm_all()
    assert not book


SOURCES = st.sampled_from([("agent", "agent"), ("standby", "agent"), ("memory", "memory")])
PHASES = st.sampled_from([pb.MESSAGE_PHASE_REQUEST, pb.MESSAGE_PHASE_RESPONSE])
KEYS = sorted(MATCHED_KEYS)
VALUES = st.sampled_from(["a", "b", "c"])
METADATA = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)

MESSAGES = st.builds(
    lambda ends, target, method, phase, metadata: Message(
        ends[0], ends[1], target, method, phase, metadata
    ),
    SOURCES,
    st.sampled_from(["memory", "destination"]),
    st.sampled_from([BEGIN, INVOKE]),
    PHASES,
    METADATA,
)
RULES = st.builds(
    lambda source, target, method, phase, matches, hits, skipped: Rule(
        rule_id="",
        source=source,
        target=target,
        method=method,
        phase=phase,
        matches=tuple(matches.items()),
        action=pb.RULE_ACTION_HOLD,
        max_hits_per_workflow=hits,
        delay_ms=0,
        fail_code=0,
        skip_hits_per_workflow=skipped,
    ),
    st.sampled_from(["", "agent", "standby", "memory"]),
    st.sampled_from(["", "memory", "destination"]),
    st.sampled_from(["", BEGIN, INVOKE]),
    PHASES,
    st.dictionaries(
        st.sampled_from(KEYS), st.frozensets(VALUES, min_size=1, max_size=2), max_size=2
    ),
    st.integers(0, 2),
    st.integers(0, 2),
)


def model_applies(rule: Rule, seen: Message) -> bool:
    """The contract's words, one condition after the other."""
    conditions: list[Callable[[], bool]] = [
        lambda: rule.phase == seen.phase,
        lambda: not rule.method or rule.method == seen.method,
        lambda: not rule.target or rule.target == seen.target,
        lambda: not rule.source or rule.source in {seen.source, seen.role},
        lambda: all(
            key in seen.metadata and seen.metadata[key] in values for key, values in rule.matches
        ),
    ]
    return all(condition() for condition in conditions)


@given(rules=st.lists(RULES, max_size=5), messages=st.lists(MESSAGES, max_size=30))
def test_first_rule_with_hits_left_acts(rules: list[Rule], messages: list[Message]) -> None:
    named = [replace(rule, rule_id=str(number)) for number, rule in enumerate(rules)]
    book = RuleBook()
    for rule in named:
        book.arm(rule)
    hits: Counter[tuple[str, str]] = Counter()
    for seen in messages:
        workflow = seen.metadata.get(WORKFLOW_KEY, "")
        expected = None
        for rule in named:
            if not model_applies(rule, seen):
                continue
            acted = hits[rule.rule_id, workflow] - rule.skip_hits_per_workflow
            if rule.max_hits_per_workflow and acted >= rule.max_hits_per_workflow:
                continue
            hits[rule.rule_id, workflow] += 1
            if acted >= 0:
                expected = rule
                break
        assert book.match(seen) == expected
