"""
A model in another program
==========================

A fitted model is a list of weights and a curve. It can leave Python as JSON, as an SQL expression, and
as ONNX.
"""

import json
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from singleindex import SingleIndexRegressor
from singleindex.export import from_json, to_json, to_sql

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.standard_normal((200, 4)), columns=["dose", "age", "height", "shoe size"])
y = np.clip(frame["dose"] - 0.5 * frame["age"], -0.5, 1) + 0.1 * rng.standard_normal(200)
model = SingleIndexRegressor(n_atoms=2).fit(frame, y)

# %%
# JSON: everything that prediction needs, and nothing else. The members are explained in
# :doc:`/export`.

text = to_json(model)
document = json.loads(text)
print({name: document[name] for name in ("format", "version", "kind", "feature_names")})
print("weights:", document["outputs"][0]["features"], np.round(document["outputs"][0]["weights"], 3))
print("largest difference:", np.abs(from_json(text).predict(frame) - model.predict(frame)).max())

# %%
# SQL: an expression to put behind SELECT. Here SQLite computes it.

expression = to_sql(model, dialect="sqlite")
print(expression[:230], "…")
with sqlite3.connect(":memory:") as connection:
    frame.to_sql("patients", connection, index=False)
    rows = connection.execute(f"SELECT {expression} FROM patients").fetchall()
print("largest difference:", np.abs(np.ravel(rows) - model.predict(frame)).max())

# %%
# What a reader of the JSON would draw, and what the database said.

(output,) = document["outputs"]
index = frame.to_numpy()[:, output["features"]] @ output["weights"] + output["intercept"]
fig, ax = plt.subplots(figsize=(6, 4))
ax.plot(output["link"]["x"], output["link"]["y"], color="0.3", label="corners of the link in the JSON")
ax.plot(index, np.ravel(rows), "o", markersize=3, label="predictions of SQLite")
ax.set(xlabel="index", ylabel="prediction")
ax.legend()

# %%
# ONNX needs ``pip install "singleindex[onnx]"``: :func:`~singleindex.export.to_onnx` returns the model,
# and :func:`~singleindex.export.register_onnx_converters` makes skl2onnx know these estimators inside
# of pipelines.
