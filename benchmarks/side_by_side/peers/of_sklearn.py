"""scikit-learn's solvers. What only one of them needs is imported there: a cold start pays for imports."""

import numpy as np
from linear import Curve, ManyOutputs, Model, Solver, penalty_levels
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, MultiTaskLasso, SGDClassifier


class EachLevel(Solver):
    """A fit of its own for every level."""

    def fit(self, tolerance):
        fits = [
            self.estimator(level, tolerance).fit(self.task["X"], self.task["y"])
            for level in self.task["levels"]
        ]
        self.keep([f.coef_[0] for f in fits], [f.intercept_[0] for f in fits])


class Liblinear(EachLevel):
    formulation = "L1-logistic, penalised intercept"
    tolerances = (1e-1, 1e-2, 1e-3, 1e-4)

    def estimator(self, level, tolerance):
        n = len(self.task["y"])
        return LogisticRegression(C=1 / (n * level), l1_ratio=1, solver="liblinear", tol=tolerance)


class Saga(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-2, 1e-3)

    def fit(self, tolerance):
        n, coefs, intercepts = len(self.task["y"]), [], []
        model = LogisticRegression(
            l1_ratio=1, solver="saga", tol=tolerance, warm_start=True, max_iter=3000, random_state=0
        )
        for level in self.task["levels"]:
            model.set_params(C=1 / (n * level)).fit(self.task["X"], self.task["y"])
            coefs.append(model.coef_[0].copy())
            intercepts.append(model.intercept_[0])
        self.keep(coefs, intercepts)


class LinearSvc(EachLevel):
    formulation = "L1, squared hinge"
    is_logistic = False
    tolerances = (1e-2,)

    def estimator(self, level, tolerance):
        from sklearn.svm import LinearSVC

        # The slope of its loss at zero is 2 where that of the logistic one is 1/2.
        return LinearSVC(penalty="l1", dual=False, C=1 / (4 * len(self.task["y"]) * level), tol=tolerance)


class Sgd(EachLevel):
    formulation = "L1-logistic by stochastic gradients"

    def estimator(self, level, tolerance):
        return SGDClassifier(loss="log_loss", penalty="l1", alpha=level, random_state=0)


class LogisticCv(Model):
    formulation = "L1-logistic, 60 levels, five folds"

    def search(self):
        """Return the fit at the best of the penalties; scikit-learn's own ten span eight decades."""
        X, y = self.task["X"], self.task["y"]
        return LogisticRegressionCV(
            Cs=1 / (len(y) * penalty_levels(X, y)), l1_ratios=[1], solver="liblinear", cv=5,
            scoring="neg_log_loss", use_legacy_attributes=False,
        ).fit(X, y)  # fmt: skip

    def fit(self, tolerance):
        self.model = self.search()


class CalibratedL1(LogisticCv):
    formulation = "L1-logistic, 60 levels, five folds, then isotonic on held-out rows"

    def fit(self, tolerance):
        from sklearn.calibration import CalibratedClassifierCV

        X, y = self.task["X"], self.task["y"]
        search = self.search()
        inner = LogisticRegression(C=float(np.ravel(search.C_)[0]), l1_ratio=1, solver="liblinear")
        self.model = CalibratedClassifierCV(inner, method="isotonic", cv=5).fit(X, y)
        self.coef = np.mean([c.estimator.coef_ for c in self.model.calibrated_classifiers_], axis=0)

    def coefficients(self):
        return self.coef


class GradientBoosting(Model):
    formulation = "boosted trees"

    def prepare(self):
        if sparse.issparse(self.task["X"]):
            raise ValueError("takes no sparse data")

    def fit(self, tolerance):
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model = HistGradientBoostingClassifier(random_state=0).fit(self.task["X"], self.task["y"])


class MultiTask(ManyOutputs):
    def fit(self, tolerance):
        model = MultiTaskLasso(alpha=self.task["levels"][0], tol=tolerance, max_iter=10_000)
        model.fit(self.X, self.Y)
        self.coefs, self.intercepts = model.coef_, model.intercept_


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
