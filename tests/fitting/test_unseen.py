"""Predictions of held-out rows that had no part in w, in the choice of it or in its link."""

import numpy as np
import pytest

from singleindex import SingleIndexRegressorCV
from singleindex.fitting.bank import Scores


def test_scores_without_a_split_lack_its_rows():
    losses = np.arange(8.0).reshape(2, 4)
    scores = Scores(losses, np.ones(4), np.zeros((2, 2)), np.array([0, 2, 5, 7]))
    kept = scores.without(1, np.array([2, 7]))
    np.testing.assert_array_equal(kept.losses, [[0, 2], [4, 6]])
    np.testing.assert_array_equal(kept.rows, [0, 5])
    assert scores.without(0, np.array([0, 2, 5, 7])) is scores


def test_scores_of_splits_lack_the_split():
    splits = -np.array([[1.0, np.nan, 3.0], [4.0, np.nan, 6.0]])
    scores = Scores(-splits[:, [0, 2]], np.ones(2), splits)
    np.testing.assert_array_equal(scores.without(2, np.arange(3)).losses, [[1.0], [4.0]])
    assert scores.without(1, np.arange(3)).losses.shape == (2, 2)


@pytest.mark.filterwarnings("ignore:The learned link is constant")
def test_what_was_chosen_by_luck_is_not_told_as_a_gain():
    """Of noise the best candidate has a score above that of the mean; the held-out scores must not."""
    chosen, told = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
        model = SingleIndexRegressorCV(cv=5, scale_power=[1.0]).fit(X, y)
        chosen.append(1 + np.max(model.cv_results_["mean_test_score"]) / y.var())
        told.append(model.held_out_scores_["R²"]["score"])
    assert np.mean(chosen) > 0.01
    assert np.mean(told) < 0
