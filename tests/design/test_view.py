"""X seen through a linear map: scaled, repeated, mixed columns, and maps of maps.

That a view is a design like any other is held by the list of test_designs.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from singleindex.design import Chain, DenseDesign, Scaling, SparseDesign, View, column_factors
from singleindex.structures import GraphLowRank
from singleindex.structures.groups import Repeated

CHAIN_OF_ROWS = np.eye(2, k=1) + np.eye(2, k=-1)
SMOOTH, _ = GraphLowRank((2, 3), row_graph=CHAIN_OF_ROWS, row_strength=2.0).coordinates(6)
SCALING = Scaling(np.array([1.0, 2.0, 0.0, 4.0, -1.0, 0.5]))
REPEATED = Repeated(np.array([0, 1, 1, 5, 3]))
MAPS = {
    "scaling": SCALING,
    "repeated": REPEATED,
    "smooth": SMOOTH,
    "scaled, then repeated": Chain(SCALING, REPEATED),
    "scaled, then smooth": Chain(SCALING, SMOOTH),
    "of three": Chain(Chain(SCALING, SMOOTH), REPEATED),
}
every_map = pytest.mark.parametrize("linear_map", MAPS.values(), ids=MAPS)


def matrix_of(linear_map, n_features=6):
    """Return the matrix T of the map z → w."""
    return np.column_stack([linear_map.to_features(e) for e in np.eye(linear_map.width(n_features))])


@every_map
@given(seed=st.integers(0, 100))
def test_pulling_back_is_the_adjoint(linear_map, seed):
    rng = np.random.default_rng(seed)
    z, gradient = rng.normal(size=linear_map.width(6)), rng.normal(size=6)
    there, back = linear_map.to_features(z) @ gradient, z @ linear_map.pull_back(gradient.copy())
    assert there == pytest.approx(back, abs=1e-10)


@every_map
def test_several_outputs_are_mapped_column_by_column(linear_map):
    Z, G = np.random.default_rng(0).normal(size=(2, 6, 3))
    Z = Z[: linear_map.width(6)]
    np.testing.assert_allclose(linear_map.to_features(Z), matrix_of(linear_map) @ Z, atol=1e-12)
    np.testing.assert_allclose(linear_map.pull_back(G.copy()), matrix_of(linear_map).T @ G, atol=1e-12)


def test_a_chain_is_the_product_of_its_maps():
    for name, (outer, inner) in {
        "scaled, then repeated": (SCALING, REPEATED),
        "scaled, then smooth": (SCALING, SMOOTH),
    }.items():
        width = outer.width(6)
        expected = matrix_of(outer) @ matrix_of(inner, width)
        np.testing.assert_allclose(matrix_of(MAPS[name]), expected, atol=1e-12)
    assert MAPS["of three"].width(6) == 5


@every_map
@pytest.mark.parametrize(
    "make", [DenseDesign, lambda X: SparseDesign(sparse.csc_array(X))], ids=["dense", "sparse"]
)
def test_a_view_multiplies_like_x_times_the_map(linear_map, make):
    X = np.random.default_rng(1).normal(size=(7, 6))
    view, seen = View(make(X), linear_map), X @ matrix_of(linear_map)
    assert view.shape == seen.shape
    np.testing.assert_allclose(
        np.column_stack([view.matvec(e) for e in np.eye(seen.shape[1])]), seen, atol=1e-12
    )
    np.testing.assert_allclose(view.columns(np.arange(seen.shape[1])), seen, atol=1e-12)
    np.testing.assert_allclose(
        view.take(np.array([4, 0])).matvec(seen[0]), seen[[4, 0]] @ seen[0], atol=1e-10
    )


@every_map
def test_a_gradient_is_pulled_back_without_being_changed(linear_map):
    view = View(DenseDesign(np.eye(6)), linear_map)
    gradient = np.arange(6.0)
    np.testing.assert_allclose(view.pull_back(gradient), matrix_of(linear_map).T @ gradient, atol=1e-12)
    assert gradient.tolist() == list(range(6))


# ---------------------------------------------------------------- the factors of columns


def test_scaled_design_reports_in_the_units_of_x():
    design = View(DenseDesign(np.eye(3)), Scaling(np.array([2.0, 0.0, 0.5])))
    assert design.to_features(np.ones(3)).tolist() == [2, 0, 0.5]
    assert design.to_features(np.ones((3, 2))).tolist() == [[2, 2], [0, 0], [0.5, 0.5]]


def test_column_scale_powers():
    variance = np.array([1.0, 4.0, 0.0, 16.0])
    typical = np.sqrt(7.0)
    assert column_factors(variance, 1.0).tolist() == pytest.approx([1, 0.5, 0, 0.25])
    assert column_factors(variance, 0.0).tolist() == pytest.approx([1 / typical, 1 / typical, 0, 1 / typical])
    half = column_factors(variance, 0.5)
    between = np.sqrt(column_factors(variance, 0.0) * column_factors(variance, 1.0))
    np.testing.assert_allclose(half, between)
    assert half[2] == 0


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_column_scale_of_constant_columns_only(power):
    assert column_factors(np.zeros(3), power).tolist() == [0, 0, 0]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("factor", [1e-100, 1e-3, 7.0, 1e100])
def test_column_scale_follows_the_unit_of_x(power, factor):
    """Data in other units give the same scaled data."""
    variance = np.array([1.0, 0.3, 0.0, 20.0])
    moved = column_factors(factor**2 * variance, power)
    np.testing.assert_allclose(moved * factor, column_factors(variance, power), rtol=1e-12)
