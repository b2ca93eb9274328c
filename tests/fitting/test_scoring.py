"""Scores of held-out rows: the same as scikit-learn's, through one link for all folds."""

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

from singleindex import SingleIndexClassifierCV, SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.fitting.candidates import HeldOut
from singleindex.fitting.plan import make_plan
from singleindex.fitting.record import Targets
from singleindex.fitting.scoring import CLASS_SCORES, QUICK_SCORES, Scorekeeper, Scoring

SMALL = {"n_atoms": [2, 5, 20], "alpha": [0.1], "penalty": [0.5, 0.2]}
RNG = np.random.default_rng(0)
N = 60
INDEX = RNG.normal(size=N)
LABELS = (INDEX + 0.5 * RNG.normal(size=N) > 0).astype(float)
WEIGHT = RNG.random(N)

ORACLES = {
    "neg_brier_score": lambda p, index, y, w: -brier_score_loss(y, p, sample_weight=w),
    "neg_log_loss": lambda p, index, y, w: -log_loss(y, p, sample_weight=w),
    "roc_auc": lambda p, index, y, w: roc_auc_score(y, index, sample_weight=w),
    "neg_mean_squared_error": lambda p, index, y, w: -mean_squared_error(y, p, sample_weight=w),
}


@pytest.mark.parametrize("name", QUICK_SCORES)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
def test_a_quick_score_is_that_of_scikit_learn(name, weight):
    p = RNG.uniform(0.01, 0.99, N)
    index = np.round(INDEX, 1)  # with ties
    assert QUICK_SCORES[name](p, index, LABELS, weight) == pytest.approx(
        ORACLES[name](p, index, LABELS, weight)
    )


def test_every_quick_score_has_an_oracle():
    assert set(QUICK_SCORES) == set(ORACLES)


@pytest.mark.parametrize("weight", [None, np.where(LABELS > 0, WEIGHT, 0.0)], ids=["alike", "weighted"])
def test_ranks_of_one_class_tell_nothing(weight):
    y = np.ones(N) if weight is None else LABELS
    assert np.isnan(QUICK_SCORES["roc_auc"](INDEX, INDEX, y, weight))


def test_scores_of_classes_are_those_of_scikit_learn():
    y = np.digitize(INDEX, [-1, 1])
    p = RNG.dirichlet(np.ones(3), size=N)
    weight = WEIGHT
    Y = (y[:, None] == np.arange(3)).astype(float)
    brier = sum(brier_score_loss(y == k, p[:, k], sample_weight=weight) for k in range(3))
    assert CLASS_SCORES["neg_brier_score"](p, Y, weight) == pytest.approx(-brier)
    assert CLASS_SCORES["neg_log_loss"](p, Y, weight) == pytest.approx(-log_loss(y, p, sample_weight=weight))


# ---------------------------------------------------------------- the keeper of scores

SPLITS = [(np.arange(20, N), np.arange(20)), (np.r_[0:20, 40:N], np.arange(20, 40))]  # not all are held out


def keeper(scoring, y=LABELS, unit=1.0, weight=None, splits=SPLITS):
    plan = make_plan(3, None, is_classifier=False)
    targets = Targets(y, (y / unit)[:, None], np.array([unit]))
    how = Scoring(scoring, check_scoring(SingleIndexRegressor(), scoring=scoring), AtIndex, True)
    return Scorekeeper(plan, how, np.zeros((N, 3)), targets, weight, splits)


class AtIndex(RegressorMixin, BaseEstimator):
    """An estimator that knows its index."""

    def __init__(self, index, links):
        self.index, self.links = index, links

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.links[0](self.index[:, 0])


def folds(index=INDEX, splits=SPLITS):
    return [HeldOut(index[test, None], 1.0, np.zeros(0, int), np.zeros(0)) for _, test in splits]


def test_held_out_indices_are_put_where_their_rows_are():
    pooled = keeper("neg_mean_squared_error").pooled(folds())
    np.testing.assert_array_equal(pooled[:40, 0], INDEX[:40])
    assert np.isnan(pooled[40:]).all()


def test_rows_that_are_held_out_twice_have_the_mean():
    twice = [(np.arange(30, N), np.arange(30))] * 2
    held_out = [HeldOut(c * INDEX[:30, None], 1.0, np.zeros(0, int), np.zeros(0)) for c in (1.0, 3.0)]
    pooled = keeper("neg_mean_squared_error", splits=twice).pooled(held_out)
    np.testing.assert_allclose(pooled[:30, 0], 2 * INDEX[:30])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("unit", [1.0, 64.0])
def test_the_slow_way_gives_the_same(weight, unit):
    y = unit * (INDEX + 0.1 * RNG.normal(size=N))
    name = "neg_mean_squared_error"
    quick = keeper(name, y, unit, weight).score(folds())
    slow = keeper(get_scorer(name), y, unit, weight).score(folds())
    np.testing.assert_allclose(quick, slow, rtol=1e-9)
    assert len(quick) == len(SPLITS)


def test_a_better_index_scores_better():
    name = "neg_mean_squared_error"
    good, bad = (keeper(name, INDEX).score(folds(index)) for index in (INDEX, RNG.permutation(INDEX)))
    assert min(good) > max(bad)


# ---------------------------------------------------------------- through a search


@pytest.fixture(scope="module")
def data():
    return make_single_index(200, 60, n_atoms=5, link="clipped", random_state=0)


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "roc_auc"])
def test_quick_scores_are_those_of_scikit_learn(data, scoring):
    quick = SingleIndexClassifierCV(**SMALL, scoring=scoring).fit(data.X, data.y)
    slow = SingleIndexClassifierCV(**SMALL, scoring=get_scorer(scoring)).fit(data.X, data.y)
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], atol=1e-6
    )
    np.testing.assert_array_equal(quick.coef_, slow.coef_)


def test_quick_squared_error_is_that_of_scikit_learn_in_the_units_of_y(data):
    y = 1000 * data.mean
    quick = SingleIndexRegressorCV(**SMALL).fit(data.X, y)
    slow = SingleIndexRegressorCV(**SMALL, scoring=get_scorer("neg_mean_squared_error")).fit(data.X, y)
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], rtol=1e-5
    )
