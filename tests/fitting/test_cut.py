"""Averages cut to their largest atoms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singleindex.design import as_design
from singleindex.fitting.cut import Cut, Cutter, sizes_below
from singleindex.fitting.plan import make_plan
from singleindex.fitting.trace import Fold
from singleindex.structures import GroupSparse, RowSparse, Sparse

RNG = np.random.default_rng(0)
N, D = 120, 8
X = RNG.normal(size=(N, D)) * np.geomspace(0.1, 10, D) + 1.0
SD = X.std(axis=0)
TRUTH = np.array([2.0, -1.0, 0.5, 0, 0, 0, 0, 0]) / SD
Y = (X @ TRUTH + 0.3 * RNG.normal(size=N))[:, None]
AVERAGE = (TRUTH + 0.1 * RNG.normal(size=D) / SD)[:, None]


def cutter(sizes=(1, 3, 5), keeps_all=True, structure=None, n_outputs=1, **changed):
    plan = make_plan(D, None, is_classifier=False, structure=structure, **changed)
    return Cutter(plan, SD, list(sizes), keeps_all, n_outputs)


def cuts(made, average=AVERAGE, Y=Y, votes=None):
    votes = np.ones_like(average) if votes is None else votes
    return dict(made.cuts(average, votes, Fold(X, Y, None), as_design(np.asfortranarray(X))))


def coef_of(model, n_outputs=1):
    coef = np.zeros((D, n_outputs))
    model.add_to(coef, np.ones(n_outputs))
    return coef


@given(st.integers(1, 10_000))
def test_sizes_are_about_a_root_of_two_apart(most):
    sizes = sizes_below(most)
    assert sizes == sorted(set(sizes))
    assert all(1 <= k < most for k in sizes)
    assert all(b / a < 2.01 for a, b in zip([*sizes, most], [*sizes[1:], most], strict=False))
    assert bool(sizes) == (most > 1)


def test_every_size_is_cut_half_refitted_and_refitted():
    found = cuts(cutter())
    assert set(found) == {Cut(None, 0.0), *(Cut(k, form) for k in (1, 3, 5) for form in (0.0, 0.5, 1.0))}
    for cut, model in found.items():
        coef = coef_of(model)
        assert np.count_nonzero(coef) == model.n_atoms == (cut.n_atoms or D)
        assert np.std(X @ coef) == pytest.approx(1)


def test_what_is_kept_is_the_largest_in_units_of_the_columns():
    kept = cutter().project(AVERAGE, 3)
    largest = np.argsort(-np.abs(AVERAGE[:, 0]) * SD)[:3]
    assert set(np.flatnonzero(kept)) == set(largest) == {0, 1, 2}
    np.testing.assert_array_equal(kept[largest], AVERAGE[largest])


def test_a_refit_is_least_squares_on_what_is_kept():
    found = coef_of(cuts(cutter())[Cut(3, 1.0)])[:3, 0]
    free = np.linalg.lstsq(np.c_[X[:, :3], np.ones(N)], Y[:, 0], rcond=None)[0][:3]
    np.testing.assert_allclose(found / np.linalg.norm(found), free / np.linalg.norm(free), atol=0.02)


def test_few_rows_are_not_refitted():
    few = Fold(X[:40], Y[:40], None)
    found = dict(cutter().cuts(AVERAGE, np.ones_like(AVERAGE), few, as_design(np.asfortranarray(X[:40]))))
    assert {cut.form for cut in found if cut.n_atoms == 3} == {0.0, 0.5, 1.0}
    assert {cut.form for cut in found if cut.n_atoms == 5} == {0.0}


def test_the_average_as_it_is_votes_as_its_models_did():
    votes = RNG.random((D, 1))
    np.testing.assert_array_equal(cuts(cutter(), votes=votes)[Cut(None, 0.0)].votes, votes[:, 0])
    assert Cut(None, 0.0) not in cuts(cutter(keeps_all=False))


def test_groups_are_kept_whole():
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    for cut, model in cuts(cutter(sizes=[1, 2], structure=GroupSparse(groups), keeps_all=False)).items():
        used = np.unique(groups[np.flatnonzero(coef_of(model))])
        assert len(used) == model.n_atoms == cut.n_atoms


def test_outputs_share_their_rows_where_the_structure_says_so():
    Y2 = np.column_stack([Y[:, 0], X[:, 1] / SD[1] - X[:, 4] / SD[4]])
    average = np.column_stack([AVERAGE[:, 0], np.eye(D)[1] / SD - np.eye(D)[4] / SD])
    joint = cuts(cutter([2], False, RowSparse(), 2), average, Y2)[Cut(2, 0.0)]
    assert np.count_nonzero(coef_of(joint, 2).any(axis=1)) == 2
    apart = cuts(cutter([2], False, Sparse(), 2), average, Y2)[Cut(2, 1.0)]
    assert np.count_nonzero(coef_of(apart, 2), axis=0).tolist() == [2, 2]


def test_signs_are_kept_in_refits():
    wrong = Sparse(signs=np.array([0, 1, 0, 0, 0, 0, 0, 0]))
    average = np.abs(AVERAGE)
    for model in cuts(cutter(structure=wrong), average).values():
        assert coef_of(model)[1, 0] >= 0


def test_a_known_link_keeps_the_length_of_w():
    found = cuts(cutter(link="identity"))
    np.testing.assert_array_equal(coef_of(found[Cut(None, 0.0)]), AVERAGE)
    index = X @ coef_of(found[Cut(3, 1.0)])
    assert np.polyfit(index[:, 0], Y[:, 0], 1)[0] == pytest.approx(1, abs=0.05)
