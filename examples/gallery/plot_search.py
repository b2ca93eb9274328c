"""
What the search tells
=====================

The estimators that choose their own settings keep all that they tried: the held-out score of every
candidate, the path of the weights, and how often each feature was used in the folds.
"""

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index
from singleindex.inspection import plot_coefficient_path, plot_cv_curve

X, y, w, g = make_single_index(300, 400, n_atoms=5, link="clipped", random_state=0)
model = SingleIndexClassifierCV(rule="one_se").fit(X, y)
plot_cv_curve(model)

# %%
# The ring is what was chosen. With ``rule="one_se"`` that is the simplest model within one standard
# error of the best. Along the path, the features that matter come in first:

plot_coefficient_path(model, top=6)

# %%
# Folds share most of their rows and agree on noise, too: which features to believe in is told by
# :func:`~singleindex.inspection.resample`.

for j in model.coef_.nonzero()[0]:
    print(f"feature {j:3d}  weight {model.coef_[j]:+.2f}  in {model.stability_[j]:.0%} of the models")
