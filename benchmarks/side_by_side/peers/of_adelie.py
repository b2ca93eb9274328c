"""adelie: block coordinate descent for the group elastic net."""

import adelie as ad
import numpy as np
from linear import Solver, by_columns
from scipy import sparse


class Adelie(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-4, 1e-6, 1e-7)

    def prepare(self):
        X = by_columns(self.task["X"])
        self.X = ad.matrix.sparse(X, n_threads=1) if sparse.issparse(X) else ad.matrix.dense(X, n_threads=1)
        self.groups, self.penalty = None, None

    def fit(self, tolerance):
        state = ad.grpnet(
            X=self.X, glm=ad.glm.binomial(y=self.task["y"].astype(float), dtype=np.float64),
            lmda_path=np.asarray(self.task["levels"]), tol=tolerance, progress_bar=False, n_threads=1,
            early_exit=False, groups=self.groups, penalty=self.penalty,
        )  # fmt: skip
        self.keep(state.betas.toarray(), state.intercepts)


class AdelieGroups(Adelie):
    formulation = "group-lasso logistic, free intercept"

    def prepare(self):
        super().prepare()
        self.groups = np.flatnonzero(np.diff(self.task["groups"], prepend=-1))
        self.penalty = np.ones(len(self.groups))
