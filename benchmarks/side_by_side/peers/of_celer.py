"""celer: dual extrapolation and working sets."""

import numpy as np
from celer import LogisticRegression, MultiTaskLasso, celer_path
from linear import ManyOutputs, Solver, by_columns, signs


class Celer(Solver):
    formulation = "L1-logistic, no intercept"
    tolerances = (1e-1, 1e-2, 1e-3, 1e-4)

    def prepare(self):
        self.X, self.sign = by_columns(self.task["X"]), signs(self.task["y"])

    def fit(self, tolerance):
        levels, n = self.task["levels"], len(self.sign)
        if len(levels) == 1:
            model = LogisticRegression(C=1 / (n * levels[0]), tol=tolerance).fit(self.X, self.sign)
            return self.keep(model.coef_)
        alphas = n * np.asarray(levels)
        return self.keep(celer_path(self.X, self.sign, pb="logreg", alphas=alphas, tol=tolerance)[1].T)


class MultiTask(ManyOutputs):
    def fit(self, tolerance):
        model = MultiTaskLasso(alpha=self.task["levels"][0], tol=tolerance).fit(self.X, self.Y)
        self.coefs, self.intercepts = model.coef_, model.intercept_
