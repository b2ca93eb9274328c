"""Fits that are broken off, for tests of what is kept of them."""

import numpy as np
import pytest

from singleindex import SingleIndexRegressor
from singleindex.design import EntriesDesign
from singleindex.solvers import Gradient, OnePass, OnePassGradient, TwoPass
from singleindex.solvers.completion import Completion, CompletionProblem
from singleindex.structures import GraphSmoother


def make_rows(n=2000, d=20):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(0.3, 2, d)
    return X, np.tanh(X[:, :8].sum(axis=1) / 3) + 0.1 * rng.standard_normal(n)


class Stop(Exception):
    pass


METHODS = (Gradient, OnePassGradient, Completion)


def stop_at(iteration, monkeypatch):
    """Make the fit fail when it comes to this iteration."""
    at_iteration(iteration, monkeypatch, fail)


def fail():
    raise Stop


def at_iteration(iteration, monkeypatch, act):
    for kind in METHODS:
        monkeypatch.setattr(kind, "look", acting(kind.look, iteration, act))


def acting(look, iteration, act):
    def look_and_act(method, state, n_iter):
        if n_iter == iteration:
            act()
        return look(method, state, n_iter)

    return look_and_act


def ratings(n=400, shape=(20, 15)):
    rng = np.random.default_rng(0)
    rows, cols = (rng.integers(side, size=n) for side in shape)
    y = np.tanh(rng.normal(size=shape[0])[rows] + rng.normal(size=shape[1])[cols])
    smoothers = (GraphSmoother(None, 1.0, side) for side in shape)
    return CompletionProblem(EntriesDesign(rows, cols, shape), y, *smoothers)


SOLVERS = {"one pass": OnePass, "two passes": TwoPass}
every_solver = pytest.mark.parametrize("kind", SOLVERS.values(), ids=SOLVERS)


def broken_off(tmp_path, monkeypatch, kind=OnePass, **settings):
    X, y = make_rows()
    path = tmp_path / "fit.ckpt"
    solver = kind(checkpoint=path, checkpoint_every=1)
    with monkeypatch.context() as patch:
        stop_at(2, patch)
        with pytest.raises(Stop):
            SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver, **settings).fit(X, y)
    return X, y, solver, path
