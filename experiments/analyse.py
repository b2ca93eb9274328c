"""The second stage: from records to means, standard errors and comparisons."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .units import Record


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
            float(np.std(list(self.values.values()), ddof=1) / math.sqrt(self.n)) if self.n > 1 else math.nan
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

    def rows(self, table: str, order: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return data sets and variants that have a figure, in this order, others after them."""
        there = dict.fromkeys((r.unit.dataset, r.unit.variant) for r in self.of(table) if r.figures)
        first = [row for row in order if row in there]
        return first + [row for row in there if row not in first]

    def methods(self, table: str, order: Iterable[str]) -> list[str]:
        there = {r.unit.method for r in self.of(table) if r.figures}
        return [method for method in order if method in there]

    def missing(self) -> dict[str, list[str]]:
        """Return what each missing file kept from running."""
        found: dict[str, list[str]] = defaultdict(list)
        for record in self.records:
            if record.missing:
                name = f"{record.unit.table}: {record.unit.dataset}"
                if name not in found[record.missing]:
                    found[record.missing].append(name)
        return dict(found)

    def processor_minutes(self) -> float:
        return sum(record.figures.get("seconds", 0.0) for record in self.records) / 60

    def n_seeds(self, table: str) -> int:
        return len({record.unit.seed for record in self.of(table)})


# ---------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class Standing:
    """How a column stands in a row: the best one, behind by no more than the paired error, or behind."""

    best: str
    behind: Mean  # of the best one, split by split
    is_best: bool

    @property
    def is_joint_best(self) -> bool:
        return self.is_best or self.behind.side <= 0


def standing(means: dict[str, Mean], column: str, larger_is_better: bool = True) -> Standing:
    """Return how `column` stands among these means."""
    sign = 1 if larger_is_better else -1
    best = max(means, key=lambda name: sign * means[name].value)
    if means[best].value == means[column].value:
        best = column
    behind = gain(means[best], means[column], larger_is_better)
    return Standing(best, behind, best == column)


def gain(ours: Mean, theirs: Mean, larger_is_better: bool = True) -> Mean:
    """Return by how much the first is better, split by split."""
    return ours.difference(theirs) if larger_is_better else theirs.difference(ours)


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
