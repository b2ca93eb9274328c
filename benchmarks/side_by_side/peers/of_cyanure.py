"""cyanure: accelerated and variance-reduced first-order methods."""

from cyanure.estimators import Classifier
from linear import EachLevel, signs


class Cyanure(EachLevel):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)

    def prepare(self):
        super().prepare()
        self.y = signs(self.y)

    def estimator(self, tolerance):
        return Classifier(
            loss="logistic", penalty="l1", fit_intercept=True, tol=tolerance, warm_start=True, verbose=False,
            max_iter=2000,
        )  # fmt: skip

    def set_level(self, model, level):
        model.lambda_1 = level
