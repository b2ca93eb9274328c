"""The whole path of models, as users see it."""

import numpy as np
import pytest

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV, single_index_path
from singleindex.datasets import make_single_index

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
