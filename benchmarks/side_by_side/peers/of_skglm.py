"""skglm: working sets and coordinate descent, compiled at the first fit."""

import numpy as np
from folds import Folds
from linear import ManyOutputs, Solver, by_columns, signs
from searches import FoldSearch
from skglm import MultiTaskLasso, SparseLogisticRegression
from skglm.datafits import Logistic, LogisticGroup
from skglm.penalties import MCPenalty, WeightedGroupL2
from skglm.solvers import AndersonCD, GroupProxNewton
from skglm.utils.data import grp_converter


class SparseLogistic(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)

    def prepare(self):
        self.X = by_columns(self.task["X"])

    def fit(self, tolerance):
        coefs, intercepts = [], []
        model = SparseLogisticRegression(tol=tolerance, warm_start=True)
        for level in self.task["levels"]:
            model.alpha = level
            model.fit(self.X, self.task["y"])
            coefs.append(np.ravel(model.coef_).copy())
            intercepts.append(float(np.ravel(model.intercept_)[0]))
        self.keep(coefs, intercepts)


class GroupLogistic(Solver):
    formulation = "group-lasso logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)

    def prepare(self):
        self.X, self.sign = by_columns(self.task["X"]), signs(self.task["y"])
        groups = self.task["groups"]
        self.n_groups = int(groups.max()) + 1
        lists = [np.flatnonzero(groups == g).tolist() for g in range(self.n_groups)]
        self.indices, self.pointers = grp_converter(lists, self.X.shape[1])

    def fit(self, tolerance):
        datafit = LogisticGroup(self.pointers, self.indices)
        penalty = WeightedGroupL2(self.task["levels"][0], np.ones(self.n_groups), self.pointers, self.indices)
        solver = GroupProxNewton(tol=tolerance, fit_intercept=False)
        self.keep(solver.solve(self.X, self.sign, datafit, penalty)[0])


class MultiTask(ManyOutputs):
    def fit(self, tolerance):
        model = MultiTaskLasso(alpha=self.task["levels"][0], tol=tolerance).fit(self.X, self.Y)
        self.coefs, self.intercepts = model.coef_, model.intercept_


class McpPath(Folds):
    """Logistic regression with the minimax concave penalty, each level started from the one before."""

    # Three in units of the curvature of the loss, which is a quarter: steps of unit variance stay convex.
    gamma = 12.0

    def path(self, X, y):
        X, sign = by_columns(X), signs(y)
        solver = AndersonCD(tol=1e-4, fit_intercept=True)
        w, found = np.zeros(X.shape[1] + 1), []
        for level in self.task["levels"]:
            penalty = MCPenalty(level, gamma=self.gamma)
            w = solver.solve(X, sign, Logistic(), penalty, w.copy(), X @ w[:-1] + w[-1])[0]
            found.append(w)
        return np.array(found)[:, None, :-1], np.array(found)[:, -1:]


class McpSearch(FoldSearch):
    formulation = "MCP-logistic, 60 levels, five folds"
    paths = McpPath
