import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.records.model import (
    TAINT_ORDER,
    Binding,
    Kind,
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
    ordered,
    severity,
)
from services.memory.records.policy import REASONS_MAX, Policy

POLICY = Policy()
OBSERVED = [kind for kind in SourceType if kind is not SourceType.DERIVATION]
TRUSTED = {
    (source_type, binding)
    for source_type in (SourceType.USER, SourceType.RECEIPT)
    for binding in (Binding.HOST_AUTHENTICATED, Binding.VERIFIED)
}
TAINTS = {
    SourceType.AGENT: {Taint.AGENT_GENERATED},
    SourceType.TOOL: {Taint.TOOL_OUTPUT},
    SourceType.WEB: {Taint.UNTRUSTED_SOURCE},
    SourceType.DOCUMENT: {Taint.UNTRUSTED_SOURCE},
    SourceType.USER: {Taint.UNVERIFIED_SOURCE},
    SourceType.RECEIPT: {Taint.UNVERIFIED_SOURCE},
}

taints = st.frozensets(st.sampled_from(TAINT_ORDER))
standings = st.builds(
    lambda state, trust, doubts, reasons: Standing(state, trust, ordered(doubts), tuple(reasons)),
    st.sampled_from(State),
    st.sampled_from(Trust),
    taints,
    st.lists(st.sampled_from([str(reason) for reason in Reason]), unique=True),
)


@pytest.mark.parametrize(("source_type", "binding"), list(itertools.product(OBSERVED, Binding)))
def test_trust_follows_from_source_and_binding(source_type: SourceType, binding: Binding) -> None:
    standing = POLICY.admit(Kind.FACT, Source(source_type, binding), frozenset())
    if (source_type, binding) in TRUSTED:
        assert standing == Standing(State.ACTIVE, Trust.TRUSTED, (), (str(Reason.TRUSTED_SOURCE),))
    else:
        assert standing == Standing(
            State.QUARANTINED,
            Trust.UNTRUSTED,
            ordered(TAINTS[source_type]),
            (str(Reason.SOURCE_NOT_TRUSTED),),
        )


@pytest.mark.parametrize(("source_type", "binding"), list(itertools.product(OBSERVED, Binding)))
def test_only_authenticated_users_give_procedures(
    source_type: SourceType, binding: Binding
) -> None:
    source = Source(source_type, binding)
    standing = POLICY.admit(Kind.PROCEDURE, source, frozenset())
    expected = source_type is SourceType.USER and binding is not Binding.CALLER_ASSERTED
    assert POLICY.authoritative(Kind.PROCEDURE, source, standing) == expected
    assert (standing.state is State.ACTIVE) == expected


@pytest.mark.parametrize(("source_type", "binding"), list(itertools.product(OBSERVED, Binding)))
def test_episodes_are_evidence_but_for_receipts(source_type: SourceType, binding: Binding) -> None:
    source = Source(source_type, binding)
    standing = POLICY.admit(Kind.EPISODE, source, frozenset())
    expected = source_type is SourceType.RECEIPT and binding is not Binding.CALLER_ASSERTED
    assert POLICY.authoritative(Kind.EPISODE, source, standing) == expected


@given(st.sampled_from(Kind), st.sampled_from(OBSERVED), st.sampled_from(Binding), taints)
def test_repeating_doubted_text_never_adds_trust(
    kind: Kind, source_type: SourceType, binding: Binding, repeated: frozenset[Taint]
) -> None:
    source = Source(source_type, binding)
    alone = POLICY.admit(kind, source, frozenset())
    with_repeats = POLICY.admit(kind, source, repeated)
    if POLICY.attests(source):
        assert with_repeats == alone
    else:
        assert set(with_repeats.taints) == set(alone.taints) | repeated
        assert not (repeated and POLICY.authoritative(kind, source, with_repeats))


@given(st.sampled_from(Kind), taints, taints, st.booleans())
def test_derivations_carry_every_doubt(
    kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
) -> None:
    standing = POLICY.admit_derived(kind, inherited, repeated, supported)
    own = set() if supported else {Taint.AGENT_GENERATED}
    assert set(standing.taints) == inherited | repeated | own
    clean = not standing.taints and kind is not Kind.PROCEDURE
    assert (standing.state is State.ACTIVE) == clean
    assert POLICY.clean(standing) == clean


