"""Designs: products against numpy, vectors of wrong lengths, and sparse matrices that lead out of memory."""

from typing import Any

import numpy as np
from scipy import sparse

from singleindex import SingleIndexRegressor
from singleindex.design import CsrDesign, DenseDesign, Scaling, SparseDesign, View, Visit
from singleindex.link import MonotoneCurve

from .registry import Case, target

EPS = np.finfo(np.float64).eps
LARGE, SMALL = 2**31 - 1, -(2**31)


def draw_dense(case: Case, n: int, d: int) -> np.ndarray:
    X = case.rng.normal(size=(n, d)) * 10.0 ** case.rng.integers(-30, 30, size=d)
    X[case.rng.random((n, d)) < case.pick([0, 0.5, 0.95])] = 0
    return X.astype(case.pick(["f4", "f8"]))


def draw_layout(case: Case, X: np.ndarray) -> Any:
    """Return the same numbers, in one of the ways in which they may lie."""
    layout = case.pick(
        ["C", "F", "strided", "read-only", "csr", "csc", "coo", "matrix", "twice", "long", "mixed"]
    )
    case.say("layout", (layout, X.shape, str(X.dtype)))
    if layout in "CF":
        return np.array(X, order=layout)
    if layout == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    if layout == "read-only":
        X = X.copy()
        X.flags.writeable = False
        return X
    if layout == "matrix":
        return sparse.csr_matrix(X)
    if layout == "twice":  # every entry in two halves
        half = sparse.coo_array(X / 2)
        both = (np.tile(half.row, 2), np.tile(half.col, 2))
        return sparse.csr_array(sparse.coo_array((np.tile(half.data, 2), both), shape=X.shape).tocsr())
    made = sparse.csr_array(X)
    if layout == "long":
        made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    elif layout == "mixed":
        made.indices = made.indices.astype(np.int64)
    return made if layout in ("csr", "long", "mixed") else made.asformat(layout)


def make_design(case: Case, X: Any, scale: np.ndarray) -> Any:
    kinds = [SparseDesign, CsrDesign, lambda Z: CsrDesign(Z, keeps_support=True)]
    design = case.pick(kinds)(X) if sparse.issparse(X) else DenseDesign(X)
    return design if (scale == 1).all() else View(design, Scaling(scale))


@target("design")
def multiply(case: Case) -> None:
    n, d = (int(case.pick([0, 1, 2, 5, 40, 300])) for _ in range(2))
    X = draw_dense(case, n, d)
    scale = np.ones(d) if case.chance(0.5) else case.rng.random(d)
    laid = draw_layout(case, X)
    plain = (laid.toarray() if sparse.issparse(laid) else np.array(laid)).astype(float) * scale
    design = make_design(case, laid, scale)
    w, r = case.rng.normal(size=d), case.rng.normal(size=n)
    w[case.rng.random(d) < case.pick([0, 0.9])] = 0
    if case.chance(0.5):
        return multiply_wrongly(case, design, w, r)
    precision = EPS if X.dtype == np.float64 else 1e-6
    sizes = precision * (10 + n + d)
    forth, back = design.matvec(w), design.rmatvec(r)
    check_close(case, forth, plain @ w, sizes * (np.abs(plain) @ np.abs(w)), "Xw")
    check_close(case, back, plain.T @ r, sizes * (np.abs(plain.T) @ np.abs(r)), "the transposed product")
    sum_of_sizes = float(np.abs(r) @ np.abs(plain) @ np.abs(w))
    check_close(case, forth @ r, w @ back, 2 * sizes * sum_of_sizes, "the adjoint identity")
    if n and d:
        check_moments(case, design, plain, precision)
        check_sweep(case, design, plain, w, sizes)


def check_close(case: Case, actual: Any, expected: Any, slack: Any, what: str) -> None:
    case.need(np.shape(actual) == np.shape(expected), f"{what} has another shape")
    case.need((np.abs(np.asarray(actual) - expected) <= slack + 1e-300).all(), f"{what} is not that of numpy")


