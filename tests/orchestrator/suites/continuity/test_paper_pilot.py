"""Fresh models from a local scripted endpoint hold the pilot's conversations on real processes."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.model import Arm, CheckOutcome, NotRunSubtype, TrialRecord, Verdict
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.paper.cassette import all_tasks
from orchestrator.suites.continuity.paper.pilot import ANSWERS_MAX, STOP_TOKEN, pilot_tasks
from orchestrator.suites.continuity.plays.paper_pilot import reference_state
from orchestrator.suites.continuity.retail_tasks import tasks_for
from orchestrator.suites.continuity.stage import Stage
from tests.orchestrator.suites.continuity.ground import Ground, batches_of, ground, violated
from tests.services.agent.scripted_endpoint import (
    Asked,
    Reply,
    Script,
    ScriptedEndpoint,
    called,
    said,
    scripted_endpoint,
)

pytestmark = pytest.mark.e2e_process

CASE = "paper_pilot.fresh"
KEY = "key-that-nobody-sees"
_ORDER = re.compile(r"#W\d+")


def helpful(asked: Asked) -> Reply:
    """An agent and a customer that do what the task wants, by what stands in the request alone."""
    messages = asked.body["messages"]
    own = [one for one in messages if one["role"] == "assistant"]
    if "tools" in asked.body:
        return _agent(len(own) - 1, " ".join(str(one["content"]) for one in messages))
    return _customer(len(own), messages[0]["content"])


def _agent(number: int, everything: str) -> Reply:
    slots = next(
        task.slots
        for task in all_tasks().values()
        if not task.of_tau2 and str(task.slots["order_id"]) in everything
    )
    order = {"order_id": slots["order_id"]}
    exchange = {name: slots[name] for name in ("item_ids", "new_item_ids", "payment_method_id")}
    person = {name: slots[name] for name in ("first_name", "last_name", "zip")}
    return (
        said("What is your name, and your zip code?"),
        called(("find_user_id_by_name_zip", person)),
        called(("get_order_details", order)),
        said("I will exchange both items in one go. Do you agree?"),
        called(("exchange_delivered_order_items", {**order, **exchange})),
        said("It is done."),
    )[number]


def _customer(number: int, wish: str) -> Reply:
    order = _ORDER.findall(wish)[-1]
    return (
        said(f"I want to exchange two items of {order}.", usage=None),
        said("It is as you know it, and so is the zip code."),
        said("Yes."),
        said(STOP_TOKEN),
    )[number]


@contextmanager
def pilot(folder: Path, script: Script) -> Iterator[tuple[Ground, ScriptedEndpoint]]:
    with scripted_endpoint(script) as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMQUAL_MODEL_BASE_URL", endpoint.base_url)
        patch.setenv("MEMQUAL_MODEL_NAME", "asked-for")
        patch.setenv("MEMQUAL_MODEL_API_KEY", KEY)
        with ground(folder, variant=StackVariant.FRESH_MODEL) as on:
            yield on, endpoint


@dataclass
class Played:
    records: list[TrialRecord]
    texts: str
    endpoint: ScriptedEndpoint


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("pilot")
    with pilot(folder, helpful) as (on, endpoint):
        records = on.play(CASE, operations=2)
    kept = [
        line
        for evidence, trace, journal in on.kept.batches
        for line in (evidence.model_dump_json(), *trace, *journal)
    ]
    logs = [path.read_text(encoding="utf-8") for path in folder.rglob("*.log")]
    assert logs
    return Played(records, "\n".join([*kept, *logs]), endpoint)


def figures(record: TrialRecord) -> dict[str, str]:
    return {figure.name: figure.value for figure in record.figures}


def task_of(record: TrialRecord) -> str:
    (task,) = [found for found in record.findings if found.startswith("task: ")]
    return task


def test_every_arm_fulfils_its_task_and_comparators_stay_unscored(played: Played) -> None:
    seen = {(one.cell.arm, one.verdict) for one in played.records}
    assert seen == {
        (Arm.BASELINE, Verdict.UNSCORED),
        (Arm.OBSERVER, Verdict.UNSCORED),
        (Arm.MEMORY, Verdict.PASS),
        (Arm.BOTH, Verdict.PASS),
    }, [one.cause for one in played.records]
    assert len(played.records) == 8
    for record in played.records:
        told = figures(record)
        assert (told["ended"], told["fulfilled"]) == ("completed", "True")
        assert (told["requests and calls"], record.effects) == ("10 and 3", 1)
        assert record.findings[-1] == "simulator: kept to its part"


def test_usage_is_the_providers_and_what_it_does_not_tell_stays_unknown(played: Played) -> None:
    for record in played.records:
        # One of ten answers came without a usage.
        assert figures(record)["tokens"] == "90 in, 45 out"
        assert "usage: told by provider for 9 of 10 answers" in record.findings
        assert "models: scripted" in record.findings


def test_both_arms_of_a_trial_play_the_same_task(played: Played) -> None:
    tasks: dict[str, set[str]] = {}
    for record in played.records:
        tasks.setdefault(record.trial_id.rpartition("#")[2], set()).add(task_of(record))
    assert [len(names) for names in tasks.values()] == [1, 1]
    assert len(set.union(*tasks.values())) == 2


def test_the_key_reaches_the_endpoint_and_neither_evidence_nor_log(played: Played) -> None:
    assert {asked.authorization for asked in played.endpoint.asked} == {f"Bearer {KEY}"}
    assert KEY not in played.texts


def test_the_benchmarks_own_calls_lead_to_its_known_states(tmp_path: Path) -> None:
    folder = os.environ.get("MEMQUAL_TAU2_RETAIL")
    if not folder:
        pytest.skip("MEMQUAL_TAU2_RETAIL names no folder")
    store = Path(folder).resolve() / "db.json"
    known = {f"tau2-{task.task_id}": task.digest for task in tasks_for(store)}
    tasks = [task for task in pilot_tasks(store) if task.task_id in known]
    assert len(tasks) > 20
    with ground(tmp_path, changes={"retail_store": store}) as on:
        (batch, *_) = batches_of(CASE, None, len(tasks))
        stage = Stage(on.context, batch)
        states = {
            task.task_id: reference_state(stage, member, task)
            for task, member in zip(tasks, batch.members, strict=True)
        }
    assert states == {task.task_id: known[task.task_id] for task in tasks}


def strays(asked: Asked) -> Reply:
    """A customer that makes ids up and does not end; an agent that says the same for ever."""
    return said("Anything else?") if "tools" in asked.body else said("And #W9999999?")


@pytest.mark.nightly
def test_a_customer_that_strays_is_a_note_and_a_limit_is_an_end(tmp_path: Path) -> None:
    with pilot(tmp_path, strays) as (on, _):
        records = [one for one in on.play(CASE, operations=1) if one.cell.arm is Arm.MEMORY]
    (record,) = records
    # No tool was called, so that there is nothing to judge the memory by.
    assert (record.verdict, record.cause) == (Verdict.UNSCORED, "")
    told = figures(record)
    assert (told["ended"], told["fulfilled"]) == ("turn limit", "False")
    assert told["requests and calls"] == f"{ANSWERS_MAX} and 0"
    notes = ("conversation: ", "simulator: ")
    assert tuple(found for found in record.findings if found.startswith(notes)) == (
        "conversation: had all of its answers and did not end",
        "simulator: did not end with its stop token",
        "simulator: 1 ids that nobody told it: #w9999999",
    )


def broken(asked: Asked) -> Reply:
    return Reply(401, KEY.encode())


def test_an_endpoint_that_refuses_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    with pilot(tmp_path, broken) as (on, _):
        records = on.play(CASE, operations=1)
    assert {one.verdict for one in records} == {Verdict.ERROR}
    assert violated(records) == {"rig.pilot_model"}
    assert all("model: http_401" in one.cause and KEY not in one.cause for one in records)


def test_without_an_endpoint_the_class_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MEMQUAL_MODEL_BASE_URL", "MEMQUAL_MODEL_NAME"):
        monkeypatch.delenv(name, raising=False)
    with ground(tmp_path, variant=StackVariant.FRESH_MODEL) as on:
        records = on.play(CASE, operations=1)
    assert {(one.verdict, one.subtype) for one in records} == {
        (Verdict.NOT_RUN, NotRunSubtype.PLATFORM)
    }
    assert {one.cause for one in records} == {
        "no model endpoint is named: set MEMQUAL_MODEL_BASE_URL and MEMQUAL_MODEL_NAME"
    }
    assert all(check.outcome is CheckOutcome.HELD for one in records for check in one.checks)
