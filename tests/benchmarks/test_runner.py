"""All solvers on a problem: each has one row, the optimum is shared, and what fails takes nothing with it."""

import dataclasses
import json
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, MultiTaskLasso

from benchmarks.side_by_side import __main__ as command
from benchmarks.side_by_side import page, runner, scores
from benchmarks.side_by_side.environments import GROUPS, Environment
from benchmarks.side_by_side.problems import Problem, single_index
from benchmarks.side_by_side.roster import Entrant, entrants_for
from benchmarks.side_by_side.runner import CLOSE_ENOUGH, Effort, Stage, largest_penalty, run_problem

OWN = Environment("own", sys.executable, {"singleindex": "1.0", "scikit-learn": "2.0", "a-peer": "3.0"})
ABSENT = "did not install: x"
BRIEF = Effort(seconds=0.01, least=2, most=3, cold=2)


def absent(*groups):
    return {"own": OWN} | {group: Environment(group, None, error=ABSENT) for group in groups}


def by_solver(rows, task=""):
    rows = [row for row in rows if row["problem"].startswith(task)]
    found = {row["solver"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_the_real_roster_has_a_row_for_every_entrant(results):
    options = {"structure": "rows", "n_outputs": 3, "link": "clipped", "noise": "gaussian"}
    problem = Problem("tasks", "Small.", "multi-task", lambda: single_index(100, 30, n_atoms=5, **options))
    problems, rows = run_problem(problem, absent(*(group for group in GROUPS if group != "own")), BRIEF)
    entrants = entrants_for("multi-task")
    assert [row["solver"] for row in rows] == [entrant.name for entrant in entrants]
    for entrant, row in zip(entrants, rows, strict=True):
        assert (row["problem"], row["package"]) == ("tasks", entrant.package)
        if entrant.group != "own":
            assert (row["error"], row["version"], row["peak_bytes"]) == (ABSENT, None, None)
            assert (row["seconds"], row["quality"]) == ([], {})
            continue
        assert (row["error"], row["version"]) == (None, OWN.packages[entrant.package])
        assert 2 <= len(row["seconds"]) <= 3
        assert min(row["seconds"]) > 0
        assert {"rmse", "link_rmse", "cosine"} <= row["quality"].keys()
        assert 0 < row["quality"]["rmse"] < 1
        assert row["formulation"]
    lasso = by_solver(rows)["scikit-learn MultiTaskLasso"]
    assert 0 <= lasso["quality"]["suboptimality"] <= CLOSE_ENOUGH
    assert lasso["settings"]["tol"] in (1e-2, 1e-3, 1e-4, 1e-5)
    assert lasso["settings"]["penalty"] > 0
    text = "\n".join(page.as_lines({**results, "problems": problems, "rows": rows}))
    assert ABSENT in text
    assert all(row["solver"] in text for row in rows)


# ---------------------------------------------------------------- made-up solvers, see fakes.py


def entrant(solver, *tasks, group="own"):
    return Entrant(solver, "a-peer", group, "fakes", solver, "penalty", tasks or ("large n",))


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs a problem with other solvers in the place of the roster."""

    def run(problem, *entrants):
        monkeypatch.setattr(
            runner, "entrants_for", lambda task, slow=True: [e for e in entrants if task in e.tasks]
        )
        return run_problem(problem, absent("other"), BRIEF)

    return run


@pytest.fixture(scope="module")
def data():
    return single_index(100, 30, n_atoms=5, link="clipped", held_out=200)


@pytest.fixture
def rows_problem(peers, data):
    """Return a problem of one level, whose exact solution the made-up solvers know."""
    seen, _ = data
    level = 0.01 * largest_penalty(seen)  # what the runner asks for where there are many rows
    model = LogisticRegression(
        C=1 / (100 * level), l1_ratio=1, solver="saga", tol=1e-9, max_iter=100_000, random_state=0
    ).fit(seen["X"], seen["y"])
    exact = np.append(model.intercept_, model.coef_)
    np.save(peers / "exact.npy", exact)

    def left(tolerance):
        """Return the suboptimality at a tolerance."""
        values, reference = (
            scores.objectives(
                "L1-logistic", {"coefs": share * exact[1:], "intercepts": share * exact[:1]}, seen, [level]
            )
            for share in (1 - tolerance, 1)
        )
        return scores.suboptimality(values, reference)

    return Problem("rows", "Few.", "large n", lambda: data, 30.0), left


@pytest.mark.parametrize("together", [True, False])
def test_the_loosest_tolerance_that_is_close_enough_is_taken(rows_problem, data, run, monkeypatch, together):
    problem, left = rows_problem
    if not together:
        monkeypatch.setattr(runner, "_TOGETHER", 0)
    (row,) = run(problem, entrant("Near"))[1]
    gaps = {tolerance: left(tolerance) for tolerance in (0.5, 0.2, 0.05, 0.01, 0.0)}
    assert all(before > after for before, after in pairwise(gaps.values()))
    close = [tolerance for tolerance, gap in gaps.items() if gap <= CLOSE_ENOUGH]
    assert 1 < len(close) < len(gaps), "a problem on which there is something to choose"
    assert row["settings"] == {"tol": close[0], "penalty": pytest.approx(0.01 * largest_penalty(data[0]))}
    assert row["quality"]["suboptimality"] == pytest.approx(gaps[close[0]], rel=1e-6)


@pytest.mark.parametrize("names", [("Far", "Near", "Alone"), ("Alone", "Near", "Far")])
def test_solvers_of_one_formulation_share_the_optimum(rows_problem, run, names):
    problem, left = rows_problem
    found = by_solver(run(problem, *map(entrant, names))[1])
    assert found["Far"]["settings"]["tol"] == 0.3
    assert found["Far"]["quality"]["suboptimality"] == pytest.approx(left(0.3), rel=1e-6)
    assert found["Far"]["quality"]["suboptimality"] > CLOSE_ENOUGH
    assert found["Near"]["quality"]["suboptimality"] <= CLOSE_ENOUGH
    assert found["Alone"]["quality"]["suboptimality"] == 0  # nobody else solves that


def test_what_fails_takes_nothing_with_it(rows_problem, run):
    problem, left = rows_problem
    names = ("Diverging", "Near", "DivergingWhenLoose", "Failing", "Late", "Unmeasured")
    _, rows = run(problem, *map(entrant, names), entrant("Far", group="other"))
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
        gap = left(found[name]["settings"]["tol"])
        assert found[name]["quality"]["suboptimality"] == pytest.approx(gap, rel=1e-6)
    assert found["DivergingWhenLoose"]["settings"]["tol"] <= 0.1
    assert found["Unmeasured"]["peak_bytes"] is None
    assert found["Near"]["peak_bytes"] is not None


def test_slow_solvers_are_timed_by_their_first_fit(rows_problem, run, monkeypatch):
    problem, _ = rows_problem
    monkeypatch.setattr(runner, "_SLOW_S", 0.0)
    found = by_solver(run(problem, entrant("Curious"), entrant("Near"))[1])
    assert len(found["Curious"]["seconds"]) == 1 < len(found["Near"]["seconds"])
    assert found["Curious"]["peak_bytes"] is None


def test_solvers_see_no_answers(rows_problem, data, run, tmp_path):
    problem, _ = rows_problem
    (row,) = run(problem, entrant("Curious"))[1]
    assert row["error"] is None
    Stage(problem, {"own": OWN}, BRIEF, tmp_path / "stage")
    on_disk = {path.name for path in (tmp_path / "stage").rglob("*") if path.is_file()}
    assert on_disk == {"X.npy", "y.npy", "X_test.npy", "X_validation.npy"}
    seen, hidden = data
    assert {"y_test", "y_validation", "mean_test", "coef"} == hidden.keys()
    # The check can fail.
    leaking = dataclasses.replace(problem, make=lambda: (seen | {"coef": hidden["coef"]}, hidden))
    (row,) = run(leaking, entrant("Curious"))[1]
    assert row["error"] == "PermissionError: I have ['coef']"


# ---------------------------------------------------------------- a path, then a single fit


@pytest.fixture
def path_problem(peers, data):
    seen, hidden = data
    levels = largest_penalty(seen) * runner.SHARES
    np.save(peers / "truth.npy", hidden["coef"])
    np.save(peers / "levels.npy", levels)
    return Problem("rows", "Few.", "linear", lambda: data, 30.0, True), levels


def test_a_single_fit_has_the_level_that_the_path_found_best(path_problem, run):
    problem, levels = path_problem
    both = ("path", "single fit")
    problems, rows = run(
        problem, entrant("Choosy", *both, "cold start"), entrant("Near", *both, group="other"),
        *(entrant(name, *both) for name in ("Lasso", "Short", "Stochastic", "ShortStochastic")),
    )  # fmt: skip
    assert [p["task"] for p in problems] == ["path", "single fit", "search", "cold start"]
    assert [p["name"] for p in problems] == [f"{p['task']}: rows" for p in problems]
    path, fit, cold = (by_solver(rows, task) for task in ("path", "single fit", "cold start"))
    assert path["Choosy"]["settings"] == {}
    assert path["Choosy"]["quality"]["cosine"] == pytest.approx(1)  # of the level that was chosen
    assert path["Short"]["error"] == "answered 1 of 10 levels"
    assert (path["Near"]["error"], fit["Near"]["error"]) == (ABSENT, ABSENT)
    # Short failed on the path, and has the level of the first lasso that got through. Stochastic gradients
    # have a level of their own, chosen among single fits where there is no path.
    places = {"Choosy": 3, "Lasso": 3, "Short": 3, "Stochastic": -1, "ShortStochastic": -1}
    for name, place in places.items():
        assert fit[name]["settings"] == {"penalty": pytest.approx(levels[place])}
        assert fit[name]["error"] is None
        assert fit[name]["quality"]["cosine"] == pytest.approx(1)
    (row,) = cold.values()
    assert len(row["seconds"]) == BRIEF.cold
    assert min(row["seconds"]) > fit["Choosy"]["seconds"][0]
    assert row["settings"] == {"tol": 1e-4, "penalty": pytest.approx(levels[3])}
    assert row["quality"]["cosine"] == pytest.approx(1)


def lasso_of(seen, level):
    if seen["y"].ndim == 2:
        return MultiTaskLasso(alpha=level, tol=1e-10).fit(seen["X"], seen["y"])
    penalty = {"C": 1 / (len(seen["y"]) * level), "l1_ratio": 1, "solver": "saga"}
    return LogisticRegression(**penalty, tol=1e-9, max_iter=10_000, random_state=0).fit(seen["X"], seen["y"])


@pytest.mark.parametrize("options", [{}, {"structure": "rows", "n_outputs": 3, "noise": "gaussian"}])
def test_at_the_largest_penalty_w_just_becomes_zero(options):
    seen, _ = single_index(100, 30, n_atoms=5, link="clipped", held_out=50, **options)
    largest = largest_penalty(seen)
    assert np.any(lasso_of(seen, 0.98 * largest).coef_)
    assert not np.any(lasso_of(seen, 1.02 * largest).coef_)


def test_the_largest_penalty_of_groups_is_their_longest_gradient():
    seen, _ = single_index(100, 30, n_atoms=2, structure="group", group_size=5, link="clipped", held_out=50)
    pull = seen["X"].T @ (seen["y"] - seen["y"].mean()) / 100
    lengths = [np.linalg.norm(pull[seen["groups"] == g]) for g in np.unique(seen["groups"])]
    assert largest_penalty(seen) == pytest.approx(max(lengths))


# ---------------------------------------------------------------- results of two runs


def test_rows_of_other_problems_are_kept():
    def some(date, *names):
        rows = [{"problem": name, "solver": s, "date": date} for name in names for s in ("a", "b")]
        return {"date": date, "problems": [{"name": name, "date": date} for name in names], "rows": rows}

    found = command.merged(some("old", "one", "two", "three"), some("new", "two"))
    assert found["date"] == "new"
    assert {p["name"]: p["date"] for p in found["problems"]} == {"one": "old", "two": "new", "three": "old"}
    assert [(r["problem"], r["solver"], r["date"]) for r in found["rows"]] == [
        ("one", "a", "old"), ("one", "b", "old"), ("three", "a", "old"), ("three", "b", "old"),
        ("two", "a", "new"), ("two", "b", "new"),
    ]  # fmt: skip
    assert command.merged({}, some("new", "two")) == some("new", "two")
