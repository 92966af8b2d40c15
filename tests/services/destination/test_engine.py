from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.common.errors import ServiceError
from services.destination.model import (
    Applied,
    Capability,
    Invocation,
    Presence,
    QueryAnswer,
    QueryQuestion,
    Refusal,
    Refused,
    ToolFailed,
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

QUESTION = QueryQuestion("workflow", "operation", 1)


def applied(world: World, what: Invocation) -> Applied:
    outcome = world.engine.invoke(what).outcome
    assert isinstance(outcome, Applied)
    return outcome


def presence(world: World, question: QueryQuestion = QUESTION) -> Presence:
    answer = world.engine.query(question)
    assert isinstance(answer, QueryAnswer)
    return answer.presence


def test_a_workflow_without_rules_is_refused_and_the_dispatch_counted(world: World) -> None:
    assert world.engine.invoke(call()).outcome == Refused(Refusal.UNCONFIGURED)
    assert world.engine.query(QUESTION) == Refused(Refusal.UNCONFIGURED)
    assert world.events() == ["received", "refused", "queried"]
    assert [entry["reason"] for entry in world.journal()] == ["", "unconfigured", "unconfigured"]


def test_an_unknown_tool_is_refused_and_the_dispatch_counted(world: World) -> None:
    world.engine.configure([rules()])
    assert world.engine.invoke(call("delete_all")).outcome == Refused(Refusal.NO_SUCH_TOOL)
    assert world.events() == ["received", "refused"]


def test_without_a_capability_every_call_applies_again(world: World) -> None:
    world.engine.configure([rules()])
    first = applied(world, call(idempotency_key="key"))
    second = applied(world, call(idempotency_key="key"))
    assert first.effect_id != second.effect_id
    assert (first.replayed, second.replayed) == (False, False)
    assert second.result_json == (
        '{"amount_cents":100,"from":"alice","from_balance_cents":-200,"to":"bob",'
        '"to_balance_cents":200}'
    )
    assert world.engine.query(QUESTION) == Refused(Refusal.NOT_QUERYABLE)


def test_the_journal_alone_tells_what_became_of_an_operation(world: World) -> None:
    world.engine.configure([rules(capability=Capability.IDEMPOTENT, retention_seconds=60)])
    what = call(idempotency_key="key", attempt=3, not_after_unix_ns=START + 5)
    effect = applied(world, what)
    world.engine.invoke(what)
    world.engine.invoke(call(arguments=transfer(-1), attempt=4))
    configured, *entries = world.journal()
    assert configured == {
        "event": "configured",
        "wall_unix_ns": str(START),
        "monotonic_ns": configured["monotonic_ns"],
        "workflow_id": "workflow",
        "capability": "idempotent",
        "fenced": False,
        "visibility_delay_ms": 0,
        "retention_seconds": 60,
        "guard": False,
        "one_apply_per_attempt": False,
        "enforce_not_after": False,
    }
    assert [(entry["event"], entry["call_sequence"]) for entry in entries] == [
        ("received", 2),
        ("applied", 2),
        ("received", 4),
        ("replayed", 4),
        ("received", 6),
        ("refused", 6),
    ]
    assert entries[1] == {
        "event": "applied",
        "wall_unix_ns": str(START),
        "monotonic_ns": entries[1]["monotonic_ns"],
        "call_sequence": 2,
        "workflow_id": "workflow",
        "operation_id": "operation",
        "attempt": 3,
        "tool": "transfer_funds",
        "arguments_digest": what.arguments_digest,
        "not_after_unix_ns": str(START + 5),
        "idempotency_key": "key",
        "effect_id": effect.effect_id,
        "result_digest": entries[1]["result_digest"],
        "refused_by": "",
        "reason": "",
    }
    assert entries[3]["effect_id"] == effect.effect_id
    assert entries[3]["result_digest"] == entries[1]["result_digest"]
    assert (entries[5]["refused_by"], entries[5]["reason"]) == ("tool", "bad_arguments")


def test_sent_answers_are_noted_with_their_call(world: World) -> None:
    world.engine.configure([rules()])
    what = call()
    sequence = world.engine.invoke(what).call_sequence
    world.engine.record_sent([(what, sequence)])
    assert [
        (entry["event"], entry["call_sequence"], entry["operation_id"])
        for entry in world.journal()[-1:]
    ] == [("response_sent", sequence, "operation")]


def test_a_fenced_query_finds_the_effect_and_its_result(world: World) -> None:
    world.engine.configure([rules(capability=Capability.QUERY, fenced=True)])
    effect = applied(world, call())
    assert world.engine.query(QUESTION) == QueryAnswer(Presence.PRESENT, effect)
    # PRESENT fences nothing: the same attempt is not refused. The first effect stays the answer.
    assert applied(world, call()) != effect
    assert world.engine.query(QUESTION) == QueryAnswer(Presence.PRESENT, effect)


def test_a_fence_refuses_attempts_up_to_it_for_good(world: World) -> None:
    world.engine.configure([rules(capability=Capability.QUERY, fenced=True)])
    assert presence(world, QueryQuestion("workflow", "operation", 2)) == Presence.ABSENT_FINAL
    assert presence(world, QueryQuestion("workflow", "operation", 1)) == Presence.ABSENT_FINAL
    world.reopen()
    for attempt in (0, 1, 2):
        outcome = world.engine.invoke(call(attempt=attempt)).outcome
        assert outcome == Refused(Refusal.FENCED)
    applied(world, call(attempt=3))
    applied(world, call(attempt=1, operation_id="another"))
    assert world.journal()[4]["reason"] == "fenced"


def test_an_unfenced_query_lags_and_never_fences(world: World) -> None:
    world.engine.configure([rules(capability=Capability.QUERY, visibility_delay_ms=1500)])
    assert presence(world) == Presence.ABSENT_UNCERTAIN
    applied(world, call())
    world.clock.now_ns += 1_500_000_000 - 1
    assert presence(world) == Presence.ABSENT_UNCERTAIN
    world.clock.now_ns += 1
    assert presence(world) == Presence.PRESENT
    world.clock.now_ns -= 1
    assert presence(world) == Presence.ABSENT_UNCERTAIN


def test_a_key_replays_its_first_result_for_its_retention(world: World) -> None:
    world.engine.configure([rules(capability=Capability.IDEMPOTENT, retention_seconds=60)])
    first = applied(world, call(idempotency_key="key"))
    world.clock.now_ns += 60 * SECOND - 1
    world.reopen()
    again = applied(world, call(idempotency_key="key", attempt=2, operation_id="another"))
    assert again == Applied(first.effect_id, first.result_json, replayed=True)
    world.clock.now_ns += 1
    expired = applied(world, call(idempotency_key="key", attempt=3))
    assert expired.replayed is False
    # A new retention runs from the new commit.
    world.clock.now_ns += 60 * SECOND - 1
    assert applied(world, call(idempotency_key="key")).effect_id == expired.effect_id
    assert Counter(world.events("applied", "replayed")) == {"applied": 2, "replayed": 2}


def test_a_key_with_other_arguments_or_another_tool_is_a_tool_error(world: World) -> None:
    world.engine.configure([rules(capability=Capability.IDEMPOTENT, retention_seconds=60)])
    applied(world, call(idempotency_key="key"))
    for other in (
        call(arguments=transfer(200), idempotency_key="key"),
        call("publish_document", document(), idempotency_key="key"),
    ):
        outcome = world.engine.invoke(other).outcome
        assert isinstance(outcome, ToolFailed)
        assert outcome.code == "key_reused"
    assert world.engine.state_hash(None) == state_hash(
        {}, {"workflow": {"alice": -100, "bob": 100}}
    )


def test_keys_of_workflows_are_apart_and_no_key_means_no_replay(world: World) -> None:
    both = [
        rules(workflow_id, Capability.IDEMPOTENT, retention_seconds=60)
        for workflow_id in ("workflow", "another")
    ]
    world.engine.configure(both)
    applied(world, call(idempotency_key="key"))
    assert not applied(world, call(idempotency_key="key", workflow_id="another")).replayed
    assert not applied(world, call()).replayed
    assert not applied(world, call()).replayed


def test_a_refusal_of_the_tool_keeps_no_key(world: World) -> None:
    world.engine.configure(
        [rules(capability=Capability.IDEMPOTENT, retention_seconds=60, guard=True)]
    )
    world.engine.invoke(call(arguments=transfer(-5), idempotency_key="key"))
    assert applied(world, call(idempotency_key="key")).replayed is False


def test_one_apply_per_attempt_refuses_the_second_only(world: World) -> None:
    world.engine.configure([rules(one_apply_per_attempt=True)])
    applied(world, call())
    assert world.engine.invoke(call()).outcome == Refused(Refusal.ATTEMPT_APPLIED)
    applied(world, call(attempt=3))
    applied(world, call(attempt=2))
    applied(world, call(operation_id="another"))


def test_one_apply_per_attempt_holds_after_the_end_of_the_key(world: World) -> None:
    world.engine.configure(
        [rules(capability=Capability.IDEMPOTENT, retention_seconds=60, one_apply_per_attempt=True)]
    )
    applied(world, call(idempotency_key="key"))
    assert applied(world, call(idempotency_key="key")).replayed is True
    world.clock.now_ns += 60 * SECOND
    late = world.engine.invoke(call(idempotency_key="key")).outcome
    assert late == Refused(Refusal.ATTEMPT_APPLIED)


def test_a_deadline_is_enforced_where_configured(world: World) -> None:
    world.engine.configure([rules(enforce_not_after=True), rules("lenient")])
    applied(world, call(not_after_unix_ns=START))
    applied(world, call(not_after_unix_ns=0))
    late = call(not_after_unix_ns=START - 1)
    assert world.engine.invoke(late).outcome == Refused(Refusal.TOO_LATE)
    applied(world, call(workflow_id="lenient", not_after_unix_ns=START - 1))


def test_rules_are_set_before_the_first_call_and_repeated_at_will(world: World) -> None:
    world.engine.configure([rules()])
    world.engine.configure([rules(guard=True)])
    world.engine.invoke(call())
    world.engine.configure([rules(guard=True)])
    with pytest.raises(ServiceError, match="before its first call"):
        world.engine.configure([rules("fresh"), rules()])
    # All or none: the fresh workflow of the refused request is not configured.
    assert world.engine.rules_of("fresh") is None
    assert world.engine.rules_of("workflow") == rules(guard=True)
    assert world.events("configured") == ["configured"] * 2


def test_a_first_query_binds_the_rules_too(world: World) -> None:
    world.engine.configure([rules(capability=Capability.QUERY)])
    world.engine.query(QUESTION)
    with pytest.raises(ServiceError, match="before its first call"):
        world.engine.configure([rules()])


def test_one_key_from_twenty_threads_applies_once(world: World) -> None:
    world.engine.configure([rules(capability=Capability.IDEMPOTENT, retention_seconds=60)])
    with ThreadPoolExecutor(20) as pool:
        outcomes = list(
            pool.map(
                lambda attempt: applied(world, call(attempt=attempt, idempotency_key="key")),
                range(20),
            )
        )
    assert Counter(outcome.replayed for outcome in outcomes) == {False: 1, True: 19}
    assert len({(outcome.effect_id, outcome.result_json) for outcome in outcomes}) == 1


def test_a_fence_and_calls_from_many_threads_never_contradict(world: World) -> None:
    world.engine.configure([rules(capability=Capability.QUERY, fenced=True)])

    def race(number: int) -> Presence | None:
        if number == 7:
            return presence(world, QueryQuestion("workflow", "operation", 99))
        world.engine.invoke(call(attempt=number + 1))
        return None

    with ThreadPoolExecutor(8) as pool:
        answer = next(filter(None, pool.map(race, range(16))))
    entries = world.journal()
    asked = next(index for index, entry in enumerate(entries) if entry["event"] == "queried")
    before = [entry["event"] for entry in entries[:asked]].count("applied")
    after = [entry["event"] for entry in entries[asked:]].count("applied")
    assert (answer is Presence.PRESENT) == (before > 0)
    assert answer is Presence.PRESENT or after == 0


def test_state_hashes_are_of_one_workflow_or_of_all(world: World) -> None:
    world.engine.configure([rules("one"), rules("two")])
    assert world.engine.state_hash(None) == state_hash({}, {})
    world.engine.invoke(call(workflow_id="one"))
    world.engine.invoke(call("publish_document", document(), workflow_id="two"))
    ones = {"one": {"alice": -100, "bob": 100}}
    twos = {("two", "report.md"): "text"}
    world.reopen()
    assert world.engine.state_hash("one") == state_hash({}, ones)
    assert world.engine.state_hash("two") == state_hash(twos, {})
    assert world.engine.state_hash(None) == state_hash(twos, ones)
    assert world.engine.state_hash("unknown") == state_hash({}, {})
