"""What the peers with a linear score have in common."""

import numpy as np
from scipy import sparse
from scipy.special import expit

N_LEVELS = 60


class Solver:
    """A fit of one or several levels of a task, and what it says of rows that were held out."""

    tolerances = (None,)
    is_logistic = True
    likes_columns = False

    def __init__(self, task):
        self.task = task
        self.prepare()

    def prepare(self):
        """Bring the data into the form that the solver likes best; that is not timed."""
        self.X, self.y = self.task.get("X"), self.task.get("y")
        if self.likes_columns:
            self.X = by_columns(self.X)

    def keep(self, coefs, intercepts=None):
        """Keep coefficients, a row for each level."""
        self.coefs = np.atleast_2d(np.asarray(coefs, dtype=float))
        self.intercepts = np.zeros(len(self.coefs)) if intercepts is None else np.ravel(intercepts)

    def score(self, X):
        return X @ self.coefs.T + self.intercepts

    def probability(self, X):
        return expit(self.score(X)) if self.is_logistic else None

    def answer(self):
        task = self.task
        return {
            "coefs": self.coefs, "intercepts": self.intercepts, "score": self.score(task["X_test"]),
            "probability": self.probability(task["X_test"]),
            "validation": self.score(task["X_validation"]) if "X_validation" in task else None,
        }  # fmt: skip


class EachLevel(Solver):
    """One estimator that is set to each level and fitted; it may start from its last answer."""

    def fit(self, tolerance):
        model, coefs, intercepts = self.estimator(tolerance), [], []
        for level in self.task["levels"]:
            self.set_level(model, level)
            model.fit(self.X, self.y)
            coefs.append(np.ravel(model.coef_).copy())
            intercepts.append(float(np.ravel(model.intercept_)[0]))
        self.keep(coefs, intercepts)


class Model(Solver):
    """A whole estimator, which has no levels."""

    takes_sparse = True

    def prepare(self):
        super().prepare()
        if sparse.issparse(self.X) and not self.takes_sparse:
            raise ValueError("takes no sparse data")

    def score(self, X):
        if hasattr(self.model, "decision_function"):
            return self.model.decision_function(X)[:, None]
        return self.probability(X)

    def probability(self, X):
        return self.model.predict_proba(X)[:, 1:]

    def coefficients(self):
        return getattr(self.model, "coef_", None)

    def n_features(self):
        """Return how many features are in use, where coefficients do not tell."""
        return None

    def answer(self):
        return {
            "coefs": self.coefficients(), "score": self.score(self.task["X_test"]),
            "probability": self.probability(self.task["X_test"]), "features": self.n_features(),
        }  # fmt: skip


class Curve(Solver):
    """Fitted values over one variable."""

    def answer(self):
        return {"fitted": self.fitted}


class ManyOutputs(Solver):
    """A model of several numbers; its coefficients have a row for each."""

    formulation = "multi-task lasso"
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5)
    likes_columns = True

    def prepare(self):
        super().prepare()
        self.y = np.asfortranarray(self.y)

    def fit(self, tolerance):
        self.model = self.estimator(self.task["levels"][0], tolerance).fit(self.X, self.y)
        self.coefs, self.intercepts = self.model.coef_, self.model.intercept_

    def predict(self, X):
        return X @ self.coefs.T + self.intercepts

    def answer(self):
        return {
            "coefs": self.coefs, "intercepts": self.intercepts,
            "predicted": self.predict(self.task["X_test"]),
            "validation": self.predict(self.task["X_validation"]),
        }  # fmt: skip


def penalty_levels(X, y):
    """Return penalties in the scale of the data, from the least at which the lasso's w is zero."""
    n, d = X.shape
    largest = np.abs(X.T @ (y - y.mean())).max() / n
    return largest * np.geomspace(1.0, 1e-3 if n > d else 1e-2, N_LEVELS)


def by_columns(X):
    """Return the data with each column in one piece."""
    return sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)


def signs(y):
    return np.where(y > 0, 1.0, -1.0)
