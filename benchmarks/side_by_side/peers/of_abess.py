"""abess: best subsets by splicing. Its levels are numbers of features."""

import numpy as np
from abess import LogisticRegression, MultiTaskRegression
from folds import Folds
from linear import ManyOutputs, Solver


class Abess(Solver):
    formulation = "L0-logistic"

    def estimator(self):
        size, groups = int(self.task["levels"][0]), self.task.get("groups")
        return LogisticRegression(support_size=size, group=groups, thread=1)

    def fit(self, tolerance):
        model = self.estimator().fit(self.X, self.y)
        self.keep(np.ravel(model.coef_), model.intercept_)


class AbessGroups(Abess):
    formulation = "L0-logistic, groups"


class AbessSearch(Abess):
    """Sizes up to 50, by its own cross-validation."""

    formulation = "L0-logistic, five folds"

    def estimator(self):
        return LogisticRegression(support_size=range(51), cv=5, thread=1)


class AbessMultiTask(ManyOutputs):
    formulation = "L0, rows"
    tolerances = (None,)
    likes_columns = False

    def fit(self, tolerance):
        model = MultiTaskRegression(support_size=int(self.task["levels"][0]), thread=1)
        model.fit(self.X, self.task["y"])
        self.coefs, self.intercepts = model.coef_.T, model.intercept_


class AbessPath(Folds):
    """Best subsets of the sizes that are the levels."""

    def path(self, X, y):
        sizes = [int(k) for k in self.task["levels"]]
        fits = [LogisticRegression(support_size=k, thread=1).fit(X, y) for k in sizes]
        return np.array([[np.ravel(fit.coef_)] for fit in fits]), np.array(
            [np.ravel(fit.intercept_) for fit in fits]
        )
