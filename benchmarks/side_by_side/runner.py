"""Run every solver on every problem, side by side.

For each problem all solvers are started, each in its own process with one thread. Those that solve a convex
problem are first given the loosest tolerance at which they come as close to the optimum as asked. Then
they fit in turns, so that a slow minute of the machine hits all alike.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
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
# A solver that takes longer is not asked for another fit to see what memory it takes.
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
    session: Session | None = None
    formulation: str = ""
    tolerances: list[float | None] = field(default_factory=lambda: [None])
    tolerance: float | None = None
    seconds: list[float] = field(default_factory=list)
    quality: dict[str, float] = field(default_factory=dict)
    rise: float | None = None
    chosen: int = 0
    error: str | None = None


class Stage:
    """One problem, its data on disk, and the environments to run solvers in."""

    def __init__(
        self, problem: Problem, environments: dict[str, Environment], effort: Effort, folder: Path
    ) -> None:
        self.problem, self.environments, self.effort, self.folder = problem, environments, effort, folder
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
        together = self.data_bytes < _TOGETHER
        for batch in [runs] if together else [[run] for run in runs]:
            with ExitStack() as stack:
                self._start(batch, stack)
                if choose:
                    self._choose(batch)
                self._calibrate(batch)
                self._take_turns(batch)
                self._finish(task, batch)
        self._store(task, runs)
        return runs

    def _runs(self, task: str, levels: dict[str, list[float]]) -> list[Run]:
        """Return who takes part, each with its own levels, or else with those of its kind."""
        return [
            Run(e, None if e.levels is None else levels.get(e.name, levels.get(e.levels)))
            for e in entrants_for(task, self.effort.with_slow_ones)
        ]

    def _tell(self, name: str, run: Run) -> None:
        """Say what came out while a long run goes on."""
        took = f"{1e3 * float(np.median(run.seconds)):.1f} ms" if run.seconds else "–"
        quality = " ".join(f"{k} {v:.4g}" for k, v in run.quality.items())
        print(
            f"  {name} | {run.entrant.name} | {took} | {quality} {run.error or ''}",
            file=sys.stderr,
            flush=True,
        )

    def _start(self, runs: list[Run], stack: ExitStack) -> None:
        for run in runs:
            environment = self.environments[run.entrant.group]
            if environment.python is None:
                run.error = environment.error
                continue
            run.session = stack.enter_context(Session(environment.python))
            if self._load(run):
                run.tolerance = run.tolerances[-1]

    def _load(self, run: Run) -> bool:
        """Let a session read solver and data, and return whether it could."""
        told = self._ask(
            run, "load", self.effort.starting_s, module=run.entrant.module, solver=run.entrant.solver,
            folder=str(self.folder / "data"), levels=run.levels,
        )  # fmt: skip
        if told is not None:
            run.formulation, run.tolerances = told["formulation"], told["tolerances"]
        return told is not None

    def _ask(self, run: Run, do: str, limit_s: float | None = None, **order: Any) -> dict[str, Any] | None:
        """Ask a solver; where it fails, note why and return None."""
        if run.error is not None or run.session is None:
            return None
        try:
            return run.session.ask(do, self.problem.limit_s if limit_s is None else limit_s, **order)
        except Failed as failed:
            run.error = str(failed)
            return None

    def _choose(self, runs: list[Run]) -> None:
        """Give each solver the level at which it does best on the validation rows."""
        for run in runs:
            if run.levels is None or len(run.levels) == 1:
                continue
            losses = {}
            for level in run.levels:
                run.levels = [level]
                self._ask(run, "use", levels=run.levels)
                self._ask(run, "fit", self._patience(), tolerance=run.tolerance)
                answer = self._answer(run)
                if answer is None:
                    break
                losses[level] = scores.validation_loss(answer, self.hidden)
            if run.error is None:
                run.levels = [min(losses, key=lambda level: losses[level])]
                self._ask(run, "use", levels=run.levels)

    def _patience(self) -> float:
        """Return how long a fit may take that may have to compile first."""
        return self.problem.limit_s + self.effort.starting_s

    def _calibrate(self, runs: list[Run]) -> None:
        """Warm up, and give each convex solver the loosest tolerance that is close enough to the optimum."""
        found: dict[int, np.ndarray] = {}
        best: dict[str, np.ndarray] = {}
        for number, run in enumerate(runs):
            # The first fit may compile.
            if self._ask(run, "fit", self._patience(), tolerance=run.tolerance) is None:
                continue
            values = self._objectives(run)
            if values is not None:
                found[number] = values
                known = best.get(run.formulation, values)
                # A solver that diverged says nothing of the optimum, nor must it hide what others found.
                best[run.formulation] = np.fmin(known, values)
        for number in found:
            self._loosen(runs[number], best[runs[number].formulation])

    def _loosen(self, run: Run, reference: np.ndarray) -> None:
        for tolerance in run.tolerances:
            if self._ask(run, "fit", tolerance=tolerance) is None:
                return
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

    def _answer(self, run: Run) -> dict[str, Any] | None:
        path = self.folder / "answer.npz"
        if self._ask(run, "answer", self._patience(), path=str(path)) is None:
            return None
        with np.load(path) as stored:
            answer = dict(stored)
        if run.levels is not None and "score" in answer and answer["score"].shape[1] != len(run.levels):
            run.error = f"answered {answer['score'].shape[1]} of {len(run.levels)} levels"
            return None
        return answer

    def _take_turns(self, runs: list[Run]) -> None:
        left = dict.fromkeys(range(len(runs)), 1)
        while left:
            for number in list(left):
                run = runs[number]
                done = self._ask(run, "fit", tolerance=run.tolerance)
                if done is not None:
                    run.seconds.append(done["seconds"])
                    if len(run.seconds) == 1:
                        left[number] = self.effort.turns(done["seconds"])
                left[number] -= 1
                if done is None or left[number] <= 0:
                    del left[number]

    def _finish(self, task: str, runs: list[Run]) -> None:
        for run in runs:
            answer = self._answer(run)
            if answer is not None and self._score(task, run, answer) and np.median(run.seconds) < _SLOW_S:
                run.rise = self._rise(run)

    def _score(self, task: str, run: Run, answer: dict[str, Any]) -> bool:
        """Note what the answer is worth, and return whether it can be told."""
        if not all(np.isfinite(array).all() for array in answer.values()):
            run.error, run.quality = "the answer is not finite", {}
            return False
        run.chosen = scores.best_level(answer, self.hidden)
        run.quality = scores.score(task, answer, self.seen, self.hidden) | run.quality
        return True

    def _rise(self, run: Run) -> float | None:
        """Return by how much memory rises; where that cannot be told, the times are good all the same."""
        assert run.session is not None
        try:
            rise: float = run.session.ask("memory", self.problem.limit_s, tolerance=run.tolerance)["rise"]
        except Failed:
            return None
        return rise

    # ------------------------------------------------------------ cold start

    def cold_start(self, levels: dict[str, list[float]]) -> None:
        """Time from the start of a process to its first prediction, with the data read from disk."""
        runs = self._runs("cold start", levels)
        for run in runs:
            environment = self.environments[run.entrant.group]
            if environment.python is None:
                run.error = environment.error
                continue
            run.tolerance = 1e-4 if run.entrant.levels == "penalty" else None
            for _ in range(self.effort.cold):
                began = time.perf_counter()
                with Session(environment.python) as run.session:
                    self._load(run)
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
                "d": X.shape[1] if X.ndim == 2 and "X" in self.seen else 1, "entries": n_entries(self.seen),
                "data_bytes": self.data_bytes,
            }
        )  # fmt: skip
        for run in runs:
            self._tell(name, run)
            self.rows.append(self._as_row(name, run))

    def _as_row(self, name: str, run: Run) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        if run.tolerance is not None:
            settings["tol"] = run.tolerance
        if run.levels is not None and len(run.levels) == 1:
            settings[run.entrant.levels or "level"] = run.levels[0]
        return {
            "problem": name, "solver": run.entrant.name, "package": run.entrant.package,
            "version": self.environments[run.entrant.group].version(run.entrant.package),
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
        if problem.kind == "linear":
            _linear_tasks(stage)
        else:
            stage.run(problem.kind, _levels(stage), choose=problem.kind in ("group", "multi-task"))
        return stage.problems, stage.rows


def _linear_tasks(stage: Stage) -> None:
    """A path; a single fit at the level that each kind of model found best on the validation rows."""
    levels = _levels(stage)
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


def _levels(stage: Stage) -> dict[str, list[float]]:
    """Return the levels of a task, by kind."""
    if stage.problem.kind == "linear":
        largest = _largest_penalty(stage.seen)
        return {
            "penalty": (largest * SHARES).tolist(), "share": SHARES.tolist(),
            "size": [float(k) for k in SIZES],
        }  # fmt: skip
    if stage.problem.kind == "large n":
        # With so many rows hardly any penalty is best.
        return {"penalty": [0.01 * _largest_penalty(stage.seen)], "share": [0.01], "size": [50.0]}
    if stage.problem.kind == "group":
        largest = _largest_penalty(stage.seen, stage.seen["groups"])
        return {"penalty": (largest * SHARES[::2]).tolist(), "size": _sizes(stage)}
    if stage.problem.kind == "multi-task":
        Y, X = stage.seen["y"], stage.seen["X"]
        largest = float(np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max()) / len(Y)
        return {"penalty": (largest * SHARES[::2]).tolist(), "size": _sizes(stage)}
    return {}


def _sizes(stage: Stage) -> list[float]:
    """Return numbers of groups or rows, of which there is one for each five columns at least."""
    return [float(k) for k in (2, 5, 10, 20, 40) if k <= stage.seen["X"].shape[1] // 5]


def _largest_penalty(seen: dict[str, Any], groups: np.ndarray | None = None) -> float:
    """Return the least penalty of the logistic lasso, or group lasso, at which w is zero."""
    y = np.asarray(seen["y"], dtype=float)
    pull = np.abs(seen["X"].T @ (y - y.mean())) / len(y)
    if groups is None:
        return float(pull.max())
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return float(np.sqrt(np.add.reduceat(np.square(pull), starts)).max())
