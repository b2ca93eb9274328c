"""Splits in which a class or all weight is missing, and data that cannot be split at all."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)
from singleindex.design import chunk_arrays
from singleindex.fitting.scoring import CLASS_SCORES

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 5))
INDEX = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N)
QUICK = {"n_atoms": [5, 2], "penalty": [], "scale_power": [0.5]}


def with_few(n_rows, n_classes):
    """Return labels of which class 1 has so many rows only, those of the largest index."""
    y = np.where(INDEX < 0, 2, 0) if n_classes == 3 else np.zeros(N, int)
    y[np.argsort(-INDEX)[:n_rows]] = 1
    return y


@pytest.mark.parametrize("n_rows", [1, 2, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "accuracy"])
def test_a_class_with_fewer_rows_than_folds(n_rows, n_classes, scoring):
    model = SingleIndexClassifierCV(scoring=scoring, **QUICK)
    with pytest.warns(UserWarning, match="least populated class"):
        model.fit(X, with_few(n_rows, n_classes))
    assert np.isfinite(model.best_score_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_folds_that_a_score_says_nothing_of_do_not_count():
    model = SingleIndexClassifierCV(scoring="roc_auc", **QUICK)
    with pytest.warns(UserWarning, match="least populated class"):
        model.fit(X, with_few(3, 2))
    splits = np.array([model.cv_results_[f"split{k}_test_score"] for k in range(5)])
    assert np.isnan(splits).any(axis=1).sum() == 2
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], np.nanmean(splits, axis=0))
    assert model.best_score_ > 0.9


@pytest.mark.parametrize("model", [SingleIndexClassifierCV(**QUICK), SingleIndexClassifier(link_cv=5)])
def test_fewer_folds_where_no_class_has_a_row_for_each(model):
    y = np.repeat([0, 1], 3)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        clone(model).fit(X[:6], y)
    assert any("3 folds are used in place of 5" in str(one.message) for one in said)
    with pytest.raises(ValueError, match="Every class of y has one row"):
        clone(model).fit(X[:2], y[2:4])


def test_scores_of_classes_are_those_of_scikit_learn():
    y = np.digitize(INDEX, [-1, 1])
    p = RNG.dirichlet(np.ones(3), size=N)
    weight = RNG.random(N)
    Y = (y[:, None] == np.arange(3)).astype(float)
    brier = sum(brier_score_loss(y == k, p[:, k], sample_weight=weight) for k in range(3))
    assert CLASS_SCORES["neg_brier_score"](p, Y, weight) == pytest.approx(-brier)
    assert CLASS_SCORES["neg_log_loss"](p, Y, weight) == pytest.approx(-log_loss(y, p, sample_weight=weight))


# ---------------------------------------------------------------- weight


@pytest.mark.parametrize("model", [SingleIndexRegressorCV(**QUICK), SingleIndexRegressor(link_cv=5)])
def test_a_fold_without_weight_is_left_out(model):
    weight = np.ones(N)
    weight[:12] = 0  # the first of five folds
    with pytest.warns(UserWarning, match="1 of the 5 splits of cv lack rows of positive weight"):
        fitted = clone(model).fit(X, INDEX, sample_weight=weight)
    absent = clone(model)
    name = "cv" if "cv" in model.get_params() else "link_cv"
    absent.set_params(**{name: 4}).fit(X[12:], INDEX[12:])
    np.testing.assert_allclose(fitted.coef_, absent.coef_, atol=1e-10)
    np.testing.assert_allclose(fitted.predict(X), absent.predict(X), atol=1e-10)


@pytest.mark.parametrize("model", [SingleIndexRegressorCV(**QUICK), SingleIndexRegressor(link_cv=5)])
def test_all_weight_in_one_fold(model):
    weight = np.zeros(N)
    weight[:12] = 1
    with pytest.raises(ValueError, match=r"None of the 5 splits.*KFold\(5, shuffle=True"):
        clone(model).fit(X, INDEX, sample_weight=weight)


def test_weight_without_folds_that_lack_it_warns_of_nothing():
    weight = RNG.random(N)
    SingleIndexClassifierCV(cv=StratifiedKFold(4), **QUICK).fit(
        X, (INDEX > 0).astype(int), sample_weight=weight
    )


# ---------------------------------------------------------------- data in blocks


@pytest.mark.parametrize(
    "model",
    [SingleIndexRegressorCV(), SingleIndexClassifierCV(), Slisotron()],
    ids=lambda m: type(m).__name__,
)
def test_blocks_of_rows_say_what_to_do_instead(model):
    y = (INDEX > 0).astype(int)
    with pytest.raises(ValueError, match=r"needs its data in memory\. Choose the settings on a sample"):
        model.fit(chunk_arrays(X, y))
    with pytest.raises(ValueError, match="needs its data in memory"):
        model.fit(chunk_arrays(X, y), None)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="needs its data in memory"):
        model.fit(da.from_array(X, chunks=20), da.from_array(y, chunks=20))
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X)
