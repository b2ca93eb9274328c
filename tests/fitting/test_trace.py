"""One fold of a search: w and held-out indices, in units of their spread."""

import numpy as np
import pytest

from singleindex.datasets import make_single_index
from singleindex.fitting.cross_fit import spread_of
from singleindex.fitting.fold_paths import largest_penalties, trace_cells
from singleindex.fitting.grid import EXACT, GRADIENT, Cell
from singleindex.fitting.memory import prepare
from singleindex.fitting.plan import make_plan
from singleindex.fitting.trace import (
    NOTHING,
    Fold,
    Model,
    held_out_indices,
    merged,
    rows_of,
)
from singleindex.link import FixedLink
from singleindex.solvers import Level

TRAIN, TEST = np.arange(60), np.arange(60, 90)
PENALTIES = (0.6, 0.4, 0.2, 0.05)


@pytest.fixture(scope="module")
def data():
    return make_single_index(90, 6, n_atoms=3, noise="gaussian", random_state=0)


def traced(X, y, weight=None, method=EXACT, rows=TRAIN, **changed):
    plan = make_plan(6, None, is_classifier=False, max_iter=2, tol=0.0, **changed)
    if method == EXACT:
        cell = Cell(1.0, FixedLink("identity"), 0.0, tuple(Level(penalty=p) for p in PENALTIES), EXACT)
    else:
        cell = Cell(1.0, plan.fitter, 0.1, (Level(n_atoms=4), Level(n_atoms=2)), GRADIENT)
    design, spread = prepare(X, weight)
    whole = Fold(X, y[:, None], weight)
    largest = largest_penalties(plan, [cell], design, spread, whole)
    return trace_cells(plan, [cell], spread, rows_of(X, y[:, None], weight, rows), largest)


@pytest.mark.parametrize("method", [EXACT, GRADIENT])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_have_unit_spread_over_the_rows_they_were_learned_from(data, weighted, method):
    weight = np.random.default_rng(1).random(90) if weighted else None
    models = traced(data.X, data.y, weight, method)
    assert len(models) >= 4
    for model in models.values():
        coef = np.zeros((6, 1))
        model.add_to(coef, np.ones(1))
        assert np.count_nonzero(coef) == model.n_atoms
        mean, sd = spread_of(data.X[TRAIN] @ coef[:, 0], None if weight is None else weight[TRAIN])
        assert sd == pytest.approx(1)
        (index,) = held_out_indices(data.X[TEST], [model], 6, 1)
        np.testing.assert_allclose(index[:, 0], data.X[TEST] @ coef[:, 0] - mean, atol=1e-9)


def test_every_level_is_there_soft_half_and_wholly_relaxed(data):
    models = traced(data.X, data.y)
    assert {(key.level, key.form) for key in models} == {(k, f) for k in range(4) for f in (0, 0.5, 1)}
    for level in range(4):
        soft, half, free = (models[0, level, form] for form in (0.0, 0.5, 1.0))
        assert soft.n_atoms == half.n_atoms == free.n_atoms
        # Half way, and then at unit spread.
        between = soft.values + free.values
        np.testing.assert_allclose(
            half.values / np.linalg.norm(half.values), between / np.linalg.norm(between)
        )


def test_held_out_rows_change_nothing_of_what_is_learned(data):
    other = data.X.copy()
    other[TEST] = other[TEST][::-1]
    y = data.y.copy()
    y[TEST] = y[TEST][::-1]  # the levels are those of all rows
    for one, two in zip(traced(data.X, data.y).values(), traced(other, y).values(), strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-10)


def test_a_path_is_not_empty_where_a_level_explains_all(data):
    exact = data.X @ np.array([1.0, 0, 0, 0, 0, 0])
    assert traced(data.X, exact)
    assert traced(data.X, data.y, np.full(90, 1e-20))  # of which there are hardly any rows


def test_outputs_go_together_with_the_last_model_of_a_path_that_has_ended():
    def model(value):
        return Model(np.array([0]), np.array([value]), np.zeros(1), 1.0)

    together = merged([{(0, 0.0): model(1.0), (1, 0.0): model(2.0)}, {(0, 0.0): model(5.0)}, {}])
    assert list(together) == [(0, 0.0), (1, 0.0)]
    assert together[1, 0.0].values.tolist() == [2.0, 5.0]
    assert together[1, 0.0].positions.tolist() == [0, 1]
    assert together[1, 0.0].ended.tolist() == [False, True, True]
    assert together[0, 0.0].offset.shape == (3,)


def test_no_model_is_an_index_of_zero():
    assert not held_out_indices(np.ones((4, 6)), [NOTHING], 6, 1).any()
    assert held_out_indices(np.ones((4, 6)), [], 6, 2).shape == (0, 4, 2)
