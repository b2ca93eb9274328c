"""The inner problem of an exact step: optimality by certificates first, then other solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from singleindex.design import DenseDesign, Scaling, SparseDesign, View
from singleindex.solvers import _descent
from singleindex.solvers.descent import Products, Rows, descend
from singleindex.structures.separable import Separable


def make(seed, n=40, d=25, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density) + (density == 1)
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]
    y = X[:, :4] @ [1.0, -2.0, 1.5, 0.5] + rng.normal(size=n)
    return X, y, rng.random(n) + 0.1


def products(X, v, residual):
    Z = X - v @ X / v.sum()
    residual = residual - v @ residual / v.sum()
    return Products((Z.T * v) @ Z, Z.T @ (v * residual), v @ residual**2)


SCALE = np.arange(1.0, 301.0)


def scaled(design):
    return View(design, Scaling(SCALE[: design.shape[1]]))


FORMS = {
    "dense": lambda X, v, r: Rows(DenseDesign(X), v, r),
    "dense, F order": lambda X, v, r: Rows(DenseDesign(np.asfortranarray(X)), v, r),
    "csc": lambda X, v, r: Rows(SparseDesign(sparse.csc_array(X)), v, r),
    "csr": lambda X, v, r: Rows(SparseDesign(sparse.csr_array(X)), v, r),
    "scaled csc": lambda X, v, r: Rows(scaled(SparseDesign(sparse.csc_array(X / SCALE[: X.shape[1]]))), v, r),
    "products": products,
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def residual_at(X, y, v, w):
    """Return the residuals, least over the intercept."""
    r = y - X @ w
    return r - v @ r / v.sum()


def violation(X, y, v, w, shape, penalty, alpha=0.0):
    """Return how far 0 is from the subgradients of the objective, by single coordinates."""
    q = X.T @ (v * residual_at(X, y, v, w)) - alpha * w
    amount = np.where(np.isinf(shape.factor), np.inf, penalty * np.nan_to_num(shape.factor, posinf=0))
    lower = np.full(len(w), -np.inf) if shape.lower is None else shape.lower
    upper = np.full(len(w), np.inf) if shape.upper is None else shape.upper
    assert (lower <= w).all()
    assert (w <= upper).all()
    assert (w[np.isinf(amount)] == 0).all()
    low = np.where(w > 0, amount, -amount)  # of the subdifferential of the penalty
    high = np.where(w < 0, -amount, amount)
    short, over = np.maximum(low - q, 0), np.maximum(q - high, 0)
    return float(max(np.max(short[w > lower], initial=0), np.max(over[w < upper], initial=0)))


@every_form
@pytest.mark.parametrize("density", [1.0, 0.15])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("shares", [0.5, 0.05])
def test_the_answer_is_that_of_scikit_learn(form, density, alpha, shares):
    X, y, _ = make(1, density=density)
    n, d = X.shape
    penalty = shares * np.max(np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))) / n
    descent = descend(
        form(X, np.full(n, 1 / n), y), np.zeros(d), Separable(np.ones(d)), penalty, alpha, tol=1e-14
    )
    oracle = ElasticNet(
        alpha=penalty + alpha, l1_ratio=penalty / (penalty + alpha), tol=1e-13, max_iter=10**6
    ) if alpha else Lasso(alpha=penalty, tol=1e-13, max_iter=10**6)  # fmt: skip
    assert descent.converged
    np.testing.assert_allclose(descent.w, oracle.fit(X, y).coef_, atol=1e-9)
    np.testing.assert_array_equal(descent.w != 0, oracle.coef_ != 0)


# ---------------------------------------------------------------- factors, bounds, weights


def any_shape(rng, d):
    """Return factors with zero and infinity among them, and bounds of every kind."""
    factor = rng.choice([0.0, 0.5, 1.0, 3.0, np.inf], d, p=[0.1, 0.3, 0.3, 0.2, 0.1])
    lower = rng.choice([-np.inf, 0.0, -0.3], d, p=[0.6, 0.2, 0.2])
    upper = rng.choice([np.inf, 0.0, 0.2], d, p=[0.6, 0.1, 0.3])
    return Separable(factor, lower=lower, upper=upper)


@every_form
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.0, 1e-3, 0.1, 0.5]),
    alpha=st.sampled_from([0.0, 0.2]),
)
def test_no_subgradient_is_left(form, seed, share, alpha):
    rng = np.random.default_rng(seed)
    X, y, v = make(seed, n=40, d=25, density=rng.choice([1.0, 0.2]))
    shape, penalty = any_shape(rng, 25), share * 30.0
    descent = descend(form(X, v, y), np.zeros(25), shape, penalty, alpha, tol=1e-15)
    assert violation(X, y, v, descent.w, shape, penalty, alpha) < 1e-6
    np.testing.assert_allclose(descent.gradient, X.T @ (v * residual_at(X, y, v, descent.w)), atol=1e-8)


def test_the_violation_sees_a_wrong_answer():
    X, y, v = make(0)
    shape = Separable(np.ones(25))
    w = descend(Rows(DenseDesign(X), v, y), np.zeros(25), shape, 1.0, tol=1e-14).w
    assert violation(X, y, v, w, shape, 1.0) < 1e-5
    for wrong in (w + 1e-3 * (w != 0), 1.001 * w, w + 1e-4 * (w == 0)):
        assert violation(X, y, v, wrong, shape, 1.0) > 1e-4


def objective(X, y, v, w, shape, penalty, alpha):
    held = np.where(w != 0, shape.factor, 0.0) @ np.abs(w)
    return 0.5 * v @ residual_at(X, y, v, w) ** 2 + penalty * held + 0.5 * alpha * w @ w


@every_form
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.0, 0.2]), tol=st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_the_gap_bounds_how_far_the_objective_is_from_its_least(form, seed, alpha, tol):
    rng = np.random.default_rng(seed)
    X, y, v = make(seed)
    shape = any_shape(rng, 25)
    shape.factor[shape.factor == 0] = 1.0
    rough = descend(form(X, v, y), np.zeros(25), shape, 2.0, alpha, tol=tol)
    exact = descend(form(X, v, y), np.zeros(25), shape, 2.0, alpha, tol=1e-15)
    excess = objective(X, y, v, rough.w, shape, 2.0, alpha) - objective(X, y, v, exact.w, shape, 2.0, alpha)
    assert -1e-12 * exact.objective < excess <= rough.gap + 1e-12 * exact.objective
    assert rough.converged
    assert rough.gap <= tol * rough.objective


@every_form
@given(seed=st.integers(0, 10**6))
def test_weights_are_repetition(form, seed):
    rng = np.random.default_rng(seed)
    X, y, _ = make(seed)
    times = rng.integers(0, 4, len(y))
    shape = any_shape(rng, 25)
    weighted = descend(form(X, times.astype(float), y), np.zeros(25), shape, 3.0, tol=1e-14)
    repeated = [np.repeat(values, times, axis=0) for values in (X, y)]
    plain = descend(form(repeated[0], np.ones(times.sum()), repeated[1]), np.zeros(25), shape, 3.0, tol=1e-14)
    np.testing.assert_allclose(weighted.w, plain.w, atol=1e-7)


@every_form
def test_a_warm_start_leads_to_the_same_answer_with_the_residual_of_its_own(form):
    X, y, v = make(2)
    shape, penalty = any_shape(np.random.default_rng(0), 25), 2.0
    cold = descend(form(X, v, y), np.zeros(25), shape, penalty, tol=1e-14)
    for w in (cold.w, np.random.default_rng(1).normal(size=25)):  # the second out of the bounds
        warm = descend(form(X, v, residual_at(X, y, v, w)), w, shape, penalty, tol=1e-14)
        np.testing.assert_allclose(warm.w, cold.w, atol=1e-7)
    assert descend(form(X, v, residual_at(X, y, v, cold.w)), cold.w, shape, penalty, tol=1e-9).n_sweeps == 0


@every_form
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_no_feature_is_lost_along_a_path(form, density):
    X, y, v = make(3, n=60, d=80, density=density)
    d = X.shape[1]
    shape = Separable(np.ones(d))
    levels = np.max(np.abs(X.T @ (v * residual_at(X, y, v, np.zeros(d))))) * np.geomspace(1, 1e-2, 15)
    w, last = np.zeros(d), None
    for penalty in levels:
        descent = descend(
            form(X, v, residual_at(X, y, v, w)), w, shape, penalty, tol=1e-12, last_penalty=last
        )
        assert descent.converged
        assert violation(X, y, v, descent.w, shape, penalty) < 1e-5 * penalty
        w, last = descent.w, penalty
    assert np.count_nonzero(w) > 40


@every_form
def test_constant_columns_and_rows_without_weight_change_nothing(form):
    X, y, v = make(4)
    alone = descend(form(X, v, y), np.zeros(25), Separable(np.ones(25)), 2.0, tol=1e-14)
    wide = np.column_stack([np.full(40, 0.1), X, np.zeros(40), np.full(40, 1e6 / 3)])
    factor = np.r_[0.0, np.ones(26), 0.0]
    more = np.vstack([wide, 1e3 * np.random.default_rng(0).normal(size=(5, 28))])
    descent = descend(
        form(more, np.r_[v, np.zeros(5)], np.r_[y, np.full(5, 1e6)]),
        np.zeros(28),
        Separable(factor),
        2.0,
        tol=1e-14,
    )
    np.testing.assert_allclose(descent.w[1:26], alone.w, atol=1e-7)
    np.testing.assert_array_equal(descent.w[[26]], 0.0)


def test_no_rows_of_any_weight_and_no_residual_leave_zero():
    X, y, _ = make(5)
    shape = Separable(np.ones(25))
    for v, residual in ((np.zeros(40), y), (np.ones(40), np.zeros(40))):
        for form in FORMS.values():
            descent = descend(
                form(X, v, residual) if v.any() else Rows(DenseDesign(X), v, residual),
                np.zeros(25),
                shape,
                1.0,
            )
            assert descent.converged
            assert not descent.w.any()


def test_the_same_bits_at_every_run():
    X, y, v = make(6, n=100, d=300)
    shape = Separable(np.ones(300))
    one, two = (descend(Rows(DenseDesign(X), v, y), np.zeros(300), shape, 1.0) for _ in range(2))
    np.testing.assert_array_equal(one.w, two.w)


def test_many_columns_in_use_are_found_from_rows():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(700, 900)), rng.normal(size=900)
    v, y = np.full(700, 1 / 700), X @ w
    shape, penalty = Separable(np.ones(900)), 0.05
    descent = descend(Rows(DenseDesign(X), v, y), np.zeros(900), shape, penalty, tol=1e-12)
    assert np.count_nonzero(descent.w) > 500
    assert violation(X, y, v, descent.w, shape, penalty) < 1e-5


# ---------------------------------------------------------------- what kernels are given


def test_arrays_that_do_not_go_together_are_refused():
    X, y, v = make(7)
    shape = Separable(np.ones(25))
    wrong = [
        (Rows(DenseDesign(X), v[:-1], y), np.zeros(25)),
        (Rows(DenseDesign(X), v, y[:-1]), np.zeros(25)),
        (Rows(DenseDesign(X), v, y), np.zeros(24)),
        (Products(np.eye(24), np.zeros(25), 1.0), np.zeros(25)),
        (Products(np.eye(25), np.zeros(24), 1.0), np.zeros(25)),
    ]
    for quadratic, w in wrong:
        with pytest.raises(ValueError, match="must"):
            descend(quadratic, w, shape, 1.0)


def test_kernels_refuse_short_arrays():
    A, r = np.ones((1, 5, 3)), np.ones((1, 3))
    whole = [np.ones((5, 1)), np.ones((1, 5)), np.ones(5), np.ones(5), np.ones(5)]
    short = [np.ones((4, 1)), np.ones((1, 4)), np.ones(4), np.ones(4), np.ones(4)]
    no_blocks = 0.0, None, None, None, 0.0, 10
    for k in range(5):
        parts = [*whole[:k], short[k], *whole[k + 1 :]]
        with pytest.raises(ValueError, match="must have one entry"):
            _descent.descend_dense(A, r, *parts, *no_blocks)
        with pytest.raises(ValueError, match="must have one entry"):
            _descent.descend_gram(np.eye(5)[None], np.ones((1, 5)), 1.0, *parts, *no_blocks)
    for indices in ([0, 1, 3], [0, -1, 2], [0, 1]):
        stored = np.ones((1, 3)), np.array(indices, dtype=np.int32), np.array([0, 1, 1, 2, 3, 3])
        with pytest.raises(ValueError, match="must have one entry"):
            _descent.descend_sparse(*stored, np.ones((1, 5)), r, r.copy(), *whole, *no_blocks)
    for starts, within, bound in (
        ([0, 2, 5], np.ones((1, 12)), np.ones(2)),
        ([0, 2, 5], np.ones((1, 13)), np.ones(3)),
        ([0, 2, 6], np.ones((1, 20)), np.ones(2)),
        ([0, 5, 5], np.ones((1, 25)), np.ones(2)),
    ):
        blocks = np.ones(2), None, None, 0.0, np.array(starts), within, bound, 0.0, 10
        with pytest.raises(ValueError, match="must have one entry"):
            _descent.descend_dense(A, r, *whole[:2], *blocks)


# ---------------------------------------------------------------- units


@every_form
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_units_of_y_are_those_of_the_answer_bit_for_bit(form, density):
    X, y, v = make(8, density=density)
    shape = any_shape(np.random.default_rng(3), 25)
    wide = Separable(shape.factor, lower=shape.lower * 2.0**20, upper=shape.upper * 2.0**20)
    one = descend(form(X, v, y), np.zeros(25), shape, 1.0, 0.1)
    other = descend(form(X, v, 2.0**20 * y), np.zeros(25), wide, 2.0**20, 0.1)
    np.testing.assert_array_equal(other.w, 2.0**20 * one.w)
    assert other.gap == 2.0**40 * one.gap


@pytest.mark.parametrize(
    "convert", [DenseDesign, lambda X: SparseDesign(sparse.csr_array(X))], ids=["dense", "csr"]
)
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_units_of_columns_that_are_scaled_away_change_no_bit(convert, density):
    X, y, v = make(9, density=density)
    units = 2.0 ** np.random.default_rng(0).integers(-30, 30, 25)
    one, other = (
        descend(
            Rows(View(convert(X * unit), Scaling(1 / unit)), v, y), np.zeros(25), Separable(np.ones(25)), 1.0
        )
        for unit in (np.ones(25), units)
    )
    np.testing.assert_array_equal(one.w, other.w)


def test_columns_far_from_zero_are_centred():
    X, y, v = make(10)
    shape = Separable(np.r_[0.0, np.ones(24)])
    near = descend(Rows(DenseDesign(X), v, y), np.zeros(25), shape, 1.0, tol=1e-13)
    for convert in (DenseDesign, lambda X: SparseDesign(sparse.csc_array(X))):
        far = descend(Rows(convert(X + 1e6), v, y + 1e6), np.zeros(25), shape, 1.0, tol=1e-13)
        np.testing.assert_allclose(far.w, near.w, atol=1e-6)
