"""The text of a captured source is told by size and digest; everything else is exported in full."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.canonical import sha256_hex
from services.vendors.atmem.rows import proposal_of, record_of
from services.vendors.atmem.transcripts import scored_row

TEXT = "api_key=sk-quillmarsh"
TOLD = {
    "source_transcript": "retained, not scored",
    "bytes": len(TEXT),
    "sha256": sha256_hex(TEXT.encode()),
}


@pytest.mark.parametrize("source_type", ["user_message", "website", "agent_message", None])
def test_a_captured_message_is_told_and_not_shown(source_type: str | None) -> None:
    row = {"id": "ep_1", "message": TEXT, "source_type": source_type, "raw": "{}"}
    assert scored_row("episodes", row) == {**row, "message": TOLD}


def test_a_text_that_atmem_made_an_episode_of_is_shown() -> None:
    row = {"id": "ep_1", "message": TEXT, "source_type": "proposal"}
    assert scored_row("episodes", row) == row


def test_a_kept_request_is_shown_without_its_text() -> None:
    request = {"message": TEXT, "host_message_id": "chat-7"}
    shown = scored_row("protocol_sources", {"source_id": "s", "request_json": json.dumps(request)})
    assert shown == {"source_id": "s", "request_json": {**request, "message": TOLD}}
    # 2.3.10 keeps the request without its text.
    bare = {"source_id": "s", "request_json": json.dumps({"host_message_id": "chat-7"})}
    assert scored_row("protocol_sources", bare) == bare


@given(
    table=st.sampled_from(["records", "protocol_proposals", "memory_proposals", "audit_log"]),
    row=st.dictionaries(
        st.sampled_from(["message", "request_json", "content", "source_type"]), st.text()
    ),
)
def test_every_other_table_is_shown_as_it_is(table: str, row: dict[str, Any]) -> None:
    assert scored_row(table, row) == row


@pytest.mark.parametrize(
    "kept",
    [
        {"fact": "[rejected sensitive extraction proposal]", "fact_sha256": "sha256:00"},
        {"fact": "[non-retained typed extraction proposal]", "redacted": True},
    ],
)
def test_a_placeholder_is_no_content(kept: dict[str, object]) -> None:
    outcome = {
        "proposal_id": "prop_1",
        "subject_id": "alice",
        "agent_id": "any-agent",
        "workspace_id": "any-workspace",
        "memory_class": "procedure",
        "review_state": "rejected",
        "reason_codes": ["secret_material_detected"],
        "proposal": kept,
    }
    assert proposal_of(outcome).content == ""


def test_a_row_is_a_record_with_what_other_tables_say_of_it() -> None:
    row = {
        "id": "rec_1",
        "subject_id": "alice",
        "content": "Opens at nine.",
        "status": "superseded",
        "trust_tier": "trusted_user",
        "source_type": "user_message",
        "raw": {
            "authority_scope": {"agent_id": "a", "workspace_id": "w"},
            "superseded_by_id": "rec_2",
            "related_record_ids": ["rec_0"],
            "taint_labels": ["UNTRUSTED_CONTENT"],
        },
    }
    shown = record_of(row, excluded=False, archived=True)
    assert (shown.circle.agent_id, shown.circle.workspace_id) == ("a", "w")
    assert (shown.superseded_by, shown.parents, shown.archived) == ("rec_2", ("rec_0",), True)
    assert shown.taints == ("UNTRUSTED_CONTENT",)
    bare = record_of({**row, "raw": None}, excluded=True, archived=False)
    assert (bare.superseded_by, bare.parents, bare.excluded) == ("", (), True)
