"""All solvers on a problem: each has one row, the optimum is shared, and what fails takes nothing with it."""

import dataclasses
import json
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.side_by_side import __main__ as command
from benchmarks.side_by_side import page, runner, scores
from benchmarks.side_by_side.environments import GROUPS, Environment
from benchmarks.side_by_side.problems import Problem, classification, multi_task
from benchmarks.side_by_side.roster import Entrant, entrants_for
from benchmarks.side_by_side.runner import CLOSE_ENOUGH, Effort, Stage, run_problem

OWN = Environment("own", sys.executable, {"singleindex": "1.0", "scikit-learn": "2.0", "a-peer": "3.0"})
ABSENT = "did not install: x"
# What the runner asks for where there are many rows.
LEVEL = 0.01 * runner._largest_penalty(classification(100, 30, n_atoms=5, link="clipped", held_out=200)[0])
BRIEF = Effort(seconds=0.01, least=2, most=3, cold=2)


def absent(*groups):
    return {"own": OWN} | {group: Environment(group, None, error=ABSENT) for group in groups}


def by_solver(rows):
    found = {row["solver"]: row for row in rows}
    assert len(found) == len(rows)
    return found


# ---------------------------------------------------------------- the real roster


@pytest.fixture(scope="module")
def real():
    """Return the results of a small problem, with the solvers that are here."""
    problem = Problem("tasks", "Small.", "multi-task", lambda: multi_task(100, 30), 30.0)
    return run_problem(problem, absent(*(group for group in GROUPS if group != "own")), BRIEF)


def test_every_entrant_has_one_row(real):
    _, rows = real
    assert [row["solver"] for row in rows] == [entrant.name for entrant in entrants_for("multi-task")]
    for entrant, row in zip(entrants_for("multi-task"), rows, strict=True):
        assert row["problem"] == "tasks"
        assert row["package"] == entrant.package
        assert row["error"] == (None if entrant.group == "own" else ABSENT)
        assert row["version"] == (OWN.version(entrant.package) if entrant.group == "own" else None)


def test_those_that_ran_have_times_memory_and_quality(real):
    for row in real[1]:
        if row["error"] is not None:
            assert (row["seconds"], row["quality"], row["peak_bytes"]) == ([], {}, None)
            continue
        assert 2 <= len(row["seconds"]) <= 3
        assert min(row["seconds"]) > 0
        assert {"rmse", "link_rmse", "cosine"} <= row["quality"].keys()
        assert 0 < row["quality"]["rmse"] < 1
        assert row["formulation"]
    lasso = by_solver(real[1])["scikit-learn MultiTaskLasso"]
    assert 0 <= lasso["quality"]["suboptimality"] <= CLOSE_ENOUGH
    assert lasso["settings"]["tol"] in (1e-2, 1e-3, 1e-4, 1e-5)
    assert lasso["settings"]["penalty"] > 0


def test_the_results_make_a_page(real, results):
    problems, rows = real
    results = {**results, "problems": problems, "rows": rows, "scaling": []}
    lines = page.as_lines(results)
    for row in rows:
        assert any(row["solver"] in line for line in lines)
    assert any(ABSENT in line for line in lines)
    assert page.as_charts(results).keys() == {"tasks.svg"}


# ---------------------------------------------------------------- made-up solvers

