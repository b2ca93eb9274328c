"""Problems for Lipschitz isotonic regression: how hypothesis draws them, and what a solution must be."""

from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from lpav_oracles import solve_exactly

from singleindex import lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

EPS = np.finfo(float).eps


@dataclass
class Problem:
    x: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None = None
    lipschitz: float = 1.0
    y_min: float | None = None
    y_max: float | None = None
    increasing: bool = field(default=True, repr=False)

    @property
    def options(self):
        names = ("sample_weight", "lipschitz", "y_min", "y_max")
        return {name: getattr(self, name) for name in names}

    @property
    def weight(self):
        return np.ones(len(self.x)) if self.sample_weight is None else self.sample_weight

    def fit(self):
        return lipschitz_isotonic_regression(self.x, self.y, **self.options, increasing=self.increasing)

    def violation(self, z, tol=None):
        return lpav_certificate(self.x, self.y, z, **self.options, increasing=self.increasing, tol=tol)

    def solve_exactly(self):
        return solve_exactly(self.x, self.y, **self.options)

    def scale(self, z):
        return max(np.abs(self.y).max(), np.abs(z).max())

    def but(self, **changes):
        return replace(self, **changes)

    def unbounded(self):
        return self.but(y_min=None, y_max=None)

    def cost(self, z):
        return float(self.weight @ np.square(z - self.y))


# ---------------------------------------------------------------- drawing


def times_as_many(factor):
    """Settings with `factor` times the number of examples of the profile in use."""
    return settings(max_examples=max(1, int(factor * settings().max_examples)))


NUMBERS = st.integers(-(10**6), 10**6).map(lambda k: k / 10**4)
STEP_SIZES = [0.0, 0.0, 1e-16, 3e-16, 1e-12, 1e-3, 0.1, 1.0, 1.0, 7.5, 1e3]
PLAIN_STEPS = [0.0, 0.125, 1.0, 1.0, 7.5, 1e3]
LIPSCHITZ = [0.0, 1e-12, 0.1, 1.0, 1.0, 10.0, 1e12, np.inf]

Y_VALUES = [
    NUMBERS,
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([-1.0, 1.0]),
    st.integers(-3, 3).map(float),
    st.tuples(NUMBERS, st.integers(-4, 8)).map(lambda t: t[0] * 10.0 ** t[1]),
]
WEIGHTS = {
    "none": st.none(),
    "counts": st.integers(0, 3).map(float),
    "moderate": st.integers(1, 1000).map(lambda k: k / 100),
    "wide": st.tuples(st.integers(100, 999), st.integers(-8, 4)).map(lambda t: t[0] * 10.0 ** t[1]),
}


@st.composite
def problems(draw, max_size=25, weights=tuple(WEIGHTS), steps=STEP_SIZES, lipschitz=LIPSCHITZ, bounds=True):
    """Draw a problem, its points in any order; `weights` names the kinds that may occur."""
    n = draw(st.integers(1, max_size))
    start = draw(st.sampled_from([0.0, 0.0, 1.0, -1000.0]))
    x = start + np.cumsum(draw(st.lists(st.sampled_from(steps), min_size=n, max_size=n)))
    value = draw(st.sampled_from(Y_VALUES))
    y = np.array(draw(st.lists(value, min_size=n, max_size=n)))
    kind = draw(st.sampled_from(weights))
    weight = None
    if kind != "none":
        weight = np.array(draw(st.lists(WEIGHTS[kind], min_size=n, max_size=n)))
        if not weight.any():
            weight[draw(st.integers(0, n - 1))] = 1.0
    order = np.array(draw(st.permutations(range(n))))
    y_min, y_max = draw(bounds_for(y)) if bounds else (None, None)
    x, weight = x[order], weight if weight is None else weight[order]
    return Problem(x, y, weight, draw(st.sampled_from(lipschitz)), y_min, y_max)


@st.composite
def bounds_for(draw, y):
    """Draw bounds that do not bind, that bind, that are equal, or that lie beyond all data."""
    low, high = float(y.min()), float(y.max())
    span = high - low + 1.0
    levels = [low - span, low, low + 0.3 * span, 0.5 * (low + high), high - 0.3 * span, high, high + span]
    kind = draw(st.sampled_from(["none", "min", "max", "both", "equal"]))
    a, b = sorted(draw(st.tuples(st.sampled_from(levels), st.sampled_from(levels))))
    return {"none": (None, None), "min": (a, None), "max": (None, b), "both": (a, b), "equal": (a, a)}[kind]


# ---------------------------------------------------------------- asserting


def certificate_tolerance(problem, z):
    """What rounding alone explains.

    The certificate divides by the weight of the lighter side: one rounding of a heavy point's z shows
    there multiplied by the ratio of the weights.
    """
    weight = problem.weight[problem.weight > 0]
    ratio = weight.max() / weight.min()
    return problem.scale(z) * (1e-11 + EPS * len(weight) * min(ratio, 1e12))


def assert_optimal(problem, z):
    """Assert that `z` satisfies the optimality conditions, up to rounding."""
    assert z.shape == problem.x.shape
    violation = problem.violation(z)
    assert 0 <= violation <= certificate_tolerance(problem, z), (violation, problem, z)


def assert_feasible(problem, z, rtol=1e-12):
    """Assert monotone, no steeper than lipschitz, equal at equal x, within bounds (these exactly)."""
    order = np.lexsort((z, problem.x))
    gap, step = np.diff(problem.x[order]), np.diff(z[order])
    slack = rtol * problem.scale(z)
    assert np.isfinite(z).all(), z
    assert (step[gap > 0] >= -slack).all(), step
    assert (step[gap == 0] <= slack).all(), step
    if np.isfinite(problem.lipschitz):
        assert (step <= problem.lipschitz * gap + slack).all(), step
    assert problem.y_min is None or (z >= problem.y_min).all(), z
    assert problem.y_max is None or (z <= problem.y_max).all(), z


def assert_close(actual, expected, scale, rtol=1e-9):
    """Assert agreement to within `rtol` times `scale`, everywhere."""
    assert np.shape(actual) == np.shape(expected)
    error = np.max(np.abs(np.asarray(actual) - np.asarray(expected)), initial=0.0)
    assert error <= rtol * scale, (error, actual, expected)
