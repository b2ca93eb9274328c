"""adelie: block coordinate descent for the group elastic net."""

import adelie as ad
import numpy as np
from linear import Solver
from scipy import sparse


class Adelie(Solver):
    formulation = "L1-logistic"
    tolerances = (1e-4, 1e-6, 1e-7)
    likes_columns = True
    groups, penalty = None, None

    def prepare(self):
        super().prepare()
        wrap = ad.matrix.sparse if sparse.issparse(self.X) else ad.matrix.dense
        self.X = wrap(self.X, n_threads=1)

    def fit(self, tolerance):
        state = ad.grpnet(
            X=self.X, glm=ad.glm.binomial(y=self.y.astype(float), dtype=np.float64),
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
