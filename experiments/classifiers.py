"""The columns of Table 1: how each method chooses its settings on a split, and what it then says.

Every method is given the same: the candidates are fitted to the training part, the one with the best AUC
on the validation part is fitted once more to both parts, and the test part is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from singleindex import SingleIndexClassifierCV, Slisotron

from .baselines import LiteralCSI
from .baselines.neural import best_epoch, make_network, scores_of, shapes_for, train_epochs
from .splits import Split

# The ridges of L2-logistic regression and of the linear SVM.
PENALTIES = 2.0 ** np.arange(-10, 11)
# Levels of every L1 rival: from the penalty at which w is zero down to this share of it, or to where the
# paper's own grid ends, whichever is weaker; counts with a few large columns need the latter.
N_LEVELS = 60
WEAKEST = 1e-4
SPARSITIES = tuple(2**k for k in range(2, 11))
STEP_SIZES = tuple(2.0**k for k in (-6, -4, -2, 0, 2))
SLISOTRON_ITERATIONS = (1, 3, 10, 30, 100, 300)


@dataclass(frozen=True)
class Outcome:
    """What a fitted method says of the test part, and what it chose."""

    score: np.ndarray
    probability: np.ndarray
    n_features: int
    settings: dict[str, Any]


def choose(candidates: Iterable[Any], split: Split, labels: np.ndarray) -> tuple[Any, Any]:
    """Return the candidate that is best on the validation part, fitted to the training part and to both.

    Candidates may be made one by one, each knowing the one before; the first of equals is taken.
    """
    best, highest = None, -np.inf
    for model in candidates:
        model.fit(split.X[split.train], labels[split.train])
        reached = roc_auc_score(split.y[split.validate], score_of(model, split.X[split.validate]))
        if reached > highest:
            best, highest = model, reached
    return best, clone(best).fit(split.X[split.both], labels[split.both])


def score_of(model: Any, X: Any) -> np.ndarray:
    names = ("decision_function", "index", "predict")
    rank = next(getattr(model, name) for name in names if hasattr(model, name))
    return np.asarray(rank(X), dtype=np.float64)


def calibrated(split: Split, held_out: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return probabilities by Platt's sigmoid, fitted to the scores of the validation part.

    For methods that have none, and for the network: stopped by AUC, it can be off by any amount.
    """
    unit = np.std(held_out) or 1.0
    sigmoid = LogisticRegression(C=1e4).fit(held_out[:, None] / unit, split.y[split.validate])
    return expit(sigmoid.coef_[0, 0] * scores / unit + sigmoid.intercept_[0])


def told(split: Split, candidates: Iterable[Any], names: tuple[str, ...], labels=None) -> Outcome:
    """Choose among candidates and say what is found; `names` are the parameters that were chosen."""
    labels = split.y if labels is None else labels
    first, final = choose(candidates, split, labels)
    X = split.X[split.test]
    score = score_of(final, X)
    if hasattr(final, "predict_proba"):
        probability = final.predict_proba(X)[:, 1]
    else:
        probability = calibrated(split, score_of(first, split.X[split.validate]), score)
    settings = {name: getattr(final, name) for name in names}
    return Outcome(score, probability, int(np.count_nonzero(final.coef_)), settings)


# ---------------------------------------------------------------- the paper's columns


def penalty_levels(X: Any, y: np.ndarray, slope: float = 1.0) -> np.ndarray:
    """Return penalties beside a sum of losses, whose slope at w = 0 is so many times that of the logistic."""
    largest = slope * np.abs(X.T @ (y - y.mean())).max()
    return np.geomspace(largest, min(WEAKEST * largest, PENALTIES[0]), N_LEVELS)


def logistic_at(penalty: float) -> LogisticRegression:
    """SLR: λ times the L1 norm beside the sum of the losses, so C = 1/λ."""
    return LogisticRegression(C=1 / penalty, l1_ratio=1, solver="liblinear", max_iter=500, random_state=0)


def sparse_logistic(split: Split, seed: int) -> Outcome:
    return told(split, map(logistic_at, penalty_levels(*split.part(split.train))), ("C",))


def sparse_squared_hinge(split: Split, seed: int) -> Outcome:
    models = (
        LinearSVC(C=1 / p, penalty="l1", loss="squared_hinge", dual=False, max_iter=500, random_state=0)
        for p in penalty_levels(*split.part(split.train), slope=4)
    )
    return told(split, models, ("C",))


def sparse_least_squares(split: Split, seed: int) -> Outcome:
    """SLS: the paper's least squares in an L1 ball; each ball has a penalty with the same solution."""
    return told(split, warm_lassos(*split.part(split.train)), ("alpha",), as_signs(split.y))


def warm_lassos(X: Any, y: np.ndarray) -> Iterable[Lasso]:
    """Yield models that start where the one before, fitted meanwhile, has ended, until y is explained."""
    before = None
    for level in penalty_levels(X, y, slope=2) / len(y):
        model = Lasso(level, tol=1e-3, max_iter=100, warm_start=True)
        if before is not None:
            model.coef_ = before.coef_
        yield model
        if model.score(X, as_signs(y)) > 0.99:
            return
        before = model


