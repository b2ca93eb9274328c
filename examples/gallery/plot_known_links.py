"""
A learned link beside known ones
================================

The same solver with a link that is known in advance: structured least squares (``"identity"``) and
structured logistic regression (``"logistic"``). On these data the learned link is near the best of them,
whichever link is the true one, and need not be told.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index

fig, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
print("log-loss on new rows")
print(f"{'true link':12s}{'learned':>10s}{'logistic':>10s}{'identity':>10s}{'truth':>10s}")
for ax, true in zip(axes, ("ramp", "steps", "clipped", "logistic"), strict=True):
    data = make_single_index(2500, 100, n_atoms=5, link=true, random_state=0)
    losses = []
    for link in ("learned", "logistic", "identity"):
        cross = {"link_cv": 5} if link == "learned" else {}
        model = SingleIndexClassifier(n_atoms=5, alpha=1e-3, link=link, **cross).fit(
            data.X[:500], data.y[:500]
        )
        p = np.clip(model.predict_proba(data.X[500:]), 1e-3, 1 - 1e-3)
        losses.append(log_loss(data.y[500:], p))
        order = np.argsort(model.decision_function(data.X[500:]))
        ax.plot(np.linspace(0, 1, 2000), p[order, 1], label=link)
    losses.append(log_loss(data.y[500:], np.clip(data.mean[500:], 1e-3, 1 - 1e-3)))
    print(f"{true:12s}" + "".join(f"{loss:10.3f}" for loss in losses))
    ax.plot(np.linspace(0, 1, 2000), np.sort(data.mean[500:]), "k--", linewidth=1, label="truth")
    ax.set(title=true, xlabel="share of rows below")
axes[0].set_ylabel("probability")
axes[0].legend(fontsize="small")
fig.tight_layout()
