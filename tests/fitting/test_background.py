"""The rows of a fit in a few numbers: the same whether they are stored whole or by their entries."""

import numpy as np
import pytest
from scipy import sparse

from singleindex.fitting.background import background_of


def make_rows(rng):
    """Return rows of which few entries are stored, with a full, an empty and a negative column among them."""
    X = sparse.lil_array(rng.random((60, 8)) * (rng.random((60, 8)) < 0.1))
    X[:, [0]] = rng.normal(5, 1, (60, 1))
    X[:, [1]] = 0
    X[:, [2]] = -np.abs(X[:, [2]].toarray())
    X[3, 4] = 1.0
    stored = X.tocsr()
    stored.data[stored.data == 1.0] = 0.0  # a zero that is stored
    return stored


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_stored_entries_give_what_whole_columns_give(weighted, kind):
    rng = np.random.default_rng(0)
    X, coef = make_rows(rng), rng.normal(size=(8, 2))
    coef[5] = 0.0
    weight = rng.integers(0, 3, 60).astype(float) if weighted else None
    mine, whole = (background_of(coef, one, weight) for one in (X.asformat(kind), X.toarray()))
    assert mine["feature"].tolist() == [0, 1, 2, 3, 4, 6, 7]
    for name in ("feature", "mean", "spread", "low", "high", "index"):
        np.testing.assert_allclose(mine[name], whole[name], rtol=1e-12, atol=1e-14, err_msg=name)


def test_rows_without_an_entry_are_zeros():
    known = background_of(np.ones((2, 1)), sparse.csr_array((5, 2)), None)
    assert not np.any([known[name] for name in ("mean", "spread", "low", "high")])


def test_a_row_without_weight_does_not_count():
    X = sparse.csr_array(np.array([[1.0], [2.0], [9.0], [0.0]] + [[0.0]] * 12))
    weight = np.ones(16)
    weight[2] = 0
    known = background_of(np.ones((1, 1)), X, weight)
    assert (known["low"], known["high"]) == (0.0, 2.0)
    np.testing.assert_allclose(known["mean"], 3 / 15)
