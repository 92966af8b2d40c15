from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.canonical import JsonObject, JsonValue
from services.common.database import DatabaseError
from services.destination.model import Applied, ToolFailed
from services.destination.tools.base import Registry
from services.destination.tools.documents import Documents, workflow_folder
from services.destination.tools.funds import AMOUNT_CENTS_MAX, BALANCE_CENTS_MAX, Funds
from tests.services.destination.support import (
    World,
    call,
    document,
    folder_of,
    rules,
    state_hash,
    transfer,
)


def failure(world: World, tool: str, arguments: JsonObject) -> str:
    outcome = world.engine.invoke(call(tool, arguments)).outcome
    assert isinstance(outcome, ToolFailed)
    assert len(outcome.message.encode("utf-8")) <= 1024
    return outcome.code


def published(world: World, path: str = "report.md", content: str = "text") -> Applied:
    outcome = world.engine.invoke(call("publish_document", document(path, content))).outcome
    assert isinstance(outcome, Applied)
    return outcome


def test_a_document_is_real_bytes_in_its_workflows_folder(world: World, tmp_path: Path) -> None:
    world.engine.configure([rules()])
    effect = published(world, "reports/2026/q1.md", "naïve")
    path = tmp_path / "documents" / folder_of("workflow") / "reports" / "2026" / "q1.md"
    assert path.read_bytes() == b"na\xc3\xafve"
    assert effect.result_json == (
        '{"content_digest":"f86fd89de87a848a45bfe77708d91a5d2ff48b8e4a4b98af5165af82692f8928",'
        '"path":"reports/2026/q1.md","size_bytes":6}'
    )
    assert list((tmp_path / "staging").iterdir()) == []
    assert workflow_folder("workflow") == folder_of("workflow")


def test_without_guard_a_document_is_replaced(world: World) -> None:
    world.engine.configure([rules()])
    published(world, content="first")
    published(world, content="")
    assert world.engine.state_hash(None) == state_hash({("workflow", "report.md"): ""}, {})


def test_the_guard_refuses_a_document_that_exists(world: World, tmp_path: Path) -> None:
    world.engine.configure([rules(guard=True)])
    published(world, content="first")
    assert failure(world, "publish_document", document(content="second")) == "already_exists"
    assert world.engine.state_hash(None) == state_hash({("workflow", "report.md"): "first"}, {})
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_document_and_a_folder_cannot_share_a_path(world: World) -> None:
    world.engine.configure([rules()])
    published(world, "reports/q1.md")
    # Neighbours in the order of names, and no folders.
    published(world, "notes-old")
    published(world, "notes0")
    published(world, "notes")
    assert failure(world, "publish_document", document("reports")) == "path_taken"
    assert failure(world, "publish_document", document("reports/q1.md/part")) == "path_taken"
    assert failure(world, "publish_document", document("notes/a/b/c")) == "path_taken"
    published(world, "reports-old")
    published(world, "reports0")
    published(world, "reports/q2.md")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "..",
        "../report.md",
        "a/../../report.md",
        "a/./b",
        "a//b",
        "a/",
        "C:\\report.md",
        "a\\b",
        "c:report",
        "Report.md",
        ".hidden",
        "-flag",
        "dot.",
        "nul",
        "con.txt",
        "a/com1",
        "naïve.md",
        "a b",
        "a\x00b",
        "a\nb",
        "x" * 121,
        "/".join("abcdefghi"),
    ],
)
def test_a_path_that_is_not_portable_or_leads_out_is_refused(
    world: World, tmp_path: Path, path: str
) -> None:
    world.engine.configure([rules()])
    before = sorted(tmp_path.rglob("*"))
    assert failure(world, "publish_document", document(path)) == "bad_path"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": "a"}, {"path": "a", "content": 1}, {"path": "a", "content": "", "mode": "w"}],
)
def test_malformed_arguments_of_publish_document_are_refused(
    world: World, arguments: JsonObject
) -> None:
    world.engine.configure([rules()])
    assert failure(world, "publish_document", arguments) == "bad_arguments"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("from", ""),
        ("from", 1),
        ("from", "bob"),
        ("to", "x" * 129),
        ("amount_cents", 0),
        ("amount_cents", -1),
        ("amount_cents", 1.5),
        ("amount_cents", "100"),
        ("amount_cents", True),
        ("amount_cents", AMOUNT_CENTS_MAX + 1),
        ("memo", "hello"),
    ],
)
def test_malformed_arguments_of_transfer_funds_are_refused(
    world: World, name: str, value: JsonValue
) -> None:
    world.engine.configure([rules()])
    assert failure(world, "transfer_funds", {**transfer(), name: value}) == "bad_arguments"
    assert world.engine.state_hash(None) == state_hash({}, {})


def test_a_balance_stays_an_exact_number(world: World) -> None:
    world.engine.configure([rules()])
    with world.database.transaction() as connection:
        connection.execute(
            "INSERT INTO accounts VALUES ('workflow', 'bob', ?)", (BALANCE_CENTS_MAX - 99,)
        )
    assert failure(world, "transfer_funds", transfer(100)) == "balance_limit"
    world.engine.invoke(call(arguments=transfer(99)))
    assert world.engine.state_hash(None) == state_hash(
        {}, {"workflow": {"alice": -99, "bob": BALANCE_CENTS_MAX}}
    )


@given(st.text())
def test_a_workflows_folder_is_a_portable_name(workflow_id: str) -> None:
    name = workflow_folder(workflow_id)
    assert len(name) == 32
    assert set(name) <= set("0123456789abcdef")


def test_a_file_that_no_call_wrote_changes_the_state_hash(world: World, tmp_path: Path) -> None:
    world.engine.configure([rules()])
    published(world)
    before = world.engine.state_hash(None)
    stray = tmp_path / "documents" / "stray"
    stray.write_bytes(b"")
    assert world.engine.state_hash(None) != before
    stray.unlink()
    assert world.engine.state_hash(None) == before


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_published_document_that_is_gone_or_cut_is_found_at_the_start(
    world: World, tmp_path: Path, damage: str
) -> None:
    world.engine.configure([rules()])
    published(world)
    path = tmp_path / "documents" / folder_of("workflow") / "report.md"
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(b"te")
    with pytest.raises(DatabaseError, match="missing or cut"):
        world.reopen()


def test_a_registry_wants_names_once(tmp_path: Path) -> None:
    assert Registry([Documents(tmp_path), Funds()]).names() == (
        "publish_document",
        "transfer_funds",
    )
    with pytest.raises(ValueError, match="transfer_funds"):
        Registry([Funds(), Funds()])
