"""claims.json: what may be concluded, bounded by what was run."""

import pytest

from orchestrator.evidence.claims import claims_of
from orchestrator.model import CapabilityVariant, Verdict
from orchestrator.scoring.run import aggregate
from tests.orchestrator.evidence.bundles import manifest
from tests.orchestrator.report.pages import cell_at, failing, passing, planned


def test_a_qualified_run_supports_its_rates_and_its_verdict() -> None:
    trials = passing(count=2)
    claims = claims_of(manifest(), aggregate(trials, planned(trials)))
    assert claims.supported == (
        "mini 1, continuity, profile selftest: 4/4 trials passed.",
        "mini 1 is QUALIFIED under profile selftest.",
    )
    assert claims.not_supported == (
        "Durability against loss of power: SIGKILL keeps the page cache.",
        "The authorship of this bundle: it is not signed and claims consistency only.",
        "Isolation of the memory: local processes share one machine.",
    )
    assert len(claims.prohibited) == 3


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.ERROR])
def test_any_other_verdict_is_not_supported(verdict: Verdict) -> None:
    trials = [*passing(cells=[cell_at(CapabilityVariant.NONE)]), failing(verdict=verdict)]
    result = aggregate(trials, planned(trials))
    claims = claims_of(manifest(runtime="docker"), result)
    assert claims.not_supported[0] == (f"mini 1 is {result.verdict.value} under profile selftest.")
    assert not any("Isolation" in sentence for sentence in claims.not_supported)


def test_a_rate_of_nothing_is_not_supported() -> None:
    trials = [failing(verdict=Verdict.ERROR)]
    claims = claims_of(manifest(), aggregate(trials, planned(trials)))
    assert claims.supported == ()
    assert claims.not_supported[0] == (
        "mini 1, continuity, profile selftest: N/A (coverage 0/1) trials passed."
    )
