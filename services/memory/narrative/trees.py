"""A sum of decision trees over features, as tools/narrative_weights.py grew it.

Read from JSON and added up with numpy alone: equal on every host, with no library to be there.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

__all__ = ["Trees", "as_json", "load"]


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees (T) over named features; nodes (N) of all trees stand in one row.

    Attributes:
        names: the features, in order; one that is not found counts as 0.
        roots: T, each tree's first node.
        depth: steps from any root to any leaf, at most.
        feature: N, what is asked at a node.
        limit: N, a value up to this goes left.
        left: N, the next node; a leaf's is itself.
        right: N, the next node otherwise.
        value: N, what a leaf adds.
    """

    names: tuple[str, ...]
    roots: "Numbers"
    depth: int
    feature: "Numbers"
    limit: "Floats"
    left: "Numbers"
    right: "Numbers"
    value: "Floats"

    def total(self, found: Mapping[str, "Floats"], size: int) -> "Floats":
        """S: the sum of all trees.

        Args:
            found: name of a feature → S.
            size: S.
        """
        nothing = np.zeros(size, dtype=np.float32)
        table = np.stack([found.get(name, nothing) for name in self.names], axis=1)
        row = np.arange(size)[:, None]
        at = np.broadcast_to(self.roots, (size, len(self.roots)))
        for _ in range(self.depth):
            smaller = table[row, self.feature[at]] <= self.limit[at]
            at = np.where(smaller, self.left[at], self.right[at])
        result: Floats = self.value[at].sum(axis=1, dtype=np.float64).astype(np.float32)
        return result


def as_json(trees: Trees) -> str:
    """The text of a file that `load` reads."""
    content = {
        "names": list(trees.names),
        "roots": trees.roots.tolist(),
        "depth": trees.depth,
        "feature": trees.feature.tolist(),
        "limit": [float(f"{value:.6g}") for value in trees.limit],
        "left": trees.left.tolist(),
        "right": trees.right.tolist(),
        "value": [float(f"{value:.4g}") for value in trees.value],
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


@functools.cache
def load(path: Path) -> Trees:
    """Reads trees; raises OSError, ValueError or KeyError for a file that holds none."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no trees")
    return Trees(
        names=tuple(content["names"]),
        roots=np.array(content["roots"], dtype=np.int64),
        depth=int(content["depth"]),
        feature=np.array(content["feature"], dtype=np.int64),
        limit=np.array(content["limit"], dtype=np.float32),
        left=np.array(content["left"], dtype=np.int64),
        right=np.array(content["right"], dtype=np.int64),
        value=np.array(content["value"], dtype=np.float32),
    )
