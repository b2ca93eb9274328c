"""The search: which paths it goes, what it keeps of a fold, and how models are averaged."""

import numpy as np
import pytest

from singleindex.datasets import make_single_index
from singleindex.fitting.cross_fit import spread_of
from singleindex.fitting.extremes import Spread
from singleindex.fitting.memory import prepare
from singleindex.fitting.plan import make_plan
from singleindex.fitting.search import (
    FEW_ROWS,
    Cell,
    SearchSettings,
    averaged,
    make_cells,
    trace_fold,
)
from singleindex.link import FixedLink, Lpav
from singleindex.solvers import Iterate, Level, SolverResult, Status
from singleindex.solvers.path import hard_levels, soft_levels
from singleindex.structures import LowRank, Sparse
from singleindex.structures.base import Structure


@pytest.fixture(scope="module")
def data():
    return make_single_index(90, 6, n_atoms=3, noise="gaussian", random_state=0)


def settings(**changed):
    defaults = {
        "n_atoms": None, "alpha": [0.1], "penalty": None, "scale_power": [0.5], "cv": 3, "rule": "best",
        "refit": "auto", "held_out_link": True, "n_jobs": None,
    }  # fmt: skip
    return SearchSettings(**defaults | changed)


def cells(structure=None, variance=(1.0, 4.0, 9.0, 1.0, 1.0, 1.0), **changed):
    plan = make_plan(6, None, is_classifier=False, structure=structure)
    design, _ = prepare(np.random.default_rng(0).normal(size=(20, 6)), None)
    return make_cells(plan, settings(**changed), (design, Spread(np.array(variance))))


# ---------------------------------------------------------------- the grid


def test_by_default_there_is_a_hard_and_a_soft_path():
    hard, soft = cells()
    assert hard.levels == tuple(hard_levels(6))
    assert soft.levels == tuple(soft_levels())


def test_levels_are_sorted_as_a_warm_path_goes_best():
    hard, soft = cells(n_atoms=[2, None, 5, 2], penalty=[0.1, 0.9])
    assert [level.n_atoms for level in hard.levels] == [None, 5, 2]
    assert [level.penalty for level in soft.levels] == [0.9, 0.1]


def test_every_scale_goes_with_every_ridge():
    found = cells(scale_power=[1.0, 0.0], alpha=[0.1, 1.0], penalty=[])
    assert [(cell.scale_power, cell.alpha) for cell in found] == [
        (1.0, 0.1),
        (1.0, 1.0),
        (0.0, 0.1),
        (0.0, 1.0),
    ]


def test_scales_that_hardly_differ_are_tried_once():
    alike = cells(scale_power=[0.5, 0.0], variance=[1.0, 1.1, 1.2, 1.0, 1.0, 0.0], penalty=[])
    assert [cell.scale_power for cell in alike] == [0.5]


def test_a_structure_without_a_norm_has_no_soft_path():
    class Hard(Structure):
        project, count_atoms, check = Sparse.project, Sparse.count_atoms, Sparse.check

    assert len(cells(structure=Hard())) == 1
    assert len(cells(structure=LowRank((2, 3)))) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rule": "worst"}, "rule must be one of"),
        ({"refit": "never"}, "refit must be one of"),
        ({"alpha": []}, "at least one value"),
        ({"scale_power": []}, "at least one value"),
    ],
)
def test_settings_are_checked(changed, words):
    with pytest.raises(ValueError, match=words):
        settings(**changed).check()


def test_when_models_are_averaged():
    assert settings().averages(FEW_ROWS - 1)
    assert not settings().averages(FEW_ROWS)
    assert settings(refit="average").averages(10**6)
    assert not settings(refit="all").averages(2)


# ---------------------------------------------------------------- a fold


@pytest.mark.parametrize("weighted", [False, True])
def test_a_fold_keeps_w_and_the_held_out_index_in_units_of_its_spread(data, weighted):
    weight = np.random.default_rng(1).random(90) if weighted else None
    train, test = np.arange(60), np.arange(60, 90)
    path = Cell(0.5, 0.1, (Level(n_atoms=4), Level(n_atoms=2)))
    plan = make_plan(6, None, is_classifier=False, max_iter=2, tol=0.0)
    ((four, two),) = trace_fold(plan, data.X, data.y[:, None], weight, train, test, [path])
    assert (len(four), len(two)) == (4, 2)
    for held_out in (*four, *two):
        coef = np.zeros((6, 1))
        held_out.add_to(coef)
        assert np.count_nonzero(coef) == held_out.n_atoms
        mean, sd = spread_of(data.X[train] @ coef[:, 0], None if weight is None else weight[train])
        assert sd == pytest.approx(1)
        np.testing.assert_allclose(held_out.index[:, 0], data.X[test] @ coef[:, 0] - mean, atol=1e-5)


def test_held_out_rows_change_nothing_of_what_is_learned(data):
    plan = make_plan(6, None, is_classifier=False, max_iter=2)
    path = [Cell(0.5, 0.1, (Level(n_atoms=3),))]
    train, test = np.arange(60), np.arange(60, 90)
    other = data.X.copy()
    other[test] += 100
    (a,), (b,) = (trace_fold(plan, X, data.y[:, None], None, train, test, path) for X in (data.X, other))
    np.testing.assert_array_equal(a[0][-1].values, b[0][-1].values)


# ---------------------------------------------------------------- the average


def test_an_average_has_the_length_of_its_line_and_the_link_that_goes_with_it(data):
    coef = np.array([[2.0], [0.0], [-1.0], [0.0], [0.0], [0.5]])
    one = Iterate(0, coef[:, 0], np.zeros(90), None, 0.0, 0.0, 3, 1.0, 0.0)
    result = SolverResult(one, Status.CHOSEN, {}, 1)
    (found,) = averaged(data.X, coef, [result], data.y[:, None], Lpav(2.0), None)
    factor = found.best.coef[0] / 2.0
    np.testing.assert_allclose(found.best.coef, factor * coef[:, 0])
    np.testing.assert_allclose(found.best.index, data.X @ found.best.coef, atol=1e-12)
    assert abs(np.polyfit(found.best.index, data.y, 1)[0]) == pytest.approx(2.0)
    expected, _ = Lpav(2.0).fit(found.best.index, data.y)
    np.testing.assert_array_equal(found.best.link(found.best.index), expected(found.best.index))
    (known,) = averaged(data.X, coef, [result], data.y[:, None], FixedLink("identity"), None)
    np.testing.assert_array_equal(known.best.coef, coef[:, 0])
