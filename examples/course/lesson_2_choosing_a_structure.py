"""
2. Choosing a structure
=======================

With more features than rows, infinitely many :math:`w` fit the data perfectly. What saves us is to want
a *simple* one, and what is simple depends on the problem. This lesson goes through the kinds of
simplicity that the library knows, and how to choose between them.
"""

# %%
# =============================== ====================================================
# what you know                   structure
# =============================== ====================================================
# few features matter             ``Sparse()``, the default
# a feature belongs in the model  ``Sparse(factors={"age": 0})``
# a weight cannot be negative     ``Sparse(signs={"dose": 1})``
# features come in groups         ``GroupSparse(groups)``
# several outputs, same features  ``RowSparse()``
# features form a matrix          ``LowRank((rows, columns))``
# a list of possible shapes       ``Dictionary(atoms)``
# something else                  :ref:`a class of your own <sphx_glr_course_lesson_7_your_own_structure.py>`
# =============================== ====================================================
#
# Each of them counts *atoms*: features, groups, rows, ranks. ``n_atoms`` limits their number, and the
# estimators whose names end in CV find the number by themselves.

import matplotlib.pyplot as plt
import numpy as np

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.structures import GroupSparse, LowRank, RowSparse

# %%
# Groups
# ------
#
# Genes belong to pathways, and answers to questionnaires belong to questions. If one member of a group
# matters, its fellows probably do too. Here are 400 features in 40 groups of ten; three groups matter.
# The groups are given as one label per feature.

groups = np.repeat(np.arange(40), 10)
data = make_single_index(250, 400, structure="group", n_atoms=3, group_size=10, link="ramp", random_state=0)
X, y = data.X, data.y

found = {}
for name, structure in {"sparse": None, "group sparse": GroupSparse(groups)}.items():
    model = SingleIndexClassifierCV(structure=structure).fit(X, y)
    cosine = model.coef_ @ data.coef / np.linalg.norm(model.coef_) / np.linalg.norm(data.coef)
    found[name] = model
    print(f"{name:13s} held-out log-loss {-model.best_score_:.3f}, cosine to the true w {cosine:.2f}")

# %%
# Knowing the groups helps twice: fewer atoms to choose from, and no member of a group is lost.

figure, axes = plt.subplots(3, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, (name, coef) in zip(
    axes, {"true": data.coef, **{name: model.coef_ for name, model in found.items()}}.items(), strict=True
):
    ax.stem(coef, markerfmt=" ", basefmt="0.7")
    ax.set(ylabel=name, yticks=[])
axes[-1].set_xlabel("feature")

# %%
# Several outputs
# ---------------
#
# Six related measurements of the same rows, one weight vector each, but the same few features behind
# all of them. One fit for all finds these features better than six separate ones.

tasks = make_single_index(
    60, 150, structure="rows", n_atoms=4, n_outputs=6, link="clipped", noise="gaussian",
    noise_level=0.3, random_state=1,
)  # fmt: skip
truth = set(np.flatnonzero(tasks.coef.any(axis=1)))
for name, structure in {"each by itself": None, "shared rows": RowSparse()}.items():
    model = SingleIndexRegressorCV(n_atoms=[2, 4, 8, 16], penalty=[], structure=structure)
    used = [set(np.flatnonzero(column)) for column in model.fit(tasks.X, tasks.y).coef_.T]
    print(f"{name:15s} true features in use, of {len(truth)}: {[len(truth & one) for one in used]}")
    print(f"{'':15s} others in use:             {[len(one - truth) for one in used]}")

# %%
# Matrices
# --------
#
# Where the features of a row form a matrix, an image or a table of places and times, coefficients of
# low rank say: a few patterns along the rows, each with its own profile along the columns.

rank = make_single_index(
    400, 400, structure="low_rank", n_atoms=2, shape=(20, 20), link="tanh", noise="gaussian", random_state=0
)
model = SingleIndexRegressorCV(n_atoms=[1, 2, 3, 5], structure=LowRank((20, 20))).fit(rank.X, rank.y)
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for ax, (name, coef) in zip(axes, {"true": rank.coef, "learned": model.coef_}.items(), strict=True):
    ax.imshow(coef.reshape(20, 20), cmap="RdBu")
    ax.set(title=name, xticks=[], yticks=[])
print("rank chosen:", model.best_params_["n_atoms"])

# %%
# How to choose
# -------------
#
# Start with what you know of the problem. Where two structures make sense, compare their held-out
# scores, as above, on the same folds. A wrong structure does not fail loudly: it just predicts worse.
#
# **Next:** :ref:`sphx_glr_course_lesson_3_reading_the_link.py`
