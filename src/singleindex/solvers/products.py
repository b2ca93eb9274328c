"""Descent by products of the columns: sweeps find what is in use, Newton's steps the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ._descent import descend_gram, gather_products
from .packed import times_each
from .result import FloatArray
from .terms import Pieces

# Sweeps between Newton's steps, so that the time goes to both alike: for each coefficient in use, where
# the factorisation is what a step costs; where it is the call, these over the products; least and most.
_BETWEEN_FOR_EACH = 1 / 30
_BETWEEN_OF_A_CALL = 1e5
_BETWEEN = (10, 100)
# Ridge of a Newton step, as a share of the mean squared length: columns may depend on each other.
_LEAST_RIDGE = 1e-11
# Of a step over blocks.
_MOST_HALVINGS = 5


def solve_products(
    gram: FloatArray,
    q: FloatArray,
    square: float,
    u: FloatArray,
    pieces: Pieces,
    target: float,
    max_sweeps: int,
) -> int:
    """Move u in place until the gap is at most `target`; return the number of sweeps.

    Parameters
    ----------
    gram : array of shape (1 or n_outputs, n_columns, n_columns)
    q : array of shape (n_outputs, n_columns)
        The gradient at the u given.
    square : float
        The squared length of the residual there.
    u : array of shape (n_columns, n_outputs)
    pieces : Pieces
    target : float
    max_sweeps : int
    """
    start, first, n_sweeps = u.copy(), q, 0
    while True:
        moved = u - start
        q = first - times_each(moved.T, gram)
        at = max(square - float(np.sum(moved.T * (first + q))), 0.0)
        most = min(sweeps_between(u, pieces), max_sweeps - n_sweeps)
        gap, swept = descend_gram(gram, q, at, u, *pieces.parts(), target, most)
        n_sweeps += int(swept)
        if pieces.is_done(gap, target) or n_sweeps >= max_sweeps or not pieces.has_newton(u):
            return n_sweeps
        used = pieces.in_play(u)
        among = np.empty((1, len(used), len(used)))
        gather_products(gram, used, among)
        u[used, 0], excess = newton_step(among[0], q[0, used], u[used, 0], pieces, used)
        if swept < most and excess <= target:
            return n_sweeps


def sweeps_between(u: FloatArray, pieces: Pieces) -> int:
    """Return after how many sweeps it is time for a Newton step."""
    if not pieces.has_newton(u):
        return 1 << 40
    n_used = int(np.count_nonzero(u))
    of_a_call = _BETWEEN_OF_A_CALL / max(n_used * len(u), 1)
    return int(max(min(max(of_a_call, _BETWEEN[0]), _BETWEEN[1]), _BETWEEN_FOR_EACH * n_used))


def newton_step(
    gram: FloatArray, q: FloatArray, u: FloatArray, pieces: Pieces, used: NDArray[np.intp]
) -> tuple[FloatArray, float]:
    """Return the coefficients in play, moved towards where the objective is least for their signs.

    Also by how much it would be lower there. All the way with those that would change their signs set to
    zero, if that lowers the objective; else up to the first of these. Then it is lower in any case, as on a
    line towards the minimiser of a quadratic.
    """
    if not len(used):
        return u, 0.0
    if pieces.starts is not None:
        return newton_step_of_blocks(gram, q, u, pieces, used)
    held, sign, alpha = pieces.amount[used], np.sign(u), pieces.alpha
    metric = gram.copy()
    metric.flat[:: len(used) + 1] += alpha + _LEAST_RIDGE * np.trace(gram) / len(used)
    factor, failed = dpotrf(metric, lower=1, overwrite_a=1, clean=0)
    if failed:
        return u, 0.0
    slope = q - alpha * u - held * sign
    whole = dpotrs(factor, slope, lower=1)[0]
    low = np.where((held > 0) & (sign > 0), 0.0, -np.inf if pieces.lower is None else pieces.lower[used])
    high = np.where((held > 0) & (sign < 0), 0.0, np.inf if pieces.upper is None else pieces.upper[used])
    there: FloatArray = np.clip(u + whole, low, high)
    move = there - u
    if not move @ (slope - 0.5 * (gram @ move + alpha * move)) > 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(whole > 0, (high - u) / whole, np.where(whole < 0, (low - u) / whole, np.inf))
        there = np.clip(u + min(1.0, room.min()) * whole, low, high)
    return there, 0.5 * float(slope @ whole)


def newton_step_of_blocks(
    gram: FloatArray, q: FloatArray, u: FloatArray, pieces: Pieces, used: NDArray[np.intp]
) -> tuple[FloatArray, float]:
    """Return the coefficients of blocks in play after a Newton step, halved until the objective is lower."""
    label, alpha = np.unique(pieces.label[used], return_inverse=True)[1], pieces.alpha
    held = pieces.amount[np.unique(pieces.label[used])]

    def lengths(values: FloatArray) -> FloatArray:
        return np.sqrt(np.bincount(label, np.square(values)))

    length = lengths(u)
    pull = np.divide(held, length, out=np.zeros_like(held), where=length > 0)
    unit = np.divide(u, length[label], out=np.zeros_like(u), where=length[label] > 0)
    slope = q - alpha * u - pull[label] * u
    # The curvature of a length is that of a ridge across the block, and none along it.
    metric = gram - np.outer(unit * pull[label], unit) * (label[:, None] == label)
    metric.flat[:: len(u) + 1] += alpha + pull[label] + _LEAST_RIDGE * np.trace(gram) / len(u)
    factor, failed = dpotrf(metric, lower=1, overwrite_a=1, clean=0)
    if failed:
        return u, 0.0
    move = whole = dpotrs(factor, slope, lower=1)[0]
    for _ in range(_MOST_HALVINGS):
        gained = move @ (q - alpha * u - 0.5 * (gram @ move + alpha * move))
        if gained > held @ (lengths(u + move) - length):
            return u + move, 0.5 * float(slope @ whole)
        move = 0.5 * move
    return u, 0.0
