"""Entries of a matrix: sums over rows and columns against dense arithmetic."""

import numpy as np
import pytest

from singleindex.design import EntriesDesign
from singleindex.design.entries import entries_of_product


@pytest.fixture(params=[None, "weights"])
def entries(request):
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(7, size=40), rng.integers(5, size=40)
    weight = None if request.param is None else rng.uniform(0.5, 2, 40)
    return EntriesDesign(rows, cols, (9, 6), weight)


def test_index_is_that_of_the_product(entries):
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((9, 3)), rng.standard_normal((6, 3))
    expected = (left @ right.T)[entries.rows, entries.cols]
    np.testing.assert_allclose(entries.index(left, right), expected)


def test_chunks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(7, size=100), rng.integers(5, size=100)
    left, right = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    whole = entries_of_product(rows, cols, left, right)
    monkeypatch.setattr("singleindex.design.entries._CHUNK", 7)
    np.testing.assert_array_equal(entries_of_product(rows, cols, left, right), whole)


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_over_a_side(entries, axis):
    side, rng = entries.side(axis), np.random.default_rng(1)
    own, other = (entries.rows, entries.cols) if axis == 0 else (entries.cols, entries.rows)
    n_own, n_other = (9, 6) if axis == 0 else (6, 9)
    values, features = rng.standard_normal(40), rng.standard_normal((n_other, 2))
    weight = np.ones(40) if entries.weight is None else entries.weight
    sums, gram = np.zeros((n_own, 2)), np.zeros((n_own, 2, 2))
    for at in range(40):
        f = features[other[at]]
        sums[own[at]] += weight[at] * values[at] * f
        gram[own[at]] += weight[at] * np.outer(f, f)
    np.testing.assert_allclose(side.sum_features(values, features), sums)
    np.testing.assert_allclose(side.gram(features), gram)
    dense = np.zeros((n_own, n_other))
    np.add.at(dense, (own, other), weight * values)
    np.testing.assert_allclose(side.matrix(values).toarray(), dense)
