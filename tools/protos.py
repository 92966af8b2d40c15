"""Generates the Python stubs of the contract, and tells whether the checked-in ones are stale.

Run as ``python -m tools.protos generate`` or ``python -m tools.protos check``. Stubs lie beside
their ``.proto`` files so that ``memqual.v1.<name>_pb2`` imports without a build step; nobody edits
them.
"""

import argparse
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[1]
PROTO_ROOT = REPO_ROOT / "protos"
PROTOC_TIMEOUT_SECONDS = 120
STUB_PATTERNS = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


class StubError(Exception):
    """Protoc refused the contract; the text is protoc's own message."""


def proto_files() -> list[Path]:
    """The contract's files, relative to the folder that imports start from, sorted."""
    return sorted(path.relative_to(PROTO_ROOT) for path in PROTO_ROOT.rglob("*.proto"))


def stub_files(root: Path) -> dict[str, bytes]:
    """Every generated file under ``root`` by its POSIX path relative to it."""
    found = {path for pattern in STUB_PATTERNS for path in root.rglob(pattern)}
    return {path.relative_to(root).as_posix(): _text_bytes(path) for path in sorted(found)}


def generate(out: Path) -> None:
    """Writes all stubs below ``out``.

    Raises:
        StubError: protoc ended with an error.
    """
    plugins = [
        f"--plugin={name}={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
    ]
    result = subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO_ROOT}"),
            *plugins,
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            f"--mypy_out={out}",
            f"--mypy_grpc_out={out}",
            *(path.as_posix() for path in proto_files()),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=PROTOC_TIMEOUT_SECONDS,
    )
    if result.returncode != 0:
        raise StubError(f"protoc ended with status {result.returncode}:\n{result.stderr}")


def stale_stubs() -> list[str]:
    """Paths (relative to the proto root) whose checked-in stub is missing, different or left over.

    Raises:
        StubError: protoc ended with an error.
    """
    with tempfile.TemporaryDirectory(prefix="memqual-stubs-") as folder:
        generate(Path(folder))
        wanted = stub_files(Path(folder))
    present = stub_files(PROTO_ROOT)
    return sorted(
        path for path in wanted.keys() | present.keys() if wanted.get(path) != present.get(path)
    )


def _plugin(name: str) -> Path:
    suffix = ".exe" if sys.platform == "win32" else ""
    return Path(sysconfig.get_path("scripts")) / f"{name}{suffix}"


def _text_bytes(path: Path) -> bytes:
    # A checkout on Windows may turn line ends; the stubs are the same all the same.
    return path.read_bytes().replace(b"\r\n", b"\n")


def main() -> int:
    """Command line; exit code 1 when stubs are stale, 2 when protoc refuses the contract."""
    parser = argparse.ArgumentParser(prog="tools.protos", description=__doc__)
    parser.add_argument("command", choices=["generate", "check"])
    command = parser.parse_args().command
    try:
        if command == "generate":
            for stale in stub_files(PROTO_ROOT):
                (PROTO_ROOT / stale).unlink()
            generate(PROTO_ROOT)
            return 0
        stale_paths = stale_stubs()
    except StubError as error:
        print(f"protos: {error}", file=sys.stderr)
        return 2
    for path in stale_paths:
        print(f"protos: stale stub protos/{path}; run `make protos`", file=sys.stderr)
    return 1 if stale_paths else 0


if __name__ == "__main__":
    sys.exit(main())
