"""Trees are grown that tell truth from its opposite, the same ones every time."""

from typing import TYPE_CHECKING

import lightgbm
import numpy as np
import pytest

from services.memory.narrative.trees import Trees, as_json
from tools.narrative_trees import ROUNDS, SETTINGS, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Truth = NDArray[np.bool_]

NAMES = ("near", "late", "idle")


@pytest.fixture(scope="module")
def rows() -> "Floats":
    drawn = np.random.default_rng(5).normal(size=(600, len(NAMES))).astype(np.float32)
    return drawn.astype(np.float64)


@pytest.fixture(scope="module")
def truth(rows: "Floats") -> "Truth":
    above: Truth = rows[:, 0] + 0.5 * rows[:, 1] > 0.2
    return above


def _total(trees: Trees, rows: "Floats") -> "NDArray[np.float32]":
    found = {name: rows[:, at].astype(np.float32) for at, name in enumerate(NAMES)}
    return trees.total(found, len(rows))


def test_what_is_true_has_higher_odds(rows: "Floats", truth: "Truth") -> None:
    trees = grow(NAMES, rows, truth)
    assert trees.names == NAMES
    assert len(trees.roots) == ROUNDS
    assert ((_total(trees, rows) > 0) == truth).mean() > 0.95


def test_rows_that_it_has_not_seen_are_told_apart_too(rows: "Floats", truth: "Truth") -> None:
    trees = grow(NAMES, rows[:400], truth[:400])
    assert ((_total(trees, rows[400:]) > 0) == truth[400:]).mean() > 0.85


def test_the_sum_is_what_the_library_itself_predicts(rows: "Floats", truth: "Truth") -> None:
    data = lightgbm.Dataset(rows, truth.astype(np.int64))
    raw = lightgbm.train(SETTINGS, data, num_boost_round=ROUNDS).predict(rows, raw_score=True)
    assert isinstance(raw, np.ndarray)
    assert float(raw.std()) > 1
    assert np.abs(_total(grow(NAMES, rows, truth), rows) - raw).max() < 1e-4


def test_equal_rows_give_an_equal_file_and_others_another(rows: "Floats", truth: "Truth") -> None:
    file = as_json(grow(NAMES, rows, truth))
    assert as_json(grow(NAMES, rows.copy(), truth.copy())) == file
    assert as_json(grow(NAMES, rows, ~truth)) != file


def test_features_that_tell_nothing_give_every_row_the_same_odds(truth: "Truth") -> None:
    trees = grow(NAMES, np.zeros((len(truth), len(NAMES))), truth)
    total = _total(trees, np.random.default_rng(1).normal(size=(9, len(NAMES))))
    share = float(truth.mean())
    assert total.tolist() == pytest.approx([np.log(share / (1 - share))] * 9, abs=1e-4)
