"""Named increasing links, from an index to a mean response.

They are placed for an index centred at zero with a standard deviation of about two, the
default `signal` of `make_single_index`: most of the curve is then seen by the data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class NamedLink:
    """An increasing function of the index, with what is known about it.

    Attributes
    ----------
    name : str
    summary : str
        One line: the shape of the curve.
    formula : callable
        Elementwise function of a float64 array.
    lipschitz : float
        Smallest constant `L` with `|g(a) - g(b)| <= L |a - b|`; `inf` where there is none.
    lower, upper : float
        Bounds of the values.
    """

    name: str
    summary: str
    formula: Callable[[FloatArray], Any]
    lipschitz: float
    lower: float = 0.0
    upper: float = 1.0

    def __call__(self, index: ArrayLike) -> FloatArray:
        return cast(FloatArray, self.formula(np.asarray(index, dtype=np.float64)))


@dataclass(frozen=True, eq=False)
class PlacedLink:
    """`g(index) = offset + scale * base(index - center)`, a named link moved to its data.

    With several outputs `center` has one entry for each, along the last axis of the index.
    """

    base: NamedLink
    center: float | FloatArray
    offset: float = 0.0
    scale: float = 1.0

    def __call__(self, index: ArrayLike) -> FloatArray:
        centred = np.asarray(index, dtype=np.float64) - self.center
        return self.offset + self.scale * self.base(centred)

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def lipschitz(self) -> float:
        return self.scale * self.base.lipschitz


# 0.86 is the upper third of a normal index with standard deviation 2.
_RAMP_EDGES = np.array([-0.86, 0.86])
_RAMP_LEVELS = np.array([0.1, 0.9])
# Quartiles of the same index, so that each level is seen equally often.
_STEP_EDGES = np.array([-1.35, 0.0, 1.35])
_STEP_LEVELS = np.array([0.05, 0.35, 0.65, 0.95])


def _cloglog(t: FloatArray) -> Any:
    # Beyond 50 the value is 1 in float64 and the inner exponential would overflow.
    return -np.expm1(-np.exp(np.minimum(t, 50.0)))


def _ramp(t: FloatArray) -> Any:
    return np.interp(t, _RAMP_EDGES, _RAMP_LEVELS)


def _steps(t: FloatArray) -> Any:
    return _STEP_LEVELS[np.searchsorted(_STEP_EDGES, t, side="right")]


def _clipped(t: FloatArray) -> Any:
    return np.clip(0.5 + t / 4, 0.0, 1.0)


def _cubic(t: FloatArray) -> Any:
    return 0.5 + 0.5 * np.clip(t / 4, -1.0, 1.0) ** 3


def _relu(t: FloatArray) -> Any:
    return np.clip(t / 4, 0.0, 1.0)


def _tanh(t: FloatArray) -> Any:
    return 0.5 + 0.5 * np.tanh(t)


def _root(t: FloatArray) -> Any:
    return 0.5 + 0.5 * np.sign(t) * np.sqrt(np.minimum(np.abs(t) / 4, 1.0))


def _cauchit(t: FloatArray) -> Any:
    return 0.5 + np.arctan(t) / np.pi


def _identity(t: FloatArray) -> Any:
    return t.copy() if t.ndim else t[()]


_INF = float("inf")

LINKS: dict[str, NamedLink] = {
    link.name: link
    for link in [
        NamedLink("logistic", "smooth S, 1 / (1 + exp(-t))", expit, 0.25),
        NamedLink("probit", "normal distribution function", ndtr, float(1 / np.sqrt(2 * np.pi))),
        NamedLink("cloglog", "skewed S, slow start and fast end", _cloglog, float(np.exp(-1))),
        NamedLink("cauchit", "S with heavy tails, never quite 0 or 1", _cauchit, float(1 / np.pi)),
        NamedLink("tanh", "smooth S, twice as steep as logistic", _tanh, 0.5),
        NamedLink("clipped", "linear on [-2, 2], flat outside", _clipped, 0.25),
        NamedLink("ramp", "0.1, linear in the middle third, then 0.9", _ramp, 0.8 / 1.72),
        NamedLink("steps", "three jumps; monotone but not Lipschitz", _steps, _INF),
        NamedLink("cubic", "steep, flat in the middle, steep; capped", _cubic, 0.375),
        NamedLink("root", "vertical at zero, not Lipschitz; capped", _root, _INF),
        NamedLink("relu", "zero, then linear, capped at one", _relu, 0.25),
        NamedLink("identity", "linear and unbounded, for regression", _identity, 1.0, -_INF, _INF),
    ]
}
"""The links by name. Values are callables that also know their bounds and Lipschitz constant."""
