"""What features do to the prediction, in the outcome's units: one ranking for all that tell of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..fitting.plan import CERTAIN
from ..solvers.result import FloatArray
from .outputs import Facts


@dataclass(frozen=True)
class Effect:
    """What one feature does to the prediction, on average over the rows of the fit, all else alike.

    Attributes
    ----------
    feature : int
        Its number.
    size : array of shape (n_outputs,)
        By how much the mean prediction changes from half a standard deviation of the feature below its value
        to half of one above: what features are ranked by.
    step : float
        A round number near the standard deviation; of a feature that is 0 or 1, the 1.
    is_switch : bool
        Whether the feature is 0 or 1.
    before, after : arrays of shape (n_outputs,)
        The mean prediction as it is, and with the step added; of a switch, with 0 and with 1.
    """

    feature: int
    size: FloatArray
    step: float
    is_switch: bool
    before: FloatArray
    after: FloatArray

    def in_words(self, kind: str, output: int = 0) -> str:
        """Return such as "+10: 35 % → 46 %"."""
        what = "0 → 1" if self.is_switch else f"+{self.step:g}"
        return f"{what}: {_pair_text(float(self.before[output]), float(self.after[output]), kind)}"


def predict_at(facts: Facts, index: FloatArray) -> FloatArray:
    """Return the predictions at some indices Xw, of shape (n_rows, n_outputs): probabilities for classes."""
    values = [one.link(index[:, k] + one.intercept) for k, one in enumerate(facts.outputs)]
    fitted: FloatArray = np.column_stack(values)
    if facts.kind == "multiclass":
        fitted = np.clip(fitted, CERTAIN, 1 - CERTAIN if facts.is_coupled else 1)
        fitted = fitted / (1 - fitted) if facts.is_coupled else fitted
        fitted = fitted / fitted.sum(axis=1, keepdims=True)
    return fitted if facts.kind == "regression" else np.clip(fitted, 0, 1)


def effects_of(facts: Facts) -> list[Effect]:
    """Return the effects of the features with a weight, the largest first.

    None for models of data in blocks or of streams: they do not know how far their features spread.
    """
    known = facts.background
    if known is None:
        return []
    found = []
    for number, j in enumerate(known["feature"].tolist()):
        mean, spread, low, high = (float(known[name][number]) for name in ("mean", "spread", "low", "high"))
        found.append(_effect(facts, known, j, (mean, spread, low, high)))
    sizes = np.array([one.size for one in found]).reshape(len(found), len(facts.outputs))
    moves = np.abs(facts.coef[known["feature"]] * known["spread"][:, None])
    order = _largest_first(sizes / _units(facts, known), moves)
    return [found[i] for i in order]


def ranking(facts: Facts) -> list[int]:
    """Return the numbers of the features with a weight, by their effect on the prediction, else by weight."""
    if facts.background is not None:
        return [one.feature for one in effects_of(facts)]
    size, used = np.abs(facts.coef).max(axis=1), facts.used
    order: list[int] = used[np.argsort(-size[used], kind="stable")].tolist()
    return order


def is_switch(mean: float, spread: float, low: float, high: float) -> bool:
    """Tell whether a feature is 0 or 1: only then numbers in this range are their own squares on average."""
    return low == 0 and high == 1 and abs(spread**2 - mean * (1 - mean)) < 1e-9


def _effect(facts: Facts, known: Mapping[str, FloatArray], j: int, row: tuple[float, ...]) -> Effect:
    mean, spread, low, high = row
    w = facts.coef[j]
    switch = is_switch(mean, spread, low, high)
    step = 1.0 if switch else _round_number(spread)
    first, second = (-mean, 1 - mean) if switch else (0.0, step)
    at = {by: _mean_prediction(facts, known, by * w) for by in {first, second, -spread / 2, spread / 2}}
    return Effect(j, at[spread / 2] - at[-spread / 2], step, switch, at[first], at[second])


def _mean_prediction(facts: Facts, known: Mapping[str, FloatArray], move: FloatArray) -> FloatArray:
    mean: FloatArray = predict_at(facts, known["index"] + move).mean(axis=0)
    return mean


def _units(facts: Facts, known: Mapping[str, FloatArray]) -> FloatArray:
    """Return what the effects on each output are measured in, so that outputs can be compared."""
    if facts.kind != "regression":
        return np.ones(len(facts.outputs))
    spread = np.ptp(predict_at(facts, known["index"]), axis=0)
    return np.where(spread > 0, spread, 1.0)


def _largest_first(sizes: FloatArray, moves: FloatArray) -> NDArray[np.intp]:
    """Return the order by effect; where the link is flat, by how far the index moves."""
    size = np.abs(sizes).max(axis=1, initial=0.0)
    # Equal but for rounding is equal.
    size = np.round(size / (size.max(initial=0.0) or 1.0), 12)
    return np.lexsort((-moves.max(axis=1, initial=0.0), -size))


def _round_number(value: float) -> float:
    """Return the nearest of 1, 2 and 5 times a power of ten."""
    if not value > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(min((1, 2, 5, 10), key=lambda digit: abs(np.log(value / (digit * power)))) * power)


def _pair_text(before: float, after: float, kind: str) -> str:
    """Return two values with as many digits as it takes to tell them apart."""
    gap = abs(after - before)
    if kind != "regression":
        digits = 0 if gap >= 0.02 else 1 if gap >= 0.002 else 2
        return f"{100 * before:.{digits}f} % → {100 * after:.{digits}f} %"
    largest = max(abs(before), abs(after))
    if not gap > 0 or not 1e-4 <= largest < 1e7:
        return f"{before:.5g} → {after:.5g}"
    digits = int(np.clip(1 - np.floor(np.log10(gap)), 0, 8))
    return f"{before:.{digits}f} → {after:.{digits}f}"
