"""Links for several outputs: one each, or one for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .fitters import FloatArray, LinkFitter, Lpav, find_root


@dataclass(frozen=True)
class PerOutput:
    """A link of its own for each column of y."""

    fitter: LinkFitter

    @property
    def slope(self) -> float:
        return self.fitter.slope

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[list[Any], FloatArray]:
        fits = [
            self.fitter.fit(np.ascontiguousarray(i), np.ascontiguousarray(t), sample_weight)
            for i, t in zip(index.T, y.T, strict=True)
        ]
        return [link for link, _ in fits], np.column_stack([fitted for _, fitted in fits])


@dataclass(frozen=True)
class SharedLink:
    """One learned curve for all columns of y, each behind an offset of its own.

    The offsets give every column residuals of mean zero. Curve and offsets are fitted in turn, a few
    rounds each time; the next iteration of the solver goes on from a nearby index.
    """

    fitter: Lpav
    n_rounds: int = 4

    @property
    def slope(self) -> float:
        return self.fitter.slope

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[list[Any], FloatArray]:
        n_outputs = y.shape[1]
        weight = None if sample_weight is None else np.tile(sample_weight, n_outputs)
        means = np.average(y, axis=0, weights=sample_weight)
        # First guess: as if the link were a line of the largest slope.
        offsets = means / self.slope - np.average(index, axis=0, weights=sample_weight)
        for _ in range(self.n_rounds):
            pooled = (index + offsets).ravel(order="F")
            curve, _ = self.fitter.fit(pooled, np.ascontiguousarray(y.ravel(order="F")), weight)
            for k in range(n_outputs):
                column = index[:, k]

                def excess(offset: float, column: FloatArray = column, k: int = k) -> float:
                    fitted = curve(column + offset)
                    return float(np.average(fitted, weights=sample_weight)) - float(means[k])

                offsets[k] = find_root(excess, float(offsets[k]))
        links = [curve.shift(-offset) for offset in offsets]
        fitted = np.column_stack([link(index[:, k]) for k, link in enumerate(links)])
        return links, fitted
