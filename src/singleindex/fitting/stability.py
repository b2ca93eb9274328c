"""Complementary pairs stability selection: how often a feature is chosen, and what that bounds.

Shah & Samworth (2013), Variable selection with error control: another look at stability selection, JRSS B 75.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..solvers.result import FloatArray

ASSUMPTIONS = ("none", "unimodal", "r-concave")
# What a half chooses, by what is assumed: q² / p as a multiple of the bound that is asked for. And no more
# than one atom for so many rows.
_CHOSEN, _ROWS_PER_ATOM = {"none": 0.6, "unimodal": 1.2, "r-concave": 2.0}, 6
# A path goes on to this multiple of them, where rows are enough: there sizes tell more than who was first.
_BEYOND, _ROWS_BEYOND = 2, 5


@dataclass(frozen=True)
class Rule:
    """When a feature is stable: chosen by this share of the halves, of which each chooses so many.

    `bound` is the expected number of false ones at most: of those that a half chooses no more often than by
    chance. `share` is above 1 where no share is enough.
    """

    n_chosen: int
    share: float
    bound: float
    assumption: str

    def __str__(self) -> str:
        return (
            f"in {self.share:.0%} of the halves, of which each chooses {self.n_chosen}: at most "
            f"{self.bound:.2g} false ones expected ({self.assumption})"
        )


def number_chosen(max_false: float, n_atoms: int, rows_of_half: float, assumption: str = "unimodal") -> int:
    """Return how many atoms each half is to choose; the response has no say in it."""
    wanted = np.sqrt(_CHOSEN[assumption] * max_false * n_atoms)
    return int(max(1, min(round(wanted), rows_of_half // _ROWS_PER_ATOM, n_atoms)))


def path_length(n_atoms: int, rows_of_half: float) -> int:
    """Return at how many atoms the path of a half ends."""
    chosen = number_chosen(1.0, n_atoms, rows_of_half)
    return int(min(n_atoms, max(chosen, min(_BEYOND * chosen, rows_of_half // _ROWS_BEYOND))))


def rule_for(max_false: float, n_chosen: int, n_atoms: int, n_pairs: int, assumption: str) -> Rule:
    """Return the least share of halves at which the bound is what was asked for."""
    bounds = bounds_of(n_chosen, n_atoms, n_pairs, assumption)
    low = np.flatnonzero(bounds <= max_false + 1e-12)
    if not len(low):
        return Rule(n_chosen, 2.0, 0.0, assumption)
    return Rule(n_chosen, (int(low[0]) + 1) / (2 * n_pairs), float(bounds[low[0]]), assumption)


def bounds_of(n_chosen: int, n_atoms: int, n_pairs: int, assumption: str) -> FloatArray:
    """Return the bound for the shares 1/2B, 2/2B, … 1 of B pairs of halves.

    "none" holds always. "unimodal" asks that the number of pairs of which both halves choose a feature has a
    distribution with one mode, for features that are chosen no more often than by chance. "r-concave" asks
    that it is r-concave with r = -1/2, and the number of halves with r = -1/4: all but always true where
    rows are many, and not to be proved.
    """
    shares = np.arange(1, 2 * n_pairs + 1) / (2 * n_pairs)
    theta = n_chosen / n_atoms
    if assumption == "r-concave":
        both = np.concatenate([np.ones(n_pairs), _tail_bounds(theta**2, n_pairs, -0.5)])
        tail = np.minimum(both, _tail_bounds(theta, 2 * n_pairs, -0.25))
        least: FloatArray = np.minimum(n_atoms * tail, n_chosen)
        return least
    if assumption == "none":
        with np.errstate(divide="ignore"):
            factor = np.where(shares > 0.5, 1 / np.maximum(2 * shares - 1, 0), np.inf)
    else:
        factor = _unimodal_factor(shares, theta, n_pairs)
    bounds: FloatArray = np.minimum(factor * n_chosen * theta, n_chosen)
    return bounds


def _unimodal_factor(shares: FloatArray, theta: float, n_pairs: int) -> FloatArray:
    """Return C(τ, B) of theorem 2."""
    step = 1 / (2 * n_pairs)
    least = min(0.5 + theta**2, 0.5 + step + 0.75 * theta**2)
    room = 2 * shares - 1 - step
    with np.errstate(divide="ignore"):
        low = np.where((shares > least + 1e-12) & (room > 0), 1 / (2 * np.maximum(room, 0)), np.inf)
    return np.where(shares <= 0.75, low, 4 * (1 - shares + step) / (1 + 2 * step))


# ---------------------------------------------------------------- r-concave distributions


@lru_cache(maxsize=64)
def _tail_bounds(mean: float, n: int, r: float) -> FloatArray:
    """Return the largest P(Z ≥ t/n), t = 1 … n, of r-concave Z on 0, 1/n, … 1 with this mean at most.

    The largest is had by (a + i)^(1/r) up to some k, and a smaller mass at k + 1: for every k the best a is
    looked for between those at which the mean is right without that mass, and with all of it (appendix A.4).
    """
    first = int(np.ceil(2 * mean * n)) + 1
    bounds = np.ones(n)
    if first > n:
        return bounds
    ends = _parameters(mean * n, range(first, n + 1), r)
    best = 0
    for t in range(first, n + 1):
        found = [
            np.max(_tails(np.geomspace(ends[i + 1], ends[i], 25), k, t, mean * n, r)) if k < n
            else float(_tails(ends[i : i + 1], n, t, mean * n, r)[0])
            for i, k in enumerate(range(first, n + 1)) if i >= best
        ]  # fmt: skip
        best += int(np.argmax(found))
        bounds[t - 1] = min(max(found), 1.0)
    return bounds


def _parameters(total: float, sizes: range, r: float) -> FloatArray:
    """Return for every k the a at which (a + i)^(1/r), i = 0 … k, has the mean `total`."""
    found = np.zeros(len(sizes))
    for at, k in enumerate(sizes):
        places, low, high = np.arange(k + 1), np.log(1e-5), np.log(1e5)
        for _ in range(60):
            middle = (low + high) / 2
            mass = (np.exp(middle) + places) ** (1 / r)
            low, high = (low, middle) if places @ mass > total * mass.sum() else (middle, high)
        found[at] = np.exp((low + high) / 2)
    return found


def _tails(a: FloatArray, k: int, t: int, total: float, r: float) -> FloatArray:
    """Return P(Z ≥ t) where Z has the mass (a + i)^(1/r) up to k, and at k + 1 what makes its mean right."""
    places = np.arange(k + 1)
    mass = (a[:, None] + places) ** (1 / r)
    below = (k + 1 - total) * mass[:, :t].sum(axis=1)
    tails: FloatArray = 1 - below / (mass @ (k + 1 - places))
    return tails
