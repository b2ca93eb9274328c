"""The one loop: which iterate it returns, why it stops, what it records, tells and keeps."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from singleindex.solvers import Status, drive
from singleindex.solvers.drive import Run


@dataclass(frozen=True)
class Point:
    RECORDED: ClassVar = ("objective", "change")

    n_iter: int
    objective: float
    change: float


class Walk:
    """A method that goes through given objectives and changes, and then has nowhere to go."""

    def __init__(self, objectives, changes=None, descends=False, ends_by_objective=False):
        self.objectives, self.changes = objectives, changes or [1.0] * len(objectives)
        self.descends, self.ends_by_objective, self.n_moves = descends, ends_by_objective, 0

    def start(self):
        return 0

    def look(self, state, n_iter):
        return Point(n_iter, self.objectives[state], self.changes[state]), f"seen at {state}"

    def move(self, state, seen):
        assert seen == f"seen at {state}"
        self.n_moves += 1
        return state + 1 if state + 1 < len(self.objectives) else None

    def check(self, run):
        if run.state >= len(self.objectives):
            raise ValueError("no such state")


def run(method, max_iter=100, tol=0.0, **options):
    return drive(method, max_iter=max_iter, tol=tol, **options)


@pytest.mark.parametrize(
    ("objectives", "descends", "expected"),
    [
        ([3, 1, 2], False, 1),
        ([3, 1, 1, 2, 1], False, 1),  # the earliest of equals
        ([1, 1, 1], False, 0),
        ([3, 1, 2], True, 2),  # the last, where steps descend
        ([5], False, 0),
    ],
)
def test_which_iterate_is_returned(objectives, descends, expected):
    result = run(Walk(objectives, descends=descends))
    assert result.best == Point(expected, objectives[expected], 1.0)
    assert result.n_iter == len(objectives)


def test_the_history_has_every_iteration():
    result = run(Walk([3, 1, 2], [np.inf, 0.5, 0.25]))
    assert set(result.history) == {"objective", "change"}
    assert result.history["objective"].tolist() == [3, 1, 2]
    assert result.history["change"].tolist() == [np.inf, 0.5, 0.25]


def test_nowhere_to_go_is_flat():
    method = Walk([1, 2])
    assert run(method).status is Status.FLAT
    assert method.n_moves == 2


@pytest.mark.parametrize("max_iter", [1, 2, 4])
def test_the_limit_ends_it_without_another_move(max_iter):
    method = Walk([4, 3, 2, 1, 0])
    result = run(method, max_iter=max_iter)
    assert (result.status, result.n_iter, method.n_moves) == (Status.MAX_ITER, max_iter, max_iter - 1)


def test_a_small_change_ends_it():
    result = run(Walk([4, 3, 2, 1], [np.inf, 0.2, 0.1, 0.0]), tol=0.1)
    assert (result.status, result.n_iter) == (Status.CONVERGED, 3)
    assert run(Walk([4, 3, 2], [np.inf, 0.2, 0.0]), tol=0.0).status is Status.CONVERGED


@pytest.mark.parametrize(
    ("by_objective", "tol", "n_iter"),
    [(True, 0.1, 3), (False, 0.1, 5), (True, 0.0, 5), (True, 0.05, 4)],  # the square of tol is what counts
)
def test_an_objective_that_has_settled_ends_it_where_it_may(by_objective, tol, n_iter):
    objectives = [1000.0, 500.0, 496.0, 495.5, 400.0]
    result = run(Walk(objectives, ends_by_objective=by_objective), tol=tol)
    assert result.n_iter == n_iter
    assert result.status is (Status.CONVERGED if n_iter < 5 else Status.FLAT)


def test_a_first_objective_settles_nothing():
    assert run(Walk([0.0, 5.0], ends_by_objective=True), tol=0.5).n_iter == 2


@pytest.mark.parametrize("stop_at", [0, 2])
def test_a_callback_sees_every_iterate_and_may_stop(stop_at):
    told = []
    method = Walk([3, 1, 2, 0])
    result = run(method, on_iteration=lambda one: told.append(one) or one.n_iter == stop_at)
    assert [one.n_iter for one in told] == list(range(stop_at + 1))
    assert (result.status, method.n_moves) == (Status.STOPPED, stop_at)
    assert result.best.objective == min(one.objective for one in told)


def test_a_wish_to_stop_comes_before_all_other_reasons():
    result = run(Walk([1.0], [0.0]), max_iter=1, tol=1.0, on_iteration=lambda one: True)
    assert result.status is Status.STOPPED


class Shelf:
    """Keeps copies of all runs, and hands out the one it was given."""

    def __init__(self, first=None):
        self.first, self.kept = first, []

    def save(self, run):
        self.kept.append(SimpleNamespace(state=run.state, best=run.best, history=list(run.history)))

    def load(self, check):
        if self.first is not None:
            check(self.first)
        return self.first


def test_a_run_is_kept_after_every_move_that_leads_on():
    shelf = Shelf()
    run(Walk([3, 1, 2]), checkpoint=shelf)
    assert [one.state for one in shelf.kept] == [1, 2]
    assert [len(one.history) for one in shelf.kept] == [1, 2]
    assert [one.best.n_iter for one in shelf.kept] == [0, 1]


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_run_that_was_broken_off_ends_as_without_a_break(cut):
    objectives = [3, 1, 2, 1.5]
    shelf = Shelf()
    whole = run(Walk(objectives), checkpoint=shelf)
    kept = shelf.kept[cut]
    again = run(Walk(objectives), checkpoint=Shelf(Run(kept.state, kept.best, kept.history)))
    assert (again.best, again.status, again.n_iter) == (whole.best, whole.status, whole.n_iter)
    assert {k: v.tolist() for k, v in again.history.items()} == {
        k: v.tolist() for k, v in whole.history.items()
    }


def test_a_run_of_another_method_is_refused():
    with pytest.raises(ValueError, match="no such state"):
        run(Walk([1, 2]), checkpoint=Shelf(Run(7)))
