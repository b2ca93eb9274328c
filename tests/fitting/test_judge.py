"""Scores of held-out rows: the same as scikit-learn's, through one curve for all folds."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring, get_scorer

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.fitting.judge import Judge
from singleindex.fitting.plan import make_plan
from singleindex.fitting.record import Targets
from singleindex.fitting.scoring import Scoring
from singleindex.structures import RowSparse

RNG = np.random.default_rng(0)
N = 60
INDEX = RNG.normal(size=N)
LABELS = (INDEX + 0.5 * RNG.normal(size=N) > 0).astype(float)
NUMBERS = INDEX + 0.3 * RNG.normal(size=N)
WEIGHT = RNG.integers(0, 3, N).astype(float)
# Not all rows are held out, some twice.
SPLITS = [(np.arange(20, N), np.arange(20)), (np.r_[0:20, 40:N], np.arange(10, 40))]
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])


class AtIndex(RegressorMixin, BaseEstimator):
    """An estimator that knows its index."""

    def __init__(self, index, links):
        self.index, self.links = index, links

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.links[0](self.index[:, 0])


class ClassesAtIndex(ClassifierMixin, AtIndex):
    classes_ = np.array([0.0, 1.0])

    def predict_proba(self, X):
        p = AtIndex.predict(self, X)
        return np.column_stack([1 - p, p])

    def decision_function(self, X):
        return self.index[:, 0]

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(float)


def judge(scoring, y, weight=None, unit=1.0, is_classifier=False, structure=None):
    y = np.asarray(y)
    estimator = SingleIndexClassifier() if is_classifier else SingleIndexRegressor()
    kind = ClassesAtIndex if is_classifier else AtIndex
    Y = y.reshape(N, -1) / unit
    targets = Targets(y, Y, np.full(Y.shape[1], unit))
    plan = make_plan(3, None, is_classifier=is_classifier, structure=structure)
    how = Scoring(scoring, check_scoring(estimator, scoring=scoring), kind, "binary")
    return Judge(plan, how, np.zeros((N, 3)), targets, weight, SPLITS)


def held_out(*indices):
    """Return candidates with these indices, NaN where a row is never held out."""
    seen = np.zeros(N, bool)
    seen[:40] = True
    return np.array([np.where(seen, index, np.nan)[:, None] for index in indices])


CANDIDATES = held_out(INDEX, 0.5 * INDEX + RNG.normal(size=N), RNG.normal(size=N))


@weights
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "roc_auc"])
def test_quick_scores_of_classes_are_those_of_scikit_learn(scoring, weight):
    quick, slow = (
        judge(name, LABELS, weight, is_classifier=True).scores(CANDIDATES)[0].splits
        for name in (scoring, get_scorer(scoring))
    )
    np.testing.assert_allclose(quick, slow, atol=2e-3)  # the slow way tabulates its curves
    assert quick.shape == (3, 2)


@weights
@pytest.mark.parametrize("unit", [1.0, 64.0])
def test_quick_squared_errors_are_those_of_scikit_learn_in_the_units_of_y(unit, weight):
    quick, slow = (
        judge(name, unit * NUMBERS, weight, unit).scores(CANDIDATES)[0].splits
        for name in ("neg_mean_squared_error", get_scorer("neg_mean_squared_error"))
    )
    np.testing.assert_allclose(quick, slow, rtol=1e-9)


@weights
def test_predictions_are_those_of_one_curve_for_all_held_out_rows(weight):
    found = judge("neg_mean_squared_error", NUMBERS, weight)
    (scores,) = found.scores(CANDIDATES)
    seen = np.flatnonzero(np.ones(40) if weight is None else weight[:40])
    own = None if weight is None else weight[seen]
    line = LinearRegression().fit(INDEX[seen, None], NUMBERS[seen], sample_weight=own)
    expected = np.square(line.predict(INDEX[seen, None]) - NUMBERS[seen])
    np.testing.assert_allclose(scores.losses[0], expected)
    assert scores.mean[0] == pytest.approx(np.average(expected, weights=own))


def test_a_better_index_has_a_smaller_loss():
    (scores,) = judge("neg_log_loss", LABELS, is_classifier=True).scores(CANDIDATES)
    assert scores.best == 0
    assert scores.mean[0] < scores.mean[1] < scores.mean[2]


def test_scores_that_are_no_mean_over_rows_have_a_loss_for_each_fold():
    (scores,) = judge("roc_auc", LABELS, is_classifier=True).scores(CANDIDATES)
    assert scores.losses.shape == (3, 2)
    np.testing.assert_array_equal(scores.losses, -scores.splits)
    (by_function,) = judge(lambda model, X, y: 0.5, LABELS, is_classifier=True).scores(CANDIDATES)
    assert (by_function.splits == 0.5).all()


def test_folds_that_a_score_says_nothing_of_do_not_count():
    labels = LABELS.copy()
    labels[:20] = 1.0
    (scores,) = judge("roc_auc", labels, is_classifier=True).scores(CANDIDATES)
    assert np.isnan(scores.splits[:, 0]).all()
    assert scores.losses.shape == (3, 1)
    with pytest.raises(ValueError, match="every candidate scored NaN"):
        judge(lambda model, X, y: np.nan, LABELS, is_classifier=True).scores(CANDIDATES)


def test_outputs_have_losses_of_their_own_unless_they_are_one_problem():
    Y = np.column_stack([NUMBERS, -NUMBERS])
    both = np.concatenate([CANDIDATES, -CANDIDATES], axis=2)
    one, two = judge("neg_mean_squared_error", Y).scores(both)
    np.testing.assert_allclose(one.losses, two.losses)  # of an index that goes the other way, too
    noise = Y.copy()
    noise[:, 1] = RNG.normal(size=N)
    one, two = judge("neg_mean_squared_error", noise).scores(both)
    assert (one.losses != two.losses).any()
    np.testing.assert_array_equal(one.splits, two.splits)
    one, two = judge("neg_mean_squared_error", noise, structure=RowSparse()).scores(both)
    np.testing.assert_array_equal(one.losses, two.losses)
