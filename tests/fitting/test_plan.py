"""A plan: all settings checked once, and what follows from them decided in one place."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from singleindex.design import as_design
from singleindex.fitting.extremes import Spread
from singleindex.fitting.plan import LONG, LONG_DENSE, make_fitter, make_plan
from singleindex.link import CautiousLpav, FixedLink, LinkFitter, Lpav, PerOutput, SharedLink
from singleindex.solvers import OnePass, Stochastic, TwoPass
from singleindex.structures import EachOutput, GroupSparse, LowRank, RowSparse, Sparse


def plan(n_features=4, is_classifier=False, **settings):
    return make_plan(n_features, None, is_classifier=is_classifier, **settings)


def test_a_plan_is_frozen_and_equal_to_another_of_the_same_settings():
    assert plan(alpha=0.5) == plan(alpha=0.5) != plan(alpha=0.6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan().alpha = 1.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_atoms": 5}, "from 1 to 4"),
        ({"n_atoms": 0}, "from 1 to 4"),
        ({"n_atoms": 2.5}, "n_atoms must be an integer"),
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": np.nan}, "alpha must be"),
        ({"penalty": 1.5}, "share from 0 to 1"),
        ({"lipschitz": 0}, "constant link"),
        ({"scale_power": -0.5}, "scale_power must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": np.inf}, "tol must be"),
        ({"structure": Sparse}, "structure must be an object"),
        ({"structure": LowRank((3, 3))}, "3"),
        ({"link": "nonsense"}, "link must be"),
        ({"solver": "nonsense"}, "solver must be"),
        ({"shared_link": True, "link": "logistic"}, "shared_link=True needs link='learned'"),
        ({"shared_link": True, "link_cv": 3}, "do not go together"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_fitted(settings, words):
    with pytest.raises(ValueError, match=words):
        plan(**settings)


def test_names_of_columns_become_positions():
    made = make_plan(
        3, ["a", "b", "c"], is_classifier=False, structure=GroupSparse([["a", "c"], ["b"]]), n_atoms=1
    )
    np.testing.assert_array_equal(made.structure.project(np.array([2.0, 1.0, 2.0]), 1), [2, 0, 2])


# ---------------------------------------------------------------- the link


class Own(LinkFitter):
    pass


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("learned", Lpav(2.0)),
        ("logistic", FixedLink("logistic")),
        (np.tanh, FixedLink(np.tanh, slope_bound=2.0)),
    ],
)
def test_which_fitter_is_made(link, expected):
    assert make_fitter(link, 2.0) == expected


def test_a_fitter_of_ones_own_is_taken_as_it_is():
    own = Own()
    assert make_fitter(own, 1.0) is own
    assert plan(link=own, is_classifier=True).final_fitter is own


def test_probabilities_get_a_cautious_final_link():
    assert isinstance(plan(is_classifier=True).final_fitter, CautiousLpav)
    assert plan().final_fitter == plan().fitter == Lpav(1.0)


# ---------------------------------------------------------------- several outputs


@pytest.mark.parametrize(
    ("settings", "joint", "is_open"),
    [
        ({}, False, True),
        ({"structure": RowSparse()}, True, True),
        ({"shared_link": True}, True, False),
        ({"link": "identity"}, False, False),
    ],
)
def test_when_outputs_are_one_problem_and_a_link_is_open(settings, joint, is_open):
    made = plan(**settings)
    assert (made.is_joint(3), made.final_link_is_open(3)) == (joint, is_open)
    assert not made.is_joint(1)
    assert made.final_link_is_open(1) == made.fitter.is_learned


def test_the_plan_of_a_joint_fit():
    rows = plan(structure=RowSparse()).for_joint_fit()
    assert (rows.structure, rows.fitter) == (RowSparse(), PerOutput(Lpav(1.0)))
    shared = plan(shared_link=True).for_joint_fit()
    assert isinstance(shared.structure, EachOutput)
    assert shared.fitter == SharedLink(Lpav(1.0))


# ---------------------------------------------------------------- the solver


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.broadcast_to(0.0, (LONG - 1, 10_000)), TwoPass),
        (np.broadcast_to(0.0, (LONG, 10_000)), OnePass),
        (np.broadcast_to(0.0, (LONG_DENSE, 500)), OnePass),
        (np.broadcast_to(0.0, (LONG_DENSE, 501)), TwoPass),
        (np.broadcast_to(0.0, (LONG_DENSE - 1, 10)), TwoPass),
        (sparse.csr_array((LONG_DENSE, 10)), TwoPass),
        (sparse.csr_array((LONG, 10)), OnePass),
    ],
)
def test_long_data_are_read_once_an_iteration(X, expected):
    assert isinstance(plan().solver_for(X, 1), expected)


def test_the_solver_that_was_asked_for_is_used_or_refused():
    X = np.zeros((5, 4))
    assert plan(solver="one-pass").solver_for(X, 2) == OnePass()
    for solver in ("one-pass", Stochastic()):
        with pytest.raises(ValueError, match=r"ties them together; use solver='two-pass'"):
            plan(solver=solver, structure=RowSparse()).solver_for(X, 2)
    assert isinstance(plan(structure=RowSparse()).solver_for(np.broadcast_to(0.0, (LONG, 4)), 2), TwoPass)


# ---------------------------------------------------------------- the view of X


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_view_divides_columns_by_a_power_of_their_spread(power):
    X = np.random.default_rng(0).normal(size=(60, 4)) * [0.1, 1.0, 10.0, 0.0]
    view, _ = plan(scale_power=power).view(as_design(X), Spread(X.var(axis=0)))
    seen = np.column_stack([view.matvec(e) for e in np.eye(4)])
    assert not seen[:, 3].any()
    spread = seen.std(axis=0)[:3]
    np.testing.assert_allclose(
        spread / spread[1], X.std(axis=0)[:3] ** (1 - power) / X[:, 1].std() ** (1 - power)
    )


def test_without_a_power_columns_stay_as_they_are():
    X = np.array([[1.0, 5.0, 0.0, 2.0], [3.0, 5.0, 1.0, 8.0]])
    view, _ = plan(scale_power=None).view(as_design(X), Spread(X.var(axis=0)))
    np.testing.assert_array_equal(view.to_features(np.ones(4)), [1, 0, 1, 1])
    with pytest.raises(ValueError, match="use scale_power=0"):
        plan(scale_power=None).column_factors(Spread(X.var(axis=0), np.ones(4)))


def test_a_structure_that_scaling_would_destroy_has_one_factor_for_all():
    made = plan(scale_power=1.0, structure=LowRank((2, 2)))
    factors = made.column_factors(Spread(np.array([1.0, 4.0, 9.0, 16.0])))
    assert np.ptp(factors) == 0
    assert made.power_of_columns == 0.0
    assert plan(scale_power=1.0).power_of_columns == 1.0


def test_overlapping_groups_see_their_columns_once_for_each_group():
    groups = GroupSparse([[0, 1], [1, 2], [3]], overlapping=True)
    X = np.random.default_rng(0).normal(size=(10, 4))
    view, viewed = plan(structure=groups, scale_power=None).view(as_design(X), Spread(X.var(axis=0)))
    assert view.shape == (10, 5)
    assert viewed.structure is not groups
    z = np.arange(1.0, 6.0)
    np.testing.assert_allclose(view.matvec(z), X @ view.to_features(z))


def test_factors_that_are_no_numbers_are_said_so():
    with pytest.raises(ValueError, match="comparable units"):
        plan(scale_power=3.0).column_factors(Spread(np.array([1e-280, 1.0, 1.0, 1e280])))
