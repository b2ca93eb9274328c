"""Scores of held-out rows: the same as scikit-learn's, through one curve for all folds."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import (
    brier_score_loss,
    check_scoring,
    get_scorer,
    log_loss,
    mean_squared_error,
    roc_auc_score,
)

from singleindex import SingleIndexClassifierCV, SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.fitting.judge import Judge
from singleindex.fitting.plan import make_plan
from singleindex.fitting.record import Targets
from singleindex.fitting.scoring import ROW_LOSSES, Scoring, auc

SMALL = {"n_atoms": [2, 5], "penalty": [0.5, 0.2], "cv": 3}
RNG = np.random.default_rng(0)
N = 60
INDEX = RNG.normal(size=N)
LABELS = (INDEX + 0.5 * RNG.normal(size=N) > 0).astype(float)
WEIGHT = RNG.random(N)

ORACLES = {
    "neg_brier_score": lambda p, y, w: brier_score_loss(y, p, sample_weight=w),
    "neg_log_loss": lambda p, y, w: log_loss(y, p, sample_weight=w),
    "neg_mean_squared_error": lambda p, y, w: mean_squared_error(y, p, sample_weight=w),
}


@pytest.mark.parametrize("name", ROW_LOSSES)
def test_the_mean_of_row_losses_is_that_of_scikit_learn(name):
    p = RNG.uniform(0.01, 0.99, N)
    losses = ROW_LOSSES[name][0](p, LABELS)
    assert losses.shape == (N,)
    assert np.average(losses, weights=WEIGHT) == pytest.approx(ORACLES[name](p, LABELS, WEIGHT))


def test_every_row_loss_has_an_oracle():
    assert set(ROW_LOSSES) == set(ORACLES)


@pytest.mark.parametrize("weight", [np.ones(N), WEIGHT], ids=["alike", "weighted"])
def test_ranks_are_those_of_scikit_learn(weight):
    index = np.round(INDEX, 1)  # with ties
    assert auc(index, LABELS, weight) == pytest.approx(roc_auc_score(LABELS, index, sample_weight=weight))


@pytest.mark.parametrize("weight", [np.ones(N), np.where(LABELS > 0, WEIGHT, 0.0)], ids=["alike", "weighted"])
def test_ranks_of_one_class_tell_nothing(weight):
    y = np.ones(N) if (weight == 1).all() else LABELS
    assert np.isnan(auc(INDEX, y, weight))


def test_scores_of_classes_are_those_of_scikit_learn():
    y = np.digitize(INDEX, [-1, 1])
    p = RNG.dirichlet(np.ones(3), size=N)
    Y = (y[:, None] == np.arange(3)).astype(float)
    brier = sum(brier_score_loss(y == k, p[:, k], sample_weight=WEIGHT) for k in range(3))
    losses = {name: ROW_LOSSES[name][1](p[None], Y)[0] for name in ("neg_brier_score", "neg_log_loss")}
    assert np.average(losses["neg_brier_score"], weights=WEIGHT) == pytest.approx(brier)
    assert np.average(losses["neg_log_loss"], weights=WEIGHT) == pytest.approx(
        log_loss(y, p, sample_weight=WEIGHT)
    )


# ---------------------------------------------------------------- the judge

SPLITS = [(np.arange(20, N), np.arange(20)), (np.r_[0:20, 40:N], np.arange(20, 40))]  # not all are held out


def judge(scoring, y=LABELS, unit=1.0, weight=None):
    plan = make_plan(3, None, is_classifier=False)
    targets = Targets(y, (y / unit)[:, None], np.array([unit]))
    how = Scoring(scoring, check_scoring(SingleIndexRegressor(), scoring=scoring), AtIndex, True)
    return Judge(plan, how, np.zeros((N, 3)), targets, weight, SPLITS)


class AtIndex(RegressorMixin, BaseEstimator):
    """An estimator that knows its index."""

    def __init__(self, index, links):
        self.index, self.links = index, links

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.links[0](self.index[:, 0])


def held_out(*indices):
    """Return candidates with these indices, of the rows that are held out."""
    candidates = np.array(indices)[:, :, None].copy()
    candidates[:, 40:] = np.nan
    return candidates


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("unit", [1.0, 64.0])
def test_a_scorer_says_what_the_losses_of_rows_do(weight, unit):
    y = unit * (INDEX + 0.1 * RNG.normal(size=N))
    name = "neg_mean_squared_error"
    candidates = held_out(INDEX / unit, INDEX**3)
    quick = judge(name, y, unit, weight).scores(candidates)[0].splits
    slow = judge(get_scorer(name), y, unit, weight).scores(candidates)[0].splits
    np.testing.assert_allclose(quick, slow, rtol=1e-9)
    assert quick.shape == (2, len(SPLITS))


def test_a_better_index_scores_better():
    for name in ("neg_mean_squared_error", get_scorer("neg_mean_squared_error")):
        scores = judge(name, INDEX).scores(held_out(RNG.permutation(INDEX), INDEX))[0]
        assert scores.best == 1
        assert scores.splits[1].min() > scores.splits[0].max()


# ---------------------------------------------------------------- through a search


@pytest.fixture(scope="module")
def data():
    return make_single_index(200, 60, n_atoms=5, link="clipped", random_state=0)


@pytest.mark.parametrize("scoring", ["neg_brier_score", "roc_auc"])
def test_quick_scores_of_a_search_are_those_of_scikit_learn(data, scoring):
    quick = SingleIndexClassifierCV(**SMALL, scoring=scoring).fit(data.X, data.y)
    slow = SingleIndexClassifierCV(**SMALL, scoring=get_scorer(scoring)).fit(data.X, data.y)
    first = quick.cv_results_["stage"] == 1
    for model in (quick, slow):
        assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"][first], slow.cv_results_["mean_test_score"][first], atol=1e-3
    )
