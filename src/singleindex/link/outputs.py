"""Links for several outputs: one each, or one for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import FloatArray, Link, LinkFitter, find_root


@dataclass(frozen=True)
class PerOutput(LinkFitter):
    """A link of its own for each column of y."""

    fitter: LinkFitter

    @property
    def slope(self) -> float:
        return self.fitter.slope

    @property
    def is_learned(self) -> bool:  # type: ignore[override]
        return self.fitter.is_learned

    def curvature(self, fitted: FloatArray) -> FloatArray | None:
        return self.fitter.curvature(fitted)

    def of_output(self) -> LinkFitter:
        return self.fitter

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[list[Any], FloatArray]:
        fits = [
            self.fitter.fit(np.ascontiguousarray(i), np.ascontiguousarray(t), sample_weight)
            for i, t in zip(index.T, y.T, strict=True)
        ]
        return [link for link, _ in fits], np.column_stack([fitted for _, fitted in fits])


@dataclass(frozen=True)
class SharedLink(LinkFitter):
    """One learned curve for all columns of y, each behind an offset of its own.

    The offsets give every column residuals of mean zero. Curve and offsets are fitted in turn, a few
    rounds each time; the next iteration of the solver goes on from a nearby index.
    """

    fitter: LinkFitter
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
        target = np.ascontiguousarray(y.ravel(order="F"))
        for _ in range(self.n_rounds):
            curve, _ = self.fitter.fit((index + offsets).ravel(order="F"), target, weight)
            offsets = np.array(
                [
                    fit_offset(curve, index[:, k], means[k], sample_weight, offsets[k])
                    for k in range(n_outputs)
                ]
            )
        links = [curve.shift(-offset) for offset in offsets]
        fitted = np.column_stack([link(index[:, k]) for k, link in enumerate(links)])
        return links, fitted


def fit_offset(curve: Link, index: FloatArray, mean: float, weight: FloatArray | None, guess: float) -> float:
    """Return the offset of the index at which the curve's mean is `mean`."""

    def excess(offset: float) -> float:
        return float(np.average(curve(index + offset), weights=weight)) - float(mean)

    return find_root(excess, float(guess))
