"""The stale-stub check notices a changed, a missing and a left-over stub."""

import shutil
from pathlib import Path

import pytest

from tools import protos


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "protos"
    folder = root / "memqual" / "v1"
    folder.mkdir(parents=True)
    shutil.copy(protos.PROTO_ROOT / "memqual" / "v1" / "common.proto", folder)
    monkeypatch.setattr(protos, "PROTO_ROOT", root)
    protos.generate(root)
    return folder


def test_fresh_stubs_are_not_stale(contract: Path) -> None:
    assert (contract / "common_pb2.pyi").is_file()
    assert protos.stale_stubs() == []


def test_each_kind_of_stale_stub_is_named(contract: Path) -> None:
    (contract / "common_pb2.py").write_text("# edited by hand\n", encoding="utf-8")
    (contract / "common_pb2.pyi").unlink()
    (contract / "gone_pb2.py").write_text("", encoding="utf-8")
    assert protos.stale_stubs() == [
        "memqual/v1/common_pb2.py",
        "memqual/v1/common_pb2.pyi",
        "memqual/v1/gone_pb2.py",
    ]


def test_a_broken_contract_ends_with_protocs_message(contract: Path) -> None:
    (contract / "common.proto").write_text('syntax = "proto3"; message {', encoding="utf-8")
    with pytest.raises(protos.StubError, match="Expected message name"):
        protos.stale_stubs()
