"""The whole path of models, as users see it."""

import numpy as np
import pytest

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV, single_index_path
from singleindex.datasets import make_single_index
from singleindex.design import chunk_arrays

SMALL = {"n_atoms": [2, 5, 20], "alpha": [0.1], "penalty": [0.5, 0.2]}


def binary(n=200, d=60):
    return make_single_index(n, d, n_atoms=5, link="clipped", random_state=0)


@pytest.fixture(scope="module")
def data():
    return binary()


def test_path_keeps_every_iterate(data):
    path = single_index_path(data.X, data.y, n_atoms=[3, 10, 40], max_iter=4)
    assert list(path.n_atoms) == [40, 10, 3]
    assert [int((c != 0).sum()) for c in path.coefs] == [40, 10, 3]
    assert [len(m) for m in path.mse] == [8, 4, 4]  # the first level starts cold
    assert path.mse[0][-1] < path.mse[2][-1]
    weighted = single_index_path(
        np.tile(data.X, (2, 1)), np.tile(data.y, 2), n_atoms=[3], sample_weight=np.full(400, 0.5)
    )
    np.testing.assert_allclose(
        weighted.coefs, single_index_path(data.X, data.y, n_atoms=[3]).coefs, rtol=1e-8
    )


def test_a_path_of_penalties_goes_from_strong_to_weak(data):
    path = single_index_path(data.X, data.y, penalty=[0.1, 0.9, 0.4], max_iter=50)
    assert path.n_atoms is None
    assert list(path.penalty) == [0.9, 0.4, 0.1]
    counts = [int((c != 0).sum()) for c in path.coefs]
    assert counts == sorted(counts)
    # A level is what a fit at that penalty comes to, up to where both stop.
    alone = SingleIndexRegressor(penalty=0.4, tol=1e-6).fit(data.X, data.y)
    cosine = alone.coef_ @ path.coefs[1] / np.linalg.norm(alone.coef_) / np.linalg.norm(path.coefs[1])
    assert cosine > 0.99
    with pytest.raises(ValueError, match="do not go together"):
        single_index_path(data.X, data.y, n_atoms=[3], penalty=[0.1])
    with pytest.raises(ValueError, match="share from 0 to 1"):
        single_index_path(data.X, data.y, penalty=[2.0])


def test_paths_are_in_the_units_of_y_and_know_every_link(data):
    plain, scaled = (single_index_path(data.X, c * data.mean, n_atoms=[5]) for c in (1, 1000))
    np.testing.assert_allclose(scaled.coefs, 1000 * plain.coefs, rtol=1e-8)
    np.testing.assert_allclose(scaled.mse[0], 1e6 * plain.mse[0], rtol=1e-8)
    # A power of two, so that no rounding can tip the choice between two candidates.
    searches = [SingleIndexRegressorCV(**SMALL).fit(data.X, c * data.mean) for c in (1, 1024)]
    assert searches[0].best_params_ == searches[1].best_params_
    np.testing.assert_allclose(searches[1].path_["coefs"], 1024 * searches[0].path_["coefs"], rtol=1e-8)
    known = single_index_path(data.X, data.y, n_atoms=[5], link="logistic")
    assert np.count_nonzero(known.coefs[0]) == 5


def test_a_warm_level_needs_fewer_iterations_than_a_cold_one():
    data = binary(n=300, d=400)
    settings = {"max_iter": 100, "tol": 1e-3}
    warm = single_index_path(data.X, data.y, n_atoms=[30, 25], **settings)
    cold = single_index_path(data.X, data.y, n_atoms=[25], **settings)

    def settled(mse):
        return int(np.argmax(mse[:, 0] == mse[-1, 0]))

    assert settled(warm.mse[1]) <= settled(cold.mse[0])


@pytest.mark.parametrize("levels", [{"n_atoms": [8, 3, 1]}, {"penalty": [0.6, 0.2, 0.05]}])
def test_paths_over_blocks_are_those_of_the_memory(levels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 10)) + 0.5 * rng.standard_normal((4000, 1))
    index = X[:, 0] - 2 * X[:, 3] + X[:, 7]
    y = 30 * np.clip(index, -1, 1) + rng.standard_normal(4000)
    path = single_index_path(chunk_arrays(X, y, chunk_rows=700), max_iter=6, **levels)
    expected = single_index_path(X, y, max_iter=30, solver="exact", **levels)
    whole = single_index_path(chunk_arrays(X, y, chunk_rows=4000), max_iter=6, **levels)
    np.testing.assert_allclose(path.coefs, whole.coefs, atol=1e-8 * np.abs(whole.coefs).max())
    # The length of w, and with it the slope of its link, settles after the direction.
    for got, target in zip(path.coefs, expected.coefs, strict=True):
        assert np.corrcoef(X @ got, X @ target)[0, 1] > 0.999
    for steps in path.mse:
        assert steps.shape[1] == 1
    assert path.mse[-1][-1, 0] == pytest.approx(
        np.mean((path.links[-1][0](X @ path.coefs[-1]) - y) ** 2), rel=0.01
    )
