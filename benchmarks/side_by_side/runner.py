"""Run every solver on every problem, side by side.

For each problem all solvers are started, each in its own process with one thread. Those that solve a convex
problem are first given the loosest tolerance at which they come as close to the optimum as asked. Then
they fit in turns, so that a slow minute of the machine hits all alike.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import scores
from .environments import Environment
from .problems import SHARES, SIZES, SPLICED_SIZES, Problem, n_entries, write_arrays
from .roster import Entrant, entrants_for
from .session import Failed, Session

# Share of the way from w = 0 to the optimum that a convex solver may leave.
CLOSE_ENOUGH = 1e-3
# What is set on a problem of the kind "linear".
LINEAR_TASKS = ("path", "single fit", "search", "cold start")
# Solvers whose data together are larger than this are not alive at the same time.
_TOGETHER = 200e6
# A solver that takes longer is timed by its first fit, and its memory is not asked for: minutes for each fit.
_SLOW_S = 10.0


@dataclass
class Effort:
    """How long to measure."""

    seconds: float = 3.0
    least: int = 5
    most: int = 15
    cold: int = 3
    with_slow_ones: bool = True
    starting_s: float = 30.0  # for what comes before the first fit, and for compiling in it

    @classmethod
    def quick(cls) -> Effort:
        return cls(seconds=0.5, least=3, most=5, cold=1, with_slow_ones=False, starting_s=20.0)

    def turns(self, seconds: float) -> int:
        """Return how often a fit of so many seconds is repeated; a slow one has less noise."""
        least = self.least if seconds < 1 else min(self.least, 3) if seconds < 5 else 1
        return int(np.clip(self.seconds / max(seconds, 1e-6), least, self.most))


@dataclass
class Run:
    """One solver on one task: what it was told, and what came out."""

    entrant: Entrant
    levels: list[float] | None
    error: str | None
    session: Session | None = None
    formulation: str = ""
    tolerances: list[float | None] = field(default_factory=list)
    tolerance: float | None = None
    objectives: np.ndarray | None = None
    seconds: list[float] = field(default_factory=list)
    quality: dict[str, float] = field(default_factory=dict)
    rise: float | None = None
    chosen: int = 0


class Stage:
    """One problem, its data on disk, and the environments to run solvers in."""

    def __init__(
        self, problem: Problem, environments: dict[str, Environment], effort: Effort, folder: Path
    ) -> None:
        self.problem, self.environments, self.effort, self.folder = problem, environments, effort, folder
        # How long a fit may take that may have to compile first.
        self.patience = problem.limit_s + effort.starting_s
        self.seen, self.hidden = problem.make()
        self.data_bytes = write_arrays(folder / "data", self.seen)
        self.rows: list[dict[str, Any]] = []
        self.problems: list[dict[str, Any]] = []

    # ------------------------------------------------------------ one task

    def run(self, task: str, levels: dict[str, list[float]] | None = None, choose: bool = False) -> list[Run]:
        """Run a task, store its rows, and return what came out.

        `levels` are by kind or by solver. With `choose` each solver first finds, by the validation rows, the
        one of them that it is timed at.
        """
        runs = self._runs(task, levels or {})
        for batch in [runs] if self.data_bytes < _TOGETHER else [[run] for run in runs]:
            with ExitStack() as stack:
                for run in batch:
                    self._start(run, stack)
                for run in batch if choose else []:
                    self._choose(run)
                self._calibrate(batch)
                self._take_turns(batch)
                for run in batch:
                    self._finish(task, run)
        self._store(task, runs)
        return runs

    def _runs(self, task: str, levels: dict[str, list[float]]) -> list[Run]:
        """Return who takes part, each with its own levels, or else with those of its kind."""
        return [
            Run(
                entrant=e,
                levels=None if e.levels is None else levels.get(e.name, levels.get(e.levels)),
                error=self.environments[e.group].error,
            )
            for e in entrants_for(task, self.effort.with_slow_ones)
        ]

    def _start(self, run: Run, stack: ExitStack) -> None:
        """Let a process of its own read solver and data."""
        if run.error is not None:
            return
        run.session = stack.enter_context(Session(self.environments[run.entrant.group].python))
        told = self._ask(
            run, "load", self.effort.starting_s, module=run.entrant.module, solver=run.entrant.solver,
            folder=str(self.folder / "data"), levels=run.levels,
        )  # fmt: skip
        if told is not None:
            run.formulation, run.tolerances = told["formulation"], told["tolerances"]
            run.tolerance = run.tolerances[-1]

    def _ask(self, run: Run, do: str, limit_s: float | None = None, **order: Any) -> dict[str, Any] | None:
        """Ask a solver; where it fails, note why and return None."""
        if run.error is not None or run.session is None:
            return None
        try:
            return run.session.ask(do, self.problem.limit_s if limit_s is None else limit_s, **order)
        except Failed as failed:
            run.error = str(failed)
            return None

    def _answer(self, run: Run) -> dict[str, Any] | None:
        path = self.folder / "answer.npz"
        if self._ask(run, "answer", self.patience, path=str(path)) is None:
            return None
        with np.load(path) as stored:
            answer = dict(stored)
        if run.levels is not None and "score" in answer and answer["score"].shape[1] != len(run.levels):
            run.error = f"answered {answer['score'].shape[1]} of {len(run.levels)} levels"
            return None
        return answer

    def _choose(self, run: Run) -> None:
        """Give a solver the level at which it does best on the validation rows."""
        losses = {}
        for level in run.levels if run.levels is not None and len(run.levels) > 1 else []:
            self._use(run, level)
            self._ask(run, "fit", self.patience, tolerance=run.tolerance)
            answer = self._answer(run)
            if answer is None:
                return
            losses[level] = scores.validation_loss(answer, self.hidden)
        if losses:
            self._use(run, min(losses, key=lambda level: losses[level]))

    def _use(self, run: Run, level: float) -> None:
        run.levels = [level]
        self._ask(run, "use", levels=run.levels)

    def _calibrate(self, runs: list[Run]) -> None:
        """Warm up, and give each convex solver the loosest tolerance that is close enough to the optimum."""
        for run in runs:
            done = self._ask(run, "fit", self.patience, tolerance=run.tolerance)  # the first fit may compile
            if done is not None and done["seconds"] > _SLOW_S and len(run.tolerances) == 1:
                run.seconds.append(done["seconds"])
            run.objectives = self._objectives(run)
        solved = [run for run in runs if run.objectives is not None]
        for run in solved:
            peers = [other.objectives for other in solved if other.formulation == run.formulation]
            # A solver that diverged says nothing of the optimum, nor must it hide what others found.
            self._loosen(run, np.fmin.reduce(peers))

    def _loosen(self, run: Run, reference: np.ndarray) -> None:
        for tolerance in run.tolerances:
            self._ask(run, "fit", tolerance=tolerance)
            values = self._objectives(run)
            if values is None:
                return
            run.tolerance = tolerance
            run.quality["suboptimality"] = max(scores.suboptimality(values, reference), 0.0)
            if run.quality["suboptimality"] <= CLOSE_ENOUGH:
                return

    def _objectives(self, run: Run) -> np.ndarray | None:
        answer = self._answer(run)
        if answer is None or run.levels is None:
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            return scores.objectives(run.formulation, answer, self.seen, run.levels)

    def _take_turns(self, runs: list[Run]) -> None:
        left = [run for run in runs if not run.seconds]
        while left:
            for run in left:
                done = self._ask(run, "fit", tolerance=run.tolerance)
                if done is not None:
                    run.seconds.append(done["seconds"])
            left = [
                run
                for run in left
                if run.error is None and len(run.seconds) < self.effort.turns(run.seconds[0])
            ]

    def _finish(self, task: str, run: Run) -> None:
        answer = self._answer(run)
        if answer is not None and self._score(task, run, answer) and np.median(run.seconds) < _SLOW_S:
            with suppress(Failed):  # the times are good all the same
                run.rise = run.session.ask("memory", self.problem.limit_s, tolerance=run.tolerance)["rise"]

    def _score(self, task: str, run: Run, answer: dict[str, Any]) -> bool:
        """Note what the answer is worth, and return whether it can be told."""
        if not all(np.isfinite(array).all() for array in answer.values()):
            run.error, run.quality = "the answer is not finite", {}
            return False
        run.chosen = scores.best_level(answer, self.hidden)
        run.quality = scores.score(task, answer, self.seen, self.hidden) | run.quality
        return True

    # ------------------------------------------------------------ cold start

    def cold_start(self, levels: dict[str, list[float]]) -> None:
        """Time from the start of a process to its first prediction, with the data read from disk."""
        runs = self._runs("cold start", levels)
        for run in runs:
            for _ in range(self.effort.cold):
                began = time.perf_counter()
                with ExitStack() as stack:
                    self._start(run, stack)
                    run.tolerance = 1e-4 if run.entrant.levels == "penalty" else None
                    self._ask(run, "fit", self.effort.starting_s, tolerance=run.tolerance)
                    answer = self._answer(run)
                took = time.perf_counter() - began
                if answer is None or not self._score("single fit", run, answer):
                    break
                run.seconds.append(took)
        self._store("cold start", runs)

    # ------------------------------------------------------------ results

    def _store(self, task: str, runs: list[Run]) -> None:
        name = f"{task}: {self.problem.name}" if self.problem.kind != task else self.problem.name
        X = self.seen.get("X", self.seen.get("x", self.seen.get("pairs")))
        self.problems.append(
            {
                "name": name, "task": task, "text": self.problem.text, "n": X.shape[0],
                "d": X.shape[1] if "X" in self.seen else 1, "entries": n_entries(X),
                "data_bytes": self.data_bytes,
            }
        )  # fmt: skip
        for run in runs:
            took = f"{1e3 * float(np.median(run.seconds)):.1f} ms" if run.seconds else "–"
            quality = " ".join(f"{k} {v:.4g}" for k, v in run.quality.items())
            print(f"  {name} | {run.entrant.name} | {took} | {quality} {run.error or ''}", file=sys.stderr)
            self.rows.append(self._as_row(name, run))

    def _as_row(self, name: str, run: Run) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        if run.tolerance is not None:
            settings["tol"] = run.tolerance
        if run.levels is not None and len(run.levels) == 1:
            settings[run.entrant.levels or "level"] = run.levels[0]
        return {
            "problem": name, "solver": run.entrant.name, "package": run.entrant.package,
            "version": self.environments[run.entrant.group].packages.get(run.entrant.package),
            "formulation": run.formulation, "settings": settings, "seconds": run.seconds,
            "peak_bytes": None if run.rise is None else run.rise + self.data_bytes,
            "quality": run.quality, "error": run.error,
        }  # fmt: skip


# ---------------------------------------------------------------- all tasks of a problem


def run_problem(
    problem: Problem, environments: dict[str, Environment], effort: Effort
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the problems, one per task, and the rows of all solvers."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(problem, environments, effort, Path(folder))
        levels = levels_of(problem.kind, stage.seen)
        if problem.kind == "linear":
            _linear_tasks(stage, levels)
        else:
            stage.run(problem.kind, levels, choose=problem.kind in ("group", "multi-task"))
        return stage.problems, stage.rows


def _linear_tasks(stage: Stage, levels: dict[str, list[float]]) -> None:
    """A path; a single fit at the level that each kind of model found best on the validation rows."""
    chosen = _chosen_levels(stage.run("path", levels))
    # Those that have no path, or whose path failed, choose among single fits.
    stage.run("single fit", levels | {"abess": SPLICED_SIZES} | chosen, choose=True)
    if stage.problem.with_start:
        stage.run("search")
        stage.cold_start(chosen)


def _chosen_levels(path: list[Run]) -> dict[str, list[float]]:
    """Return each solver's best level of its path; all solvers of the lasso have that of the first."""
    best = {run.entrant.name: [run.levels[run.chosen]] for run in path if run.error is None and run.levels}
    lassos = [run.entrant.name for run in path if scores.is_lasso(run.formulation)]
    common = next((best[name] for name in lassos if name in best), None)
    return best if common is None else best | dict.fromkeys(lassos, common)


