"""Grows the decision trees of the reference's narrative ranking (see tools.narrative_weights)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import lightgbm
import numpy as np

from services.memory.narrative.trees import Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["grow"]

ROUNDS = 200
# One thread and fixed seeds: equal stories grow equal trees.
SETTINGS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 1,
    "verbose": -1,
}


def grow(names: Sequence[str], rows: "Floats", truth: "NDArray[np.bool_]") -> Trees:
    """Trees whose sum is the log-odds of `truth`.

    Args:
        names: features, one a column.
        rows: N x features.
        truth: N.
    """
    data = lightgbm.Dataset(rows, truth.astype(np.int64))
    grown = lightgbm.train(SETTINGS, data, num_boost_round=ROUNDS).dump_model()
    nodes = _Nodes()
    roots = [nodes.add(tree["tree_structure"]) for tree in grown["tree_info"]]
    return Trees(
        names=tuple(names),
        roots=np.array(roots, dtype=np.int64),
        depth=nodes.depth,
        feature=np.array([node.feature for node in nodes.all], dtype=np.int64),
        limit=np.array([node.limit for node in nodes.all], dtype=np.float32),
        left=np.array([node.left for node in nodes.all], dtype=np.int64),
        right=np.array([node.right for node in nodes.all], dtype=np.int64),
        value=np.array([node.value for node in nodes.all], dtype=np.float32),
    )


@dataclass(slots=True)
class _Node:
    feature: int = 0
    limit: float = 0.0
    left: int = 0
    right: int = 0
    value: float = 0.0


class _Nodes:
    """All nodes of all trees in one row."""

    def __init__(self) -> None:
        self.all: list[_Node] = []
        self.depth = 0

    def add(self, told: dict[str, "object"], depth: int = 0) -> int:
        """Adds a node and all below it; returns its place."""
        place = len(self.all)
        node = _Node(left=place, right=place)
        self.all.append(node)
        self.depth = max(self.depth, depth)
        if "leaf_value" in told:
            node.value = _number(told["leaf_value"])
            return place
        node.feature = int(_number(told["split_feature"]))
        node.limit = _number(told["threshold"])
        node.left = self.add(_below(told["left_child"]), depth + 1)
        node.right = self.add(_below(told["right_child"]), depth + 1)
        return place


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"a tree holds {value!r} where a number is due")
    return float(value)


def _below(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"a tree holds {value!r} where a node is due")
    return value
