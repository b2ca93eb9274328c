r"""
6. Matrix completion
====================

Users rate films, few of them each. What would they say of the others? That is a single-index model,
too: the index of a pair is a sum of what the user is like, what the film is like, and what they have in
common; the link turns it into a rating, whatever the scale means.
"""

# %%
# The model
# ---------
#
# .. math:: \mathbb{E}[y_{ij}] = g(b_i + c_j + p_i \cdot q_j)
#
# Effects :math:`b` and :math:`c`, factors :math:`p` and :math:`q` of low rank, and a link that is learned:
# between three and four stars there may be a world, between four and five nothing.

import matplotlib.pyplot as plt
import numpy as np

from singleindex import SingleIndexCompleter
from singleindex.datasets import make_completion

data = make_completion(300, 200, 9000, n_atoms=2, link="tanh", noise="grades", random_state=0)
rng = np.random.default_rng(0)
rows = rng.permutation(len(data.y))
train, test = rows[:6000], rows[6000:]
print("ratings:", np.unique(data.y, return_counts=True))

# %%
# Learning it
# -----------
#
# ``fit`` takes pairs of numbers (or a data frame of names) and the ratings. ``link="identity"`` is plain
# least squares, from the same solver.


def error(model, known=train, **graphs):
    model.fit(data.pairs[known], data.y[known], shape=data.shape, **graphs)
    return np.mean((model.predict(data.pairs[test]) - data.y[test]) ** 2)


print(f"mean of all ratings      {np.mean((data.y[train].mean() - data.y[test]) ** 2):.3f}")
print(f"effects alone            {error(SingleIndexCompleter(n_atoms=0, link='identity')):.3f}")
print(f"least squares            {error(SingleIndexCompleter(n_atoms=5, link='identity')):.3f}")
learned = SingleIndexCompleter(n_atoms=5, link_cv=5)
print(f"learned link             {error(learned):.3f}   mean squared error of held-out ratings")

# %%
# The link of ratings
# -------------------

grid = np.linspace(*np.quantile(learned.index(data.pairs), [0.005, 0.995]), 300)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(grid, learned.link_(grid), color="#0072B2", lw=2)
ax.set(xlabel="index", ylabel="mean rating", yticks=range(1, 6))

# %%
# Friends
# -------
#
# Often more is known: which users are friends, which films are alike. A graph on either side makes
# neighbours alike, and says something of users who have rated nothing yet. The fewer ratings there are,
# the more it helps; with many it has little to add.

graphs = {"row_graph": data.row_graph, "col_graph": data.col_graph}
for known in (train[:500], train[:1500], train):
    without = error(SingleIndexCompleter(n_atoms=5, link_cv=5), known)
    with_graphs = SingleIndexCompleter(n_atoms=5, link_cv=5)
    print(
        f"{len(known)} ratings: {without:.3f} without, {error(with_graphs, known, **graphs):.3f} with graphs"
    )

# %%
# And now what the whole thing is for: films that user 7 has not rated, the best first.

print("recommended to user 7:", with_graphs.recommend(7, k=5))

# %%
# :class:`~singleindex.SingleIndexCompleterCV` chooses rank, ridges and the strength of the graphs by itself.
#
# **Next:** :ref:`sphx_glr_course_lesson_7_your_own_structure.py`