FAKES = """
    import os
    import numpy as np
    from linear import Solver

    HERE = os.path.dirname(__file__)

    class Near(Solver):
        '''Keeps the exact solution, shortened by the tolerance.'''
        formulation = "L1-logistic"
        tolerances = (0.5, 0.2, 0.05, 0.01, 0.0)
        def fit(self, tolerance):
            best = np.load(os.path.join(HERE, "exact.npy"))
            self.keep([(1 - tolerance) * best[1:]], [(1 - tolerance) * best[0]])

    class Far(Near):
        tolerances = (0.5, 0.3)

    class Alone(Far):
        '''The best of its kind, as there is no other.'''
        formulation = "L1-logistic, no intercept"

    class Diverging(Near):
        def fit(self, tolerance):
            super().fit(tolerance)
            self.coefs = np.nan * self.coefs

    class DivergingWhenLoose(Near):
        def fit(self, tolerance):
            super().fit(tolerance)
            if tolerance > 0.1:
                self.coefs = np.nan * self.coefs

    class Failing(Near):
        def fit(self, tolerance):
            raise ArithmeticError("singular")

    class Late(Near):
        n_fits = 0
        def fit(self, tolerance):
            self.n_fits += 1
            if self.n_fits > 4:
                raise MemoryError("full")
            super().fit(tolerance)

    class Unmeasured(Near):
        def forget(self):
            if hasattr(self, "coefs"):
                raise OSError("no such file")
            super().forget()

    class Curious(Near):
        '''Finds the truth, if it is anywhere to be found.'''
        tolerances = (None,)
        formulation = "curious"
        def fit(self, tolerance):
            known = ("X", "X_test", "X_validation", "levels", "y")
            found = [name for name in self.task if name not in known]
            if found:
                raise PermissionError(f"I have {found}")
            self.keep(np.ones((1, self.task["X"].shape[1])))

    class Choosy(Solver):
        '''Ranks well at the level that is the fourth of the path, and at no other.'''
        formulation = "choosy"
        def fit(self, tolerance):
            truth, fourth = (np.load(os.path.join(HERE, f"{name}.npy")) for name in ("truth", "fourth"))
            self.keep([truth if np.isclose(level, fourth) else -truth for level in self.task["levels"]])

    class Lasso(Choosy):
        formulation = "L1-logistic, no intercept"

    class Stochastic(Choosy):
        '''Ranks well at the last level only.'''
        formulation = "L1-logistic by stochastic gradients"
        def fit(self, tolerance):
            truth, last = (np.load(os.path.join(HERE, f"{name}.npy")) for name in ("truth", "last"))
            self.keep([truth if np.isclose(level, last) else -truth for level in self.task["levels"]])

    class ShortStochastic(Stochastic):
        '''Has no path.'''
        def fit(self, tolerance):
            super().fit(tolerance)
            self.keep(self.coefs[:1])

    class Short(Choosy):
        '''Stops before the end of the path.'''
        formulation = "L1-logistic, no intercept"
        def fit(self, tolerance):
            super().fit(tolerance)
            self.keep(self.coefs[:1])
"""


def entrant(solver, *tasks, group="own"):
    return Entrant(solver, "a-peer", group, "fakes", solver, "penalty", tasks)


@pytest.fixture
def take_part(monkeypatch):
    """Return a function that puts other solvers in the place of the roster."""

    def replace(*entrants):
        monkeypatch.setattr(
            runner, "entrants_for", lambda task, slow=True: [e for e in entrants if task in e.tasks]
        )

    return replace


@pytest.fixture
def rows_problem(peers):
    """Return a problem of one level, whose exact solution the made-up solvers know."""
    seen, hidden = classification(100, 30, n_atoms=5, link="clipped", held_out=200)
    model = LogisticRegression(
        C=1 / (100 * LEVEL), l1_ratio=1, solver="saga", tol=1e-9, max_iter=100_000, random_state=0
    ).fit(seen["X"], seen["y"])
    exact = np.append(model.intercept_, model.coef_)
    np.save(peers(FAKES) / "exact.npy", exact)

    def left(tolerance):
        """Return the suboptimality at a tolerance."""
        answer, best = (
            {"coefs": share * exact[1:], "intercepts": share * exact[:1]} for share in (1 - tolerance, 1)
        )
        values, reference = (scores.objectives("L1-logistic", a, seen, [LEVEL]) for a in (answer, best))
        return scores.suboptimality(values, reference)

    return Problem("rows", "Few.", "large n", lambda: (seen, hidden), 30.0), left


@pytest.mark.parametrize("together", [True, False])
def test_the_loosest_tolerance_that_is_close_enough_is_taken(rows_problem, take_part, monkeypatch, together):
    problem, left = rows_problem
    if not together:
        monkeypatch.setattr(runner, "_TOGETHER", 0)
    take_part(entrant("Near", "large n"))
    (row,) = run_problem(problem, {"own": OWN}, BRIEF)[1]
    tolerances = (0.5, 0.2, 0.05, 0.01, 0.0)
    gaps = [left(tolerance) for tolerance in tolerances]
    assert all(before > after for before, after in pairwise(gaps))
    close = [t for t, gap in zip(tolerances, gaps, strict=True) if gap <= CLOSE_ENOUGH]
    assert 1 < len(close) < len(tolerances), "a problem on which there is something to choose"
    assert row["settings"] == {"tol": close[0], "penalty": pytest.approx(LEVEL)}
    assert row["quality"]["suboptimality"] == pytest.approx(left(close[0]), rel=1e-6)


