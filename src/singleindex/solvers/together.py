"""Paths of several classes whose probabilities sum to one: in turns, each with the others standing still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..link.softmax import OneOfSeveral, others_than
from .exact import Exact
from .result import FloatArray, Iterate
from .ridge import Rotated, newton_step

# Turns of all classes at each ridge: levels are further apart than along a path.
_TURNS_OF_RIDGES = 3


def prior_scores(Y: FloatArray, share: FloatArray) -> FloatArray:
    """Return what is known of every row before a column is looked at."""
    means = np.maximum(share @ Y, 1e-12)
    return np.tile(np.log(means), (len(Y), 1))


def exact_path_together(methods: Sequence[Exact], penalties: Sequence[float]) -> Iterator[list[Iterate]]:
    """Yield an iterate of each class for every weight of the penalty, each a warm step from the last."""
    states, plain = [method.start() for method in methods], [method.simplicity for method in methods]
    scores = prior_scores(np.column_stack([method.y for method in methods]), methods[0].share)
    for number, penalty in enumerate(penalties):
        iterates = []
        for k, method in enumerate(methods):
            method.simplicity = replace(plain[k], penalty=penalty)
            method.fitter = OneOfSeveral(others_than(scores, k))
            states[k] = method.move(states[k], method.look(states[k], number)[1])
            iterate, _ = method.look(states[k], number)
            scores[:, k] = iterate.index + iterate.link.offset
            iterates.append(iterate)
        yield iterates


def ridge_path_together(
    rotated: Rotated, Y: FloatArray, share: FloatArray, ridges: Sequence[float]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield coordinates and indices, a column for each class, at each ridge, from strong to weak."""
    c, index = np.zeros((len(rotated.variance), Y.shape[1])), np.zeros(Y.shape)
    scores = prior_scores(Y, share)
    for ridge in ridges:
        for _ in range(_TURNS_OF_RIDGES):
            for k, y in enumerate(Y.T):
                fitter = OneOfSeveral(others_than(scores, k))
                _, fitted = fitter.fit(index[:, k], y, share)
                step = newton_step(
                    rotated, c[:, k], y - fitted, share, fitter.curvature(fitted), fitter.slope, ridge
                )
                c[:, k] += step
                index[:, k] += rotated.rows @ step
                scores[:, k] = index[:, k] + fitter.fit(index[:, k], y, share)[0].offset
        yield c.copy(), index.copy()
