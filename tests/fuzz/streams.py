"""Streams: any cutting of the rows gives one model, and a forged state is refused in words."""

import copy
import io
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from singleindex import SingleIndexClassifier, SingleIndexRegressor, load, save
from singleindex.solvers import Stochastic

from .model_files import data, to_bytes, use
from .mutations import spoil_tree
from .registry import Case, target

CLASSES = [0, 1, 2]


def rows_for(kind: str) -> tuple[Any, np.ndarray]:
    X, y = data()
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0)) if "sparse" in kind else X
    if "classes" in kind:
        return X, np.digitize(y, [-0.4, 0.4])
    return X, np.column_stack(
        [y, X[:, [0]].toarray() if sparse.issparse(X) else X[:, 0]]
    ) if "two" in kind else y


def make_model(kind: str) -> Any:
    solver = Stochastic(batch_size=8, refit_every=2, n_bins=16)
    return (SingleIndexClassifier if "classes" in kind else SingleIndexRegressor)(
        3, solver=solver, link="tanh" if "known" in kind else "learned"
    )


KINDS = ("rows", "sparse rows", "classes", "sparse classes", "two outputs", "known link")


def feed(model: Any, kind: str, cuts: list[int]) -> Any:
    X, y = rows_for(kind)
    for start, stop in pairwise(cuts):
        classes = (CLASSES,) if "classes" in kind and start == cuts[0] else ()
        model.partial_fit(X[start:stop], y[start:stop], *classes)
    return model


@cache
def fed(kind: str) -> bytes:
    """Return a model in the middle of a stream, with rows that wait, as a file."""
    return to_bytes(feed(make_model(kind), kind, [0, 21]))


@cache
def fed_to_the_end(kind: str) -> np.ndarray:
    return feed(make_model(kind), kind, [0, 21, len(data()[1])]).coef_


@target("stream")
def cut_a_stream(case: Case) -> None:
    """Cut the rows anyhow, with a save and a load between calls."""
    kind = case.pick(KINDS)
    n = len(data()[1])
    cuts = sorted({21, *(int(cut) for cut in case.rng.integers(10, n, size=3)), 0, n})
    case.say(kind, cuts)
    model = feed(make_model(kind), kind, cuts[:2])
    for start, stop in pairwise(cuts[1:]):
        if case.chance(0.5):
            model = load(io.BytesIO(to_bytes(model)))
        feed_on(model, kind, start, stop)
    case.need(np.array_equal(model.coef_, fed_to_the_end(kind)), "the cuts of a stream change the model")
    use(case, model, rows_for(kind)[0][:5].toarray() if "sparse" in kind else rows_for(kind)[0][:5])


def feed_on(model: Any, kind: str, start: int, stop: int) -> None:
    X, y = rows_for(kind)
    model.partial_fit(X[start:stop], y[start:stop])


@target("stream-state")
def go_on_from_a_forged_state(case: Case) -> None:
    kind = case.pick(KINDS)
    model = load(io.BytesIO(fed(kind)))
    case.spoilt(kind)
    model.stream_ = spoil_tree(case, copy.deepcopy(model.stream_))
    with open(case.folder / "model.sim", "wb") as file:
        save(model, file)
    model = load(case.folder / "model.sim")
    feed_on(model, kind, 21, len(data()[1]))
    case.need_finite(model.coef_, "coefficients after a forged state")
