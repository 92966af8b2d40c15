"""Each kind of stack gets what it needs, and nobody else gets a key."""

import json
from pathlib import Path

import pytest

from orchestrator.campaign.model_endpoint import endpoint_variables, lacking_endpoint
from orchestrator.campaign.stack_variants import SENDERS, VariantStacks, sender_settings
from orchestrator.runtimes.base import StackSpec
from orchestrator.stacks import StackVariant

KEY = "key-that-nobody-sees"
ENDPOINT = {
    "MEMQUAL_MODEL_BASE_URL": "http://127.0.0.1:1/v1",
    "MEMQUAL_MODEL_NAME": "m",
    "MEMQUAL_MODEL_API_KEY": KEY,
}


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StackSpec:
    for name, value in ENDPOINT.items():
        monkeypatch.setenv(name, value)
    return StackSpec("r", "s", tmp_path, environment={"agent": {"OWN": "1"}})


def test_only_hosts_of_the_pilot_get_the_endpoint(spec: StackSpec) -> None:
    stacks = VariantStacks("process")
    environment = stacks.spec(spec, StackVariant.FRESH_MODEL).environment
    assert {**ENDPOINT, "OWN": "1"}.items() <= environment["agent"].items()
    assert ENDPOINT.items() <= environment["standby"].items()
    assert set(environment) == {"agent", "standby"}
    assert stacks.spec(spec, StackVariant.USUAL) is spec


def test_containers_get_no_endpoint_since_they_have_no_way_to_it(spec: StackSpec) -> None:
    lacking = lacking_endpoint("docker")
    assert "no way out of their network" in lacking["model_endpoint"]
    assert endpoint_variables("docker") == {}
    assert KEY not in str(VariantStacks("docker").spec(spec, StackVariant.FRESH_MODEL))


@pytest.mark.parametrize("missing", ["MEMQUAL_MODEL_BASE_URL", "MEMQUAL_MODEL_NAME"])
def test_a_missing_variable_is_named(
    missing: str, spec: StackSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(missing)
    assert lacking_endpoint("process") == {
        "model_endpoint": f"no model endpoint is named: set {missing}"
    }
    assert endpoint_variables("process") == {}


def test_a_key_is_not_needed(spec: StackSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMQUAL_MODEL_API_KEY")
    assert lacking_endpoint("process") == {}
    assert "MEMQUAL_MODEL_API_KEY" not in endpoint_variables("process")


def test_every_sender_has_a_token_of_its_own_that_the_observer_knows() -> None:
    settings = sender_settings()
    senders = json.loads(settings["observer"]["MEMQUAL_INGEST_TOKENS"])
    assert {name: settings[name]["MEMQUAL_INGEST_TOKEN"] for name in SENDERS} == {
        name: token for token, name in senders.items()
    }
    assert len(senders) == len(SENDERS)
    assert sender_settings() != settings
