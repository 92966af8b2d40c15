"""The destination against a small model in memory, for all capabilities and options.

The model is written from the contract (destination.proto, DESIGN §4) and shares no code with what
it checks: it keeps lists of what happened and looks through them for each decision.
"""

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.destination.model import (
    Applied,
    Capability,
    Invocation,
    QueryAnswer,
    QueryQuestion,
    Refused,
    ToolFailed,
    WorkflowRules,
)
from tests.services.destination.support import (
    SECOND,
    START,
    World,
    call,
    document,
    rules,
    state_hash,
    transfer,
)

OPTIONS = st.fixed_dictionaries(
    {
        "guard": st.booleans(),
        "one_apply_per_attempt": st.booleans(),
        "enforce_not_after": st.booleans(),
    }
)
CONFIGURED = ("none", "fenced", "unfenced", "idempotent")
CALLS = st.builds(
    lambda tool_and_arguments, **more: call(*tool_and_arguments, **more),
    # Few choices, most of them good: calls must meet each other.
    st.sampled_from(
        [
            ("transfer_funds", transfer(1)),
            ("transfer_funds", transfer(2)),
            ("transfer_funds", transfer(-1)),
            ("publish_document", document("a", "x")),
            ("publish_document", document("a", "y")),
            ("publish_document", document("a/b", "x")),
            ("publish_document", document("../a", "x")),
            ("no_such_tool", transfer()),
        ]
    ),
    workflow_id=st.sampled_from(CONFIGURED * 4 + ("unconfigured",)),
    operation_id=st.sampled_from(["o1", "o2"]),
    attempt=st.integers(0, 3),
    not_after_unix_ns=st.sampled_from([0, START - SECOND, START, START + 40 * SECOND]),
    idempotency_key=st.sampled_from(["", "k1", "k2"]),
)


@dataclass
class Effect:
    """One application in the model, by the time of its commit."""

    call: Invocation
    at_ns: int
    result: Applied


@dataclass
class Model:
    """What happened, and what follows from it."""

    by_workflow: dict[str, WorkflowRules] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    fences: list[tuple[str, str, int]] = field(default_factory=list)
    documents: dict[tuple[str, str], str] = field(default_factory=dict)
    accounts: dict[str, Counter[str]] = field(default_factory=dict)
    events: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def expected(self, what: Invocation, now_ns: int) -> str | Effect:
        """A refusal's reason, "tool:code", "apply", or the effect that is replayed."""
        if what.tool == "no_such_tool":
            return "no_such_tool"
        if what.workflow_id not in self.by_workflow:
            return "unconfigured"
        setting = self.by_workflow[what.workflow_id]
        return (
            self.expected_of_fence_and_deadline(what, setting, now_ns)
            or self.expected_of_key(what, setting, now_ns)
            or self.expected_of_attempt(what, setting)
            or self.expected_of_tool(what, guard=setting.guard)
        )

    def expected_of_fence_and_deadline(
        self, what: Invocation, setting: WorkflowRules, now_ns: int
    ) -> str:
        if any(
            (workflow, operation) == (what.workflow_id, what.operation_id)
            and what.attempt <= attempt
            for workflow, operation, attempt in self.fences
        ):
            return "fenced"
        if setting.enforce_not_after and 0 < what.not_after_unix_ns < now_ns:
            return "too_late"
        return ""

    def expected_of_key(
        self, what: Invocation, setting: WorkflowRules, now_ns: int
    ) -> str | Effect:
        if setting.capability is Capability.IDEMPOTENT and what.idempotency_key:
            # The key belongs to the latest application that was made with it.
            holders = [
                effect
                for effect in self.effects
                if effect.call.workflow_id == what.workflow_id
                and effect.call.idempotency_key == what.idempotency_key
            ]
            if holders and now_ns - holders[-1].at_ns < setting.retention_seconds * SECOND:
                first = holders[-1].call
                if (first.tool, first.arguments) == (what.tool, what.arguments):
                    return holders[-1]
                return "tool:key_reused"
        return ""

    def expected_of_attempt(self, what: Invocation, setting: WorkflowRules) -> str:
        if setting.one_apply_per_attempt and any(
            same_operation(effect, what) and effect.call.attempt == what.attempt
            for effect in self.effects
        ):
            return "attempt_applied"
        return ""

    def expected_of_tool(self, what: Invocation, *, guard: bool) -> str:
        if what.tool == "transfer_funds":
            amount_cents = what.arguments["amount_cents"]
            assert isinstance(amount_cents, int)
            return "apply" if amount_cents > 0 else "tool:bad_arguments"
        path = str(what.arguments["path"])
        if path.startswith(".."):
            return "tool:bad_path"
        existing = {p for workflow, p in self.documents if workflow == what.workflow_id}
        if path in existing:
            return "tool:already_exists" if guard else "apply"
        crossing = (path == "a" and "a/b" in existing) or (path == "a/b" and "a" in existing)
        return "tool:path_taken" if crossing else "apply"

    def apply(self, what: Invocation, now_ns: int, result: Applied) -> None:
        self.effects.append(Effect(what, now_ns, result))
        if what.tool == "publish_document":
            key = (what.workflow_id, str(what.arguments["path"]))
            self.documents[key] = str(what.arguments["content"])
            return
        amount_cents = what.arguments["amount_cents"]
        assert isinstance(amount_cents, int)
        balances = self.accounts.setdefault(what.workflow_id, Counter())
        balances["alice"] -= amount_cents
        balances["bob"] += amount_cents

    def expected_presence(self, question: QueryQuestion, now_ns: int) -> tuple[str, Applied | None]:
        setting = self.by_workflow.get(question.workflow_id)
        if setting is None:
            return "unconfigured", None
        if setting.capability is not Capability.QUERY:
            return "not_queryable", None
        delay_ns = 0 if setting.fenced else setting.visibility_delay_ms * 1_000_000
        for effect in self.effects:
            visible = setting.fenced or now_ns - effect.at_ns >= delay_ns
            if visible and (effect.call.workflow_id, effect.call.operation_id) == (
                question.workflow_id,
                question.operation_id,
            ):
                return "present", effect.result
        return ("absent_final" if setting.fenced else "absent_uncertain"), None


