"""Data that are searched where they lie, by readings of all rows, as data in blocks are: many on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..design import Design
from ..design.design_source import DesignSource
from ..solvers import ExactSteps, Level
from ..solvers.result import FloatArray
from .binned import BINNED_SCORES
from .block_columns import most_columns
from .block_path import PATH_FOLDS, trace_blocks
from .block_search import as_folds, goes_by_blocks, search_blocks
from .path import Trace
from .plan import Plan
from .progress import Teller
from .record import Fitted, Targets
from .search import SearchSettings

# Fewer rows are searched on the host: a copy of them costs little, and there are more candidates there. More
# columns than products can be kept of are, too: to leave some out by all rows flatters those that stay.
LEAST_ROWS = 50_000


def search_in_place(
    plan: Plan,
    settings: SearchSettings,
    scoring: Any,
    X: Any,
    targets: Targets,
    weight: FloatArray | None,
    groups: Any,
    teller: Teller,
) -> Fitted | None:
    """Search where the data lie; None where they are to be searched in the memory of the machine."""
    is_binned = scoring is None or (isinstance(scoring, str) and scoring in BINNED_SCORES)
    if settings.dense is True or not (is_binned and _is_read_in_place(plan, X, targets, settings.cv)):
        return None
    source = DesignSource(X, targets.Y, weight, groups)
    return search_blocks(plan, settings, scoring, source, lambda _: (source.targets, targets.unit), teller)


def trace_in_place(
    plan: Plan, X: Any, targets: Targets, weight: FloatArray | None, levels: Sequence[Level]
) -> Trace | None:
    """Trace a path where the data lie; None where it is to be traced as other data's are."""
    is_exact = plan.solver is None or isinstance(plan.solver, ExactSteps)
    if not (is_exact and _is_read_in_place(plan, X, targets, PATH_FOLDS)):
        return None
    source = DesignSource(X, targets.Y, weight)
    return trace_blocks(plan, source, lambda _: (source.targets, targets.unit), lambda _: levels)[0]


def _is_read_in_place(plan: Plan, X: Any, targets: Targets, cv: Any) -> bool:
    if not (isinstance(X, Design) and X.prefers_readings and X.shape[0] >= LEAST_ROWS):
        return False
    folds = as_folds(cv)
    return (
        folds is not None and X.shape[1] <= most_columns(folds) and goes_by_blocks(plan, targets.Y.shape[1])
    )
