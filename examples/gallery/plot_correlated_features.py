"""
Correlated features
===================

Radius, perimeter and area of a cell say nearly the same. A sparse model takes one of them and leaves the
others, and another sample may take another. That is no fault of the prediction, but of reading the list as a
finding.

The rows are 569 tumours from scikit-learn, with thirty measurements of their cells.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from singleindex import SingleIndexClassifierCV, single_index_path
from singleindex.inspection import plot_coefficient_path

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = (y == 0).astype(int)
size = ["mean radius", "mean perimeter", "mean area", "worst radius", "worst perimeter", "worst area"]
print(X[size].corr().round(2).to_string())

# %%
# Along a path from strong penalties to weak ones, one of the six takes all the weight for long. Then copies
# of it come in with weights of opposite sign, which nearly cancel: no single one of them means anything.
# Columns are brought to the same spread first, so that weights can be compared, and the ridge that fits have
# by default is left out: it lets copies share.

fig, ax = plt.subplots(figsize=(8, 4.6))
alike = (X[size] - X[size].mean()) / X[size].std()
settings = {"link": "logistic", "alpha": 0.0, "solver": "exact", "max_iter": 50}
path = single_index_path(alike, malignant, penalty=np.geomspace(0.9, 0.001, 40), **settings)
plot_coefficient_path(path, ax=ax)
fig.tight_layout()

# %%
# A search averages what held-out rows cannot tell apart, so that copies share the weight. `stability_` is the
# share of the averaged models that have a feature: one in half of them has rivals.

model = SingleIndexClassifierCV(cv=5).fit(X, malignant)
shares = dict(zip(X.columns, model.stability_, strict=True))
for name in sorted(size, key=shares.get, reverse=True):
    print(
        f"{name:16s} in {shares[name]:4.0%} of the models, weight {model.coef_[X.columns.get_loc(name)]:+.4f}"
    )

# %%
# Take the favourite away, and a copy of it steps in: the prediction hardly changes.

favourite = max(size, key=shares.get)
for name, columns in (("all columns", X), (f"without {favourite}", X.drop(columns=favourite))):
    score = cross_val_score(SingleIndexClassifierCV(cv=5), columns, malignant, cv=3, scoring="roc_auc").mean()
    print(f"{name:28s} AUC {score:.3f}")

# %%
# To treat them as one thing, say so: a group comes in as a whole, `GroupSparse(groups)`, or put their mean in
# one column. Which features would be found again in another sample is told by
# :func:`~singleindex.inspection.resample`.
