"""Ways to change a bundle, as someone would who does or does not write new sums."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchestrator.evidence.sums import write_sums
from services.common.journal import chain_digest


def files_of(root: Path) -> list[Path]:
    """Every file that can be changed, the sums and the lock included, in order."""
    return sorted(path for path in root.rglob("*") if path.is_file())


def line_files(root: Path) -> list[Path]:
    """Files of at least two lines."""
    return [path for path in files_of(root) if path.read_bytes().count(b"\n") > 1]


@contextmanager
def changed(root: Path, path: Path, data: bytes, *, sums: bool = False) -> Iterator[None]:
    """The bundle with one file changed, and back again."""
    before = path.read_bytes()
    sums_before = (root / "SHA256SUMS").read_bytes()
    path.write_bytes(data)
    try:
        if sums:
            write_sums(root)
        yield
    finally:
        path.write_bytes(before)
        (root / "SHA256SUMS").write_bytes(sums_before)


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file in place."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def edit_lines(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of a file in place."""
    lines = path.read_text().split("\n")[:-1]
    path.write_text("".join(line + "\n" for line in change(lines)))


def rechain(root: Path, stack_id: str, drop: Callable[[dict[str, str]], bool]) -> None:
    """Leave records out of a stack's journal, and make chain, spans and sums fit again."""
    batches = []
    for path in (root / "batches").glob("*.json"):
        batch = json.loads(path.read_text())
        if batch["stack_id"] == stack_id:
            batches.append((batch["journal"]["first"], batch["journal"]["last"], path))
    sequence, head = 0, "0" * 64
    for _, _, path in sorted(batches):
        journal = root / "journals" / f"{path.stem}.jsonl"
        first = sequence + 1
        lines = []
        for line in journal.read_text().splitlines():
            record = json.loads(line)
            if drop(json.loads(record["payload_json"])):
                continue
            sequence += 1
            digest = chain_digest(sequence, head, record["payload_json"])
            record |= {"sequence": str(sequence), "previous_digest": head, "digest": digest}
            lines.append(json.dumps(record) + "\n")
            head = digest
        journal.write_text("".join(lines))
        span = {"first": first, "last": sequence}
        batch = json.loads(path.read_text()) | {"journal": span}
        path.write_text(json.dumps(batch, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    write_sums(root)
