"""Descent by blocks: groups of columns, rows of several outputs, and both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso

from singleindex.design import DenseDesign, SparseDesign
from singleindex.solvers.descent import Products, Rows, descend
from singleindex.structures.separable import Separable


def products(X, v, residual):
    """Return the quadratic by its products; v and the residuals have shape (n,) or (n, n_outputs)."""
    grams, gradients, square = [], [], 0.0
    for own_v, r in zip(
        np.broadcast_to(v.T, np.atleast_2d(residual.T).shape), np.atleast_2d(residual.T), strict=True
    ):
        Z, r = X - own_v @ X / own_v.sum(), r - own_v @ r / own_v.sum()
        grams.append((Z.T * own_v) @ Z)
        gradients.append(Z.T @ (own_v * r))
        square += own_v @ r**2
    gram = np.stack(grams) if v.ndim == 2 else grams[0]
    return Products(gram, np.column_stack(gradients) if residual.ndim == 2 else gradients[0], square)


FORMS = {
    "dense": lambda X, v, r: Rows(DenseDesign(X), v, r),
    "csc": lambda X, v, r: Rows(SparseDesign(sparse.csc_array(X)), v, r),
    "products": products,
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def make(seed, n_outputs=None, density=1.0, n=40, d=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density) + (density == 1)
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]
    outputs = () if n_outputs is None else (n_outputs,)
    y = X[:, :4] @ rng.normal(size=(4, *outputs)) + rng.normal(size=(n, *outputs))
    return X, y, rng.random(n) + 0.1


def residual_at(X, y, v, w):
    r = y - X @ w
    weights = v if v.shape == r.shape else (v if r.ndim == 1 else v[:, None])
    return r - (weights * r).sum(axis=0) / weights.sum(axis=0), weights


def block_lengths(values, label, n_blocks):
    return np.sqrt(np.bincount(label, np.square(values).reshape(len(label), -1).sum(axis=1), n_blocks))


def violation(X, y, v, w, shape, penalty, alpha):
    """Return how far 0 is from the subgradients of the objective, the largest length over blocks."""
    label = np.arange(len(w)) if shape.block is None else shape.block
    r, weights = residual_at(X, y, v, w)
    q = X.T @ (weights * r) - alpha * w
    worst = 0.0
    for b, factor in enumerate(shape.factor):
        own, pull = w[label == b], q[label == b]
        if np.isinf(factor):
            assert not own.any()
        elif own.any():
            worst = max(worst, np.linalg.norm(pull - penalty * factor * own / np.linalg.norm(own)))
        else:
            worst = max(worst, np.linalg.norm(pull) - penalty * factor)
    return worst


GROUPS = np.repeat(np.arange(7), [1, 2, 3, 4, 5, 6, 3])
SHAPES = {
    "groups": (None, lambda factor: Separable(factor, GROUPS)),
    "scattered groups": (
        None,
        lambda factor: Separable(factor, np.random.default_rng(0).permutation(GROUPS)),
    ),
    "rows": (3, lambda factor: Separable(np.resize(factor, 24))),
    "groups of rows": (3, lambda factor: Separable(factor, GROUPS)),
    "rows of one output": (1, lambda factor: Separable(np.resize(factor, 24))),
}
every_shape = pytest.mark.parametrize(("n_outputs", "shape"), SHAPES.values(), ids=SHAPES)
FACTORS = np.array([1.0, 0.5, 2.0, 0.0, np.inf, 1.0, 3.0])
# Of each of fifteen combinations.
fewer_examples = settings(max_examples=settings().max_examples // 5)


@every_form
@every_shape
@fewer_examples
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.01, 0.2]),
    alpha=st.sampled_from([0.0, 0.3]),
    own_weights=st.booleans(),
)
def test_no_subgradient_is_left(form, n_outputs, shape, seed, share, alpha, own_weights):
    rng = np.random.default_rng(seed)
    X, y, v = make(seed, n_outputs, rng.choice([1.0, 0.2]))
    if own_weights and n_outputs is not None:
        v = rng.random(y.shape) + 0.1
    shape, w = shape(rng.permutation(FACTORS)), np.zeros((24, *y.shape[1:]))
    descent = descend(form(X, v, y), w, shape, share * 20, alpha, tol=1e-13)
    assert violation(X, y, v, descent.w, shape, share * 20, alpha) < 1e-3
    r, weights = residual_at(X, y, v, descent.w)
    np.testing.assert_allclose(descent.gradient, X.T @ (weights * r), atol=1e-7)


def test_the_violation_sees_a_wrong_answer():
    X, y, v = make(0)
    shape = Separable(np.ones(7), GROUPS)
    w = descend(Rows(DenseDesign(X), v, y), np.zeros(24), shape, 8.0, tol=1e-14).w
    assert violation(X, y, v, w, shape, 8.0, 0.0) < 1e-5
    for wrong in (w + 1e-2 * (w != 0), 1.01 * w, w + 1e-2 * (w == 0)):
        assert violation(X, y, v, wrong, shape, 8.0, 0.0) > 1e-3


@every_form
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_rows_are_those_of_scikit_learn(form, share):
    X, y, _ = make(1, 3)
    n, d = X.shape
    oracle = MultiTaskLasso(alpha=share, tol=1e-13, max_iter=10**6).fit(X, y)
    descent = descend(
        form(X, np.full(n, 1 / n), y), np.zeros((d, 3)), Separable(np.ones(d)), share, tol=1e-14
    )
    np.testing.assert_allclose(descent.w, oracle.coef_.T, atol=1e-7)


def proximal_gradient(X, y, v, shape, penalty, alpha, n_iter=20_000):
    """Return the minimiser by accelerated steps, slow and plain."""
    Z = (X - v @ X / v.sum()) * np.sqrt(v)[:, None]
    r = (y - v @ y / v.sum()) * np.sqrt(v)
    step = 1 / (np.linalg.norm(Z, 2) ** 2 + alpha)
    w = ahead = np.zeros(X.shape[1])
    for k in range(n_iter):
        to = ahead + step * (Z.T @ (r - Z @ ahead) - alpha * ahead)
        length = block_lengths(to, shape.block, len(shape.factor))
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(length > 0, np.maximum(1 - step * penalty * shape.factor / length, 0), 0)
        new = to * kept[shape.block]
        ahead, w = new + k / (k + 3) * (new - w), new
    return w


@every_form
def test_groups_are_those_of_proximal_steps(form):
    X, y, v = make(2)
    shape = Separable(np.sqrt(np.bincount(GROUPS)), GROUPS)
    descent = descend(form(X, v, y), np.zeros(24), shape, 2.0, 0.1, tol=1e-14)
    np.testing.assert_allclose(descent.w, proximal_gradient(X, y, v, shape, 2.0, 0.1), atol=1e-6)


@every_form
@every_shape
@fewer_examples
@given(seed=st.integers(0, 10**6), tol=st.sampled_from([1e-1, 1e-4]), alpha=st.sampled_from([0.0, 0.3]))
def test_the_gap_bounds_how_far_the_objective_is_from_its_least(form, n_outputs, shape, seed, tol, alpha):
    X, y, v = make(seed, n_outputs)
    shape = shape(np.maximum(FACTORS, 0.3))
    label, w = np.arange(24) if shape.block is None else shape.block, np.zeros((24, *y.shape[1:]))

    def objective(w):
        r, weights = residual_at(X, y, v, w)
        lengths = block_lengths(w, label, len(shape.factor))
        held = np.where(lengths > 0, shape.factor, 0) @ lengths
        return 0.5 * np.sum(weights * r**2) + 2.0 * held + 0.5 * alpha * np.sum(w**2)

    rough = descend(form(X, v, y), w, shape, 2.0, alpha, tol=tol)
    exact = descend(form(X, v, y), w, shape, 2.0, alpha, tol=1e-13)
    excess = objective(rough.w) - objective(exact.w)
    assert rough.converged
    assert -1e-12 * exact.objective < excess <= rough.gap + 1e-12 * exact.objective


def test_groups_of_one_are_coordinates():
    X, y, v = make(3)
    single = descend(Rows(DenseDesign(X), v, y), np.zeros(24), Separable(np.ones(24)), 1.0, tol=1e-14)
    grouped = descend(
        Rows(DenseDesign(X), v, y), np.zeros(24), Separable(np.ones(24), np.arange(24)[::-1]), 1.0, tol=1e-14
    )
    np.testing.assert_allclose(grouped.w, single.w, atol=1e-7)


@every_form
@every_shape
def test_a_warm_path_is_the_cold_ones(form, n_outputs, shape):
    X, y, v = make(4, n_outputs)
    shape, w, last = shape(np.ones(7)), np.zeros((24, *y.shape[1:])), None
    for penalty in 20 * np.geomspace(1, 0.02, 8):
        r, _ = residual_at(X, y, v, w)
        w = descend(form(X, v, r), w, shape, penalty, tol=1e-12, last_penalty=last).w
        last = penalty
        cold = descend(form(X, v, y), np.zeros_like(w), shape, penalty, tol=1e-12).w
        np.testing.assert_allclose(w, cold, atol=1e-4)


def test_bounds_of_blocks_and_labels_without_factors_are_refused():
    X, y, v = make(5)
    rows = Rows(DenseDesign(X), v, y)
    with pytest.raises(ValueError, match="no bounds"):
        descend(rows, np.zeros(24), Separable(np.ones(7), GROUPS, lower=np.zeros(24)), 1.0)
    for block in (GROUPS[:-1], GROUPS + 1, GROUPS - 1):
        with pytest.raises(ValueError, match="number of a block"):
            descend(rows, np.zeros(24), Separable(np.ones(7), block), 1.0)
