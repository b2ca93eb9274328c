"""LightGBM, and explainable boosting machines (interpret)."""

import numpy as np
from linear import Model
from searches import stratified


class Lightgbm(Model):
    """Leaves and rounds by five folds with early stopping, then a fit of all rows."""

    formulation = "boosted trees, five folds"
    leaves = (4, 15, 31)

    def fit(self, tolerance):
        import lightgbm

        X, y, fold = self.X, self.y, stratified(self.y)
        folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
        found = []
        for leaves in self.leaves:
            settings = {
                "objective": "binary", "num_leaves": leaves, "learning_rate": 0.05, "num_threads": 1,
                "verbosity": -1, "seed": 0,
            }  # fmt: skip
            history = lightgbm.cv(
                settings, lightgbm.Dataset(X, y, free_raw_data=False), 1000, folds=folds,
                callbacks=[lightgbm.early_stopping(30, verbose=False)],
            )  # fmt: skip
            (losses,) = (values for name, values in history.items() if name.endswith("-mean"))
            found.append((min(losses), len(losses), settings))
        _, rounds, settings = min(found, key=lambda each: each[0])
        self.model = lightgbm.train(settings, lightgbm.Dataset(X, y), rounds)

    def probability(self, X):
        return self.model.predict(X)[:, None]

    def n_features(self):
        return np.count_nonzero(self.model.feature_importance())


class Ebm(Model):
    """As interpret sets it: bags of its own with early stopping, and ten interactions at most."""

    formulation = "generalized additive model of boosted steps"
    takes_sparse = False

    def fit(self, tolerance):
        from interpret.glassbox import ExplainableBoostingClassifier

        self.model = ExplainableBoostingClassifier(n_jobs=1, random_state=0, interactions=10)
        self.model.fit(self.X, self.y)

    def score(self, X):
        return self.probability(X)

    def n_features(self):
        """Return how many features have a step that is not level."""
        terms = zip(self.model.term_features_, self.model.term_scores_, strict=True)
        return len({k for features, scores in terms if np.any(scores) for k in features})
