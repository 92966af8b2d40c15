"""Trees add up as a walk from each root to a leaf does, and a file keeps them."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative import answer, wholes
from services.memory.narrative.trees import Trees, as_json, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("cover", "late", "near")
# A file keeps six digits of a limit and four of a leaf.
LIMITS = st.integers(-9_999, 9_999).map(lambda number: number / 1_000)
LEAVES = st.integers(-9_999, 9_999).map(lambda number: number / 1_000)
VALUES = st.one_of(LIMITS, st.floats(-10, 10, width=32))


@dataclass(frozen=True)
class Fork:
    """A node with two below it."""

    feature: int
    limit: float
    left: "Node"
    right: "Node"


Node = Fork | float
NODES: st.SearchStrategy[Node] = st.recursive(
    LEAVES,
    lambda below: st.builds(Fork, st.integers(0, len(NAMES) - 1), LIMITS, below, below),
    max_leaves=12,
)
FORESTS = st.lists(NODES, min_size=1, max_size=6)
ROWS = st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=1, max_size=8)


@dataclass
class _Nodes:
    rows: list[tuple[int, float, int, int, float]] = field(default_factory=list)
    depth: int = 0

    def add(self, node: Node, depth: int = 0) -> int:
        """Puts what is below before a node, so that a root is not at its tree's beginning."""
        self.depth = max(self.depth, depth)
        if isinstance(node, Fork):
            left, right = self.add(node.left, depth + 1), self.add(node.right, depth + 1)
            self.rows.append((node.feature, node.limit, left, right, 99.0))
        else:
            self.rows.append((0, 0.0, len(self.rows), len(self.rows), node))
        return len(self.rows) - 1


def _trees(forest: list[Node]) -> Trees:
    nodes = _Nodes()
    roots = [nodes.add(tree) for tree in forest]
    feature, limit, left, right, value = zip(*nodes.rows, strict=True)
    return Trees(
        names=NAMES,
        roots=np.array(roots, dtype=np.int64),
        depth=nodes.depth,
        feature=np.array(feature, dtype=np.int64),
        limit=np.array(limit, dtype=np.float32),
        left=np.array(left, dtype=np.int64),
        right=np.array(right, dtype=np.int64),
        value=np.array(value, dtype=np.float32),
    )


def _walk(node: Node, row: "NDArray[np.float32]") -> float:
    while isinstance(node, Fork):
        node = node.left if row[node.feature] <= np.float32(node.limit) else node.right
    return node


def _found(table: "NDArray[np.float32]") -> dict[str, "NDArray[np.float32]"]:
    return {name: table[:, column] for column, name in enumerate(NAMES)}


@given(FORESTS, ROWS)
def test_the_total_is_the_sum_of_walks(forest: list[Node], rows: list[tuple[float, ...]]) -> None:
    table = np.array(rows, dtype=np.float32)
    expected = [sum(_walk(tree, row) for tree in forest) for row in table]
    total = _trees(forest).total(_found(table), len(rows))
    assert total.dtype == np.float32
    assert total.tolist() == pytest.approx(expected, abs=1e-4)


@given(FORESTS, ROWS)
def test_a_leaf_is_not_left_however_many_steps_are_made(
    forest: list[Node], rows: list[tuple[float, ...]]
) -> None:
    found, trees = _found(np.array(rows, dtype=np.float32)), _trees(forest)
    deeper = dataclasses.replace(trees, depth=trees.depth + 3)
    assert np.array_equal(deeper.total(found, len(rows)), trees.total(found, len(rows)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(forest=FORESTS, rows=ROWS)
def test_a_file_keeps_the_totals(
    tmp_path_factory: pytest.TempPathFactory, forest: list[Node], rows: list[tuple[float, ...]]
) -> None:
    # What was read is remembered by its path, so each example has its own.
    path = tmp_path_factory.mktemp("trees") / "trees.json"
    trees = _trees(forest)
    path.write_text(as_json(trees), encoding="utf-8")
    found = _found(np.array(rows, dtype=np.float32))
    read = load(path)
    assert read.names == NAMES
    assert read.total(found, len(rows)).tolist() == pytest.approx(
        trees.total(found, len(rows)).tolist(), abs=1e-5
    )
    assert as_json(read) == as_json(trees)


@given(FORESTS, ROWS, st.sets(st.sampled_from(NAMES)))
def test_a_feature_that_was_not_found_counts_as_0(
    forest: list[Node], rows: list[tuple[float, ...]], missing: set[str]
) -> None:
    trees, found = _trees(forest), _found(np.array(rows, dtype=np.float32))
    zero = np.zeros(len(rows), dtype=np.float32)
    as_zero = {name: zero if name in missing else found[name] for name in NAMES}
    without = {name: found[name] for name in NAMES if name not in missing}
    expected = trees.total(as_zero, len(rows))
    assert np.array_equal(trees.total(without, len(rows)), expected)
    assert np.array_equal(trees.total({**without, "other": zero + 5}, len(rows)), expected)


def test_a_value_at_the_limit_goes_left() -> None:
    trees = _trees([Fork(1, 0.25, 1.0, 2.0)])
    late = np.array([0.249, 0.25, 0.251], dtype=np.float32)
    assert trees.total({"late": late}, 3).tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "content",
    [b"", b"not trees", b"\xff\xfe\x00", b"{}", b'{"names": ["a"], "roots": [0]}'],
    ids=["empty", "prose", "bytes", "nothing", "half"],
)
def test_a_file_that_holds_no_trees_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trees.json"
    path.write_bytes(content)
    with pytest.raises((ValueError, KeyError)):
        load(path)


@pytest.mark.parametrize("part", [field.name for field in dataclasses.fields(Trees)])
def test_a_file_without_a_part_of_the_trees_is_refused(tmp_path: Path, part: str) -> None:
    content = json.loads(as_json(_trees([Fork(1, 0.25, 1.0, 2.0)])))
    del content[part]
    path = tmp_path / "trees.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(KeyError, match=part):
        load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize("path", [answer.RIVAL, wholes.TELL, wholes.RIVAL], ids=lambda it: it.stem)
def test_the_learned_trees_are_whole(path: Path) -> None:
    trees = load(path)
    size = len(trees.feature)
    assert as_json(trees) == path.read_text(encoding="utf-8")
    assert {len(trees.limit), len(trees.left), len(trees.right), len(trees.value)} == {size}
    assert trees.feature.max() < len(trees.names) == len(set(trees.names))
    assert max(trees.roots.max(), trees.left.max(), trees.right.max()) < size
    at = trees.roots
    for _ in range(trees.depth):
        at = np.concatenate([trees.left[at], trees.right[at]])
        at = np.unique(at)
    # So many steps lead to leaves and to nothing else.
    assert np.array_equal(trees.left[at], at)
    assert np.array_equal(trees.right[at], at)
