"""Memories with one flaw each, of authority, taint, lifecycle or scope, around the reference.

Most flaws change what reaches the reference or what leaves it, so that they stay what they are when
its own rules change; some override one rule of its policy.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.memory.parts import RecordsPart
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing
from tests.orchestrator.suites.integrity.search.authority_flaws import (
    AgentsAreTrustedWithFacts,
    ClaimedUserIsUser,
    ConfirmingWords,
    HelpfulThreeTimes,
    HostVouchesForPages,
    LabelOnProcedures,
    OftenRecalled,
    RecalledToolOutput,
    SupersedeIsTrusted,
    ThreeTypesCorroborate,
    TrustsTheSeventhTime,
    TwoIdsCorroborate,
)
from tests.orchestrator.suites.integrity.search.flawed import Flawed
from tests.orchestrator.suites.integrity.search.scope_flaws import (
    AgentsShareEverything,
    AnyMountedKey,
    AnyScopeDecides,
    ChallengeIsUsedTwice,
    ExactQuestionIgnoresPurpose,
    SignatureOverAnything,
)
from tests.orchestrator.suites.integrity.search.taint_flaws import (
    AddsWords,
    ArchivedComesBackByOutcome,
    ChildrenKeepForgottenWords,
    ChildrenOutliveQuarantine,
    Consolidates,
    ForgottenInOtherSpacing,
    GrandchildrenAreClean,
    IgnoresParentsState,
    OneCleanParent,
    TrustsMerge,
)


def _around(flaw: type[Flawed]) -> Callable[[Database, Path | None], RecordsPart]:
    def make(database: Database, keys_path: Path | None) -> RecordsPart:
        desk = Desk(database, Policy())
        review = Review(desk, load_public_keys(keys_path))
        return Records(desk, flaw(Writing(desk), Recalling(desk), Lifecycle(desk), review))

    return make


def _under(policy: type[Policy]) -> Callable[[Database, Path | None], RecordsPart]:
    def make(database: Database, keys_path: Path | None) -> RecordsPart:
        desk = Desk(database, policy())
        review = Review(desk, load_public_keys(keys_path))
        servicer = MemoryServicer(Writing(desk), Recalling(desk), Lifecycle(desk), review)
        return Records(desk, servicer)

    return make


AROUND: tuple[type[Flawed], ...] = (
    TrustsTheSeventhTime,
    TwoIdsCorroborate,
    ThreeTypesCorroborate,
    LabelOnProcedures,
    RecalledToolOutput,
    ConfirmingWords,
    HostVouchesForPages,
    SupersedeIsTrusted,
    OftenRecalled,
    TrustsMerge,
    Consolidates,
    GrandchildrenAreClean,
    OneCleanParent,
    ForgottenInOtherSpacing,
    ArchivedComesBackByOutcome,
    ExactQuestionIgnoresPurpose,
)
UNDER: tuple[type[Policy], ...] = (
    HelpfulThreeTimes,
    ClaimedUserIsUser,
    AgentsAreTrustedWithFacts,
    IgnoresParentsState,
    AddsWords,
    ChildrenOutliveQuarantine,
    ChildrenKeepForgottenWords,
    ChallengeIsUsedTwice,
    SignatureOverAnything,
    AnyMountedKey,
    AnyScopeDecides,
    AgentsShareEverything,
)
FLAWS: Mapping[str, Callable[[Database, Path | None], RecordsPart]] = {
    **{flaw.__name__: _around(flaw) for flaw in AROUND},
    **{policy.__name__: _under(policy) for policy in UNDER},
}
"""Each flawed memory by name."""
