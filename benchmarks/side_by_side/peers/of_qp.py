"""Lipschitz isotonic regression by general solvers of quadratic programmes."""

import numpy as np
from linear import Curve
from scipy import sparse


class _ByQp(Curve):
    formulation = "Lipschitz isotonic"

    def fit(self, tolerance):
        x, y = self.task["x"], self.task["y"]
        order = np.argsort(x)
        n = len(x)
        steps = sparse.diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n)).tocsc()
        self.fitted = np.empty(n)
        self.fitted[order] = self.solve(y[order], steps, np.diff(x[order]))


class Piqp(_ByQp):
    def solve(self, y, steps, gaps):
        import piqp

        n = len(y)
        solver = piqp.SparseSolver()
        solver.setup(
            sparse.identity(n, format="csc"), -y, sparse.csc_matrix((0, n)), np.zeros(0), steps,
            np.zeros(n - 1), gaps,
        )  # fmt: skip
        solver.solve()
        return np.array(solver.result.x)


class Clarabel(_ByQp):
    def solve(self, y, steps, gaps):
        import clarabel

        n = len(y)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        both = sparse.vstack([steps, -steps], format="csc")
        limits = np.concatenate([gaps, np.zeros(n - 1)])
        cones = [clarabel.NonnegativeConeT(2 * (n - 1))]
        solver = clarabel.DefaultSolver(sparse.identity(n, format="csc"), -y, both, limits, cones, settings)
        return np.array(solver.solve().x)
