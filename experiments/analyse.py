"""The second stage: from records to means, standard errors and comparisons."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .units import Record

Row = tuple[str, str]
"""A data set and a variant of it."""


@dataclass(frozen=True)
class Mean:
    """The mean of a figure over seeds, with its standard error."""

    values: dict[int, float]

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def value(self) -> float:
        return float(np.mean(list(self.values.values())))

    @property
    def error(self) -> float:
        """NaN where there is one seed only."""
        return (
            float(np.std(list(self.values.values()), ddof=1)) / math.sqrt(self.n) if self.n > 1 else math.nan
        )

    def difference(self, other: Mean) -> Mean:
        """Return the mean difference on the seeds that both have, sharper than two means."""
        shared = sorted(self.values.keys() & other.values.keys())
        return Mean({seed: self.values[seed] - other.values[seed] for seed in shared})

    @property
    def side(self) -> int:
        """1 and -1 for a difference beyond one standard error, 0 for less."""
        return int(abs(self.value) > np.nan_to_num(self.error)) * (1 if self.value > 0 else -1)


class Results:
    """Records by table, row, method and figure."""

    def __init__(self, records: Iterable[Record]):
        self.records = sorted(records, key=lambda record: record.unit)
        self._means: dict[tuple[str, str, str, str, str], dict[int, float]] = defaultdict(dict)
        for record in self.records:
            unit = record.unit
            for name, value in record.figures.items():
                if isinstance(value, (int, float)):
                    key = (unit.table, unit.dataset, unit.variant, unit.method, name)
                    self._means[key][unit.seed] = float(value)

    def mean(self, table: str, dataset: str, variant: str, method: str, figure: str) -> Mean | None:
        values = self._means.get((table, dataset, variant, method, figure))
        return Mean(values) if values else None

    def of(self, table: str) -> list[Record]:
        return [record for record in self.records if record.unit.table == table]

    def missing(self) -> dict[str, list[str]]:
        """Return what each missing file kept from running."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for record in self.records:
            if record.missing:
                found[record.missing][f"{record.unit.table}: {record.unit.dataset}"] = None
        return {message: list(parts) for message, parts in found.items()}

    def processor_minutes(self) -> float:
        return sum(record.figures.get("seconds", 0.0) for record in self.records) / 60

    def n_seeds(self, table: str) -> int:
        return len({record.unit.seed for record in self.of(table)})


class Part:
    """The results of one table, whose module has the order of its rows and methods."""

    def __init__(self, results: Results, table: Any):
        self.name, self._results = table.NAME, results
        self.records = [record for record in results.of(table.NAME) if record.figures]
        rows = {(record.unit.dataset, record.unit.variant) for record in self.records}
        methods = {record.unit.method for record in self.records}
        self.rows: list[Row] = [row for row in table.ROWS if row in rows]
        self.methods: list[str] = [method for method in table.METHODS if method in methods]

    def mean(self, row: Row, method: str, figure: str) -> Mean | None:
        return self._results.mean(self.name, *row, method, figure)

    def means(self, row: Row, figure: str, methods: Iterable[str] | None = None) -> dict[str, Mean]:
        """Return the means of those methods that have one."""
        found = {m: self.mean(row, m, figure) for m in (self.methods if methods is None else methods)}
        return {method: mean for method, mean in found.items() if mean is not None}

    def gaps(self, ours: str, rivals: Iterable[str], figure: str) -> dict[tuple[Row, str], Mean]:
        """Return the paired differences of a column to others, by row and rival."""
        found = {}
        for row in self.rows:
            means = self.means(row, figure, [ours, *rivals])
            own = means.pop(ours, None)
            if own is not None:
                found |= {(row, rival): own.difference(mean) for rival, mean in means.items()}
        return {key: gap for key, gap in found.items() if gap.n}

    def curves(self, row: Row, method: str, figure: str) -> list[list[float]]:
        """Return a figure that is a list, for each seed."""
        return [
            record.figures[figure]
            for record in self.records
            if (record.unit.dataset, record.unit.variant, record.unit.method) == (*row, method)
        ]


# ---------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class Standing:
    """How a column stands in a row: best, joint (behind by no more than the paired error) or behind."""

    kind: str
    best: str
    behind: Mean  # of the best one, split by split


def standing(means: dict[str, Mean], column: str) -> Standing:
    """Return how `column` stands among these means, of which the largest is the best."""
    best = max(means, key=lambda name: means[name].value)
    behind = means[best].difference(means[column])
    if means[best].value == means[column].value:
        return Standing("best", column, behind)
    return Standing("behind" if behind.side > 0 else "joint", best, behind)


def share_falling(curves: Iterable[Iterable[float]]) -> tuple[float, float]:
    """Return the share of curves that never rise, and the share of all steps that do."""
    steps = [np.diff(np.asarray(curve, dtype=np.float64)) for curve in curves]
    never = float(np.mean([bool((step <= 0).all()) for step in steps]))
    rising = float(np.mean(np.concatenate([step > 0 for step in steps])))
    return never, rising


def fit_inverse(curve: np.ndarray) -> tuple[float, float, float]:
    """Return C, Δ and R² of the least-squares fit of C/t + Δ to a curve from t = 1 on."""
    t = np.arange(1, len(curve) + 1)
    A = np.column_stack([1 / t, np.ones(len(t))])
    solution = np.linalg.lstsq(A, curve, rcond=None)[0]
    left = curve - A @ solution
    around = curve - curve.mean()
    r2 = 1 - float(left @ left) / float(around @ around) if around.any() else math.nan
    return float(solution[0]), float(solution[1]), r2
