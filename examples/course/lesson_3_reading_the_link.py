"""
3. Reading the link
===================

The link is half of the answer. This lesson reads four of them, and shows what belongs to the data and
what only to the sample.
"""

# %%
# Four shapes
# -----------
#
# The same features and the same weights behind four different responses.

import matplotlib.pyplot as plt
import numpy as np

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.inspection import plot_link

figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
for name, ax in zip(("clipped", "relu", "steps", "cubic"), axes.flat, strict=True):
    data = make_single_index(
        400, 20, n_atoms=4, link=name, noise="gaussian", noise_level=0.15, random_state=0
    )
    model = SingleIndexRegressorCV(alpha=[0.1]).fit(data.X, data.y)
    plot_link(model, data.X, data.y, ax=ax)
    ax.set_title(name)
    ax.get_legend().remove()

# %%
# * **Flat at both ends** (clipped): below a threshold nothing happens, beyond another nothing more.
#   Whoever lies on a plateau is not moved by a small change of a feature.
# * **Flat, then a ramp** (relu): there is a threshold and no ceiling in sight.
# * **Steps**: a few kinds of rows, and sharp borders between them. The link cannot jump, because its
#   slope is bounded; a steep piece stands for a jump.
# * **Steep at both ends** (cubic): the middle is dull, the extremes matter.

# %%
# Corners and plateaus in numbers
# -------------------------------
#
# The link is piecewise linear. Its corners are in ``knots_``, and ``summary()`` names its flat parts.

data = make_single_index(400, 20, n_atoms=4, link="clipped", noise="gaussian", random_state=0)
model = SingleIndexRegressorCV(alpha=[0.1]).fit(data.X, data.y)
print(model.summary(top=4))

# %%
# How sure is the curve?
# ----------------------
#
# Every corner in the picture above is a corner in *this sample*. Fit the model to resampled rows, and
# what stays is the shape; what goes is noise. The report page
# (:func:`~singleindex.inspection.make_report`) draws such a band by leaving out a fold at a time; here
# is the same idea by hand.

rng = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
grid = np.linspace(-2.5, 2.5, 200)  # in standard deviations of the index
for _ in range(20):
    rows = rng.integers(0, 400, 400)
    again = SingleIndexRegressor(n_atoms=4).fit(data.X[rows], data.y[rows])
    index = again.index(data.X[rows])
    ax.plot(grid, again.link_(index.mean() + index.std() * grid), color="#0072B2", alpha=0.25)
index = data.index
truth = data.link(index.mean() + index.std() * grid)
ax.plot(grid, truth, color="black", ls="--", label="truth")
ax.set(xlabel="index in standard deviations", ylabel="response")
ax.legend(frameon=False)

# %%
# The slope bound
# ---------------
#
# Plain isotonic regression, ``lipschitz=inf``, may jump anywhere and does: each jump is a bit of noise
# taken for signal. A bounded slope (the default) smooths it. The bound is *not* a tuning knob, though:
# the length of :math:`w` adapts to it, so that every slope can be had.

figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for bound, colour in ((np.inf, "#D55E00"), (1.0, "#0072B2")):
    fitted = SingleIndexRegressor(n_atoms=4, lipschitz=bound).fit(data.X, data.y)
    index = fitted.index(data.X)
    values = fitted.link_(index.mean() + index.std() * grid)
    ax.plot(grid, values, color=colour, label=f"lipschitz={bound:g}")
ax.plot(grid, truth, color="black", ls="--", label="truth")
ax.set(xlabel="index in standard deviations", ylabel="response")
ax.legend(frameon=False)

# %%
# **Next:** :ref:`sphx_glr_course_lesson_4_probabilities.py`
