"""Tables of intervals, and whether there is anything at all: what a resample has to tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SHOWN = 20
_LONGEST_NAME = 28
# What a table says of all of its rows.
_SAID_ONCE = ("title", "level")


@dataclass(frozen=True, eq=False)
class Intervals:
    """One row for each feature and output, the largest estimates first; `len` gives their number.

    Attributes
    ----------
    title : str
        What is estimated.
    level : float
        How often an interval is made to cover what it is for.
    feature : array of int
        The column of X.
    name, output, change : list of str
        Its name, the output, and what is changed by how much.
    estimate, low, high : array
    sign : array
        How sure the sign of the estimate is, from 0.5 to 1.
    in_model : array
        The same quantity by the coefficients of the model, which are drawn towards zero.
    stable : array of bool
        Whether the feature is stable, one false one expected at most.
    """

    title: str
    level: float
    feature: NDArray[np.intp]
    name: list[str]
    output: list[str]
    change: list[str]
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    sign: FloatArray
    in_model: FloatArray
    stable: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.feature)

    def take(self, rows: Any) -> Intervals:
        """Return some of the rows, by numbers or a mask."""
        at = np.arange(len(self))[rows]
        columns: dict[str, Any] = {key: value for key, value in vars(self).items() if key not in _SAID_ONCE}
        for key, value in columns.items():
            columns[key] = [value[i] for i in at] if isinstance(value, list) else value[at]
        return Intervals(self.title, self.level, **columns)

    def to_frame(self) -> Any:
        """Return the table as a data frame; needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas; or take the arrays .estimate, .low and .high."
            ) from error
        return pd.DataFrame(
            {key: value for key, value in vars(self).items() if key not in ("title", "level")}
        )

    def __repr__(self) -> str:
        several = len(set(self.output)) > 1
        width = min(max([len(name) for name in self.name], default=4), _LONGEST_NAME)
        lines = [
            f"{self.title}, {self.level:.0%} intervals (* stable)",
            f"  {'':{width}} {'estimate':>9} {'low':>9} {'high':>9} {'sign':>6} {'in model':>9}  change",
        ]
        for i in range(min(len(self), _SHOWN)):
            name = self.name[i] if len(self.name[i]) <= width else self.name[i][: width - 1] + "…"
            told = f"{self.change[i]}, {self.output[i]}" if several else self.change[i]
            numbers = " ".join(f"{v:>+9.3g}" for v in (self.estimate[i], self.low[i], self.high[i]))
            mark = "*" if self.stable[i] else " "
            lines.append(
                f"{mark} {name:{width}} {numbers} {self.sign[i]:>6.1%} {self.in_model[i]:>+9.3g}  {told}"
            )
        if len(self) > _SHOWN:
            lines.append(f"  … and {len(self) - _SHOWN} more")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Whether anything predicts y: the score of y beside those of y in random order.

    Attributes
    ----------
    score : float
        Correlation of y with the index of rows that had no say in it, the mean over outputs.
    reference : array
        The same of y in random order.
    p_value : float
        How often a score as high would be seen where nothing predicts y.
    """

    score: float
    reference: FloatArray

    @property
    def p_value(self) -> float:
        return float((1 + np.count_nonzero(self.reference >= self.score)) / (1 + len(self.reference)))

    def __repr__(self) -> str:
        low, high = np.quantile(self.reference, (0.05, 0.95))
        found = "evidence" if self.p_value <= 0.05 else "no evidence"
        return (
            f"{found} that anything predicts y: held-out correlation {self.score:.2f}, of y in random order "
            f"{low:.2f} to {high:.2f}, p = {self.p_value:.2g}"
        )
