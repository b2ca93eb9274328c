"""SLNN: one hidden layer, Adam, stopped early by the validation part."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

# The paper's 5 to 1000 units. Its learning rate, 0.1, beside one that suits Adam better; the widest layers
# with the better one alone, for they take most of the time of the whole table.
SHAPES = ((5, 0.1), (5, 0.01), (50, 0.1), (50, 0.01), (250, 0.01), (1000, 0.01))
MAX_EPOCHS = 60
PATIENCE = 5
# The widest layer gets fewer units where it would have more weights than this.
MOST_WEIGHTS = 25_000_000


def make_network(n_units, learning_rate, n_rows, seed, activation="relu"):
    return MLPClassifier(
        (n_units,), activation=activation, solver="adam", learning_rate_init=learning_rate, alpha=0.0,
        beta_1=0.9, beta_2=0.999, epsilon=1e-8, batch_size=min(200, n_rows), random_state=seed,
    )  # fmt: skip


def train_epochs(model, X, y, n_epochs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(n_epochs):
            model.partial_fit(X, y, classes=[0, 1])
    return model


def best_epoch(model, X, y, X_validate, y_validate):
    """Train until the validation AUC has not risen for some epochs.

    Returns the best AUC, its epoch, and the scores of the validation part there.
    """
    best, at, scores = -np.inf, 0, np.zeros(len(y_validate))
    for epoch in range(1, MAX_EPOCHS + 1):
        train_epochs(model, X, y, 1)
        found = scores_of(model, X_validate)
        reached = roc_auc_score(y_validate, found)
        if reached > best:
            best, at, scores = reached, epoch, found
        elif epoch - at >= PATIENCE:
            break
    return best, at, scores


def scores_of(model, X):
    """Return log-odds, which rank as the probabilities do."""
    return logit(np.clip(model.predict_proba(X)[:, 1].astype(np.float64), 1e-12, 1 - 1e-12))


def shapes_for(n_features):
    """Return the numbers of hidden units and the learning rates to try."""
    most = max(1, MOST_WEIGHTS // n_features)
    return sorted({(min(n_units, most), rate) for n_units, rate in SHAPES})
