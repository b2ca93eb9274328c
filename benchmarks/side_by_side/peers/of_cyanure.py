"""cyanure: accelerated and variance-reduced first-order methods."""

import numpy as np
from cyanure.estimators import Classifier
from linear import Solver, signs


class Cyanure(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)

    def prepare(self):
        self.sign = signs(self.task["y"])

    def fit(self, tolerance):
        coefs, intercepts = [], []
        model = Classifier(
            loss="logistic", penalty="l1", fit_intercept=True, tol=tolerance, warm_start=True, verbose=False,
            max_iter=2000,
        )  # fmt: skip
        for level in self.task["levels"]:
            model.lambda_1 = level
            model.fit(self.task["X"], self.sign)
            coefs.append(np.ravel(model.coef_).copy())
            intercepts.append(float(np.ravel(model.intercept_)[0]))
        self.keep(coefs, intercepts)
