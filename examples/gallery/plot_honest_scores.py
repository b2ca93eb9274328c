"""
Why the score of a search flatters
==================================

With 60 rows and 1000 columns, the best of a few hundred candidates does well on its folds by luck
alone. Doing the whole search again without each fold tells how it does on rows that had no say in it;
that is what the report page does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from singleindex import SingleIndexClassifierCV
from singleindex.datasets import make_single_index

rows = []
for seed in range(3):
    data = make_single_index(3060, 1000, n_atoms=4, link="clipped", random_state=seed)
    X, y, X_new, y_new = data.X[:60], data.y[:60], data.X[60:], data.y[60:]
    model = SingleIndexClassifierCV().fit(X, y)
    nested = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    new = model.predict_proba(X_new)[:, 1]
    rows.append([-model.best_score_, log_loss(y, nested), log_loss(y_new, new)])

print("Log-loss, lower is better")
names = ("search's own folds", "whole search, nested", "3000 new rows")
for name, values in zip(names, np.transpose(rows), strict=True):
    print(f"{name:22s}" + "".join(f"{v:8.3f}" for v in values) + f"   mean {np.mean(values):.3f}")

# %%
# Each line is one sample of 60 rows.

fig, ax = plt.subplots(figsize=(6, 3.6))
ax.plot(names, np.transpose(rows), "o-")
ax.set_ylabel("log-loss")
