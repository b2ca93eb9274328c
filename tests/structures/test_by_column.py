"""Factors and signs of columns: how they are given, and what is refused."""

import copy

import numpy as np
import pandas as pd
import pytest

from singleindex.structures import RowSparse, Sparse

NAMES = ["age", "dose", "batch"]


@pytest.mark.parametrize("kind", [Sparse, RowSparse])
def test_arrays_series_and_dicts_are_the_same(kind):
    w = np.array([3.0, 2.0, 1.0])
    given = [
        [1, 0, 2],
        np.array([1.0, 0.0, 2.0]),
        {1: 0, 2: 2},
        {np.int64(1): 0, np.int32(2): np.float32(2)},
        pd.Series([1, 0, 2]),
        pd.Series([2, 0], index=["batch", "dose"]),
        {"dose": 0, 2: 2},
    ]
    for factors in given:
        structure = kind(factors=factors).resolve(NAMES)
        np.testing.assert_array_equal(structure.shrink(w, 0.5), [2.5, 2, 0])
        assert structure.norm(w) == 5
        assert structure.dual_norm(w) == 3
        assert structure.check((3,)) == 2


def test_a_larger_factor_is_chosen_later():
    w = np.array([3.0, 2.0, 1.0])
    assert Sparse(factors=[2, 1, 1]).project(w, 1).tolist() == [0, 2, 0]
    assert RowSparse(factors=[2, 1, 1]).project(w, 1).tolist() == [0, 2, 0]


def test_equal_structures_are_equal():
    one, other = (
        Sparse(factors=factors, signs=signs)
        for factors, signs in [({"a": 0, "b": 2}, np.array([1, 0])), ({"b": 2.0, "a": 0.0}, [1, 0])]
    )
    assert one == other == copy.deepcopy(one)
    assert hash(one) == hash(other)
    assert one != Sparse(factors={"a": 0, "b": 3}, signs=[1, 0])
    assert hash(RowSparse(factors=[1, 2])) == hash(RowSparse(factors=(1.0, 2.0)))
    assert eval(repr(one)) == one


def test_what_is_remembered_is_not_what_it_is():
    structure = Sparse(factors={0: 0})
    structure.project(np.ones(3), 1)
    assert structure == Sparse(factors={0: 0})
    assert structure.project(np.arange(1.0, 6), 1).tolist() == [1, 0, 0, 0, 5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"factors": [1, 2]}, "factors has 2 numbers, and X has 3 columns; give one for each, or a dict"),
        ({"factors": {3: 1}}, "factors name column 3, but X has columns 0 to 2"),
        ({"factors": {-1: 1}}, "factors name column -1, but X has columns 0 to 2"),
        ({"factors": {0.5: 1}}, "factors name column 0.5, but X has columns 0 to 2"),
        ({"factors": {True: 1}}, "factors name column True, but X has columns 0 to 2"),
        ({"factors": [1, -1, 1]}, "numbers of at least 0.*got -1 for column 1"),
        ({"factors": [1, np.nan, 1]}, "numbers of at least 0.*got nan for column 1"),
        ({"factors": [0, 0, np.inf]}, "leave no column to choose.*give 1 to those"),
        ({"factors": 2.0}, "one number for each column, or a dict"),
        ({"factors": "age"}, "one number for each column, or a dict"),
        ({"factors": [[1, 1, 1]]}, "one number for each column, or a dict"),
        ({"signs": [1, 2, 0]}, "signs must be 1 .* got 2 for column 1"),
        ({"signs": {0: np.nan}}, "signs must be 1 .* got nan for column 0"),
        ({"signs": ["+", "-", ""]}, "one number for each column, or a dict"),
        ({"signs": {0: 1}, "positive": True}, "positive=True is the sign of every column; leave"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Sparse(**given).check((3,))
    if "factors" in given:
        with pytest.raises(ValueError, match=message):
            RowSparse(**given).check((3, 2))


def test_names_that_are_not_there():
    with pytest.raises(ValueError, match="factors name a column that X does not have: 'agee'; it has 'age'"):
        Sparse(factors={"agee": 0}).resolve(NAMES)
    with pytest.raises(
        ValueError, match="signs are given by column names, but X has none; pass a data frame"
    ):
        Sparse(signs={"age": 1}).resolve(None)
    with pytest.raises(ValueError, match="factors name a column twice, by name and by position; leave one"):
        Sparse(factors={"age": 0, 0: 1}).resolve(NAMES)


def test_signs_and_factors_of_a_matrix_are_those_of_its_rows():
    structure = Sparse(factors=[0, 1, 2], signs=[1, 0, -1])
    w = np.array([[1.0, -1.0], [3.0, -1.0], [5.0, -4.0]])
    assert structure.project(w, 2).tolist() == [[1, 0], [3, 0], [0, -4]]
    assert structure.check((3, 2)) == 4
    assert structure.shrink(w, 1).tolist() == [[1, 0], [2, 0], [0, -2]]