def same_operation(effect: Effect, what: Invocation) -> bool:
    return (effect.call.workflow_id, effect.call.operation_id) == (
        what.workflow_id,
        what.operation_id,
    )


class DestinationMachine(RuleBasedStateMachine):
    """Random calls, queries, clock jumps and restarts; every answer is the model's."""

    @initialize(
        none=OPTIONS,
        fenced=OPTIONS,
        unfenced=OPTIONS,
        idempotent=OPTIONS,
    )
    def configure(self, **options: Any) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.model = Model()
        query = Capability.QUERY
        settings_of = [
            rules("none", Capability.NONE, **options["none"]),
            rules("fenced", query, fenced=True, **options["fenced"]),
            rules("unfenced", query, visibility_delay_ms=2_000, **options["unfenced"]),
            rules(
                "idempotent", Capability.IDEMPOTENT, retention_seconds=30, **options["idempotent"]
            ),
        ]
        self.world.engine.configure(settings_of)
        self.model.by_workflow = {setting.workflow_id: setting for setting in settings_of}

    @rule(what=CALLS)
    def invoke(self, what: Invocation) -> None:
        now_ns = self.world.clock.now_ns
        expected = self.model.expected(what, now_ns)
        outcome = self.world.engine.invoke(what).outcome
        identity = (what.workflow_id, what.operation_id)
        self.model.events[*identity, "received"] += 1
        if expected == "apply":
            assert isinstance(outcome, Applied)
            assert outcome.replayed is False
            assert outcome.effect_id not in {e.result.effect_id for e in self.model.effects}
            self.model.apply(what, now_ns, outcome)
            self.model.events[*identity, "applied"] += 1
        elif isinstance(expected, Effect):
            first = expected.result
            assert outcome == Applied(first.effect_id, first.result_json, replayed=True)
            self.model.events[*identity, "replayed"] += 1
        elif expected.startswith("tool:"):
            assert isinstance(outcome, ToolFailed)
            assert outcome.code == expected.removeprefix("tool:")
            self.model.events[*identity, "refused by tool"] += 1
        else:
            assert isinstance(outcome, Refused)
            assert outcome.reason.value == expected
            self.model.events[*identity, "refused by destination"] += 1

    @rule(
        workflow_id=st.sampled_from(("fenced", "unfenced") * 4 + CONFIGURED + ("unconfigured",)),
        operation_id=st.sampled_from(["o1", "o2"]),
        fence_attempt=st.integers(0, 3),
    )
    def query(self, workflow_id: str, operation_id: str, fence_attempt: int) -> None:
        question = QueryQuestion(workflow_id, operation_id, fence_attempt)
        expected, effect = self.model.expected_presence(question, self.world.clock.now_ns)
        answer = self.world.engine.query(question)
        if isinstance(answer, QueryAnswer):
            assert (answer.presence.value, answer.effect) == (expected, effect)
        else:
            assert answer.reason.value == expected
        if expected == "absent_final":
            self.model.fences.append((workflow_id, operation_id, fence_attempt))

    @rule(step_ms=st.sampled_from([1, 1_999, 2_000, 29_999, 30_000, -1_000, -40_000]))
    def move_clock(self, step_ms: int) -> None:
        self.world.clock.now_ns += step_ms * 1_000_000

    @precondition(lambda self: self.model.fences)
    @rule(number=st.integers(0, 9), step=st.sampled_from([-1, 0, 1]))
    def invoke_at_a_fence(self, number: int, step: int) -> None:
        workflow_id, operation_id, attempt = self.model.fences[number % len(self.model.fences)]
        self.invoke(
            call(
                workflow_id=workflow_id,
                operation_id=operation_id,
                attempt=max(attempt + step, 0),
            )
        )

    @precondition(lambda self: self.model.effects)
    @rule(
        number=st.integers(0, 9),
        after_seconds=st.sampled_from([2, 30]),
        step=st.sampled_from([-1, 0]),
    )
    def ask_again_at_a_boundary(self, number: int, after_seconds: int, step: int) -> None:
        effect = self.model.effects[number % len(self.model.effects)]
        self.world.clock.now_ns = effect.at_ns + after_seconds * SECOND + step
        self.query(effect.call.workflow_id, effect.call.operation_id, effect.call.attempt)
        self.invoke(effect.call)

    @rule()
    def restart(self) -> None:
        self.world.reopen()

    @invariant()
    def the_state_is_the_models(self) -> None:
        assert self.world.engine.state_hash(None) == state_hash(
            self.model.documents, self.model.accounts
        )

    def teardown(self) -> None:
        counted: Counter[tuple[str, str, str]] = Counter()
        for entry in self.world.journal():
            if entry["event"] in {"configured", "queried"}:
                continue
            by = f" by {entry['refused_by']}" if entry["refused_by"] else ""
            key = (entry["workflow_id"], entry["operation_id"], entry["event"] + by)
            counted[key] += 1
        self.world.close()
        self.folder.cleanup()
        assert counted == self.model.events


TestDestination = DestinationMachine.TestCase
TestDestination.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
