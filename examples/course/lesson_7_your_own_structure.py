"""
7. Writing your own structure
=============================

A structure is a class with three methods. This lesson writes one for spectra: the features have an
order, and what matters is the mean over a few *stretches* of neighbouring ones.
"""

# %%
# Three methods
# -------------
#
# The atoms here are stretches on which :math:`w` is constant. ``project`` returns the nearest vector
# that is made of at most so many of them, ``count_atoms`` counts, ``check`` says how many there can be.
# The nearest piecewise constant vector is found by a decision tree over the position: greedy, but one
# line.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.structures import Structure


class PiecewiseConstant(Structure):
    """w has at most `n_atoms` constant pieces."""

    keeps_scaling = False  # scaling columns one by one would tear the pieces apart

    def project(self, w, n_atoms):
        place = np.arange(len(w))[:, None]
        if n_atoms is None or n_atoms >= len(w):
            return w.copy()
        if n_atoms < 2:
            return np.full_like(w, w.mean() if n_atoms else 0.0)
        return DecisionTreeRegressor(max_leaf_nodes=n_atoms).fit(place, w).predict(place)

    def count_atoms(self, w):
        return 1 + int(np.count_nonzero(np.diff(w)))

    def check(self, shape):
        return shape[0]


print(isinstance(PiecewiseConstant(), Structure))

# %%
# That is all
# -----------
#
# It goes into every estimator, the ones that search included.

rng = np.random.default_rng(0)
w = np.zeros(200)
w[40:70], w[120:140] = 1.0, -1.5
X = rng.standard_normal((150, 200))
y = np.tanh(2 * X @ w / np.linalg.norm(w)) + 0.1 * rng.standard_normal(150)

models = {
    "piecewise constant": SingleIndexRegressor(n_atoms=5, structure=PiecewiseConstant()),
    "sparse": SingleIndexRegressor(n_atoms=50),
    "no structure": SingleIndexRegressor(),
}
figure, axes = plt.subplots(4, 1, figsize=(8, 6), sharex=True, layout="constrained")
axes[0].plot(w / np.linalg.norm(w), color="black")
axes[0].set_ylabel("truth")
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    coef = model.fit(X, y).coef_
    cosine = coef @ w / (np.linalg.norm(coef) * np.linalg.norm(w))
    print(f"{name:20s} cosine to the true w {cosine:.3f}")
    ax.plot(coef / np.linalg.norm(coef), color="#0072B2")
    ax.set_ylabel(name)
axes[-1].set_xlabel("place along the spectrum")

# %%
# How many pieces? The search finds out.

model = SingleIndexRegressorCV(n_atoms=[2, 3, 5, 8, 12], structure=PiecewiseConstant(), alpha=[0.1])
print(model.fit(X, y).best_params_)

# %%
# What a good structure does
# --------------------------
#
# * ``project`` returns a *new* array: never change the one you were given.
# * Projecting twice is projecting once, and more atoms never lie further away. The library's own
#   structures are held to that by one list of tests, ``tests/structures/test_contract.py``; run yours
#   through it.
# * Scaling :math:`w` scales its projection. Everything in the solver is equivariant, and the stopping
#   rule counts on it.
# * With ``shrink``, ``norm`` and ``dual_norm`` as well, it can be used softly, through ``penalty``: see
#   :class:`singleindex.structures.Structure`.
#
# This was the last lesson. The pages on :doc:`how it works </how_it_works>` have the mathematics.
