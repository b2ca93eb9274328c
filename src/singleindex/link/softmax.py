"""Several classes at once: probabilities in proportion to the exponential of each class's index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from .base import FloatArray, LinkFitter
from .curve import MonotoneCurve
from .fitters import FixedLink, ShiftedLink
from .shape import LEFT_TO_CHANCE, PSEUDO_ROWS, Sigmoid

# Numbers that are worked on at a time, so that they stay in the cache.
_CHUNK = 1 << 17
# Newton's steps for the slope and the levels, how far they may go, and when they end.
_MOST_STEPS, _LONGEST, _SETTLED = 25, 2.0, 1e-5
# What keeps the system of equations regular: levels may all move by the same amount.
_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class OneOfSeveral(LinkFitter):
    """The link of one class while the indices of the others stand still: logistic, against what they say.

    `others` is the logarithm of the summed exponentials of the others' indices, row by row.
    """

    others: FloatArray

    is_learned: ClassVar[bool] = False

    @property
    def slope(self) -> float:
        return 0.25

    def curvature(self, fitted: FloatArray) -> FloatArray:
        return fitted * (1 - fitted)

    def fit(
        self, index: FloatArray, y: FloatArray, sample_weight: FloatArray | None = None
    ) -> tuple[ShiftedLink, FloatArray]:
        return FixedLink("logistic").fit(index - self.others, y, sample_weight)


def others_than(scores: FloatArray, k: int) -> FloatArray:
    """Return what all classes but one say of every row; `scores` are indices with their levels."""
    rest: FloatArray = logsumexp(np.delete(scores, k, axis=1), axis=1)
    return rest


class Softmax:
    """Probabilities of several classes from their indices, by one slope for all and a level for each.

    Indices are of shape (n_curves, n_rows, n_classes), parameters (n_curves, 1 + n_classes): the slope, then
    the levels.
    """

    def fit(self, index: FloatArray, Y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the parameters of greatest likelihood, the slope not below zero."""
        size = max(1, _CHUNK // max(index[0].size, 1))
        parts = [self._fit_some(index[k : k + size], Y, weight) for k in range(0, len(index), size)]
        parameters: FloatArray = np.concatenate(parts)
        return parameters

    def values(self, parameters: FloatArray, index: FloatArray) -> FloatArray:
        """Return the probabilities."""
        p: FloatArray = softmax(parameters[:, :1, None] * index + parameters[:, None, 1:], axis=2)
        return p

    def loss(self, p: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the log-loss of every row."""
        loss: FloatArray = -np.log(np.clip((p * Y).sum(axis=2), LEFT_TO_CHANCE, 1 - LEFT_TO_CHANCE))
        return loss

    def tabulate(self, level: float) -> MonotoneCurve:
        """Return the curve whose odds are those of a class of this level, of an index at slope one."""
        return Sigmoid().tabulate(np.array([1.0, level]), np.zeros(1))

    def _fit_some(self, index: FloatArray, Y: FloatArray, weight: FloatArray) -> FloatArray:
        share, target = weight / weight.sum(), drawn_in(Y, weight)
        prior = np.log(share @ target)
        parameters = np.column_stack([np.ones(len(index)), np.tile(prior, (len(index), 1))])
        open_ = np.arange(len(index))
        for _ in range(_MOST_STEPS):
            step = _newton_step(parameters[open_], index[open_], target, share)
            step *= np.minimum(1, _LONGEST / (np.abs(step).max(axis=1, keepdims=True) + 1e-300))
            parameters[open_] -= step
            open_ = open_[np.abs(step).max(axis=1) > _SETTLED]
            if not len(open_):
                break
        falls = parameters[:, 0] <= 0
        parameters[falls] = np.concatenate([[0.0], prior])
        return parameters


def drawn_in(Y: FloatArray, weight: FloatArray) -> FloatArray:
    """Return targets that are a little short of certain: a slope exists then where classes do not overlap."""
    total = weight @ Y
    sure, doubt = (total + PSEUDO_ROWS) / (total + 2 * PSEUDO_ROWS), PSEUDO_ROWS / (total + 2 * PSEUDO_ROWS)
    own = Y @ sure
    target: FloatArray = Y * own[:, None] + (1 - Y) * (Y @ doubt)[:, None] / (Y.shape[1] - 1)
    return target


def _newton_step(
    parameters: FloatArray, index: FloatArray, target: FloatArray, share: FloatArray
) -> FloatArray:
    """Return what Newton's method takes off slopes and levels."""
    p: FloatArray = softmax(parameters[:, :1, None] * index + parameters[:, None, 1:], axis=2)
    n_classes = p.shape[2]
    rest, moment = (p - target) * share[:, None], p * index
    mean = moment.sum(axis=2)
    gradient = np.column_stack([np.einsum("cnk,cnk->c", rest, index), rest.sum(axis=1)])
    hessian = np.empty((len(p), 1 + n_classes, 1 + n_classes))
    hessian[:, 0, 0] = (np.einsum("cnk,cnk->cn", moment, index) - mean**2) @ share
    across = np.einsum("cnk,n->ck", moment - p * mean[:, :, None], share)
    hessian[:, 0, 1:] = hessian[:, 1:, 0] = across
    weighted = p * share[:, None]
    hessian[:, 1:, 1:] = -np.einsum("cnk,cnj->ckj", weighted, p, optimize=True)
    diagonal = np.arange(1, 1 + n_classes)
    hessian[:, diagonal, diagonal] += weighted.sum(axis=1)
    hessian += _RIDGE * np.eye(1 + n_classes)
    step: FloatArray = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return step
