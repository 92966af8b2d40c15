"""Which rule acts on a message: compiled once, tried in order of arming (interposer.proto).

Pure: no clock, no I/O. A rule that could never match is refused when it is armed, because a fault
that waits for nothing would look like a fault that was missed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from chaos.interposer.limits import (
    COUNTED_WORKFLOWS_MAX,
    DELAY_MS_MAX,
    MATCH_VALUES_MAX,
    MATCHES_MAX,
    RULE_ID_BYTES_MAX,
    RULES_MAX,
)
from chaos.interposer.methods import STREAMING_METHODS, UNARY_METHODS
from memqual.v1 import interposer_pb2

__all__ = [
    "MATCHED_KEYS",
    "WORKFLOW_KEY",
    "Message",
    "Rule",
    "RuleBook",
    "RuleError",
    "compile_rule",
]

WORKFLOW_KEY = "memqual-workflow"
MATCHED_KEYS = frozenset(
    {
        "memqual-run",
        WORKFLOW_KEY,
        "memqual-operation",
        "memqual-attempt",
        "memqual-incarnation",
    }
)
STATUS_CODE_MAX = 16

_REQUEST = interposer_pb2.MESSAGE_PHASE_REQUEST
_RESPONSE = interposer_pb2.MESSAGE_PHASE_RESPONSE
_TIMED = (interposer_pb2.RULE_ACTION_DELAY, interposer_pb2.RULE_ACTION_REORDER)


class RuleError(ValueError):
    """A rule is malformed or could never match; the message says why."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a rule looks at.

    Attributes:
        source: exact service name of the caller.
        role: source of the listener.
        target: target name.
        method: full method.
        phase: a `MessagePhase`.
        metadata: the call's memqual-* metadata.
    """

    source: str
    role: str
    target: str
    method: str
    phase: int
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A checked rule; the fields are those of `interposer_pb2.Rule`, empty meaning "every"."""

    rule_id: str
    source: str
    target: str
    method: str
    phase: int
    matches: tuple[tuple[str, frozenset[str]], ...]
    action: int
    max_hits_per_workflow: int
    delay_ms: int
    fail_code: int
    skip_hits_per_workflow: int = 0

    def applies_to(self, message: Message) -> bool:
        """True when every condition holds; hits are counted elsewhere."""
        return (
            self.phase == message.phase
            and self.method in ("", message.method)
            and self.target in ("", message.target)
            and self.source in ("", message.source, message.role)
            and all(message.metadata.get(key) in values for key, values in self.matches)
        )


