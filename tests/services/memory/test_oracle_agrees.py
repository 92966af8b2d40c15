"""The evaluator's oracle finds nothing to say of the reference, whatever happens to it."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.model import Capability
from tests.services.memory.oracle_rig import STEPS, OracleRig, Step


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OracleRig]:
    made = OracleRig(tmp_path_factory.mktemp("oracle"))
    yield made
    made.database.close()


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(capability=st.sampled_from(list(Capability)), steps=st.lists(STEPS, max_size=25))
def test_no_answer_of_the_reference_is_outside_the_table(
    rig: OracleRig, capability: Capability, steps: list[Step]
) -> None:
    judgement = rig.judge(capability, steps)
    assert judgement.violations == ()
