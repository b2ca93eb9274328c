"""Searches in which several classes are one problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from singleindex import SingleIndexClassifierCV, load, save
from singleindex.structures import RowSparse


def rows_of_softmax(n=260, d=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 3
    w = np.zeros((d, 3))
    w[:4] = 1.5 * rng.standard_normal((4, 3))
    index = (X - 3) @ w
    p = softmax(index, axis=1)
    return X, np.array([rng.choice(3, p=row) for row in p]), p


@pytest.fixture(scope="module")
def fitted():
    X, y, p = rows_of_softmax()
    return SingleIndexClassifierCV(cv=3).fit(X, y), X, y, p


def test_classes_that_share_their_probability_are_learned_as_one(fitted):
    model, X, y, p = fitted
    assert model.coupled_
    found = model.predict_proba(X)
    assert_allclose(found.sum(axis=1), 1)
    peer = LogisticRegression(C=1.0, max_iter=1000).fit(X - 3, y).predict_proba(X - 3)
    assert np.mean((found - p) ** 2) < 1.1 * np.mean((peer - p) ** 2)
    assert_allclose(model.predict(X), model.classes_[found.argmax(axis=1)])


def test_a_class_between_two_others_needs_the_others():
    X, y = load_iris(return_X_y=True)
    train = np.arange(len(y)) % 3 > 0
    together = SingleIndexClassifierCV(cv=3).fit(X[train], y[train])
    apart = SingleIndexClassifierCV(cv=3, rule="best").fit(X[train], y[train])
    assert together.coupled_
    assert not apart.coupled_
    losses = [log_loss(y[~train], model.predict_proba(X[~train])) for model in (together, apart)]
    assert losses[0] < 0.8 * losses[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "best"},
        {"n_atoms": [3]},
        {"link": "logistic"},
        {"scoring": "accuracy"},
        {"structure": RowSparse()},
    ],
    ids=str,
)
def test_what_is_asked_of_w_is_asked_of_each_class(settings):
    X, y, _ = rows_of_softmax(120)
    assert not SingleIndexClassifierCV(cv=3, **settings).fit(X, y).coupled_


def test_it_is_saved(fitted, tmp_path):
    model, X, _, _ = fitted
    save(model, tmp_path / "model.sim")
    again = load(tmp_path / "model.sim")
    assert again.coupled_
    assert_allclose(again.predict_proba(X), model.predict_proba(X))


def test_links_are_as_steep_as_is_allowed_for(fitted):
    model, X, y, _ = fitted
    for link in model.link_:
        assert np.max(np.diff(link.y) / np.diff(link.x)) <= 1 + 1e-9
    steeper = SingleIndexClassifierCV(cv=3, lipschitz=2.0).fit(X, y)
    assert_allclose(steeper.coef_, model.coef_ / 2, rtol=1e-6)
    assert_allclose(steeper.predict_proba(X), model.predict_proba(X), atol=1e-6)
