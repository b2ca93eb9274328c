"""Paths of several classes whose probabilities sum to one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from singleindex.design import Scaling, View, as_design
from singleindex.link import FixedLink
from singleindex.solvers.exact import Exact
from singleindex.solvers.ridge import rotate
from singleindex.solvers.simplicity import Simplicity
from singleindex.solvers.together import exact_path_together, ridge_path_together
from singleindex.structures import Sparse


@pytest.fixture
def classes():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 8)) + 1
    w = np.zeros((8, 3))
    w[:3] = rng.standard_normal((3, 3))
    p = softmax(1.5 * X @ w, axis=1)
    Y = np.array([rng.multinomial(1, row) for row in p], dtype=float)
    return np.asfortranarray(X), Y


def probabilities(index, Y):
    """Return the softmax of indices whose levels are of greatest likelihood."""
    levels = np.zeros(Y.shape[1])
    for _ in range(500):
        p = softmax(index + levels, axis=1)
        levels += np.log(Y.mean(axis=0) / p.mean(axis=0))
    return p


def test_a_settled_path_meets_the_conditions_of_an_optimum(classes):
    X, Y = classes
    simplicity = Simplicity(Sparse(), 0.25, None, 0.0)
    methods = [Exact(as_design(X), np.ascontiguousarray(y), simplicity, FixedLink("logistic")) for y in Y.T]
    penalty = 0.03
    *_, last = exact_path_together(methods, [penalty] * 200)
    w = np.column_stack([one.coef for one in last])
    p = probabilities(np.column_stack([one.index for one in last]), Y)
    gradient = (X - X.mean(axis=0)).T @ (p - Y) / len(Y)
    assert_allclose(gradient[w != 0], -penalty * np.sign(w[w != 0]), atol=1e-4)
    assert np.abs(gradient).max() <= penalty + 1e-4
    assert 0 < np.count_nonzero(w) < w.size


def test_ridges_are_those_of_multinomial_regression(classes):
    X, Y = classes
    share, ridge = np.full(400, 1 / 400), 0.05
    rotated = rotate(View(as_design(X), Scaling(np.ones(8))), share)
    *_, (c, index) = ridge_path_together(rotated, Y, share, [ridge] * 30)
    peer = LogisticRegression(C=1 / (400 * ridge), tol=1e-10, max_iter=5000).fit(X, Y.argmax(axis=1))
    w = np.column_stack([rotated.coef(one) for one in c.T])
    assert_allclose(
        w - w.mean(axis=1, keepdims=True), peer.coef_.T - peer.coef_.mean(axis=0)[:, None], atol=1e-5
    )
    assert_allclose(probabilities(index, Y), peer.predict_proba(X), atol=1e-5)