@pytest.mark.parametrize("names", [("Far", "Near", "Alone"), ("Alone", "Near", "Far")])
def test_solvers_of_one_formulation_share_the_optimum(rows_problem, take_part, names):
    problem, left = rows_problem
    take_part(*(entrant(name, "large n") for name in names))
    found = by_solver(run_problem(problem, {"own": OWN}, BRIEF)[1])
    assert found["Far"]["settings"]["tol"] == 0.3
    assert found["Far"]["quality"]["suboptimality"] == pytest.approx(left(0.3), rel=1e-6)
    assert found["Far"]["quality"]["suboptimality"] > CLOSE_ENOUGH
    assert found["Near"]["quality"]["suboptimality"] <= CLOSE_ENOUGH
    assert found["Alone"]["quality"]["suboptimality"] == 0  # nobody else solves that


def test_what_fails_takes_nothing_with_it(rows_problem, take_part):
    problem, left = rows_problem
    names = ("Diverging", "Near", "DivergingWhenLoose", "Failing", "Late", "Unmeasured")
    take_part(*(entrant(name, "large n") for name in names), entrant("Far", "large n", group="other"))
    _, rows = run_problem(problem, absent("other"), BRIEF)
    assert [row["solver"] for row in rows] == [*names, "Far"]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    found = by_solver(rows)
    assert {name: row["error"] for name, row in found.items()} == {
        "Diverging": "the answer is not finite", "Near": None, "DivergingWhenLoose": None,
        "Failing": "ArithmeticError: singular", "Late": "MemoryError: full", "Unmeasured": None,
        "Far": ABSENT,
    }  # fmt: skip
    assert found["Diverging"]["quality"] == {}
    for name in ("Near", "DivergingWhenLoose", "Unmeasured"):
        assert found[name]["seconds"]
        assert found[name]["quality"]["suboptimality"] == pytest.approx(
            left(found[name]["settings"]["tol"]), rel=1e-6
        )
    assert found["DivergingWhenLoose"]["settings"]["tol"] <= 0.1
    assert found["Unmeasured"]["peak_bytes"] is None
    assert found["Near"]["peak_bytes"] is not None


def test_solvers_see_no_answers(rows_problem, take_part, tmp_path):
    problem, _ = rows_problem
    take_part(entrant("Curious", "large n"))
    (row,) = run_problem(problem, {"own": OWN}, BRIEF)[1]
    assert row["error"] is None
    stage = Stage(problem, {"own": OWN}, BRIEF, tmp_path / "stage")
    on_disk = {path.name for path in (tmp_path / "stage").rglob("*") if path.is_file()}
    assert on_disk == {"X.npy", "y.npy", "X_test.npy", "X_validation.npy"}
    assert {"y_test", "y_validation", "mean_test", "coef"} == stage.hidden.keys()
    # The check can fail.
    leaking = dataclasses.replace(
        problem, make=lambda: (stage.seen | {"coef": stage.hidden["coef"]}, stage.hidden)
    )
    (row,) = run_problem(leaking, {"own": OWN}, BRIEF)[1]
    assert row["error"] == "PermissionError: I have ['coef']"


# ---------------------------------------------------------------- a path, then a single fit


@pytest.fixture
def path_problem(peers):
    seen, hidden = classification(100, 30, n_atoms=5, link="clipped", held_out=200)
    folder = peers(FAKES)
    levels = runner._largest_penalty(seen) * runner.SHARES
    np.save(folder / "truth.npy", hidden["coef"])
    np.save(folder / "fourth.npy", levels[3])
    np.save(folder / "last.npy", levels[-1])
    return Problem("rows", "Few.", "linear", lambda: (seen, hidden), 30.0, True), levels


