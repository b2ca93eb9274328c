"""One visit per iteration: the steps of CSI with the link of the iteration before."""

import numpy as np
import pytest
from scipy import sparse

from singleindex.datasets import make_single_index
from singleindex.design import as_row_design
from singleindex.design.survey import survey_rows
from singleindex.link import FixedLink, Lpav
from singleindex.solvers import Gradient, OnePassGradient, Simplicity, Status, drive
from singleindex.structures import Sparse


def make_rows(n=250, d=12, seed=0):
    X, y, *_ = make_single_index(n, d, n_atoms=4, link="clipped", noise="gaussian", random_state=seed)
    return X + 0.5, y


def one_pass(X, y, fitter=None, n_atoms=None, alpha=0.05, weight=None, **options):
    fitter = fitter or Lpav(1.0)
    design = as_row_design(X)
    return OnePassGradient(
        design, y, Simplicity(Sparse(), fitter.slope, n_atoms, alpha), fitter,
        survey=survey_rows(design, y[:, None], weight), sample_weight=weight, **options,
    )  # fmt: skip


def trail(method, max_iter):
    """Return every iterate of a method that nothing but the limit ends."""
    told = []
    drive(method, max_iter=max_iter, tol=0.0, on_iteration=told.append)
    return told


def lagged_steps(X, y, fitter, n_iter, n_atoms=None, alpha=0.05, weight=None):
    """Return w of each iteration by the formula, with dense arrays and the link of the iteration before."""
    share = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    centred, target = X - share @ X, y - share @ y
    slope = fitter.slope
    w = Sparse().project((centred.T * share) @ target, n_atoms)
    index = X @ w
    spread = share @ (centred @ w) ** 2
    w = w * (share @ ((centred @ w) * y) / spread / slope)
    line = LeastSquaresLine(X @ w, y, share)
    step = size_of_step(w, centred @ w, share, slope, alpha)
    link, found = line, [w]
    for _ in range(n_iter - 1):
        index = X @ w
        residual = link(index) - y
        link, _ = fitter.fit(index, y, weight)
        gradient = (centred.T * share) @ (residual - share @ residual) + alpha * w
        new = Sparse().project(w - step * gradient, n_atoms)
        step = size_of_step(new - w, centred @ (new - w), share, slope, alpha)
        w = new
        found.append(w)
    return found


class LeastSquaresLine:
    def __init__(self, index, y, share):
        centre = share @ index
        self.slope = share @ ((index - centre) * y) / (share @ (index - centre) ** 2)
        self.level, self.centre = share @ y, centre

    def __call__(self, index):
        return self.level + self.slope * (index - self.centre)


def size_of_step(move, index_move, share, slope, alpha):
    length = move @ move
    return length / (slope * (share @ index_move**2) + alpha * length)


@pytest.mark.parametrize("convert", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("n_atoms", [None, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_steps_are_those_of_the_lagged_link(convert, n_atoms, weighted):
    X, y = make_rows()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    method = one_pass(convert(X), y, n_atoms=n_atoms, weight=weight, n_bins=None)
    expected = lagged_steps(X, y, Lpav(1.0), 5, n_atoms=n_atoms, weight=weight)
    for iterate, w in zip(trail(method, 5), expected, strict=True):
        np.testing.assert_allclose(iterate.coef, w, rtol=0, atol=1e-9)
        np.testing.assert_allclose(iterate.index, X @ w, rtol=0, atol=1e-9)


def test_the_formula_is_not_that_of_a_fresh_link():
    X, y = make_rows()
    fresh = trail(Gradient(as_row_design(X), y, Simplicity(Sparse(), 1.0, None, 0.05), Lpav(1.0)), max_iter=5)
    lagged = lagged_steps(X, y, Lpav(1.0), 5)
    np.testing.assert_allclose(fresh[0].coef, lagged[0], atol=1e-12)
    assert np.abs(fresh[2].coef - lagged[2]).max() > 1e-6


@pytest.mark.parametrize("penalty", [0.0, 0.2])
def test_with_a_straight_link_both_ways_agree(penalty):
    """It is the same at every iteration but for its level, which is centred out."""
    X, y = make_rows()
    ours = trail(one_pass(X, y, FixedLink("identity"), penalty=penalty, n_bins=None), 6)
    simplicity = Simplicity(Sparse(), 1.0, None, 0.05)
    theirs = trail(Gradient(as_row_design(X), y, simplicity, FixedLink("identity"), penalty=penalty), 6)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.coef, b.coef, rtol=0, atol=1e-10)
        assert a.objective == pytest.approx(b.objective, rel=1e-9)
        assert a.change == pytest.approx(b.change, rel=1e-5, abs=1e-7)
        assert a.step_size == pytest.approx(b.step_size, rel=1e-6)


@pytest.mark.parametrize("fitter", [Lpav(1.0), FixedLink("logistic")], ids=repr)
def test_where_it_settles_the_step_with_a_fresh_link_stays(fitter):
    """A fixed point of the lagged step is one of the step of CSI: the link no longer changes."""
    X, y = make_rows(400, 5)
    y = (y > np.median(y)).astype(float)
    last = trail(one_pass(X, y, fitter, alpha=0.2, n_bins=None), 400)[-1]
    assert last.change < 1e-6
    _, fitted = fitter.fit(X @ last.coef, y)
    centred = X - X.mean(axis=0)
    gradient = centred.T @ (fitted - y) / len(y) + 0.2 * last.coef
    assert np.linalg.norm(gradient) < 1e-3 * np.linalg.norm(centred.T @ (y - y.mean()) / len(y))


def test_more_bins_are_nearer_to_the_exact_link():
    X, y = make_rows(2000)
    exact = trail(one_pass(X, y, n_bins=None), 5)[-1]
    coarse, fine = (trail(one_pass(X, y, n_bins=n), 5)[-1] for n in (16, 4096))
    assert np.linalg.norm(fine.coef - exact.coef) < 0.1 * np.linalg.norm(coarse.coef - exact.coef)
    assert np.abs(fine.coef - exact.coef).max() < 1e-3 * np.abs(exact.coef).max()
    assert len(coarse.points.index) <= 16


def test_a_response_that_nothing_tells_is_flat():
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    result = drive(one_pass(X, np.array([1.0, 1.0, -1.0, -1.0])), max_iter=10, tol=0.0)
    assert result.status is Status.FLAT
    assert not result.best.coef.any()


def test_weights_are_repetitions():
    X, y = make_rows()
    count = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = trail(one_pass(X, y, weight=count.astype(float), n_bins=None), 6)[-1]
    repeated = trail(one_pass(np.repeat(X, count, axis=0), np.repeat(y, count), n_bins=None), 6)[-1]
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=0, atol=1e-9)