def levels_of(kind: str, seen: dict[str, Any]) -> dict[str, list[float]]:
    """Return the levels of a kind of problem, by how they are given."""
    if kind == "linear":
        return {
            "penalty": (largest_penalty(seen) * SHARES).tolist(), "share": SHARES.tolist(), "size": SIZES,
        }  # fmt: skip
    if kind == "large n":
        # With so many rows hardly any penalty is best.
        return {"penalty": [0.01 * largest_penalty(seen)], "share": [0.01], "size": [50.0]}
    if kind in ("group", "multi-task"):
        # Of groups and rows there is one for each five columns at least.
        sizes = [k for k in (2.0, 5.0, 10.0, 20.0, 40.0) if k <= seen["X"].shape[1] // 5]
        return {"penalty": (largest_penalty(seen) * SHARES[::2]).tolist(), "size": sizes}
    return {}


def largest_penalty(seen: dict[str, Any]) -> float:
    """Return the least penalty at which w is zero: of the lasso, or of that over groups or over outputs."""
    y = np.asarray(seen["y"], dtype=float)
    pull = seen["X"].T @ (y - y.mean(axis=0)) / len(y)
    squares = np.square(pull).reshape(len(pull), -1).sum(axis=1)
    if "groups" in seen:
        squares = np.add.reduceat(squares, np.flatnonzero(np.diff(seen["groups"], prepend=-1)))
    return float(np.sqrt(squares.max()))
