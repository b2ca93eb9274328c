"""Matrix factorisation: Surprise for ratings, implicit for what was clicked."""

import numpy as np
from linear import Solver
from scipy import sparse


class _Ratings(Solver):
    def answer(self):
        return {"predicted": np.asarray(self.predict(self.task["pairs_test"]))}


class Surprise(_Ratings):
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

        model = surprise.SVD(n_factors=int(self.task["rank"]), random_state=0).fit(self.train)
        self.predict = lambda pairs: [model.predict(u, i).est for u, i in pairs.tolist()]


class Implicit(_Ratings):
    formulation = "weighted alternating least squares of clicks"

    def fit(self, tolerance):
        from implicit.als import AlternatingLeastSquares

        pairs, y = self.task["pairs"], self.task["y"]
        shape = tuple(int(s) for s in self.task["shape"])
        likes = sparse.csr_matrix(((y > y.mean()).astype(np.float32), pairs.T), shape=shape)
        likes.eliminate_zeros()
        model = AlternatingLeastSquares(factors=int(self.task["rank"]), num_threads=1, random_state=0)
        model.fit(likes, show_progress=False)
        self.predict = lambda p: np.sum(model.user_factors[p[:, 0]] * model.item_factors[p[:, 1]], axis=1)

    def answer(self):
        # It ranks; it does not predict ratings.
        return {"ranking": np.asarray(self.predict(self.task["pairs_test"]))}
