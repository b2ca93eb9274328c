"""Probabilities of several classes from their indices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from singleindex.link import FixedLink
from singleindex.link.softmax import OneOfSeveral, Softmax, drawn_in, others_than


@pytest.fixture
def classes():
    rng = np.random.default_rng(3)
    index = rng.standard_normal((4, 300, 3))
    p = softmax(1.7 * index[0] + [0.5, 0.0, -1.0], axis=1)
    Y = np.array([rng.multinomial(1, row) for row in p], dtype=float)
    return index, Y, rng.integers(0, 3, 300).astype(float)


def test_fit_is_of_greatest_likelihood(classes):
    index, Y, weight = classes
    target = drawn_in(Y, weight)

    def loss(parameters):
        logs = log_softmax(parameters[0] * index[0] + parameters[1:], axis=1)
        return -(weight @ (target * logs).sum(axis=1)) / weight.sum()

    best = minimize(loss, np.array([1.0, 0.0, 0.0, 0.0])).fun
    found = Softmax().fit(index, Y, weight)
    assert loss(found[0]) <= best + 1e-8


def test_weights_are_repetitions(classes):
    index, Y, weight = classes
    times = weight.astype(int)
    repeated = Softmax().fit(
        np.repeat(index, times, axis=1), np.repeat(Y, times, axis=0), np.ones(times.sum())
    )
    p = Softmax().values(Softmax().fit(index, Y, weight), index)
    assert_allclose(Softmax().values(repeated, index), p, atol=1e-6)


def test_an_index_that_misleads_has_no_slope(classes):
    index, Y, weight = classes
    slope = Softmax().fit(-5 * index[:1], Y, weight + 1)[0, 0]
    assert slope == 0


def test_targets_sum_to_one(classes):
    _, Y, weight = classes
    target = drawn_in(Y, weight)
    assert_allclose(target.sum(axis=1), 1)
    assert (target > 0).all()
    assert_allclose(target.argmax(axis=1), Y.argmax(axis=1))


def test_one_class_with_the_others_at_rest_is_their_softmax(classes):
    index, Y, weight = classes
    scores = index[0]
    link, fitted = OneOfSeveral(others_than(scores, 1)).fit(scores[:, 1], Y[:, 1], weight)
    moved = scores.copy()
    moved[:, 1] += link.offset
    assert_allclose(fitted, softmax(moved, axis=1)[:, 1])
    assert_allclose(weight @ (fitted - Y[:, 1]), 0, atol=1e-8)


def test_of_two_classes_the_other_one_is_an_offset(classes):
    index, Y, _ = classes
    scores = np.column_stack([np.zeros(300), index[0, :, 0]])
    fitted = OneOfSeveral(others_than(scores, 1)).fit(scores[:, 1], Y[:, 0])[1]
    assert_allclose(fitted, FixedLink("logistic").fit(scores[:, 1], Y[:, 0])[1])


def test_odds_of_the_curve_are_exponential():
    index = np.linspace(-3, 4, 50)
    p = Softmax().tabulate(0.7)(index)
    assert_allclose(p / (1 - p), np.exp(index + 0.7), rtol=6e-3)
