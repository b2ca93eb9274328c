"""singleindex itself."""

import numpy as np
from linear import Curve, ManyOutputs, Model, Solver

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleter,
    SingleIndexRegressor,
    lipschitz_isotonic_regression,
    single_index_path,
)
from singleindex.structures import GroupSparse, RowSparse


class Hard(Solver):
    """A limit on the number of coefficients."""

    formulation = "single index, n_atoms"

    def estimator(self, level):
        return SingleIndexClassifier(int(level))

    def path(self, levels):
        return single_index_path(self.X, self.y, n_atoms=[int(k) for k in levels])

    def fit(self, tolerance):
        levels = self.task["levels"]
        if len(levels) > 1:
            path = self.path(levels)
            self.keep(path.coefs)
            self.links = [links[0] for links in path.links]
        else:
            model = self.estimator(levels[0]).fit(self.X, self.y)
            self.keep(model.coef_)
            self.links = [model.link_]

    def probability(self, X):
        return np.column_stack([link(index) for link, index in zip(self.links, self.score(X).T, strict=True)])


class Soft(Hard):
    """A penalty on the sum of the coefficients, as a share of the least at which w is zero."""

    formulation = "single index, penalty"

    def estimator(self, level):
        return SingleIndexClassifier(penalty=level)

    def path(self, levels):
        return single_index_path(self.X, self.y, penalty=levels)


class Search(Model):
    formulation = "single index, five folds"

    def fit(self, tolerance):
        self.model = SingleIndexClassifierCV(cv=5).fit(self.X, self.y)


class Groups(Hard):
    formulation = "single index, groups"

    def estimator(self, level):
        return SingleIndexClassifier(int(level), structure=GroupSparse(self.task["groups"]))


class MultiTask(ManyOutputs):
    formulation = "single index, rows"
    tolerances = (None,)

    def fit(self, tolerance):
        self.model = SingleIndexRegressor(int(self.task["levels"][0]), structure=RowSparse())
        self.model.fit(self.task["X"], self.task["y"])
        self.coefs, self.intercepts = self.model.coef_.T, None

    def predict(self, X):
        return self.model.predict(X)


class LipschitzIsotonic(Curve):
    formulation = "Lipschitz isotonic"

    def fit(self, tolerance):
        self.fitted = lipschitz_isotonic_regression(self.task["x"], self.task["y"])


class Completer(Solver):
    formulation = "single index, low rank"
    graph = False

    def fit(self, tolerance):
        shape = tuple(int(s) for s in self.task["shape"])
        graph = self.task["graph"] if self.graph else None
        self.model = SingleIndexCompleter(int(self.task["rank"]))
        self.model.fit(self.task["pairs"], self.task["y"], graph, shape=shape)

    def answer(self):
        predicted = self.model.predict(self.task["pairs_test"])
        return {"predicted": predicted, "ranking": predicted}


class GraphCompleter(Completer):
    formulation = "single index, low rank, graph"
    graph = True