def check_moments(case: Case, design: Any, plain: np.ndarray, precision: float) -> None:
    weight = case.rng.random(len(plain)) * (case.rng.random(len(plain)) < 0.8) + 1e-3
    weight /= weight.sum()
    mean, variance = design.column_moments(weight)
    reach = np.abs(plain).max(axis=0)
    expected = weight @ plain
    check_close(case, mean, expected, 100 * precision * reach, "the mean")
    check_close(case, variance, weight @ (plain - expected) ** 2, 1000 * precision * reach**2, "the variance")
    case.need((variance >= 0).all(), "a negative variance")


def check_sweep(case: Case, design: Any, plain: np.ndarray, w: np.ndarray, sizes: float) -> None:
    curve = MonotoneCurve(np.array([-1.0, 0.0, 2.0]), np.array([0.0, 0.5, 1.0]))
    y = case.rng.random(len(plain))
    sweep = design.sweep(
        Visit(w, w, link=curve, n_bins=case.pick([None, 4]), n_threads=case.pick([None, 1, 2])), y
    )
    residual = curve(plain @ w) - y
    # The curve has slope 1 at most, so that its residuals differ by no more than the index.
    slack = sizes * np.abs(plain.T) @ (np.abs(plain) @ np.abs(w) + np.abs(residual) + 1)
    check_close(case, sweep.gradient, plain.T @ residual, slack, "the gradient of a sweep")


def multiply_wrongly(case: Case, design: Any, w: np.ndarray, r: np.ndarray) -> None:
    """Give a vector that is too short or too long: no product may come of it."""
    method = case.pick(["matvec", "rmatvec", "column_moments", "sweep"])
    right = w if method == "matvec" else r
    length = int(case.pick([0, 1, len(right) - 1, len(right) + 1, 2 * len(right), 10**6]))
    if length in (-1, len(right)):
        return
    wrong = np.ones(length) if case.chance(0.7) else np.ones((length, 2))
    case.spoilt(f"{method} of {len(right)}", wrong.shape)
    if method == "sweep":
        curve = MonotoneCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        design.sweep(Visit(w, w, link=curve), wrong)
    else:
        getattr(design, method)(wrong)
    case.need(False, f"{method} takes a vector of a wrong length")


# ---------------------------------------------------------------- malformed matrices


def malform(case: Case, X: Any) -> Any:
    """Change the parts of a CSR or CSC matrix so that they lead out of it; scipy does not look."""
    how = case.pick(["index", "index", "start", "last start", "falling starts", "short data", "shape"])
    at, value = int(case.rng.integers(X.nnz)), case.pick([LARGE, SMALL, -1, 10**5, max(X.shape)])
    case.spoilt(f"{X.format}, {how}", (at, value))
    if how == "index":
        X.indices[at] = value
    elif how == "start":
        X.indptr[case.rng.integers(1, len(X.indptr) - 1)] = case.pick([LARGE, -1, 10**6])
    elif how == "last start":
        X.indptr[-1] = case.pick([LARGE, 10**6, X.nnz + 1])
    elif how == "falling starts":
        X.indptr[1:-1] = X.indptr[1:-1][::-1].copy()
    elif how == "short data":
        X.data = X.data[: X.nnz // 2]
    else:
        X.indptr = X.indptr[:-5]
    return X


@target("design-malformed")
def take_a_malformed_matrix(case: Case) -> None:
    rows = case.rng.normal(size=(30, 5))
    rows[np.abs(rows) < 0.3] = 0
    y = np.tanh(rows[:, 0])
    way = case.pick(["design", "fit", "predict", "fit in one pass"])
    case.say("way", way)
    model = SingleIndexRegressor(2, max_iter=3, solver="one-pass" if "one" in way else "auto")
    if way == "predict":
        model.fit(rows, y)
    X = malform(case, case.pick([sparse.csr_array, sparse.csc_array])(rows))
    if way == "design":
        design = make_design(case, X, np.ones(5))
        design.matvec(np.ones(5))
        design.rmatvec(np.ones(30))
        design.column_moments(np.full(30, 1 / 30))
    elif way == "predict":
        model.predict(X)
    else:
        model.fit(X, y)
    case.need(False, f"a malformed matrix is taken by {way}")
