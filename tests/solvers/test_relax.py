"""Fits without a penalty on a few columns."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from singleindex.link import FixedLink, Lpav
from singleindex.solvers.relax import relax
from singleindex.structures.separable import Separable

RNG = np.random.default_rng(0)
N, K = 300, 5
COLUMNS = RNG.normal(size=(N, K)) @ (np.eye(K) + 0.4) + 3.0
TRUTH = np.array([1.0, -0.5, 0.0, 0.3, -1.0])
INDEX = COLUMNS @ TRUTH
NUMBERS = INDEX + RNG.normal(size=N)
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-(INDEX - INDEX.mean())))).astype(float)
WEIGHT = RNG.integers(1, 4, N).astype(float)
SHARE = WEIGHT / WEIGHT.sum()


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_with_the_identity_it_is_least_squares_with_a_small_ridge(alpha):
    found = relax(COLUMNS, NUMBERS, SHARE, RNG.normal(size=K), FixedLink("identity"), alpha)
    centred = COLUMNS - SHARE @ COLUMNS
    products = (centred.T * SHARE) @ centred
    ridge = alpha + 1e-2 * np.diag(products).mean()
    expected = np.linalg.solve(products + ridge * np.eye(K), centred.T @ (SHARE * NUMBERS))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_with_the_logistic_link_it_is_nearly_logistic_regression():
    oracle = LogisticRegression(C=np.inf, tol=1e-10).fit(COLUMNS, LABELS, sample_weight=WEIGHT).coef_[0]
    found = relax(COLUMNS, LABELS, SHARE, np.zeros(K), FixedLink("logistic"))
    assert cosine(found, oracle) > 0.995
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(oracle), rel=0.1)


@pytest.mark.parametrize("fitter", [Lpav(1.0), FixedLink("logistic")], ids=["learned", "logistic"])
def test_a_fit_is_better_than_where_it_began(fitter):
    y = LABELS
    start = 0.1 * TRUTH + 0.1 * RNG.normal(size=K)
    errors = [
        SHARE @ np.square(fitter.fit((COLUMNS - SHARE @ COLUMNS) @ w, y, SHARE)[1] - y)
        for w in (start, relax(COLUMNS, y, SHARE, start, fitter))
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("link", ["identity", "logistic"])
def test_bounds_are_kept(link):
    lower, upper = np.full(K, -np.inf), np.full(K, np.inf)
    lower[1], upper[3] = 0.0, 0.0  # the truth has the other signs
    bounds = Separable(np.zeros(K), lower=lower, upper=upper)
    y = LABELS if link == "logistic" else NUMBERS
    found = relax(COLUMNS, y, SHARE, np.zeros(K), FixedLink(link), bounds=bounds)
    assert found[1] >= 0
    assert found[3] <= 0
    assert found[0] > 0


def test_weights_are_repetitions():
    count = WEIGHT.astype(int)
    n = count.sum()
    weighted = relax(COLUMNS, LABELS, SHARE, np.zeros(K), FixedLink("logistic"))
    repeated = relax(
        np.repeat(COLUMNS, count, axis=0), np.repeat(LABELS, count), np.full(n, 1 / n), np.zeros(K),
        FixedLink("logistic"),
    )  # fmt: skip
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_rows_without_weight_are_none():
    far = np.vstack([COLUMNS, 100 * COLUMNS[:1]])
    found = relax(far, np.r_[LABELS, 0], np.r_[SHARE, 0], np.zeros(K), FixedLink("logistic"))
    np.testing.assert_allclose(found, relax(COLUMNS, LABELS, SHARE, np.zeros(K), FixedLink("logistic")))


def test_columns_that_are_the_same_share_their_weight():
    twice = np.column_stack([COLUMNS, COLUMNS[:, 0]])
    found = relax(twice, NUMBERS, SHARE, np.zeros(K + 1), FixedLink("identity"))
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(found[-1])
