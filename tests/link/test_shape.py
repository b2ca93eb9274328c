"""Curves of two parameters: against scikit-learn, and where there is no curve to find."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from singleindex.link import Line, Sigmoid

RNG = np.random.default_rng(0)
N = 200
INDEX = RNG.normal(size=N)
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-1.5 * INDEX + 0.4))).astype(float)
NUMBERS = 2 * INDEX + 1 + RNG.normal(size=N)
WEIGHT = RNG.integers(0, 4, N).astype(float)
ALIKE = np.ones(N)
SHAPES = {"sigmoid": (Sigmoid(), LABELS), "line": (Line(), NUMBERS)}
every_shape = pytest.mark.parametrize(("shape", "y"), SHAPES.values(), ids=SHAPES)
both_weights = pytest.mark.parametrize("weight", [ALIKE, WEIGHT], ids=["alike", "weighted"])


@both_weights
def test_a_sigmoid_is_the_logistic_regression_on_targets_drawn_in(weight):
    positive, negative = weight @ LABELS, weight @ (1 - LABELS)
    target = np.where(LABELS > 0, (positive + 0.3) / (positive + 0.6), 0.3 / (negative + 0.6))
    # A target between the classes is a row of either, with its share of the weight.
    rows, classes = np.r_[INDEX, INDEX][:, None], np.repeat([1, 0], N)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    oracle.fit(rows, classes, sample_weight=np.r_[weight * target, weight * (1 - target)])
    slope, level = Sigmoid().fit(INDEX, LABELS, weight)
    assert slope == pytest.approx(oracle.coef_[0, 0], abs=1e-4)
    assert level == pytest.approx(oracle.intercept_[0], abs=1e-4)


@both_weights
def test_a_line_is_least_squares(weight):
    oracle = LinearRegression().fit(INDEX[:, None], NUMBERS, sample_weight=weight)
    np.testing.assert_allclose(
        Line().fit(INDEX, NUMBERS, weight), [oracle.coef_[0], oracle.intercept_], rtol=1e-10
    )


@every_shape
def test_many_curves_at_once_are_those_one_by_one(shape, y):
    rows = np.array([INDEX, 0.1 * INDEX, -INDEX, RNG.normal(size=N), np.zeros(N)])
    together = shape.fit(rows, y, WEIGHT)
    assert together.shape == (2, 5)
    for k, index in enumerate(rows):
        np.testing.assert_allclose(together[:, k], shape.fit(index, y, WEIGHT), rtol=1e-10, atol=1e-12)
    assert shape.values(together, rows).shape == rows.shape


@every_shape
def test_weights_are_repetitions(shape, y):
    weighted = shape.fit(INDEX, y, WEIGHT)
    count = WEIGHT.astype(int)
    repeated = shape.fit(np.repeat(INDEX, count), np.repeat(y, count), np.ones(count.sum()))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@every_shape
def test_no_curve_falls(shape, y):
    slope, level = shape.fit(-INDEX, y, ALIKE)
    assert slope == 0
    expected = np.mean(y)
    assert shape.values(np.array([slope, level]), INDEX) == pytest.approx(np.full(N, expected), abs=2e-3)
    flat = shape.tabulate(np.array([slope, level]), INDEX)
    assert np.ptp(flat(INDEX)) == 0


def test_classes_that_do_not_overlap_have_a_sigmoid():
    labels = (INDEX > 0.2).astype(float)
    slope, level = Sigmoid().fit(INDEX, labels, ALIKE)
    assert np.isfinite([slope, level]).all()
    p = Sigmoid().values(np.array([slope, level]), INDEX)
    assert np.mean((p > 0.5) == (labels > 0)) > 0.98
    assert p.min() > 0
    assert p.max() < 1


@every_shape
def test_a_table_of_a_curve_is_the_curve(shape, y):
    parameters = shape.fit(INDEX, y, ALIKE)
    table = shape.tabulate(parameters, INDEX)
    np.testing.assert_allclose(table(INDEX), shape.values(parameters, INDEX), atol=1e-3)
    assert (np.diff(table.y) >= 0).all()
    at = np.linspace(-3, 3, 10_000)
    steepest = np.max(np.diff(shape.values(parameters, at)) / np.diff(at))
    assert shape.steepest(parameters) == pytest.approx(steepest, rel=1e-3)


def test_a_wrong_certainty_has_a_loss_that_is_a_number():
    loss = Sigmoid().loss(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    assert np.isfinite(loss).all()
    assert loss[0] > 7 > 0.01 > loss[1]