class RuleBook:
    """The armed rules and their hits."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}
        self._hits: dict[str, dict[str, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __contains__(self, rule_id: str) -> bool:
        return rule_id in self._rules

    def arm(self, rule: Rule) -> None:
        """Adds a rule after all others.

        Raises:
            RuleError: the id is armed already, or there are 1,000 rules.
        """
        if rule.rule_id in self._rules:
            raise RuleError(f"rule {rule.rule_id!r} is armed already")
        if len(self._rules) >= RULES_MAX:
            raise RuleError(f"{RULES_MAX} rules are armed; clear some first")
        self._rules[rule.rule_id] = rule
        self._hits[rule.rule_id] = {}

    def disarm(self, rule_id: str) -> bool:
        """Removes a rule; False when there is none with this id."""
        self._hits.pop(rule_id, None)
        return self._rules.pop(rule_id, None) is not None

    def disarm_all(self) -> None:
        """Removes every rule."""
        self._rules.clear()
        self._hits.clear()

    def match(self, message: Message) -> Rule | None:
        """The first rule that applies and has hits left for the workflow; counts the hit."""
        for rule in self._rules.values():
            if rule.applies_to(message) and self._count_hit(rule, message):
                return rule
        return None

    def _count_hit(self, rule: Rule, message: Message) -> bool:
        """Whether the rule acts on this match; matches before its first are let through."""
        skipped, most = rule.skip_hits_per_workflow, rule.max_hits_per_workflow
        if skipped == 0 and most == 0:
            return True
        hits = self._hits[rule.rule_id]
        workflow = message.metadata.get(WORKFLOW_KEY, "")
        count = hits.get(workflow, 0)
        if most and count >= skipped + most:
            return False
        if workflow not in hits and len(hits) >= COUNTED_WORKFLOWS_MAX:
            return False
        hits[workflow] = min(count, skipped + most) + 1
        return count >= skipped


def compile_rule(rule: interposer_pb2.Rule, edges: frozenset[tuple[str, str]]) -> Rule:
    """Checks a rule as it was sent.

    Args:
        rule: the rule.
        edges: every (source, target) that exists, by role and by exact name.

    Raises:
        RuleError: malformed, or nothing could ever match.
    """
    if not 1 <= len(rule.rule_id.encode()) <= RULE_ID_BYTES_MAX:
        raise RuleError(f"rule_id must have 1..{RULE_ID_BYTES_MAX} bytes")
    if rule.phase not in (_REQUEST, _RESPONSE):
        raise RuleError("phase must be REQUEST or RESPONSE")
    _check_edge(rule.edge, edges)
    _check_method(rule.method)
    _check_action(rule)
    return Rule(
        rule_id=rule.rule_id,
        source=rule.edge.source,
        target=rule.edge.target,
        method=rule.method,
        phase=rule.phase,
        matches=_compile_matches(rule),
        action=rule.action,
        max_hits_per_workflow=rule.max_hits_per_workflow,
        delay_ms=rule.delay_ms,
        fail_code=rule.fail_code,
        skip_hits_per_workflow=rule.skip_hits_per_workflow,
    )


def _check_edge(edge: interposer_pb2.Edge, edges: frozenset[tuple[str, str]]) -> None:
    for source, target in edges:
        if edge.source in ("", source) and edge.target in ("", target):
            return
    known = ", ".join(f"{source}→{target}" for source, target in sorted(edges))
    raise RuleError(f"no edge {edge.source or '*'}→{edge.target or '*'}; there are: {known}")


def _check_method(method: str) -> None:
    if method in STREAMING_METHODS:
        raise RuleError(f"{method} streams; rules act on calls of one request and one response")
    if method and method not in UNARY_METHODS:
        raise RuleError(
            f"no method {method!r}; use a full name such as /memqual.v1.ContinuityService/Begin"
        )


def _check_action(rule: interposer_pb2.Rule) -> None:
    action = rule.action
    if action == interposer_pb2.RULE_ACTION_UNSPECIFIED:
        raise RuleError("action is not set")
    if action not in interposer_pb2.RuleAction.values():
        raise RuleError(f"action {action} is unknown")
    if action in _TIMED and not 1 <= rule.delay_ms <= DELAY_MS_MAX:
        raise RuleError(f"DELAY and REORDER need delay_ms in 1..{DELAY_MS_MAX}")
    if action not in _TIMED and rule.delay_ms:
        raise RuleError("delay_ms goes with DELAY and REORDER only")
    fails = action == interposer_pb2.RULE_ACTION_FAIL
    if fails and not 1 <= rule.fail_code <= STATUS_CODE_MAX:
        raise RuleError(f"FAIL needs fail_code in 1..{STATUS_CODE_MAX}")
    if not fails and rule.fail_code:
        raise RuleError("fail_code goes with FAIL only")
    if action == interposer_pb2.RULE_ACTION_DUPLICATE and rule.phase == _RESPONSE:
        raise RuleError("DUPLICATE acts on requests: a call has one response")


def _compile_matches(rule: interposer_pb2.Rule) -> tuple[tuple[str, frozenset[str]], ...]:
    if len(rule.matches) > MATCHES_MAX:
        raise RuleError(f"at most {MATCHES_MAX} matches are allowed")
    for match in rule.matches:
        if match.key not in MATCHED_KEYS:
            raise RuleError(f"match key {match.key!r} is none of {sorted(MATCHED_KEYS)}")
        if not 1 <= len(match.values) <= MATCH_VALUES_MAX:
            raise RuleError(f"a match needs 1..{MATCH_VALUES_MAX} values")
    return tuple((match.key, frozenset(match.values)) for match in rule.matches)
