"""
Categories and missing values
=============================

Tables have text in them, and holes. :class:`~singleindex.TableRegressor` prepares the columns as the command
line does and fits a model in one line; what it did goes along into SQL, JSON, ONNX and model files.

The rows are 442 patients with diabetes, from scikit-learn: ten measurements, and how far the disease had
progressed a year later. Sex is a number there; we write it as people do, and lose a sixth of two columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score

from singleindex import SingleIndexRegressorCV, TableRegressor
from singleindex.export import to_sql
from singleindex.inspection import plot_coefficients, plot_link

whole, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
rng = np.random.default_rng(0)
table = whole.assign(sex=whole["sex"].map({1.0: "f", 2.0: "m"}))
for column in ("bmi", "bp"):
    table.loc[rng.random(len(table)) < 1 / 6, column] = None
print(table.head())

# %%
# One line. The preparation is kept: what each column is, what stands in for a gap, which categories there
# are.

model = TableRegressor(SingleIndexRegressorCV(cv=5)).fit(table, y)
kept = model.preparation_
for column, kind, fill in zip(kept.columns, kept.kinds, kept.fills, strict=True):
    print(f"{column:4s} {kind:9s} a gap becomes {fill:<8} {kept.gaps.get(column, 0):4.0%} were missing")

# %%
# What the holes cost: scores with all values, with the holes filled in, and with the rows thrown away that
# have one. Filling in keeps the other columns of these rows. The last score is that of the complete rows
# alone: other rows, and such a model has nothing to say of the rest.

folds = KFold(5, shuffle=True, random_state=0)
blank = TableRegressor(SingleIndexRegressorCV(cv=5))
complete = table.notna().all(axis=1)
for name, rows, of in (
    ("no holes", whole, y),
    ("holes filled in", table, y),
    ("rows with holes left out", table[complete], y[complete]),
):
    scores = cross_val_score(blank, rows, of, cv=folds)
    print(f"{name:25s} {len(rows)} rows, R² {scores.mean():.3f}")

# %%
# The model is one of the prepared columns, `sex=m` among them.

fig, axes = plt.subplots(1, 2, figsize=(10, 4))
plot_coefficients(model.estimator_, ax=axes[0])
plot_link(model.estimator_, model.prepare(table), y, ax=axes[1])
fig.tight_layout()

# %%
# New rows may have gaps and values that were never seen. The expression for a database fills them in as well.

new = table.head(2).assign(bmi=[None, 30.0], sex=["not told", None])
print(np.round(model.predict(new), 1))
print(to_sql(model, dialect="duckdb")[:300], "…")
