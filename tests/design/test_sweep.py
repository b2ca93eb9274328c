"""One visit of every row gives what the two products give, for every design and any number of threads."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from every_design import read_only
from scipy import sparse
from singleindex.design._sweep import count_threads

from singleindex.design import (
    Chain,
    CsrDesign,
    DenseDesign,
    Scaling,
    SparseDesign,
    View,
    Visit,
)
from singleindex.design.survey import survey_rows
from singleindex.design.sweep import cut_rows, lookup_grid
from singleindex.link import MonotoneCurve, ShiftedLink
from singleindex.structures.groups import Repeated


def long_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def through(coordinates):
    """Return what makes a view of scaled columns through further coordinates."""
    return lambda X: View(DenseDesign(X), Chain(Scaling(np.linspace(0.5, 2, X.shape[1])), coordinates(X)))


class Turn:
    """A symmetric map from coordinates to w."""

    def width(self, n_features):
        return n_features

    def to_features(self, z):
        return 2.0 * z[::-1]

    def pull_back(self, gradient):
        return self.to_features(gradient)


DESIGNS = {
    "dense": DenseDesign,
    "dense, F order": lambda X: DenseDesign(np.asfortranarray(X)),
    "dense, float32": lambda X: DenseDesign(X.astype(np.float32)),
    "dense, read-only": lambda X: DenseDesign(read_only(X)),
    "dense, every other row": lambda X: DenseDesign(np.repeat(X, 2, axis=0)[::2]),
    "CSR": lambda X: CsrDesign(sparse.csr_array(X)),
    "CSR, float32": lambda X: CsrDesign(sparse.csr_matrix(X.astype(np.float32))),
    "CSR, long indices": lambda X: CsrDesign(long_indices(X)),
    "CSR, support kept": lambda X: CsrDesign(sparse.csr_array(X), keeps_support=True),
    "CSR of CSC": lambda X: CsrDesign(sparse.csc_array(X)),
    "CSC": lambda X: SparseDesign(sparse.csc_array(X)),
    "scaled": lambda X: View(CsrDesign(sparse.csr_array(X)), Scaling(np.linspace(0, 2, X.shape[1]))),
    "repeated": through(lambda X: Repeated(np.r_[np.arange(X.shape[1]), 0, 0])),
    "mapped": through(lambda X: Turn()),
}


@pytest.fixture(params=DESIGNS)
def design(request):
    return DESIGNS[request.param](make_rows()[0])


def make_rows(n=403, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.4, rng.integers(-8, 9, (n, d)) / 8, 0)
    X[:, 2], X[:, 5] = 0, 1.5
    return X, rng.standard_normal(n), rng.random(n) * (rng.random(n) < 0.9)


def dense(design):
    return design.matvec(np.eye(design.shape[1]))


LINKS = {
    "curve": MonotoneCurve([-1.0, -0.3, 0.1, 0.1001, 2.0], [-1.0, -0.5, -0.5, 0.7, 0.8]),
    "point": MonotoneCurve([0.2], [0.4]),
    "known": ShiftedLink("logistic", 0.3),
    "none": None,
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("weighted", [True, False])
def test_a_sweep_is_the_two_products(design, link, weighted):
    _, y, weight = make_rows()
    weight = weight if weighted else None
    omega = np.ones(len(y)) if weight is None else weight
    X, link = dense(design), LINKS[link]
    rng = np.random.default_rng(1)
    w, w_old = rng.standard_normal((2, X.shape[1]))
    visit = Visit(w, w_old, 0.1, 0.2, 0.3, link, n_bins=64)
    sweep = design.sweep(visit, y, weight)
    index = X @ w
    residual = omega * (index - 0.1 if link is None else link(index) - y)
    np.testing.assert_allclose(sweep.index, index, atol=1e-5 if is_single(design) else 1e-12)
    atol = 1e-3 if is_single(design) else 1e-11
    np.testing.assert_allclose(sweep.gradient, X.T @ residual, atol=atol)
    assert sweep.residual == pytest.approx(residual.sum(), abs=atol)
    assert sweep.bins.points().weight.sum() == pytest.approx(omega.sum())
    covariance = np.cov([index, X @ w_old - index, y], aweights=omega, ddof=0)
    for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (2, 2)):
        assert sweep.spread(a, b) == pytest.approx(covariance[a, b], abs=1e-6 if is_single(design) else 1e-11)
    mean = omega @ X / omega.sum()
    centred = X - mean
    np.testing.assert_allclose(
        sweep.centred_gradient(mean),
        centred.T @ residual / omega.sum(),
        atol=1e-6 if is_single(design) else 1e-12,
    )


def is_single(design):
    return getattr(getattr(design, "X", None), "dtype", None) == np.float32


@pytest.mark.parametrize("link", LINKS)
def test_wrong_lengths_are_refused(design, link):
    n, d = design.shape
    right = {"w": d, "w_old": d, "y": n, "weight": n, "index_old": n}
    for what, by in product(right, (-1, 1, 5000)):
        lengths = {**right, what: right[what] + by}
        w, w_old, y, weight, index_old = (np.ones(length) for length in lengths.values())
        visit = Visit(w, w_old, link=LINKS[link], n_bins=64, index_old=None if what == "w_old" else index_old)
        with pytest.raises(ValueError, match="must have"):
            design.sweep(visit, y, weight)


def test_rows_that_are_parts_of_records():
    rng = np.random.default_rng(0)
    records = np.zeros(50, dtype=[("id", "f4"), ("x", "f8", (3,))])
    records["x"] = rng.standard_normal((50, 3))
    w, y = rng.standard_normal(3), rng.standard_normal(50)
    visit = Visit(w, w, link=LINKS["curve"])
    got, expected = (DenseDesign(X).sweep(visit, y) for X in (records["x"], records["x"].copy()))
    np.testing.assert_allclose(got.index, expected.index, atol=1e-12)
    np.testing.assert_allclose(got.gradient, expected.gradient, atol=1e-12)


@pytest.mark.parametrize("make", [CsrDesign, DenseDesign])
def test_the_number_of_threads_changes_no_bit(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4001, 13))
    design = make(sparse.csr_array(X) if make is CsrDesign else X)
    y, w = rng.standard_normal(4001), rng.standard_normal(13)
    visit = Visit(w, w, link=LINKS["curve"])
    assert len(cut_rows(4001, 13, X.size)) == 9  # blocks for several threads to share
    one, *others = [design.sweep(replace(visit, n_threads=k), y) for k in (1, 2, 3, 8)]
    for other in others:
        assert (one.gradient == other.gradient).all()
        assert one.residual == other.residual
        assert (one.index == other.index).all()


# In a process of its own: what hangs can then be ended.
FORK = """
import os
import numpy as np
from singleindex.design import DenseDesign, Visit
from singleindex.link import MonotoneCurve

