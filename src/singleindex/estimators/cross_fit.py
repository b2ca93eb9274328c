"""A link fitted to rows that w has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..solvers import fit_scale


def spread_of(index, weight):
    """Return mean and standard deviation of an index."""
    mean = np.average(index, weights=weight)
    return mean, np.sqrt(np.average((index - mean) ** 2, weights=weight))


def standardised(index, train, test, weight):
    """Return the index of the test rows in units of its spread over the training rows."""
    mean, sd = spread_of(index[train], None if weight is None else weight[train])
    return (index[test] - mean) / sd if sd > 0 else np.zeros(len(test))


def length_for_link(held_out, y, fitter, weight, precision=1e-12):
    """Return the factor that brings a standardised held-out index to the length its link needs."""
    # From the length of the unpenalised line, as in the solver.
    slope = np.average(held_out * (y - np.average(y, weights=weight)), weights=weight)
    base = max(abs(float(slope)), 1e-12) / fitter.slope
    return base * fit_scale(base * held_out, y, fitter, weight, 1, precision)


def with_cross_fitted_link(result, y, fitter, weight, held_out):
    """Return the result with the link fitted to the held-out index, and w at the length that fits it.

    `held_out` is the standardised index of every row under a w that was learned without it, NaN for rows
    that were never held out. In-sample the index of the training rows looks better than it is, the more so
    the more coefficients there are; a link fitted to it is too steep. This one is not.
    """
    seen = np.isfinite(held_out)
    mean, sd = spread_of(result.index, weight)
    if not sd > 0 or not seen.any():
        return result
    weight = None if weight is None else weight[seen]
    held_out, y = np.ascontiguousarray(held_out[seen]), np.ascontiguousarray(y[seen])
    factor = length_for_link(held_out, y, fitter, weight)
    link, _ = fitter.fit(factor * held_out, y, weight)
    scale = factor / sd
    return replace(
        result, coef=scale * result.coef, index=scale * result.index, link=link.shift(scale * mean)
    )
