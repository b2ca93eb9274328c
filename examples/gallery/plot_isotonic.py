"""
Isotonic regression of bounded slope
====================================

Isotonic regression fits an increasing curve, and jumps at every chance. With a bound on its slope it
is smooth enough to read, and still the exact least-squares solution.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.isotonic import IsotonicRegression

from singleindex import LipschitzIsotonicRegression
from singleindex.link import lpav_certificate

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 4, 200))
y = np.clip(x - 1, 0, 2) + 0.3 * rng.standard_normal(200)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(x, y, ".", color="0.7")
ax.step(x, IsotonicRegression().fit_transform(x, y), color="#D55E00", label="isotonic", where="mid")
fitted = LipschitzIsotonicRegression(lipschitz=1.0).fit(x, y).predict(x)
ax.plot(x, fitted, color="#0072B2", lw=2, label="isotonic, slope at most 1")
ax.legend(frameon=False)

# %%
# Whether a solution is the best one can be checked in linear time, whoever made it: the certificate is
# the largest violation of the optimality conditions.

print(f"certificate of ours:                 {lpav_certificate(x, y, fitted, lipschitz=1.0):.1e}")
print(f"certificate of the same, moved a bit: {lpav_certificate(x, y, fitted + 1e-3, lipschitz=1.0):.1e}")
