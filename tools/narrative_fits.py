"""Fits the linear models of the reference's narrative ranking (see tools.narrative_weights)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_classes", "fit_ranking"]

Floats = NDArray[np.float64]

STEPS = 150
RATE = 0.12
RANKING_L2 = 0.08
CLASS_STEPS = 400
CLASS_L2 = 0.001


class _Slope:
    """The gradient of a loss."""

    def at(self, weights: Floats) -> Floats:
        """Its value at some weights."""
        raise NotImplementedError


class _RankingSlope(_Slope):
    """Of -log(probability of the rows that tell), over each case's own rows."""

    def __init__(self, rows: Floats, tells: NDArray[np.bool_], starts: NDArray[np.int64]) -> None:
        self._rows, self._tells, self._starts = rows, tells, starts
        self._case = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rows)]))

    def at(self, weights: Floats) -> Floats:
        scores = self._rows @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._case])
        right = odds * self._tells
        every = np.add.reduceat(odds, self._starts)[self._case]
        told = np.add.reduceat(right, self._starts)[self._case]
        slope: Floats = self._rows.T @ (odds / every - right / told) / len(self._starts)
        return slope + RANKING_L2 * weights


class _ClassSlope(_Slope):
    """Of -log(probability of the right class)."""

    def __init__(self, rows: Floats, truth: Floats) -> None:
        self._rows, self._truth = rows, truth

    def at(self, weights: Floats) -> Floats:
        scores = self._rows @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely = odds / odds.sum(axis=1, keepdims=True)
        slope: Floats = self._rows.T @ (likely - self._truth) / len(self._rows)
        return slope + CLASS_L2 * weights


def _descend(start: Floats, slope: _Slope, steps: int) -> Floats:
    """Adam, with its usual constants but for the second moment."""
    weights = start.copy()
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        gradient = slope.at(weights)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        mean, size = first / (1 - 0.9**step), second / (1 - 0.99**step)
        weights -= RATE * mean / (np.sqrt(size) + 1e-8)
    return weights


def fit_ranking(tables: Sequence[Floats], tells: Sequence[NDArray[np.bool_]]) -> list[float]:
    """One weight a feature: how likely a row tells, among the rows of its own case.

    Args:
        tables: of each case rows x features.
        tells: of each case which rows tell; cases where none or all do teach nothing.
    """
    useful = [number for number, told in enumerate(tells) if told.any() and not told.all()]
    rows = np.concatenate([tables[number] for number in useful])
    sizes = [len(tables[number]) for number in useful]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    scale = rows.std(axis=0) + 1e-3
    told = np.concatenate([tells[number] for number in useful])
    slope = _RankingSlope(rows / scale, told, starts)
    fitted: list[float] = (_descend(np.zeros(rows.shape[1]), slope, STEPS) / scale).tolist()
    return fitted


def fit_classes(rows: Floats, truth: NDArray[np.int64], classes: int) -> Floats:
    """Classes x features: weights of a softmax over classes.

    Args:
        rows: N x features.
        truth: N, each row's class.
        classes: how many there are.
    """
    known = np.eye(classes)[truth]
    start = np.zeros((rows.shape[1], classes))
    return _descend(start, _ClassSlope(rows, known), CLASS_STEPS).T
