"""What outputs are divided by before they are learned."""

from __future__ import annotations

import numpy as np

from ..link import LinkFitter
from ..solvers.result import FloatArray
from .extremes import power_above


def units_of_outputs(fitter: LinkFitter, Y: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return what to divide the outputs by, so that none outweighs the others in a joint fit.

    Alone, an output is brought near 1 by a power of two, which is exact.
    """
    power = powers_of_two(fitter, np.max(np.abs(Y), axis=0))
    if Y.shape[1] == 1 or not fitter.takes_any_unit:
        return power
    gap = Y / power - np.average(Y / power, axis=0, weights=weight)
    units: FloatArray = power * np.sqrt(np.average(gap**2, axis=0, weights=weight))
    return units


def powers_of_two(fitter: LinkFitter, largest: FloatArray) -> FloatArray:
    """Return the power of two next to the largest value of each output; one where the link has units."""
    if not fitter.takes_any_unit:
        return np.ones(len(largest))
    return power_above(largest)
