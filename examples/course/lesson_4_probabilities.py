"""
4. Probabilities
================

A classifier that says 90 % should be right nine times in ten. With more features than rows that is
hard: what fits the training rows perfectly knows nothing of how often it will be wrong.
"""

# %%
# Too sure of itself
# ------------------
#
# 300 rows, 1000 features, five of which matter. We keep 2000 rows to test on.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV
from singleindex.datasets import make_single_index
from singleindex.inspection import plot_reliability

data = make_single_index(2300, 1000, n_atoms=5, link="ramp", random_state=0)
X, y, X_new, y_new = data.X[:300], data.y[:300], data.X[300:], data.y[300:]

models = {
    "in-sample link": SingleIndexClassifier(n_atoms=20).fit(X, y),
    "link_cv=5": SingleIndexClassifier(n_atoms=20, link_cv=5).fit(X, y),
    "with search": SingleIndexClassifierCV().fit(X, y),
    "L1-logistic": LogisticRegression(C=0.3, l1_ratio=1, solver="liblinear").fit(X, y),
}
print(f"{'':16s}{'AUC':>7s}{'Brier':>8s}{'log-loss':>10s}")
for name, model in models.items():
    p, score = model.predict_proba(X_new)[:, 1], model.decision_function(X_new)
    print(
        f"{name:16s}{roc_auc_score(y_new, score):7.3f}"
        f"{brier_score_loss(y_new, p):8.4f}{log_loss(y_new, p):10.3f}"
    )

# %%
# With 20 features allowed where five matter, the index of the *training* rows looks better than it is,
# and the link fitted to it is too steep. ``link_cv=5`` fits the link to rows that :math:`w` has not
# seen: the ranking stays the same, the probabilities become honest. The estimators with CV in their
# name always do that.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for ax, name in zip(axes, ("in-sample link", "link_cv=5", "with search"), strict=True):
    plot_reliability(models[name], X_new, y_new, ax=ax)
    ax.set_title(name, loc="right")
    ax.get_legend().remove()

# %%
# Dots on the diagonal are probabilities that come true.

# %%
# Rank by the index
# -----------------
#
# A learned link has flat pieces, where different rows get the same probability. (That of a search lies
# between such a curve and a sigmoid, and with few rows is the latter.) For ranking, for AUC, for a list of
# the hundred most likely, use ``decision_function``: it is the index, and has no ties.

model = models["link_cv=5"]
print("different probabilities:", len(np.unique(model.predict_proba(X_new)[:, 1])))
print("different indices:      ", len(np.unique(model.decision_function(X_new))))

# %%
# Several classes, several labels
# -------------------------------
#
# Three classes or more are learned one against the rest, each with its own :math:`w` and :math:`g`, and
# the probabilities made to sum to one. A target with several columns of 0 and 1 is taken as several
# labels.

kinds = np.digitize(data.index[:300], [-1.0, 1.0])
model = SingleIndexClassifier(n_atoms=8, link_cv=5).fit(X, kinds)
print(model.predict_proba(X_new[:3]).round(3))

# %%
# **Next:** :ref:`sphx_glr_course_lesson_5_big_data.py`
