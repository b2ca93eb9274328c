"""python-glmnet: the Fortran code of glmnet."""

import numpy as np
from folds import Folds, up_to
from glmnet import LogitNet
from linear import Solver, by_columns
from searches import FoldSearch


class Glmnet(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-3, 1e-5, 1e-7)
    likes_columns = True

    def fit(self, tolerance):
        model = path_of(self.X, self.y, self.task["levels"], tol=tolerance)
        self.keep(model.coef_path_[0].T, model.intercept_path_)


class LogisticFolds(Folds):
    """L1-logistic, binary or multinomial, ten times as exact as by glmnet's default; columns as they are."""

    tol = 1e-8

    def path(self, X, y):
        levels = self.task["levels"]
        model = path_of(by_columns(X), y, levels, tol=self.tol, max_iter=1_000_000)
        coefs, intercepts = np.moveaxis(model.coef_path_, -1, 0), np.atleast_2d(model.intercept_path_).T
        return up_to(len(levels), coefs), up_to(len(levels), intercepts)


class DefaultLogisticFolds(LogisticFolds):
    """The same to glmnet's own tolerance, for timings."""

    tol = 1e-7


class Search(FoldSearch):
    formulation = "L1-logistic, 60 levels, five folds"
    paths = DefaultLogisticFolds


class RelaxedFolds(DefaultLogisticFolds):
    """Each level blended with an unpenalised fit on its features, as long as these are few."""

    shares = (0.0, 0.25, 0.5, 0.75, 1.0)

    def path(self, X, y):
        coefs, intercepts = super().path(X, y)
        free, free_intercepts = coefs.copy(), intercepts.copy()
        for level, w in enumerate(coefs[:, 0]):
            used = np.flatnonzero(w)
            if 0 < len(used) <= len(y) // 5:
                free[level, 0, used], free_intercepts[level] = unpenalised(X[:, used], y)
        return (
            np.concatenate([share * free + (1 - share) * coefs for share in self.shares]),
            np.concatenate([share * free_intercepts + (1 - share) * intercepts for share in self.shares]),
        )


class RelaxedSearch(FoldSearch):
    formulation = "relaxed lasso, 60 levels × 5 shares, five folds"
    paths = RelaxedFolds


def path_of(X, y, levels, **options):
    """Fit the lasso at all levels, columns as they are."""
    model = LogitNet(
        alpha=1, lambda_path=np.asarray(levels), standardize=False, n_splits=0,
        max_features=X.shape[1] + 1, **options,
    )  # fmt: skip
    return model.fit(X, y)


def unpenalised(X, y):
    """Fit without a penalty, but for as much as keeps separable rows finite."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e4, max_iter=200).fit(X, y)
    return model.coef_[0], model.intercept_[0]
