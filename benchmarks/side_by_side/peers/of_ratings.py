"""Matrix factorisation: Surprise for ratings, implicit for what was clicked."""

import numpy as np
from linear import Solver
from scipy import sparse


class Surprise(Solver):
    formulation = "biased matrix factorisation"

    def prepare(self):
        import pandas as pd
        import surprise

        pairs, y = self.task["pairs"], self.task["y"]
        frame = pd.DataFrame({"user": pairs[:, 0], "item": pairs[:, 1], "rating": y})
        scale = (float(y.min()), float(y.max()))
        self.train = surprise.Dataset.load_from_df(
            frame, surprise.Reader(rating_scale=scale)
        ).build_full_trainset()

    def fit(self, tolerance):
        import surprise

        self.model = surprise.SVD(n_factors=int(self.task["rank"]), random_state=0).fit(self.train)

    def answer(self):
        return {"predicted": [self.model.predict(u, i).est for u, i in self.task["pairs_test"].tolist()]}


class Implicit(Solver):
    formulation = "weighted alternating least squares of clicks"

    def fit(self, tolerance):
        from implicit.als import AlternatingLeastSquares

        pairs, y = self.task["pairs"], self.task["y"]
        shape = tuple(int(s) for s in self.task["shape"])
        likes = sparse.csr_matrix(((y > y.mean()).astype(np.float32), pairs.T), shape=shape)
        likes.eliminate_zeros()
        self.model = AlternatingLeastSquares(factors=int(self.task["rank"]), num_threads=1, random_state=0)
        self.model.fit(likes, show_progress=False)

    def answer(self):
        # It ranks; it does not predict ratings.
        users, items = self.task["pairs_test"].T
        return {"ranking": np.sum(self.model.user_factors[users] * self.model.item_factors[items], axis=1)}
