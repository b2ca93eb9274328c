"""Lipschitz isotonic regression (LPAV), exact, without a QP solver."""

from __future__ import annotations

import numbers
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import check_increasing

from ._certificate import largest_violation
from ._lpav import merge_ties, solve_lpav, spread_ties
from ._order import sort_order
from .curve import MonotoneCurve

FloatArray = NDArray[np.float64]
Increasing = bool | Literal["auto"]

# Beyond this the kernel's products could overflow or vanish; scaling by a power of two is exact.
_SAFE_EXPONENT = 100
# Widths beyond this, and slopes below the other, are replaced before the kernel multiplies them with weights.
_WIDEST, _LEAST_SLOPE = 2.0**200, 2.0**-900
# A weight so many binary digits above all lighter ones together has its way anyway; one so many below the
# heaviest is lost among the kernel's sums.
_HEAVY, _LOST = 52, 75


def lipschitz_isotonic_regression(
    x: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    lipschitz: float = 1.0,
    y_min: float | None = None,
    y_max: float | None = None,
    increasing: Increasing = True,
) -> FloatArray:
    r"""Fit a monotone curve of bounded slope by least squares.

    Solves, with `x` sorted,

    .. math:: \min_z \sum_i \omega_i (z_i - y_i)^2 \quad\text{subject to}\quad
        0 \le z_{i+1} - z_i \le L\,(x_{i+1} - x_i), \quad y_{min} \le z_i \le y_{max}.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        In any order. Points with equal `x` are merged into their weighted mean.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. A point of weight zero has no influence; its fitted value is read off
        the curve.
    lipschitz : float, default=1.0
        Largest slope L, from 0 (a constant) to infinity (plain isotonic regression).
    y_min, y_max : float, default=None
        Bounds on the fitted values, part of the problem: clipping the unbounded solution instead
        would not be optimal.
    increasing : bool or "auto", default=True
        Whether the curve rises or falls with `x`; "auto" decides by Spearman's correlation.

    Returns
    -------
    z : array of shape (n_samples,)
        The fitted values, in the order of `x`.

    Notes
    -----
    The cost is that of sorting `x` plus a dynamic programme that is close to linear in practice.
    The solution is unique where weights are positive. Weights that are lost in sums with the others, by more
    than 22 orders of magnitude, count as zero. :func:`singleindex.link.lpav_certificate`
    checks it.

    References
    ----------
    Yeganova & Wilbur (2009), Isotonic regression under Lipschitz constraint.
    Kakade, Kalai, Kanade & Shamir (2011), Efficient learning of generalized linear and single
    index models with isotonic regression.

    Examples
    --------
    >>> from singleindex import lipschitz_isotonic_regression
    >>> lipschitz_isotonic_regression([0, 1, 2], [0, 5, 4])
    array([2., 3., 4.])
    >>> lipschitz_isotonic_regression([0, 1], [0, 10], y_max=1)
    array([0., 1.])
    """
    x, y, weight = check_points(x, y, sample_weight)
    low, high = check_bounds(y_min, y_max)
    lipschitz = check_lipschitz(lipschitz)
    _, _, fitted = fit_monotone(x, y, weight, lipschitz, low, high, increasing)
    return fitted


def lpav_certificate(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    lipschitz: float = 1.0,
    y_min: float | None = None,
    y_max: float | None = None,
    increasing: bool = True,
    tol: float | None = None,
) -> float:
    r"""Return by how much `z` fails to be the Lipschitz isotonic regression of `y` on `x`.

    Zero, up to rounding, if and only if `z` is optimal. Two kinds of failure count, both in units
    of `y`: a violated constraint, and a group of points that would lower the cost by moving
    together. For the second, let a block be a run of points linked by active constraints and let
    :math:`R_i` be the sum of :math:`\omega_k (z_k - y_k)` over the points of the block up to i.
    Optimality means :math:`R_i \le 0` where the next gap is flat, :math:`R_i \ge 0` where it is at
    the Lipschitz cap, and R = 0 at the end of the block, except that a block held by `y_min` may end
    above and one held by `y_max` below zero. A violation counts divided by the weight of the lighter
    side, so that it is the distance this side's mean would move.

    Parameters
    ----------
    x, y, z : array-like of shape (n_samples,)
        The data and the solution to be checked.
    sample_weight, lipschitz, y_min, y_max, increasing
        As in :func:`singleindex.lipschitz_isotonic_regression`; `increasing` is True or False.
    tol : float, default=None
        Steps this close to 0 or to the cap count as active. None means the rounding that n steps can gather;
        solutions of interior-point solvers need about their own accuracy.

    Returns
    -------
    violation : float

    Examples
    --------
    >>> from singleindex.link import lpav_certificate
    >>> lpav_certificate([0, 1, 2], [0, 5, 4], [2, 3, 4])
    0.0
    >>> lpav_certificate([0, 1, 2], [0, 5, 4], [3, 3, 3])
    3.0
    """
    x, y, weight = check_points(x, y, sample_weight)
    z = check_vector(z, "z", len(x))
    low, high = check_bounds(y_min, y_max)
    if not increasing:
        y, z, low, high = -y, -z, -high, -low
    order = np.argsort(x, kind="stable")
    knots, means, weights = merge_points(x, y, weight, order)
    values, uneven = _values_at(knots, x[order], z[order], weight if weight is None else weight[order])
    if tol is None:
        # Rounding gathers along a run of linked points.
        reach = max(np.max(np.abs(z)), np.max(np.abs(y)))
        limits = np.finfo(np.float64)
        tol = (64 + len(x)) * float(max(limits.eps * reach, limits.smallest_subnormal))
    both = np.concatenate([means, values])
    scale, weights = _safe_scales(both, weights)
    knots, slope = _safe_gaps(knots, check_lipschitz(lipschitz), scale, both)
    points = np.stack([knots, means * scale, weights, values * scale])
    felt = np.ascontiguousarray(points[:, weights > 0])
    violation = max(
        largest_violation(*felt, slope, low * scale, high * scale, tol * scale),
        _largest_step_out(points[0], points[3], slope) if felt.shape != points.shape else 0.0,
    )
    return max(float(violation) / scale, uneven)


