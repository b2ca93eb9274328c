"""celer: dual extrapolation and working sets."""

import numpy as np
from celer import LogisticRegression, MultiTaskLasso, celer_path
from linear import ManyOutputs, Solver, signs


class Celer(Solver):
    formulation = "L1-logistic, no intercept"
    tolerances = (1e-1, 1e-2, 1e-3, 1e-4)
    likes_columns = True

    def prepare(self):
        super().prepare()
        self.y = signs(self.y)

    def fit(self, tolerance):
        alphas = len(self.y) * np.asarray(self.task["levels"])
        if len(alphas) == 1:
            return self.keep(LogisticRegression(C=1 / alphas[0], tol=tolerance).fit(self.X, self.y).coef_)
        return self.keep(celer_path(self.X, self.y, pb="logreg", alphas=alphas, tol=tolerance)[1].T)


class MultiTask(ManyOutputs):
    def estimator(self, level, tolerance):
        return MultiTaskLasso(alpha=level, tol=tolerance)