def test_a_single_fit_has_the_level_that_the_path_found_best(path_problem, take_part):
    problem, levels = path_problem
    take_part(
        entrant("Choosy", "path", "single fit", "cold start"), entrant("Lasso", "path", "single fit"),
        entrant("Short", "path", "single fit"), entrant("Near", "path", "single fit", group="other"),
    )  # fmt: skip
    problems, rows = run_problem(problem, absent("other"), BRIEF)
    assert [p["task"] for p in problems] == ["path", "single fit", "search", "cold start"]
    assert len({p["name"] for p in problems}) == 4
    path, fit, cold = (
        by_solver([row for row in rows if row["problem"] == f"{task}: {problem.name}"])
        for task in ("path", "single fit", "cold start")
    )
    assert path.keys() == fit.keys() == {"Choosy", "Lasso", "Short", "Near"}
    assert path["Choosy"]["settings"] == {}
    assert path["Choosy"]["quality"]["cosine"] == pytest.approx(1)  # of the level that was chosen
    assert path["Short"]["error"] == "answered 1 of 10 levels"
    # Near is not there, Short failed on the path: they have the level of the first lasso that got through.
    for name in ("Choosy", "Lasso", "Short"):
        assert fit[name]["settings"] == {"penalty": pytest.approx(levels[3])}
        assert fit[name]["error"] is None
        assert fit[name]["quality"]["cosine"] == pytest.approx(1)
    assert (path["Near"]["error"], fit["Near"]["error"]) == (ABSENT, ABSENT)
    (row,) = cold.values()
    assert len(row["seconds"]) == BRIEF.cold
    assert min(row["seconds"]) > fit["Choosy"]["seconds"][0]
    assert row["formulation"] == "choosy"
    assert row["settings"] == {"tol": 1e-4, "penalty": pytest.approx(levels[3])}
    assert row["quality"]["cosine"] == pytest.approx(1)


def test_stochastic_gradients_have_a_level_of_their_own(path_problem, take_part):
    problem, levels = path_problem
    names = ("Lasso", "Stochastic", "ShortStochastic")
    take_part(*(entrant(name, "path", "single fit") for name in names))
    rows = run_problem(dataclasses.replace(problem, with_start=False), {"own": OWN}, BRIEF)[1]
    fit = by_solver([row for row in rows if row["problem"].startswith("single fit")])
    for name, level in zip(names, (levels[3], levels[-1], levels[-1]), strict=True):
        assert fit[name]["settings"] == {"penalty": pytest.approx(level)}
        assert fit[name]["quality"]["cosine"] == pytest.approx(1)


@pytest.mark.parametrize("grouped", [False, True])
def test_at_the_largest_penalty_w_just_becomes_zero(grouped):
    seen, _ = classification(100, 30, n_atoms=2, structure="group", group_size=5, link="clipped", held_out=50)
    groups = seen["groups"] if grouped else None
    formulation = "group-lasso logistic, free intercept" if grouped else "L1-logistic"
    largest = runner._largest_penalty(seen, groups)
    share = seen["y"].mean()
    pull = seen["X"].T @ (seen["y"] - share) / 100
    if grouped:
        lengths = [np.linalg.norm(pull[groups == g]) for g in np.unique(groups)]
        steepest = np.where(groups == np.argmax(lengths), pull, 0)
    else:
        steepest = np.where(np.abs(pull) == np.abs(pull).max(), pull, 0)

    def falls(direction, level):
        step = 1e-4 * direction / np.linalg.norm(direction)
        here, there = (
            scores.objectives(
                formulation, {"coefs": [w], "intercepts": [np.log(share / (1 - share))]}, seen, [level]
            )[0]
            for w in (0 * step, step)
        )
        return there < here

    assert falls(steepest, 0.99 * largest)
    assert not falls(steepest, 1.01 * largest)
    rng = np.random.default_rng(0)
    assert not any(falls(rng.standard_normal(30), largest) for _ in range(50))


# ---------------------------------------------------------------- results of two runs


def some(names, date, scaling=()):
    rows = [{"problem": name, "solver": s, "date": date} for name in names for s in ("a", "b")]
    return {
        "date": date, "problems": [{"name": name, "date": date} for name in names], "rows": rows,
        "scaling": list(scaling),
    }  # fmt: skip


def test_rows_of_other_problems_are_kept():
    old, new = some(["one", "two", "three"], "old", ["curve"]), some(["two"], "new")
    found = command.merged(old, new)
    assert {p["name"]: p["date"] for p in found["problems"]} == {"one": "old", "two": "new", "three": "old"}
    assert sorted((r["problem"], r["solver"], r["date"]) for r in found["rows"]) == [
        ("one", "a", "old"), ("one", "b", "old"), ("three", "a", "old"), ("three", "b", "old"),
        ("two", "a", "new"), ("two", "b", "new"),
    ]  # fmt: skip
    assert (found["date"], found["scaling"]) == ("new", ["curve"])
    assert command.merged(old, some([], "new", ["other"]))["scaling"] == ["other"]
    assert command.merged(old, some([], "new"))["rows"] == old["rows"]