def _largest_step_out(knots: FloatArray, values: FloatArray, slope: float) -> float:
    """Return by how much a step falls, or rises above its cap, at most."""
    step = np.diff(values)
    return float(np.max(np.maximum(-step, step - slope * np.diff(knots)), initial=0.0))


def _values_at(
    knots: FloatArray, x: FloatArray, z: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, float]:
    """Return one z per knot, and by how much points with equal x disagree."""
    if weight is not None:
        x, z = x[weight > 0], z[weight > 0]
    first = np.searchsorted(x, knots)
    values = z[first]
    uneven = float(np.max(np.maximum.reduceat(z, first) - np.minimum.reduceat(z, first)))
    return values, uneven


def fit_monotone(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    lipschitz: float,
    y_min: float,
    y_max: float,
    increasing: Increasing,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit a rising or falling curve; return as :func:`fit_lpav`."""
    increasing = check_direction(increasing, x, y)
    if increasing:
        return fit_lpav(x, y, weight, lipschitz, y_min, y_max)
    knots, values, fitted = fit_lpav(x, -y, weight, lipschitz, -y_max, -y_min)
    return knots, -values, -fitted


def fit_lpav(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray | None = None,
    lipschitz: float = 1.0,
    y_min: float = -np.inf,
    y_max: float = np.inf,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve the problem for checked arrays; return the knots, their values, and the fitted values.

    The knots are the distinct x of positive weight. This is the call that solvers make.
    """
    order = np.empty(len(x), dtype=np.intp)
    sort_order(x, order)
    knots, means, weights = merge_points(x, y, weight, order)
    values = solve_merged(knots, means, weights, lipschitz, y_min, y_max)
    fitted = np.empty(len(x))
    spread_ties(x, order, knots, values, fitted)
    return knots, values, fitted


def solve_merged(
    knots: FloatArray,
    means: FloatArray,
    weights: FloatArray,
    lipschitz: float,
    y_min: float = -np.inf,
    y_max: float = np.inf,
) -> FloatArray:
    """Return the solution at distinct, increasing knots of positive weight."""
    # Beyond all points a bound is the answer, however far away it lies.
    if y_min >= means.max() or y_max <= means.min():
        return np.full(len(knots), y_min if y_min >= means.max() else y_max)
    scale, weights = _safe_scales(means, weights)
    if not weights.all():
        # The others do not feel these; they lie on the curve, as points of no weight do.
        felt = weights > 0
        values = solve_merged(knots[felt], means[felt], weights[felt], lipschitz, y_min, y_max)
        return MonotoneCurve(knots[felt], values)(knots)
    knots, slope = _safe_gaps(knots, lipschitz, scale, means)
    if scale != 1:
        means = means * scale
    # The points lie between the bounds' two sides: a far bound holds nothing.
    low = y_min * scale if y_min * scale > -_WIDEST else -np.inf
    high = y_max * scale if y_max * scale < _WIDEST else np.inf
    values = np.empty(len(knots))
    if lipschitz == 0:
        values[:] = np.average(means, weights=weights).clip(low, high)
    else:
        solve_lpav(knots, means, weights, slope, low, high, values)
    if scale != 1:
        values /= scale
    return values


def merge_points(
    x: FloatArray, y: FloatArray, weight: FloatArray | None, order: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct x of positive weight in rising order, with the mean of y and the weight at each."""
    knots, means, weights = np.empty(len(x)), np.empty(len(x)), np.empty(len(x))
    if weight is not None and weight.max() > _WIDEST:
        weight = weight * np.ldexp(1.0, -int(np.frexp(weight.max())[1]))  # their sum might be no number
    n = merge_ties(x, y, weight, order, knots, means, weights)
    if n == len(x):
        return knots, means, weights
    return knots[:n].copy(), means[:n].copy(), weights[:n].copy()


def _safe_scales(means: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return a power of two for y, 1 unless y is extreme, and weights brought near 1 and each other alike."""
    _, exponent = np.frexp(max(means.max(), -means.min()))
    _, weight_exponent = np.frexp(weights.max())
    if weights.min() < np.ldexp(weights.max(), -_HEAVY):
        weights = _closer(weights)
    if abs(weight_exponent) > _SAFE_EXPONENT:
        weights = np.ldexp(weights, -weight_exponent)
    if abs(exponent) <= _SAFE_EXPONENT:
        return 1.0, weights
    return float(np.ldexp(1.0, -max(exponent, -1000))), weights


def _closer(weights: FloatArray) -> FloatArray:
    """Return weights that make the same solution, up to rounding, and differ by fewer orders of magnitude.

    Those that are lost even so become zero.
    """
    order = np.argsort(weights, kind="stable")
    rising = weights[order]
    _, lighter = np.frexp(np.cumsum(rising / len(rising))[:-1])
    ahead = np.frexp(rising[1:])[1] - lighter - np.frexp(len(rising))[1] - _HEAVY
    shift = np.append(0, np.cumsum(np.maximum(ahead, 0)))
    closer = np.empty_like(weights)
    closer[order] = np.ldexp(rising, shift[-1] - shift)
    closer[closer < np.ldexp(closer.max(), -_LOST)] = 0.0
    return closer


def _safe_gaps(
    knots: FloatArray, lipschitz: float, scale: float, values: FloatArray
) -> tuple[FloatArray, float]:
    """Return the knots and the slope in the units of y × `scale`, or others with the same products.

    The products, the most that a curve may rise from knot to knot, are all that matters. Where they are no
    numbers, or too large for sums of them, knots of slope one take the place of the given ones, and a rise
    which is beyond that of all `values` becomes one that is just beyond it.
    """
    with np.errstate(over="ignore", under="ignore"):
        slope = lipschitz * scale
        if lipschitz in (0, np.inf) or (
            _LEAST_SLOPE < slope < np.inf and slope * (knots[-1] - knots[0]) < _WIDEST
        ):
            return knots, slope
        step, power = np.frexp(np.diff(knots))
        far = ~np.isfinite(step)
        step[far], power[far] = np.frexp(np.diff(knots / 4)[far])
        power[far] += 2
        part, slope_power = np.frexp(lipschitz)
        power = power + (slope_power + np.frexp(scale)[1] - 1)
        rises = np.ldexp(part * step, np.minimum(power, 2 * _SAFE_EXPONENT))
    largest = 4 * scale * max(values.max(), -values.min())
    return np.concatenate([[0.0], np.cumsum(np.minimum(rises, largest))]), 1.0


# ---------------------------------------------------------------- checks


def check_vector(values: ArrayLike, name: str, length: int | None = None) -> FloatArray:
    """Return `values` as a contiguous float64 vector, or raise with the fix in the message."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; use {name}.ravel().")
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers, got complex ones; use {name}.real.")
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}.") from error
    if length is not None and len(array) != length:
        raise ValueError(f"{name} has {len(array)} values where {length} are needed, one per point of x.")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"{name} holds NaN or infinity (first at position {bad}); remove or impute these points."
        )
    return array


def check_points(
    x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    x = check_vector(x, "x")
    if len(x) == 0:
        raise ValueError("x is empty; at least one point is needed.")
    y = check_vector(y, "y", len(x))
    if sample_weight is None:
        return x, y, None
    weight = check_vector(sample_weight, "sample_weight", len(x))
    if (weight < 0).any():
        bad = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(
            f"sample_weight must not be negative (first at position {bad}); set it to 0 to leave a point out."
        )
    if not weight.any():
        raise ValueError("all sample weights are zero; at least one must be positive.")
    return x, y, weight


def check_bounds(y_min: Any, y_max: Any) -> tuple[float, float]:
    for name, bound in (("y_min", y_min), ("y_max", y_max)):
        if bound is not None and not isinstance(bound, numbers.Real):
            raise ValueError(f"{name} must be a number or None, got {bound!r}.")
    low = -np.inf if y_min is None else float(y_min)
    high = np.inf if y_max is None else float(y_max)
    if np.isnan(low) or np.isnan(high) or low > high:
        raise ValueError(f"y_min must be at most y_max, got y_min={y_min}, y_max={y_max}.")
    if low == np.inf or high == -np.inf:
        raise ValueError(f"no number is between y_min={y_min} and y_max={y_max}; use None for no bound.")
    return low, high


def check_direction(increasing: Increasing, x: FloatArray, y: FloatArray) -> bool:
    if isinstance(increasing, str) and increasing == "auto":
        return bool(check_increasing(x, y))
    if not isinstance(increasing, (bool, np.bool_)):
        raise ValueError(f"increasing must be True, False or 'auto', got {increasing!r}.")
    return bool(increasing)


def check_lipschitz(lipschitz: Any) -> float:
    if isinstance(lipschitz, bool) or not isinstance(lipschitz, numbers.Real) or not float(lipschitz) >= 0:
        raise ValueError(f"lipschitz must be a number from 0 to infinity, got {lipschitz!r}.")
    return float(lipschitz)
