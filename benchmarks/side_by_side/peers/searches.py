"""A choice among levels by five folds, for peers that have none of their own."""

import numpy as np
from linear import Solver, penalty_levels


class FoldSearch(Solver):
    """The level of a path with the least log-loss on five folds, fitted to all rows."""

    paths = None  # a class of Folds

    def fit(self, tolerance):
        X, y = self.X, self.y
        folds = self.paths({"X": X, "y": y, "fold": stratified(y), "levels": penalty_levels(X, y)})
        folds.fit(None)
        found = folds.answer()
        eta = found["held_out"][:, :, 0]
        best = np.argmin(np.mean(np.logaddexp(0, eta) - y[:, None] * eta, axis=0))
        self.keep(found["coefs"][best], found["intercepts"][best])


def stratified(y, n_folds=5):
    """Return the number of the fold that holds each row out; folds have the same shares of the classes."""
    fold = np.empty(len(y), dtype=int)
    rng = np.random.default_rng(0)
    for value in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == value))
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold
