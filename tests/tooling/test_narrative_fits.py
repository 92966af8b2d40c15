"""Linear models are fitted that rank what tells first and tell classes apart."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tools.narrative_fits import fit_classes, fit_ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CLASSES = 3


@pytest.fixture(scope="module")
def truth() -> "NDArray[np.int64]":
    return np.arange(150, dtype=np.int64) % CLASSES


@pytest.fixture(scope="module")
def rows(truth: "NDArray[np.int64]") -> "Floats":
    """Three clouds round three corners, and the constant."""
    noise = np.random.default_rng(3).normal(scale=0.2, size=(len(truth), CLASSES))
    return np.concatenate([np.eye(CLASSES)[truth] + noise, np.ones((len(truth), 1))], axis=1)


def test_classes_are_told_apart(rows: "Floats", truth: "NDArray[np.int64]") -> None:
    weights = fit_classes(rows, truth, CLASSES)
    assert weights.shape == (CLASSES, rows.shape[1])
    assert ((rows @ weights.T).argmax(axis=1) == truth).mean() > 0.97


def test_a_class_that_no_row_has_is_never_the_likeliest(
    rows: "Floats", truth: "NDArray[np.int64]"
) -> None:
    weights = fit_classes(rows, truth, CLASSES + 1)
    assert weights.shape == (CLASSES + 1, rows.shape[1])
    assert set((rows @ weights.T).argmax(axis=1).tolist()) == set(range(CLASSES))


def test_equal_rows_fit_equal_weights(rows: "Floats", truth: "NDArray[np.int64]") -> None:
    assert np.array_equal(
        fit_classes(rows, truth, CLASSES), fit_classes(rows.copy(), truth.copy(), CLASSES)
    )


def _cases(count: int) -> "tuple[list[Floats], list[NDArray[np.bool_]]]":
    """Of each case's rows that tells which has the most of the first and least of the second."""
    drawn = np.random.default_rng(8).normal(size=(count, 6, 3))
    best = (drawn[:, :, 0] - drawn[:, :, 1]).argmax(axis=1)
    return list(drawn), [np.arange(6) == row for row in best]


def test_what_tells_ranks_first_among_the_rows_of_its_case() -> None:
    tables, tells = _cases(80)
    weights = np.array(fit_ranking(tables, tells))
    assert weights[0] > 0 > weights[1]
    assert abs(weights[2]) < min(weights[0], -weights[1]) / 3
    right = [
        bool(told[(rows @ weights).argmax()]) for rows, told in zip(tables, tells, strict=True)
    ]
    assert np.mean(right) > 0.95
    assert fit_ranking(tables, tells) == weights.tolist()


@pytest.mark.parametrize("told", [False, True], ids=["none", "all"])
def test_a_case_of_which_none_or_all_rows_tell_teaches_nothing(told: bool) -> None:
    tables, tells = _cases(20)
    more: Floats = np.full((4, 3), 7.0) * np.arange(4.0)[:, None]
    with_it = fit_ranking([*tables, more], [*tells, np.full(4, told)])
    assert with_it == fit_ranking(tables, tells)


def test_a_case_weighs_its_own_rows_only() -> None:
    tables, tells = _cases(40)
    # What all rows of a case have in common cannot say which of them tells.
    moved = [rows + np.array([0.0, 0.0, 50.0 * at]) for at, rows in enumerate(tables)]
    weights = np.array(fit_ranking(moved, tells))
    right = [
        bool(told[(rows @ weights).argmax()]) for rows, told in zip(tables, tells, strict=True)
    ]
    assert np.mean(right) > 0.9
