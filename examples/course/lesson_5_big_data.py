"""
5. Big data
===========

The same estimators take data that do not fit into memory: files are read in chunks of rows, each row
is visited once per iteration, and nothing as long as the data is kept. This lesson goes from an array
to files, and from files to a stream.
"""

# %%
# Files in place of arrays
# ------------------------
#
# Let us write 200 000 rows to a few files; at home these would be yours. Parquet, CSV, svmlight and
# ``.npy`` can be read.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index
from singleindex.design import read_chunks
from singleindex.solvers import OnePass, Stochastic

folder = Path(tempfile.mkdtemp())
data = make_single_index(200_000, 50, n_atoms=5, link="clipped", random_state=0)
names = [f"x{j}" for j in range(50)]
for part, rows in enumerate(np.array_split(np.arange(200_000), 4)):
    frame = pd.DataFrame(data.X[rows], columns=names).assign(y=data.y[rows])
    frame.to_parquet(folder / f"part-{part}.parquet")

# %%
# ``read_chunks`` opens them, and ``fit`` takes what it returns in place of X and y.

chunks = read_chunks(str(folder / "part-*.parquet"), target="y", chunk_rows=20_000)
from_files = SingleIndexClassifier(n_atoms=5).fit(chunks)
some = pd.DataFrame(data.X[:20_000], columns=names)
print("features found:", from_files.coef_.nonzero()[0], "true:", data.coef.nonzero()[0])

# %%
# One pass, and bins
# ------------------
#
# Plain CSI reads the data twice per iteration: once for the index, once for the gradient, when the link
# is known. For long data the library uses the link of the iteration *before*, so that both happen in one
# visit, and fits the link to bins of the index. The slope of the link is bounded, and so is what the
# bins can change: it is twice the width of a bin times that slope, at most.

whole = pd.DataFrame(data.X, columns=names)
in_memory = SingleIndexClassifier(n_atoms=5, solver="two-pass").fit(whole, data.y)
grid = np.linspace(-2, 2, 300)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, model, style in (
    ("in memory, exact link", in_memory, "-"),
    ("from files, binned link", from_files, "--"),
):
    index = model.index(some)
    ax.plot(grid, model.link_(index.mean() + model.intercept_ + index.std() * grid), style, label=name)
ax.set(xlabel="index in standard deviations", ylabel="probability")
ax.legend(frameon=False)
p, q = (model.predict_proba(some)[:, 1] for model in (in_memory, from_files))
print(f"mean difference of the probabilities: {np.abs(p - q).mean():.4f}")

# %%
# A fit that takes hours can keep its state in a file, and go on from there after a break:
# ``SingleIndexClassifier(solver=OnePass(checkpoint="fit.ckpt"))``.

print(OnePass())

# %%
# A stream
# --------
#
# Where rows come one batch after the other, ``partial_fit`` learns from each as it passes. How the stream
# is cut into calls makes no difference.

model = SingleIndexClassifier(n_atoms=5, solver=Stochastic())
truth = data.coef / np.linalg.norm(data.coef)
start = 0
for end in (1000, 2000, 5000, 20_000, 100_000, 200_000):
    model.partial_fit(data.X[start:end], data.y[start:end], classes=[0, 1])
    cosine = model.coef_ @ truth / np.linalg.norm(model.coef_)
    print(f"after {end:6d} rows: cosine to the true w {cosine:.4f}")
    start = end

# %%
# Clusters
# --------
#
# Dask arrays and data frames go into the same ``fit``: every block returns its part of the gradient and
# its bins, which are added up. Nothing as long as the data travels.
#
# **Next:** :ref:`sphx_glr_course_lesson_6_matrix_completion.py`
