"""python-glmnet: the Fortran code of glmnet."""

import numpy as np
from glmnet import LogitNet
from linear import Solver, by_columns


class Glmnet(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-3, 1e-5, 1e-7)

    def prepare(self):
        self.X = by_columns(self.task["X"])

    def fit(self, tolerance):
        model = LogitNet(
            alpha=1, lambda_path=np.asarray(self.task["levels"]), standardize=False, n_splits=0,
            tol=tolerance, max_features=self.X.shape[1] + 1,
        )  # fmt: skip
        model.fit(self.X, self.task["y"])
        self.keep(model.coef_path_[0].T, model.intercept_path_)
