r"""
1. What a single-index model is
===============================

Much in the world *saturates*. Twice the dose does not help twice as much; the tenth good review of a
film adds less than the first; below a threshold nothing happens at all. A straight line cannot say so,
and a logistic curve says it in one way only. A single-index model leaves the shape to the data:

.. math:: \mathbb{E}[y \mid x] = g(w \cdot x)

The **weights** :math:`w` turn a row of features into one number, its **index**. The **link** :math:`g`
turns the index into a prediction. All we ask of it is that it rises, and not too steeply. In this
library :math:`w` is *simple* as well: most of its entries are zero, so that the answer is a short list
of features and one curve.
"""

# %%
# A response that saturates
# -------------------------
#
# Let us make up an experiment: 300 plants, 40 measurements of each, three of which matter for the
# yield. The yield starts to grow past a threshold, and then levels off.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.model_selection import cross_val_score

from singleindex import SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.inspection import plot_coefficients, plot_link

data = make_single_index(300, 40, n_atoms=3, link="clipped", noise="gaussian", random_state=3)
X, y = data.X, data.y
print("features that matter:", data.coef.nonzero()[0])

# %%
# What a straight line makes of it
# --------------------------------
#
# The lasso is the usual first try for many features and few that matter. Its predictions run straight
# on where the response has levelled off, and are too flat in between.

lasso = LassoCV(cv=5).fit(X, y)
index = X @ lasso.coef_
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(index, y, ".", color="0.6", label="plants")
ax.plot(np.sort(index), np.sort(lasso.predict(X)), color="#D55E00", lw=2, label="lasso")
ax.set(xlabel="weighted sum of the features", ylabel="yield")
ax.legend(frameon=False)

# %%
# Learning the curve as well
# --------------------------
#
# :class:`~singleindex.SingleIndexRegressorCV` learns the weights and the curve, and finds by
# cross-validation how many features to use. There is nothing to tune.

model = SingleIndexRegressorCV().fit(X, y)
plot_link(model, X, y)

# %%
# The line is the learned link, dotted where there were no data. The points are the plants, at the index
# the model gives them; the strip below shows where most of them lie. The threshold and the plateau are
# there, and nobody told the model about either.

print("used:", model.coef_.nonzero()[0])
plot_coefficients(model)

# %%
# The three features have the long bars. The default search averages all models that held-out rows cannot
# tell apart, and what some of them use keeps a short bar; the simplest of these models leaves it out:

print("used with one_se:", SingleIndexRegressorCV(rule="one_se").fit(X, y).coef_.nonzero()[0])

# %%
# Was it worth it? Held-out error tells:

for name, estimator in {"lasso": LassoCV(cv=5), "single index": SingleIndexRegressorCV()}.items():
    error = -cross_val_score(estimator, X, y, cv=5, scoring="neg_mean_squared_error").mean()
    print(f"{name:13s} mean squared error {error:.4f}")

# %%
# What is not determined
# ----------------------
#
# Make every weight twice as long and the curve half as steep: the predictions are the same. So the
# *length* of :math:`w` has no meaning of its own, only its direction has. The library fixes the length
# by a bound on the slope of the link (``lipschitz=1``). Compare weights with each other, not with those
# of another model.
#
# Also remember what the model cannot say. The response depends on the features through *one* weighted
# sum: there are no interactions, and nothing that first rises and then falls. If these matter, add
# products or squares of features as columns, or use another kind of model.
#
# **Next:** :ref:`sphx_glr_course_lesson_2_choosing_a_structure.py`
