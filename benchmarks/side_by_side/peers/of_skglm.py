"""skglm: working sets and coordinate descent, compiled at the first fit."""

import numpy as np
from folds import Folds
from linear import EachLevel, ManyOutputs, Solver, by_columns, signs
from searches import FoldSearch
from skglm import MultiTaskLasso, SparseLogisticRegression
from skglm.datafits import Logistic, LogisticGroup
from skglm.penalties import MCPenalty, WeightedGroupL2
from skglm.solvers import AndersonCD, GroupProxNewton
from skglm.utils.data import grp_converter


class SparseLogistic(EachLevel):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)
    likes_columns = True

    def estimator(self, tolerance):
        return SparseLogisticRegression(tol=tolerance, warm_start=True)

    def set_level(self, model, level):
        model.alpha = level


class GroupLogistic(Solver):
    formulation = "group-lasso logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)
    likes_columns = True

    def prepare(self):
        super().prepare()
        self.y = signs(self.y)
        groups = self.task["groups"]
        self.n_groups = int(groups.max()) + 1
        lists = [np.flatnonzero(groups == g).tolist() for g in range(self.n_groups)]
        self.indices, self.pointers = grp_converter(lists, self.X.shape[1])

    def fit(self, tolerance):
        datafit = LogisticGroup(self.pointers, self.indices)
        penalty = WeightedGroupL2(self.task["levels"][0], np.ones(self.n_groups), self.pointers, self.indices)
        solver = GroupProxNewton(tol=tolerance, fit_intercept=False)
        self.keep(solver.solve(self.X, self.y, datafit, penalty)[0])


class MultiTask(ManyOutputs):
    def estimator(self, level, tolerance):
        return MultiTaskLasso(alpha=level, tol=tolerance)


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