@given(standings)
def test_a_child_inherits_at_least_what_its_parent_has(parent: Standing) -> None:
    inherited = POLICY.inherited_taints(parent)
    assert set(parent.taints) <= inherited
    assert (not inherited) == POLICY.clean(parent)
    assert severity(ordered(inherited)) >= severity(parent.taints)


@given(standings, standings)
def test_what_happens_to_an_ancestor_only_lowers(parent: Standing, child: Standing) -> None:
    after = POLICY.under(parent, child, Reason.ANCESTOR_QUARANTINED)
    assert set(after.taints) == set(child.taints) | POLICY.inherited_taints(parent)
    assert after.state is not State.ACTIVE
    assert after.trust is child.trust
    assert POLICY.under(parent, after, Reason.ANCESTOR_QUARANTINED) == after


@given(standings, st.sampled_from(Kind), st.sampled_from(OBSERVED), st.sampled_from(Binding))
def test_nothing_doubted_or_inactive_has_authority(
    standing: Standing, kind: Kind, source_type: SourceType, binding: Binding
) -> None:
    if POLICY.authoritative(kind, Source(source_type, binding), standing):
        assert standing.state is State.ACTIVE
        assert standing.trust in (Trust.TRUSTED, Trust.REVIEWED)
        assert standing.taints == ()


@given(standings, st.text(max_size=10))
def test_quarantine_takes_authority_and_keeps_reasons_bounded(
    standing: Standing, reason: str
) -> None:
    after = POLICY.quarantined(standing, reason)
    past = standing.state is State.SUPERSEDED
    assert after.state is (State.SUPERSEDED if past else State.QUARANTINED)
    assert after.reasons[-1] == (reason or Reason.QUARANTINED)
    assert len(after.reasons) <= REASONS_MAX
    assert POLICY.quarantined(after, reason) == after


def test_the_published_order_starts_with_the_least_restrictive() -> None:
    assert [str(taint) for taint in TAINT_ORDER] == [
        "agent_generated",
        "tool_output",
        "unverified_source",
        "untrusted_source",
        "tainted_parent",
        "inactive_parent",
        "forgotten_parent",
    ]
    assert severity(()) == 0
    assert severity((Taint.AGENT_GENERATED,)) < severity((Taint.UNTRUSTED_SOURCE,))


def test_a_derivation_may_bind_words_and_add_none() -> None:
    said = frozenset({"alic", "prefer", "window"})
    assert POLICY.supported(["summary", "alic", "window"], said)
    assert not POLICY.supported(["alic", "aisl"], said)
    assert not POLICY.supported(["alic", "not", "prefer"], said)


def test_a_caller_sees_its_own_circle_and_those_shared_with_it() -> None:
    seen = POLICY.visible_circles(Scope("n", "alice", "a", "", "p"))
    assert set(seen) == {
        Scope("n", "alice", agent, "", purpose) for agent in ("", "a") for purpose in ("", "p")
    }
    assert POLICY.visible_circles(Scope("n", "alice")) == (Scope("n", "alice"),)


def test_a_descendant_carries_only_words_that_it_has_from_nowhere_else() -> None:
    forgotten = frozenset({"zanzibar", "pay"})
    assert POLICY.carries(frozenset({"zanzibar"}), forgotten, frozenset())
    assert not POLICY.carries(frozenset({"zanzibar"}), forgotten, frozenset({"zanzibar"}))
    assert not POLICY.carries(frozenset({"berlin"}), forgotten, frozenset())


def test_only_formerly_trusted_records_are_released() -> None:
    quarantined = Standing(State.QUARANTINED, Trust.TRUSTED)
    assert POLICY.decidable("release", quarantined)
    assert not POLICY.decidable("release", Standing(State.QUARANTINED, Trust.UNTRUSTED))
    assert not POLICY.decidable("release", Standing(State.ACTIVE, Trust.TRUSTED))


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("trust", Trust)
def test_promotion_needs_a_kept_record_that_is_not_reviewed_yet(state: State, trust: Trust) -> None:
    held_back = state in (State.QUARANTINED, State.ARCHIVED)
    expected = held_back or (state is State.ACTIVE and trust is not Trust.REVIEWED)
    assert POLICY.decidable("promote", Standing(state, trust)) == expected
