"""Which rows are held out together, and splits in which a class or all weight is missing."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
)
from singleindex.design import as_design
from singleindex.fitting.folds import splits_of
from singleindex.fitting.plan import make_plan
from singleindex.fitting.record import Targets

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 5))
INDEX = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N)
QUICK = {"n_atoms": [5, 2], "penalty": [0.5, 0.2, 0.05], "scale_power": [0.5], "cv": 5}


def with_few(n_rows, n_classes):
    """Return labels of which class 1 has so many rows only, those of the largest index."""
    y = np.where(INDEX < 0, 2, 0) if n_classes == 3 else np.zeros(N, int)
    y[np.argsort(-INDEX)[:n_rows]] = 1
    return y


def splits(y, cv=5, is_classifier=False, weight=None, groups=None, rows=X):
    plan = make_plan(X.shape[1], None, is_classifier=is_classifier)
    return splits_of(cv, plan, rows, Targets(y, y[:, None], np.ones(1)), weight, groups)


def test_every_row_is_held_out_once():
    for is_classifier in (False, True):
        found = splits((INDEX > 0).astype(float), is_classifier=is_classifier)
        assert sorted(np.concatenate([test for _, test in found])) == list(range(N))
        assert all(len(np.intersect1d(train, test)) == 0 for train, test in found)


def test_folds_of_a_classifier_keep_the_shares_of_the_classes():
    y = np.repeat([0, 1], [50, 10])
    assert [int(y[test].sum()) for _, test in splits(y, is_classifier=True)] == [2] * 5
    assert [int(y[test].sum()) for _, test in splits(y)] == [0, 0, 0, 0, 10]


def test_groups_and_splitters_are_passed_on():
    groups = np.arange(N) % 7
    for train, test in splits(INDEX, cv=GroupKFold(3), groups=groups):
        assert not set(groups[train]) & set(groups[test])
    assert len(splits(INDEX, cv=[(np.arange(40), np.arange(40, N))])) == 1


def test_a_design_is_split_as_its_rows_are():
    for a, b in zip(splits(INDEX), splits(INDEX, rows=as_design(X)), strict=True):
        np.testing.assert_array_equal(a[1], b[1])


def test_splits_without_weight_on_either_side_are_left_out():
    weight = np.ones(N)
    weight[:12] = 0  # the first of five folds
    with pytest.warns(UserWarning, match="1 of the 5 splits"):
        found = splits(INDEX, weight=weight)
    assert [test[0] for _, test in found] == [12, 24, 36, 48]


# ---------------------------------------------------------------- a class that is rare


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
    SingleIndexClassifierCV(**QUICK | {"cv": StratifiedKFold(4)}).fit(
        X, (INDEX > 0).astype(int), sample_weight=weight
    )
