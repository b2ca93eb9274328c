"""Losses and ranks of held-out rows are those of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, get_scorer, log_loss, mean_squared_error, roc_auc_score

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.fitting.scoring import ROW_LOSSES, auc

SMALL = {"n_atoms": [2, 5, 20], "penalty": [0.5, 0.2, 0.1], "cv": 4}
RNG = np.random.default_rng(0)
N = 60
INDEX = RNG.normal(size=N)
LABELS = (INDEX + 0.5 * RNG.normal(size=N) > 0).astype(float)
WEIGHT = RNG.random(N)
ORACLES = {
    "neg_brier_score": brier_score_loss,
    "neg_log_loss": log_loss,
    "neg_mean_squared_error": mean_squared_error,
}


@pytest.mark.parametrize("name", ROW_LOSSES)
def test_the_mean_loss_of_rows_is_the_score_of_scikit_learn(name):
    p = RNG.uniform(0.01, 0.99, N)
    found = np.average(ROW_LOSSES[name][0](p, LABELS), weights=WEIGHT)
    assert found == pytest.approx(ORACLES[name](LABELS, p, sample_weight=WEIGHT))


def test_every_loss_has_an_oracle():
    assert set(ROW_LOSSES) == set(ORACLES)


def test_the_losses_of_classes_are_those_of_scikit_learn():
    y = np.digitize(INDEX, [-1, 1])
    p = RNG.dirichlet(np.ones(3), size=N)
    Y = (y[:, None] == np.arange(3)).astype(float)
    brier = sum(brier_score_loss(y == k, p[:, k], sample_weight=WEIGHT) for k in range(3))
    found = {
        name: np.average(ROW_LOSSES[name][1](p[None], Y)[0], weights=WEIGHT)
        for name in ("neg_brier_score", "neg_log_loss")
    }
    assert found["neg_brier_score"] == pytest.approx(brier)
    assert found["neg_log_loss"] == pytest.approx(log_loss(y, p, sample_weight=WEIGHT))


@pytest.mark.parametrize("weight", [np.ones(N), WEIGHT], ids=["alike", "weighted"])
def test_ranks_are_those_of_scikit_learn(weight):
    index = np.round(INDEX, 1)  # with ties
    assert auc(index, LABELS, weight) == pytest.approx(roc_auc_score(LABELS, index, sample_weight=weight))


def test_ranks_of_one_class_tell_nothing():
    assert np.isnan(auc(INDEX, np.ones(N), np.ones(N)))
    assert np.isnan(auc(INDEX, LABELS, np.where(LABELS > 0, WEIGHT, 0.0)))


# ---------------------------------------------------------------- through a search


@pytest.fixture(scope="module")
def data():
    return make_single_index(200, 60, n_atoms=5, link="clipped", random_state=0)


def test_a_score_by_name_and_by_its_scorer_choose_alike(data):
    by_name, by_scorer = (
        SingleIndexClassifierCV(**SMALL, scoring=scoring).fit(data.X, data.y)
        for scoring in ("roc_auc", get_scorer("roc_auc"))
    )
    np.testing.assert_allclose(
        by_name.cv_results_["mean_test_score"], by_scorer.cv_results_["mean_test_score"], atol=1e-9
    )
    np.testing.assert_allclose(by_name.coef_, by_scorer.coef_, rtol=1e-9)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "roc_auc", "accuracy", "f1", None])
@pytest.mark.parametrize("rule", ["average", "best", "one_se"])
def test_any_score_of_classes_finds_the_features(data, scoring, rule):
    model = SingleIndexClassifierCV(**SMALL | {"n_atoms": [5]}, scoring=scoring, rule=rule)
    model.fit(data.X, data.y)
    assert len(set(np.flatnonzero(model.coef_)) & set(np.flatnonzero(data.coef))) >= 4


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "r2", "neg_mean_absolute_error", None])
def test_any_score_of_numbers_finds_the_features(data, scoring):
    y = 1000 * data.mean
    model = SingleIndexRegressorCV(**SMALL | {"n_atoms": [5]}, scoring=scoring).fit(data.X, y)
    assert set(np.flatnonzero(model.coef_)) == set(np.flatnonzero(data.coef))