X, w = np.random.default_rng(0).standard_normal((4001, 13)), np.ones(13)
visit = Visit(w, w, link=MonotoneCurve([-1.0, 1.0], [-1.0, 1.0]), n_threads=2)
gradient = DenseDesign(X).sweep(visit, np.zeros(4001)).gradient
child = os.fork()
if child == 0:
    same = (DenseDesign(X).sweep(visit, np.zeros(4001)).gradient == gradient).all()
    os._exit(0 if same else 3)
print("child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_forked_after_a_fit_with_threads():
    # Its own group, so that the child goes with it.
    script = subprocess.Popen([sys.executable, "-c", FORK], stdout=subprocess.PIPE, start_new_session=True)
    try:
        out, _ = script.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(script.pid, signal.SIGKILL)
        script.communicate()
        pytest.fail("the forked process waits for threads that it does not have")
    assert out.decode().split() == ["child:", "0"]


def test_a_sparse_w_is_read_from_its_own_columns():
    X, y, weight = make_rows()
    plain, keeping = CsrDesign(sparse.csr_array(X)), CsrDesign(sparse.csr_array(X), keeps_support=True)
    for support in ([0], [0, 4], [4], [8], [0, 1, 2, 3], [], [7, 8]):
        w = np.zeros(9)
        w[support] = 1.5
        visit = Visit(w, w, link=LINKS["curve"])
        a, b = (design.sweep(visit, y, weight) for design in (plain, keeping))
        np.testing.assert_allclose(b.index, a.index, atol=1e-14)
        np.testing.assert_allclose(b.gradient, a.gradient, atol=1e-12)
        np.testing.assert_allclose(b.sums, a.sums, atol=1e-12)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_long_coefficients_lie_in_pairs_with_their_gradient(monkeypatch, n_threads):
    X, y, weight = make_rows()
    design, w = CsrDesign(sparse.csr_array(X)), np.arange(9.0)
    visit = Visit(w, w, link=LINKS["curve"], n_threads=n_threads)
    plain = design.sweep(visit, y, weight)
    monkeypatch.setattr("singleindex.design.sweep._PAIRED", 4)
    paired = design.sweep(visit, y, weight)
    assert (plain.gradient == paired.gradient).all()
    assert (plain.sums == paired.sums).all()


def test_blocks_do_not_outweigh_the_data():
    assert len(cut_rows(1000, 10**6, 10**5)) == 2
    assert len(cut_rows(10**6, 100, 10**7)) == 9
    assert count_threads() >= 1


def test_the_look_up_grid_finds_every_place():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 50):
        x = np.sort(rng.standard_normal(n) ** 5)
        curve = MonotoneCurve(x, np.sort(rng.standard_normal(n)))
        index = np.concatenate([x, x + 1e-15, x - 1e-15, rng.uniform(-3, 3, 500), [-1e300, 1e300]])
        # The gradient of a single column of ones is the sum of the values.
        rows = np.column_stack([index, np.ones(len(index))])
        visited = DenseDesign(rows).visit_rows(
            Visit(np.array([1.0, 0.0]), np.zeros(2), link=curve), None, np.zeros(len(index)), None
        )
        assert visited[2][9] == pytest.approx(curve(index).sum(), rel=1e-9, abs=1e-9)
        assert visited[1][1] == pytest.approx(curve(index).sum(), rel=1e-9, abs=1e-9)
        for value in np.concatenate([x, x + 1e-15]):
            visit = Visit(np.ones(1), np.ones(1), link=curve)
            one = DenseDesign(np.array([[value]])).visit_rows(visit, None, np.zeros(1), None)
            assert one[2][9] == pytest.approx(float(curve(value)), abs=1e-12)
        assert lookup_grid(x).max(initial=0) <= max(n - 2, 0)


