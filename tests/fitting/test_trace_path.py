"""Warm paths for all outputs: every iterate by level, iteration and output."""

import numpy as np
import pytest

from singleindex.datasets import make_single_index
from singleindex.fitting.memory import prepare
from singleindex.fitting.path import trace_path
from singleindex.fitting.plan import make_plan
from singleindex.solvers import Level
from singleindex.structures import RowSparse

LEVELS = [Level(n_atoms=8), Level(n_atoms=3)]


@pytest.fixture(scope="module")
def data():
    return make_single_index(
        120, 15, structure="rows", n_outputs=2, n_atoms=4, noise="gaussian", random_state=0
    )


def trace(data, Y, weight=None, levels=LEVELS, last_only=False, tol=0.0, **settings):
    plan = make_plan(15, None, is_classifier=False, max_iter=3, tol=tol, alpha=0.1, **settings)
    return trace_path(plan, prepare(data.X, weight), Y, weight, levels, last_only)


def test_there_is_an_iterate_for_every_level_iteration_and_output(data):
    found = trace(data, data.y)
    assert [[len(step) for step in steps] for steps in found.levels] == [[2] * 6, [2] * 3]
    assert found.last_coefs(np.ones(2)).shape == (2, 15, 2)
    assert found.last_coefs(np.ones(2))[0].astype(bool).sum(axis=0).tolist() == [8, 8]
    assert trace(data, data.y[:, :1]).last_coefs(np.ones(1)).shape == (2, 15)


def test_outputs_that_are_not_tied_together_are_as_if_alone(data):
    both = trace(data, data.y).last_coefs(np.ones(2))
    for k in range(2):
        alone = trace(data, np.ascontiguousarray(data.y[:, [k]])).last_coefs(np.ones(1))
        np.testing.assert_array_equal(both[:, :, k], alone)


def test_outputs_that_share_their_rows_are_one_problem(data):
    coefs = trace(data, data.y, structure=RowSparse()).last_coefs(np.ones(2))
    used = coefs != 0
    np.testing.assert_array_equal(used[:, :, 0], used[:, :, 1])


def test_coefficients_are_in_the_units_of_x_and_y(data):
    found = trace(data, data.y, scale_power=1.0)
    coefs = found.last_coefs(np.array([2.0, 5.0]))
    for k, unit in enumerate((2.0, 5.0)):
        expected = unit * found.view.to_features(found.levels[1][-1][k].coef)
        np.testing.assert_allclose(coefs[1, :, k], expected)


def test_an_output_that_has_settled_stands_for_the_rest(data):
    steps = trace(data, data.y, tol=10.0).levels[0]  # settled as soon as anything has moved
    assert all(step[0] is steps[1][0] for step in steps[2:])
    assert steps[0][0] is not steps[1][0]


def test_the_last_iterate_of_a_level_is_kept_and_the_others_have_their_numbers(data):
    full, last = (trace(data, data.y, last_only=flag) for flag in (False, True))
    np.testing.assert_array_equal(full.last_coefs(np.ones(2)), last.last_coefs(np.ones(2)))
    for whole, thin in zip(full.levels, last.levels, strict=True):
        assert [one[0].mse for one in whole] == [one[0].mse for one in thin]
        assert all(one.coef is None for step in thin[:-1] for one in step)


def test_weights_are_repetitions(data):
    count = np.random.default_rng(0).integers(1, 3, 120)
    weighted = trace(data, data.y, count.astype(float)).last_coefs(np.ones(2))
    again = make_plan(15, None, is_classifier=False, max_iter=3, tol=0.0, alpha=0.1)
    X, Y = np.repeat(data.X, count, axis=0), np.repeat(data.y, count, axis=0)
    repeated = trace_path(again, prepare(X, None), Y, None, LEVELS).last_coefs(np.ones(2))
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
