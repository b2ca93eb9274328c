"""Ratings of items by users who are linked to each other: who would like what?

Users and items go by their names, the links among users are a table of two columns. The model learns how
users and items differ, what groups of them have in common, how much friends are alike, and the curve from all
of this to grades of 1 to 5, which saturates.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from singleindex import SingleIndexCompleterCV
from singleindex.datasets import make_completion


def main():
    data = make_completion(
        120, 80, 2000, n_atoms=1, link="tanh", signal=3.0, noise="grades", noise_level=0.15, random_state=0
    )
    ratings = pd.DataFrame(data.pairs, columns=["user", "item"])
    ratings["user"] = "user " + ratings["user"].astype(str)
    ratings["item"] = "item " + ratings["item"].astype(str)
    ends = sparse.triu(data.row_graph).nonzero()
    friends = pd.DataFrame({side: [f"user {k}" for k in end] for side, end in zip("ab", ends, strict=True)})
    train, test = ratings[:1500], ratings[1500:]

    for name, graph in (("with", friends), ("without", None)):
        model = SingleIndexCompleterCV([3], graph_strength=[0.0, 3.0, 30.0], cv=3)
        model.fit(train, data.y[:1500], row_graph=graph)
        error = np.sqrt(np.mean((model.predict(test) - data.y[1500:]) ** 2))
        print(f"{name} friends: error {error:.2f} grades, R² {model.score(test, data.y[1500:]):.2f}")
        if name == "with":
            print("for user 7:", ", ".join(model.recommend("user 7", k=3)))
            print(model.summary())


if __name__ == "__main__":
    main()