def slisotron(split: Split, seed: int) -> Outcome:
    models = (Slisotron(max_iter=n_iter) for n_iter in SLISOTRON_ITERATIONS)
    return told(split, models, ("max_iter",), as_signs(split.y))


def neural_network(split: Split, seed: int, activation: str = "relu") -> Outcome:
    X = split.X.astype(np.float32)
    train, validate = (X[split.train], split.y[split.train]), (X[split.validate], split.y[split.validate])
    reached = {
        shape: best_epoch(make_network(*shape, len(split.train), seed, activation), *train, *validate)
        for shape in shapes_for(X.shape[1])
    }
    shape = max(reached, key=lambda s: reached[s][0])
    _, n_epochs, held_out = reached[shape]
    final = make_network(*shape, len(split.train), seed, activation)
    train_epochs(final, X[split.both], split.y[split.both], n_epochs)
    score = scores_of(final, X[split.test])
    settings = {"n_units": shape[0], "learning_rate": shape[1], "n_epochs": n_epochs}
    return Outcome(score, calibrated(split, held_out, score), X.shape[1], settings)


def literal_csi(split: Split, seed: int) -> Outcome:
    models = (LiteralCSI(k, step_size=eta) for k in paper_counts(split) for eta in STEP_SIZES)
    return told(split, models, ("n_atoms", "step_size"), as_signs(split.y))


def paper_counts(split: Split) -> list[int]:
    return sorted({max(1, round(split.X.shape[1] / k)) for k in SPARSITIES})


def as_signs(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1.0, -1.0)


# ---------------------------------------------------------------- this library


N_FOLDS = 5


def searched(split: Split, seed: int, **settings: Any) -> Outcome:
    """Search in folds of training and validation part; by default few features are taken unless many win."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    model = SingleIndexClassifierCV(cv=folds, scoring="roc_auc", **settings).fit(*split.part(split.both))
    X = split.X[split.test]
    used = int(np.count_nonzero(model.coef_))
    return Outcome(model.decision_function(X), model.predict_proba(X)[:, 1], used, model.best_params_)


# ---------------------------------------------------------------- what is strong today


def ridge_logistic(split: Split, seed: int) -> Outcome:
    models = (
        LogisticRegression(C=1 / p, solver="liblinear", max_iter=500, random_state=0) for p in PENALTIES
    )
    return told(split, models, ("C",))


def linear_svm(split: Split, seed: int) -> Outcome:
    return told(split, (LinearSVC(C=1 / p, max_iter=5000, random_state=0) for p in PENALTIES), ("C",))


def gradient_boosting(split: Split, seed: int) -> Outcome:
    """LightGBM on the sparse matrix itself, the number of trees by the validation part."""
    from lightgbm import LGBMClassifier, early_stopping

    def make(n_trees, leaves, least):
        return LGBMClassifier(
            n_estimators=n_trees, num_leaves=leaves, min_child_samples=least, learning_rate=0.1,
            random_state=seed, n_jobs=1, verbose=-1, deterministic=True, force_row_wise=True,
        )  # fmt: skip

    X, best = split.X.astype(np.float32), None
    for leaves in (7, 31):
        for least in (3, 10):
            model = make(400, leaves, least).fit(
                X[split.train], split.y[split.train], eval_X=(X[split.validate],), eval_metric="auc",
                eval_y=(split.y[split.validate],),
                callbacks=[early_stopping(30, first_metric_only=True, verbose=False)],
            )  # fmt: skip
            reached = model.best_score_["valid_0"]["auc"]
            if best is None or reached > best[0]:
                best = (reached, model.best_iteration_, leaves, least)
    final = make(*best[1:]).fit(X[split.both], split.y[split.both])
    score = final.predict(X[split.test], raw_score=True)
    settings = dict(zip(("n_trees", "num_leaves", "min_child_samples"), best[1:], strict=True))
    used = int(np.count_nonzero(final.feature_importances_))
    return Outcome(np.asarray(score), expit(np.asarray(score)), used, settings)


def null_model(split: Split, seed: int) -> Outcome:
    """The share of the second class, for every row."""
    share = np.full(len(split.test), split.y[split.both].mean())
    return Outcome(share, share, 0, {})


Method = Callable[[Split, int], Outcome]
PAPER_COLUMNS: dict[str, Method] = {
    "SLR": sparse_logistic,
    "SQH": sparse_squared_hinge,
    "SLS": sparse_least_squares,
    "Slisotron": slisotron,
    "SLNN": neural_network,
    "CSI as printed": literal_csi,
    # As the documents advise for text: w may have as many features as is best.
    "CSI": lambda split, seed: searched(split, seed, dense=True),
}
VARIANTS: dict[str, Method] = {
    "CSI (default)": searched,
    "CSI (at most d/4)": lambda split, seed: searched(split, seed, n_atoms=paper_counts(split)),
}
TODAY: dict[str, Method] = {
    "L2-logistic": ridge_logistic,
    "linear SVM": linear_svm,
    "boosting": gradient_boosting,
    "null": null_model,
}
# One index, learned as SLNN is: what its rectified units add is the difference.
ABLATIONS: dict[str, Method] = {
    "linear SLNN": lambda split, seed: neural_network(split, seed, activation="identity"),
}
METHODS = PAPER_COLUMNS | VARIANTS | TODAY | ABLATIONS
