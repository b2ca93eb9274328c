"""scikit-learn's solvers. What only one of them needs is imported there: a cold start pays for imports."""

import numpy as np
from linear import Curve, EachLevel, ManyOutputs, Model, penalty_levels
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, MultiTaskLasso, SGDClassifier


class Liblinear(EachLevel):
    formulation = "L1-logistic, penalised intercept"
    tolerances = (1e-1, 1e-2, 1e-3, 1e-4)

    def estimator(self, tolerance):
        return LogisticRegression(l1_ratio=1, solver="liblinear", tol=tolerance)

    def set_level(self, model, level):
        model.C = 1 / (len(self.y) * level)


class Saga(Liblinear):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3)

    def estimator(self, tolerance):
        return LogisticRegression(
            l1_ratio=1, solver="saga", tol=tolerance, warm_start=True, max_iter=3000, random_state=0
        )


class LinearSvc(EachLevel):
    formulation = "L1, squared hinge"
    is_logistic = False
    tolerances = (1e-2,)

    def estimator(self, tolerance):
        from sklearn.svm import LinearSVC

        return LinearSVC(penalty="l1", dual=False, tol=tolerance)

    def set_level(self, model, level):
        # The slope of its loss at zero is 2 where that of the logistic one is 1/2.
        model.C = 1 / (4 * len(self.y) * level)


class Sgd(EachLevel):
    formulation = "L1-logistic by stochastic gradients"

    def estimator(self, tolerance):
        return SGDClassifier(loss="log_loss", penalty="l1", random_state=0)

    def set_level(self, model, level):
        model.alpha = level


class LogisticCv(Model):
    formulation = "L1-logistic, 60 levels, five folds"

    def search(self):
        """Return the fit at the best of the penalties; scikit-learn's own ten span eight decades."""
        return LogisticRegressionCV(
            Cs=1 / (len(self.y) * penalty_levels(self.X, self.y)), l1_ratios=[1], solver="liblinear", cv=5,
            scoring="neg_log_loss", use_legacy_attributes=False,
        ).fit(self.X, self.y)  # fmt: skip

    def fit(self, tolerance):
        self.model = self.search()


class CalibratedL1(LogisticCv):
    formulation = "L1-logistic, 60 levels, five folds, then isotonic on held-out rows"

    def fit(self, tolerance):
        from sklearn.calibration import CalibratedClassifierCV

        level = float(np.ravel(self.search().C_)[0])
        inner = LogisticRegression(C=level, l1_ratio=1, solver="liblinear")
        self.model = CalibratedClassifierCV(inner, method="isotonic", cv=5).fit(self.X, self.y)

    def coefficients(self):
        return np.mean([c.estimator.coef_ for c in self.model.calibrated_classifiers_], axis=0)


class GradientBoosting(Model):
    formulation = "boosted trees"
    takes_sparse = False

    def fit(self, tolerance):
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model = HistGradientBoostingClassifier(random_state=0).fit(self.X, self.y)


class MultiTask(ManyOutputs):
    def estimator(self, level, tolerance):
        return MultiTaskLasso(alpha=level, tol=tolerance, max_iter=10_000)


class Isotonic(Curve):
    formulation = "isotonic"

    def fit(self, tolerance):
        from sklearn.isotonic import IsotonicRegression

        self.fitted = IsotonicRegression().fit_transform(self.task["x"], self.task["y"])


class ScipyIsotonic(Curve):
    formulation = "isotonic"

    def fit(self, tolerance):
        from scipy.optimize import isotonic_regression

        order = np.argsort(self.task["x"])
        self.fitted = np.empty(len(order))
        self.fitted[order] = isotonic_regression(self.task["y"][order]).x
