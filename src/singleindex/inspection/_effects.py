"""Effects of single features and coefficients of w, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..estimators.base import Problem
from ..estimators.outputs import Facts
from ..fitting.effects import mean_change, two_values
from ..fitting.extremes import shares_of
from ..fitting.slopes import (
    Slopes,
    can_be_solved,
    correct_along,
    correct_slopes,
    left_by_least_squares,
    left_of,
    solve_slopes,
)
from ..fitting.trace import by_columns
from ._intervals import Intervals

FloatArray = NDArray[np.float64]

_TITLE = "average change of the prediction"
# The part of a feature's variance that others must leave for least squares to tell its slope.
_LEAST_LEFT = 0.1
# Rows for each feature with which simulations bear out intervals of single coefficients.
_ROWS_PER_COEFFICIENT = 5


def check_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}; 0.9 covers nine times in ten.")
    return float(level)


@dataclass(frozen=True)
class Change:
    """By how much a feature is changed; `is_switch` where from one of its two values to the other."""

    size: float
    text: str
    is_switch: bool = False


class EffectFinder:
    """Finds the slopes of the response along the features, once, and makes tables of them.

    Parameters
    ----------
    facts, problem, names
        The model, the rows, the names of the features.
    index : array of shape (n_rows, n_outputs)
        Under the model, as its links take it.
    held_out : callable
        The same under models that have not seen the row; asked for where rows are few.
    stable : array
        The stable features.
    """

    def __init__(
        self, facts: Facts, problem: Problem, names: list[str], index: FloatArray,
        held_out: Callable[[], FloatArray], stable: NDArray[np.intp],
    ) -> None:  # fmt: skip
        self.facts, self.problem, self.names, self.stable = facts, problem, names, stable
        self.index, self.held_out = index, held_out
        self.Y = problem.targets.Y * problem.targets.unit
        self.design = by_columns(problem.X)
        self.share = shares_of(len(index), problem.weight)
        self.rows = float(len(index) if problem.weight is None else problem.weight.sum())
        self.spread = np.sqrt(self.design.column_moments(self.share)[1])

    @cached_property
    def solved(self) -> Slopes | None:
        """The slopes of least squares on all features; None where rows are too few."""
        if not can_be_solved(self.design, self.spread, self.rows):
            return None
        return solve_slopes(self.problem.X, self.Y, self.problem.weight, self.spread)

    @cached_property
    def slopes(self) -> Slopes:
        """The slopes by which effects are told."""
        if self.solved is None or self.solved.left is None:
            # Others are in use because y went with them in these rows, which cannot tell more of them.
            return self._corrected(self.stable)
        nearly_sums = np.flatnonzero(self.solved.left < _LEAST_LEFT)
        return self.solved.replaced(self._corrected(nearly_sums)) if len(nearly_sums) else self.solved

    def _corrected(self, wanted: NDArray[np.intp]) -> Slopes:
        """Return the slopes of the model along some features, without the pull of its penalties."""
        (slope, rest), problem = self.lines, self.problem
        start = slope * self.facts.coef * self.spread[:, None]
        return correct_slopes(problem.X, self.Y, problem.weight, self.spread, start, rest, wanted)

    @cached_property
    def lines(self) -> tuple[FloatArray, FloatArray]:
        """The slopes of lines through y over the index, by outputs, and what they leave of it."""
        found = [self._line(index, y) for index, y in zip(self.held_out().T, self.Y.T, strict=True)]
        return np.array([slope for slope, _ in found]), np.column_stack([rest for _, rest in found])

    def _line(self, index: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
        """Return the slope of a line through y and what it leaves; of rows never held out, nothing."""
        seen = np.isfinite(index) * self.share
        seen, index = seen / seen.sum(), np.nan_to_num(index)
        index, y = index - seen @ index, y - seen @ y
        square = float(seen @ index**2)
        slope = float(seen @ (index * y)) / square if square > 0 else 0.0
        return slope, np.where(seen > 0, y - slope * index, 0.0)

    # ------------------------------------------------------------ tables

    def effects(self, outputs: list[int], level: float, units: Mapping[Any, float]) -> Intervals:
        z, changes, found = self._quantile(level), self._changes(units), []
        for k in outputs:
            value, error = self.slopes.value[:, k], self.slopes.error[:, k]
            for j in np.flatnonzero(np.isfinite(error)).tolist():
                size = changes[j].size / self.spread[j]
                own = self._in_model(k, j, changes[j])
                row = self._limits(size * value[j], size * error[j], z)
                found.append((j, k, changes[j].text, *row, own, _sign(value[j], error[j])))
        return self._table(_TITLE, level, found, self.names, self.stable)

    def of_groups(
        self, groups: Mapping[str, NDArray[np.intp]], outputs: list[int], level: float
    ) -> Intervals:
        """Return how the prediction changes with the part that groups of features have of the index."""
        z, found = self._quantile(level), []
        for number, columns in enumerate(groups.values()):
            parts = self.design.columns(columns) @ self.facts.coef[columns]
            for k in outputs:
                centred = parts[:, k] - self.share @ parts[:, k]
                sd = float(np.sqrt(self.share @ centred**2))
                if not sd > 0:
                    continue  # not in use
                value, error = self._along(centred / sd, columns, sd, k)
                own = mean_change(self.facts.outputs[k].link, self.index[:, k], self.share, sd)
                row = self._limits(value, error, z)
                found.append((number, k, "+1 sd of its part of the index", *row, own, _sign(value, error)))
        stable = [g for g, columns in enumerate(groups.values()) if np.isin(columns, self.stable).any()]
        return self._table(_TITLE, level, found, list(groups), np.array(stable, dtype=np.intp))

    def _along(self, own: FloatArray, columns: NDArray[np.intp], sd: float, k: int) -> tuple[float, float]:
        """Return the slope along a part of the index, and its error; columns outside of it are held."""
        slope, rest = self.lines
        if can_be_solved(self.design, self.spread, self.rows):
            left = left_by_least_squares(self.design, own, columns, self.share, self.spread)
        else:
            left = left_of(self.design, own, columns, self.share, self.spread, self.rows)
        value, error = correct_along(own, left, sd * slope[[k]], rest[:, [k]], self.share, self.rows)
        return float(value[0]), float(error[0])

    def _limits(self, value: float, error: float, z: float) -> FloatArray:
        """Return an estimate with its limits; no probability changes by more than one."""
        line = np.array([value, value - z * abs(error), value + z * abs(error)])
        return np.clip(line, -1.0, 1.0) if self.problem.plan.is_classifier else line

    def _in_model(self, k: int, j: int, change: Change) -> float:
        """Return the average change of the model's own predictions."""
        move = float(self.facts.coef[j, k]) * change.size
        is_high = None
        if change.is_switch:
            column = self.design.columns(np.array([j]))[:, 0]
            is_high = column == column.max()
        return mean_change(self.facts.outputs[k].link, self.index[:, k], self.share, move, is_high)

    def coefficients(self, outputs: list[int], level: float) -> Intervals:
        z, used = self._quantile(level), int(np.count_nonzero(self.spread))
        if self.rows < _ROWS_PER_COEFFICIENT * used or self.solved is None:
            raise ValueError(
                f"intervals for single coefficients need {_ROWS_PER_COEFFICIENT} rows for each feature, and "
                f"there are {self.rows:g} rows and {used} features: with fewer, simulations do not bear them "
                "out. Use effects(), which there are for stable features."
            )
        found = []
        for k in outputs:
            unit, half = _at_unit_length(self.solved, k)
            own = self.facts.coef[:, k] * self.spread
            own = own / (np.linalg.norm(own) or 1.0)
            error = self.solved.error[:, k]
            for j in np.flatnonzero(np.isfinite(error)):
                row = (unit[j], unit[j] - z * half[j], unit[j] + z * half[j], own[j])
                found.append((j, k, "", *row, _sign(self.solved.value[j, k], error[j])))
        title = "coefficients of w at unit length, columns at unit spread"
        return self._table(title, level, found, self.names, self.stable)

    def _quantile(self, level: float) -> float:
        return float(ndtri((1 + check_level(level)) / 2))

    def _changes(self, units: Mapping[Any, float]) -> list[Change]:
        """Return by how much each feature is changed."""
        given = {self.number_of(feature, "units"): float(size) for feature, size in units.items()}
        values, found = two_values(self.problem.X), []
        for j, (low, high) in enumerate(values):
            if j in given:
                found.append(Change(given[j], f"{given[j]:+g}"))
            elif np.isfinite(low):
                found.append(Change(float(high - low), f"{low:g} to {high:g}", is_switch=True))
            else:
                found.append(Change(float(self.spread[j]), f"+1 sd ({self.spread[j]:.3g})"))
        return found

    def number_of(self, feature: Any, where: str) -> int:
        """Return the number of a feature that was named in a parameter."""
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        if isinstance(feature, int | np.integer) and 0 <= feature < len(self.names):
            return int(feature)
        raise ValueError(f"{where} has {feature!r}, which is no feature; give names, or numbers from 0.")

    def _table(
        self, title: str, level: float, found: list[Any], names: list[str], stable: NDArray[np.intp]
    ) -> Intervals:
        found = sorted(found, key=lambda row: (row[1], -abs(row[3]), row[0]))
        columns: list[Any] = list(zip(*found, strict=True)) if found else [()] * 8
        feature, output, change, estimate, low, high, own, sign = columns
        return Intervals(
            title, level, np.array(feature, dtype=np.intp), [names[j] for j in feature],
            [self.facts.outputs[k].name for k in output], list(change), np.array(estimate), np.array(low),
            np.array(high), np.array(sign), np.array(own), np.isin(feature, stable),
        )  # fmt: skip


def _sign(value: float, error: float) -> float:
    """Return how sure the sign of an estimate is."""
    return float(ndtr(abs(value) / error)) if error > 0 else 1.0


def _at_unit_length(slopes: Slopes, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the slopes of an output at unit length, and their errors, that of the length included."""
    assert slopes.turned is not None
    value, error, turned = slopes.value[:, k], slopes.error[:, k], slopes.turned[:, k]
    # The squared length of what is estimated is too large by the sum of the squared errors.
    square = float(np.nansum(value**2))
    length = np.sqrt(max(square - float(np.nansum(error**2)), 0.1 * square)) or 1.0
    unit = value / length
    of_length = float(np.nansum(unit * turned)) / length
    variance = error**2 - 2 * unit * turned / length + unit**2 * of_length
    return unit, np.sqrt(np.maximum(variance, 0)) / length
