"""What an image's code imports, the image has: its own packages or a wheel of its lock."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from orchestrator.images import contexts, recipes

FIRST_PARTY = ("memqual", "services", "chaos", "orchestrator")
# Whose folder protoc and pip share among several distributions.
NAMESPACES = {"google": "protobuf"}
# Imported by services.common.platform where it runs on Windows; an image never does.
WINDOWS_ONLY = {"psutil"}
DISTRIBUTIONS = packages_distributions()


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Modules that run-time imports name; what only a type checker reads is left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
        yield from imported_modules(node)


def imports_of(name: str) -> set[str]:
    sources = recipes.read_recipe(name).sources
    return {
        module
        for file in contexts.source_files(recipes.REPO_ROOT, sources)
        if file.name.endswith(".py") and isinstance(file.source, bytes)
        for module in imported_modules(ast.parse(file.source))
    }


def locked(lock: str) -> set[str]:
    lines = recipes.lock_path(lock).read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(line.split("==")[0]) for line in lines if "==" in line}


def providers(module: str) -> set[str]:
    top = module.split(".", maxsplit=1)[0]
    names = {NAMESPACES[top]} if top in NAMESPACES else set(DISTRIBUTIONS.get(top, [top]))
    return {str(canonicalize_name(name)) for name in names}


@pytest.mark.parametrize("name", recipes.recipe_names())
def test_third_party_imports_are_in_the_lock(name: str) -> None:
    available = locked(recipes.read_recipe(name).lock)
    foreign = {
        module
        for module in imports_of(name)
        if module.split(".")[0] not in (*FIRST_PARTY, *WINDOWS_ONLY, *sys.stdlib_module_names)
    }
    assert foreign
    assert {module for module in foreign if providers(module).isdisjoint(available)} == set()


@pytest.mark.parametrize("name", recipes.recipe_names())
def test_first_party_imports_are_copied(name: str) -> None:
    sources = {Path(s.removeprefix("protos/")) for s in recipes.read_recipe(name).sources}
    own = {module for module in imports_of(name) if module.split(".")[0] in FIRST_PARTY}
    missing = {
        module
        for module in own
        if not sources & {Path(*module.split(".")), *Path(*module.split(".")).parents}
        and Path(*module.split("."), "__init__.py") not in sources
    }
    assert missing == set()


def test_a_missing_wheel_would_be_noticed() -> None:
    assert providers("langgraph.graph").isdisjoint(locked("python-base"))
    assert not providers("langgraph.graph").isdisjoint(locked("agent"))
    assert not providers("grpc_health.v1").isdisjoint(locked("python-base"))
