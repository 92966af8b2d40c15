"""Rows as they are scored: the text of a captured source is told by its size and digest (pure).

What was said to a memory stands in its record of what was said: the source transcript. The
benchmark's category of secrets asks what became memory out of it, so the transcript is no scored
surface (CAPABILITIES.md). That it is retained is told, never hidden: size and digest stand in place
of the text, and a scan of the volume finds it.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from services.common.canonical import JsonValue, sha256_hex

__all__ = ["scored_row"]

_EPISODES: Final = "episodes"
_SOURCES: Final = "protocol_sources"
# An episode that atmem makes out of an approved proposal: content of its own, no captured source.
_PROPOSAL: Final = "proposal"


def scored_row(table: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a household without the text of a captured source; any other row as it is."""
    if table == _EPISODES and row.get("source_type") != _PROPOSAL and "message" in row:
        return {**row, "message": _told(row["message"])}
    if table == _SOURCES and isinstance(row.get("request_json"), str):
        # 2.3.6 keeps the whole request here, 2.3.10 all but its text.
        request = json.loads(row["request_json"])
        if isinstance(request, dict) and "message" in request:
            return {**row, "request_json": {**request, "message": _told(request["message"])}}
    return row


def _told(text: object) -> dict[str, JsonValue]:
    held = str(text).encode("utf-8", "surrogatepass")
    return {
        "source_transcript": "retained, not scored",
        "bytes": len(held),
        "sha256": sha256_hex(held),
    }
