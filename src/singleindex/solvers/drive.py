"""The one loop of all solvers: it keeps the best iterate, decides when to stop, records, tells and saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from .result import SolverResult, Status, as_history


class Method(Protocol):
    """How a solver moves. Its state is all that goes from one iteration to the next."""

    @property
    def descends(self) -> bool:
        """Whether every step lowers the loss: then the last iterate is the answer, else the best one."""
        ...

    @property
    def ends_by_objective(self) -> bool:
        """Whether an objective that has settled ends the solver, whatever the index does."""
        ...

    def start(self) -> Any:
        """Return the first state."""
        ...

    def look(self, state: Any, n_iter: int) -> tuple[Any, Any]:
        """Return the iterate at this state, and whatever else of it the move needs."""
        ...

    def move(self, state: Any, seen: Any) -> Any:
        """Return the next state, None where there is nowhere to go."""
        ...

    def check(self, run: Run) -> None:
        """Raise where a run that comes from a file is none of this method's: kernels rely on its lengths."""
        ...


class Keeper(Protocol):
    """Keeps a run between iterations, and has it again after a break."""

    def save(self, run: Run) -> None: ...

    def load(self, check: Callable[[Run], None]) -> Run | None: ...


@dataclass
class Run:
    """How far a solver has come."""

    state: Any
    best: Any = None
    history: list[list[float]] = field(default_factory=list)


def drive(
    method: Method,
    *,
    max_iter: int,
    tol: float,
    on_iteration: Callable[[Any], bool | None] | None = None,
    checkpoint: Keeper | None = None,
) -> SolverResult:
    """Let a method run until it has settled.

    Parameters
    ----------
    method : Method
    max_iter : int
        Largest number of iterations, at least 1.
    tol : float
        The change of an iterate at which the method has settled.
    on_iteration : callable, default=None
        Called with each iterate; a true answer stops the solver.
    checkpoint : Checkpoint, default=None
        Where the run is kept between iterations, and taken up from.

    Returns
    -------
    result : SolverResult
        Of the iterate with the least objective, the earliest of equals; of the last where it descends.
    """
    run = None if checkpoint is None else checkpoint.load(method.check)
    run = run or Run(method.start())
    while True:
        iterate, seen = method.look(run.state, len(run.history))
        names = iterate.RECORDED
        run.history.append([getattr(iterate, name) for name in names])
        if run.best is None or method.descends or iterate.objective < run.best.objective:
            run.best = iterate
        if on_iteration is not None and on_iteration(iterate):
            status = Status.STOPPED
        elif has_settled(run.history, names, tol, method.ends_by_objective):
            status = Status.CONVERGED
        elif len(run.history) >= max_iter:
            status = Status.MAX_ITER
        else:
            run.state = method.move(run.state, seen)
            if run.state is not None:
                if checkpoint is not None:
                    checkpoint.save(run)
                continue
            status = Status.FLAT
        return SolverResult(run.best, status, as_history(run.history, names), len(run.history))


def has_settled(history: list[list[float]], names: tuple[str, ...], tol: float, by_objective: bool) -> bool:
    """Tell whether the last iterate is hardly another one than that before it.

    With a penalty the last few coefficients come and go without an effect on the objective, which then tells
    it earlier than the direction does.
    """
    if history[-1][names.index("change")] <= tol:
        return True
    if not by_objective or len(history) < 2 or tol == 0:
        return False
    old, new = (record[names.index("objective")] for record in history[-2:])
    return abs(old - new) <= tol**2 * abs(old)
