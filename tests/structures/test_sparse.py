"""Sparse: what the shared list does not say."""

import numpy as np
import pytest

from singleindex.structures import Sparse
from singleindex.structures.sparse import project_sparse


def test_lowest_positions_win_ties():
    w = np.array([1.0, -2.0, 2.0, -1.0, 2.0, 0.0])
    assert Sparse().project(w, 1).tolist() == [0, -2, 0, 0, 0, 0]
    assert Sparse().project(w, 2).tolist() == [0, -2, 2, 0, 0, 0]
    assert Sparse().project(w, 4).tolist() == [1, -2, 2, 0, 2, 0]


def test_zero_atoms_keep_nothing():
    """`argsort(...)[:-0]` would keep everything."""
    assert project_sparse(np.array([3.0, 1.0]), 0).tolist() == [0, 0]


def test_fewer_nonzeros_than_asked_for():
    w = np.array([0.0, 5.0, 0.0])
    assert Sparse().project(w, 2).tolist() == [0, 5, 0]
    assert Sparse().count_atoms(Sparse().project(w, 2)) == 1


def test_matrix_counts_entries():
    w = np.array([[1.0, -5.0], [3.0, 0.0]])
    assert Sparse().project(w, 2).tolist() == [[0, -5], [3, 0]]
    assert Sparse().check((2, 2)) == 4
    assert Sparse().count_atoms(w) == 3


@pytest.mark.parametrize("n_atoms", [1, 17, 500, 9_999])
def test_agrees_with_sorting_on_long_vectors(n_atoms):
    rng = np.random.default_rng(0)
    w = np.round(rng.normal(size=10_000), 2)
    kept = np.sort(np.argsort(-np.abs(w), kind="stable")[:n_atoms])
    v = Sparse().project(w, n_atoms)
    expected = np.zeros_like(w)
    expected[kept] = w[kept]
    assert (v == expected).all()


def test_equal_structures_compare_equal():
    assert Sparse() == Sparse()
    assert hash(Sparse()) == hash(Sparse())
    assert repr(Sparse()).startswith("Sparse(")
