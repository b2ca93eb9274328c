"""Which paths a search goes."""

import numpy as np
import pytest

from singleindex.design import as_design
from singleindex.fitting.extremes import Spread
from singleindex.fitting.grid import EXACT, GRADIENT, RIDGE, check_sizes, is_dense, make_cells
from singleindex.fitting.plan import make_plan
from singleindex.fitting.search import SearchSettings
from singleindex.solvers.path import hard_levels, soft_levels
from singleindex.structures import GroupSparse, LowRank, Sparse

VARIANCE = (1.0, 4.0, 9.0, 1.0, 1.0, 1.0)


def settings(**changed):
    defaults = {
        "n_atoms": None, "alpha": None, "penalty": None, "scale_power": [0.5], "cv": 3, "rule": "average",
        "refit": "auto", "held_out_link": True, "dense": "auto", "n_jobs": None,
    }  # fmt: skip
    return SearchSettings(**defaults | changed)


def cells(structure=None, variance=VARIANCE, n_rows=100, is_classifier=False, link="learned", **changed):
    plan = make_plan(6, None, is_classifier=is_classifier, structure=structure, link=link)
    design = as_design(np.random.default_rng(0).normal(size=(20, 6)))
    return make_cells(plan, settings(**changed), design, Spread(np.array(variance)), n_rows, 1)


def test_by_default_there_is_a_path_of_exact_steps_and_one_of_ridges():
    exact, ridge = cells()
    assert (exact.method, exact.link, exact.alpha) == (EXACT, "identity", 0.0)
    assert len(exact.levels) == 50
    assert ridge.method == RIDGE
    assert all(level.ridge > 0 for level in ridge.levels)


def test_levels_go_down_further_with_more_rows_than_columns_counted_by_weight():
    lasts = [cells(n_rows=n)[0].levels[-1].penalty for n in (7, 6)]
    assert lasts == pytest.approx([1e-3, 1e-2])


def test_a_link_is_learned_in_the_loop_with_rows_enough():
    def links(n_rows, is_classifier):
        found = cells(n_rows=n_rows, is_classifier=is_classifier)
        return [cell.link for cell in found if cell.method == EXACT]

    assert links(149, False) == ["identity"]
    assert links(150, False) == ["identity", "learned"]
    assert links(150, True) == ["logistic"]
    assert links(1000, True) == ["logistic", "learned"]
    assert {cell.link for cell in cells(link="tanh", n_rows=1000)} == {"tanh"}


def test_levels_are_sorted_as_a_warm_path_goes_best():
    (exact,) = cells(penalty=[0.1, 0.9, 0.1], alpha=0.0)
    assert [level.penalty for level in exact.levels] == [0.9, 0.1]
    hard, soft = cells(structure=LowRank((2, 3)), n_atoms=[1, None, 2, 2], penalty=[0.1, 0.9])
    assert [level.n_atoms for level in hard.levels] == [None, 2, 1]
    assert [level.penalty for level in soft.levels] == [0.9, 0.1]


def test_every_scale_goes_with_every_ridge():
    found = cells(scale_power=[1.0, 0.0], alpha=[0.1, 1.0])
    expected = [(1.0, 0.1), (1.0, 1.0), (0.0, 0.1), (0.0, 1.0)]
    assert [(cell.scale_power, cell.alpha) for cell in found] == expected


def test_scales_that_hardly_differ_are_tried_once():
    alike = cells(scale_power=[1.0, 0.5, 0.0], variance=[1.0, 1.1, 1.2, 1.0, 1.0, 0.0], alpha=0.0)
    assert [cell.scale_power for cell in alike] == [1.0]


def test_structures_without_exact_steps_go_by_gradients():
    hard, soft = cells(structure=LowRank((2, 3)))
    assert (hard.method, soft.method) == (GRADIENT, GRADIENT)
    assert hard.levels == tuple(hard_levels(2))
    assert soft.levels == tuple(soft_levels())
    assert hard.alpha > 0


@pytest.mark.parametrize("asked", [{"n_atoms": [2]}, {"penalty": [0.5]}, {"alpha": 0.1}])
def test_no_dense_candidates_where_something_was_asked_for(asked):
    assert RIDGE not in {cell.method for cell in cells(**asked)}


def test_dense_candidates_where_more_atoms_are_asked_for_than_is_sparse():
    few, many = (cells(n_rows=5, n_atoms=[1, k]) for k in (2, 3))
    assert {cell.method for cell in few} == {EXACT}
    assert [cell.levels for cell in many if cell.method == GRADIENT] == [tuple(hard_levels(6))]


def test_no_dense_candidates_of_bounded_weights():
    signs = Sparse(signs=np.array([1, 0, 0, 0, 0, 0]))
    assert RIDGE not in {cell.method for cell in cells(structure=signs)}
    assert RIDGE in {cell.method for cell in cells(structure=GroupSparse([0, 0, 1, 1, 2, 2]))}


def test_few_rows_have_gradient_paths_too_and_their_large_numbers_of_atoms_are_dense():
    found = cells(n_rows=5)
    (gradient,) = [cell for cell in found if cell.method == GRADIENT]
    for level, limit in enumerate(gradient.levels):
        expected = limit.n_atoms is not None and limit.n_atoms > 2.5
        assert is_dense(gradient, level, 5) == expected
    assert all(is_dense(cell, 0, 5) for cell in found if cell.method == RIDGE)
    assert not any(is_dense(cell, 0, 5) for cell in found if cell.method == EXACT)


def test_numbers_of_atoms_are_checked():
    plan = make_plan(6, None, is_classifier=False)
    assert check_sizes(plan, None, 6) is None
    assert check_sizes(plan, [], 6) == []
    assert check_sizes(plan, [3, 1, 3, None], 6) == [1, 3, 6]
    assert check_sizes(plan, 4, 6) == [4]
    with pytest.raises(ValueError, match="from 1 to 6"):
        check_sizes(plan, [7], 6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rule": "worst"}, "rule must be one of"),
        ({"refit": "average"}, "refit must be one of"),
        ({"alpha": []}, "at least one value"),
        ({"scale_power": []}, "at least one value"),
    ],
)
def test_settings_are_checked(changed, words):
    with pytest.raises(ValueError, match=words):
        settings(**changed).check()


def test_when_w_is_learned_from_all_rows():
    assert not settings().from_all
    assert settings(rule="best").from_all
    assert settings(rule="one_se").from_all
    assert settings(refit="all").from_all
    assert not settings(rule="best", refit="folds").from_all
