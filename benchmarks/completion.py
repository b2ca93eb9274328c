"""Generated ratings with graphs: test error beside means and least squares, with and without the graphs.

200 rows, 150 columns, 3000 ratings of 1 to 5, rank 3, communities as graphs on both sides, a link that
saturates (tanh). All methods choose their settings on the same held-out ratings and are then fitted to all
training ratings. The paper's own ratings are Table 3 of `experiments`.
"""

from __future__ import annotations

import itertools

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from singleindex import SingleIndexCompleterCV
from singleindex.datasets import make_completion

N_TRAIN = 3000
MODELS = {
    "LS, no graph": ({"link": "identity"}, False),
    "LS, graph": ({"link": "identity"}, True),
    "CSI, no graph": ({}, False),
    "CSI, graph": ({}, True),
}
# The same for all methods.
GRID = {
    "n_atoms": [5], "penalty": (0.4, 0.2, 0.1, 0.05), "damping": (1.0, 10.0),
    "graph_strength": (0.0, 3.0, 30.0),
}  # fmt: skip


def shrunken_means(pairs, y, splits, shape):
    """Return a predictor by the mean plus shrunken means of the row and the column, as shrunken as held-out
    ratings want it.
    """

    def learn(train, ridges):
        mean = y[train].mean()
        parts = []
        for axis, ridge in enumerate(ridges):
            at = pairs[train, axis]
            total = np.bincount(at, y[train] - mean, minlength=shape[axis])
            parts.append(total / (np.bincount(at, minlength=shape[axis]) + ridge))
        return lambda p: mean + parts[0][p[:, 0]] + parts[1][p[:, 1]]

    def held_out_error(ridges):
        errors = [(learn(train, ridges)(pairs[test]) - y[test]) ** 2 for train, test in splits]
        return np.mean(np.concatenate(errors))

    grid = itertools.product((1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0), repeat=2)
    return learn(np.arange(len(y)), min(grid, key=held_out_error))


def measure(seed):
    """Return each method's mean squared distance from the true mean of the ratings that were held out."""
    data = make_completion(
        200, 150, 8000, n_atoms=3, link="tanh", signal=3.0, noise="grades", noise_level=0.15,
        random_state=seed,
    )  # fmt: skip
    splits = list(KFold(5, shuffle=True, random_state=seed).split(np.arange(N_TRAIN)))
    pairs, y, held_out = data.pairs[:N_TRAIN], data.y[:N_TRAIN], data.pairs[N_TRAIN:]
    means = shrunken_means(pairs, y, splits, data.shape)
    predicted = {"null": np.full(len(held_out), y.mean()), "shrunken means": means(held_out)}
    for name, (settings, with_graph) in MODELS.items():
        graphs = (data.row_graph, data.col_graph) if with_graph else (None, None)
        model = SingleIndexCompleterCV(cv=splits, **settings, **GRID)
        predicted[name] = model.fit(pairs, y, *graphs, shape=data.shape).predict(held_out)
    return {name: float(np.mean((p - data.mean[N_TRAIN:]) ** 2)) for name, p in predicted.items()}


def run(quick=False, n_jobs=2):
    seeds = range(2 if quick else 10)
    found = Parallel(n_jobs=n_jobs)(delayed(measure)(seed) for seed in seeds)
    title = f"Squared distance from the true mean over {len(seeds)} seeds, 5-fold cross-validation."
    return [title, "", *table(found)]


def table(found):
    """Return mean and standard error of each method, and in how many runs CSI with graph is better."""
    rows = ["| method | error | CSI with graph is better in |", "|---|---|---|"]
    ours = np.array([run["CSI, graph"] for run in found])
    for name in found[0]:
        errors = np.array([run[name] for run in found])
        spread = errors.std(ddof=1) / np.sqrt(len(errors))
        wins = "" if name == "CSI, graph" else f"{np.sum(ours < errors)} of {len(errors)}"
        rows.append(f"| {name} | {errors.mean():.4f} ± {spread:.4f} | {wins} |")
    return rows