def test_a_matrix_without_entries():
    design = CsrDesign(sparse.csr_array((5, 3)))
    sweep = design.sweep(Visit(np.ones(3), np.ones(3), link=LINKS["curve"]), np.arange(5.0))
    assert sweep.gradient.tolist() == [0, 0, 0]
    assert design.matvec(np.ones(3)).tolist() == [0] * 5
    assert design.rmatvec(np.ones(5)).tolist() == [0] * 3
    assert design.column_moments(np.full(5, 0.2))[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_surveys_merge_into_that_of_all_rows(n_parts):
    X, y, weight = make_rows()
    X[:, 0] += 1e6  # far from zero: a sum of squares would lose all digits
    Y = np.column_stack([y, y > 0])
    whole = survey_rows(DenseDesign(X), Y, weight)
    parts = [
        survey_rows(CsrDesign(sparse.csr_array(x)), t, w)
        for x, t, w in zip(*(np.array_split(a, n_parts) for a in (X, Y, weight)), strict=True)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.lengths == tuple(len(a) for a in np.array_split(y, n_parts))
    for name in ("total", "mean", "y_mean"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-13)
    np.testing.assert_allclose(merged.variance, whole.variance, rtol=1e-9)
    np.testing.assert_allclose(merged.covariance, whole.covariance, atol=1e-9)
    assert (merged.variance == 0).nonzero()[0].tolist() == [2, 5]


def test_parts_without_weight_do_not_count():
    X, y, weight = make_rows()
    a = survey_rows(DenseDesign(X), y[:, None], weight)
    nothing = survey_rows(DenseDesign(X + 5), y[:, None], 0 * weight)
    for merged in (a.merge(nothing), nothing.merge(a)):
        assert merged.total == a.total
        assert (merged.mean == a.mean).all()
        assert len(merged.lengths) == 2
