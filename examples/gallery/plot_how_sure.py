"""
How sure are we?
================

A search always returns a model. Whether there is anything in it, which of its features would be found again,
and how much a feature does is another question, and the search's own folds cannot answer it: on pure noise
they agree with one another as well. :func:`~singleindex.inspection.resample` asks many halves of the rows.

The data are 442 patients with diabetes: ten measurements, and how far the disease went in a year. Thirty
columns of noise are added, to see what becomes of them.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from singleindex import SingleIndexRegressorCV
from singleindex.inspection import plot_effects, plot_link, plot_selection, resample

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
rng = np.random.default_rng(0)
for j in range(30):
    X[f"noise {j}"] = rng.standard_normal(len(X))

model = SingleIndexRegressorCV().fit(X, y)
used = X.columns[model.coef_ != 0]
print(f"{len(used)} features in use, {sum('noise' in name for name in used)} of noise")

# %%
# Is there anything at all?
# -------------------------
#
# The same quick search of a model, on y as it is and on y in random order. The p-value is how often
# random orders do as well.

resampled = resample(model, X, y, random_state=0)
print(resampled.evidence)

noise = resample(model, X, rng.permutation(y), random_state=0)
print(noise.evidence)

# %%
# Which features would be found again?
# ------------------------------------
#
# Every half of the rows chooses the same number of features. Those that nearly all halves choose are
# stable, and of them only so many can be expected to be false: the bound is that of Shah & Samworth
# (2013).

print(resampled)
plot_selection(resampled)

# %%
# What is claimed: no more than that number of features, on average over data sets, that halves choose
# no more often than by chance. What is not: that the others do nothing. With half of the rows weak
# features are missed; and of two that say the same, halves take one or the other, and neither is
# stable. On noise nothing should be:

print(noise)

# %%
# How much does a feature do?
# ---------------------------
#
# The average change of the prediction for one standard deviation of each feature, for sex from one
# value to the other. The model's own effects (grey) are drawn towards zero by penalties and averages;
# the estimates are not, and have intervals. A unit of one's own is given by name.

plot_effects(resampled, top=12)

# %%

print(resampled.effects(units={"bmi": 5.0, "bp": 10.0}).take(slice(8)))

# %%
# What is claimed: they are made so that nine in ten cover. How often those of stable features did is in the
# tables of :doc:`/uncertainty`: somewhat less often with seven rows for each feature, far less often with
# fewer rows than features. What is not: an effect of cause, or intervals for features that were picked
# *because* their interval is far from zero. Where features are nearly sums of others (``s1``, ``s2`` and
# ``s3`` are blood values of which one is nearly made of the others), the intervals lean on the model, and
# simulations have not borne them out.
#
# How sure is the curve?
# ----------------------
#
# The band is one for the mean of y at each index of this model, point by point. It is made of rows
# that had no say in their index.

plot_link(model, X, y, resampled=resampled)
