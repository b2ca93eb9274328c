"""
A learned link beside known ones
================================

The same solver with a link that is known in advance: structured least squares (``"identity"``) and
structured logistic regression (``"logistic"``). The learned link is never far from the best of them,
whatever the truth is, and need not be told.
"""

import numpy as np
from sklearn.metrics import log_loss

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index

print("log-loss on new rows")
print(f"{'true link':12s}{'learned':>10s}{'logistic':>10s}{'identity':>10s}{'truth':>10s}")
for true in ("ramp", "steps", "clipped", "logistic"):
    data = make_single_index(2500, 100, n_atoms=5, link=true, random_state=0)
    losses = []
    for link in ("learned", "logistic", "identity"):
        cross = {"link_cv": 5} if link == "learned" else {}
        model = SingleIndexClassifier(n_atoms=5, alpha=1e-3, link=link, **cross).fit(
            data.X[:500], data.y[:500]
        )
        p = np.clip(model.predict_proba(data.X[500:]), 1e-3, 1 - 1e-3)
        losses.append(log_loss(data.y[500:], p))
    losses.append(log_loss(data.y[500:], np.clip(data.mean[500:], 1e-3, 1 - 1e-3)))
    print(f"{true:12s}" + "".join(f"{loss:10.3f}" for loss in losses))
