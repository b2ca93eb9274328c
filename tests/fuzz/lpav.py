"""LPAV with extreme numbers: every solution is feasible, and optimal by its certificate."""

from typing import Any

import numpy as np

from singleindex import LipschitzIsotonicRegression, lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

from .mutations import spoil_array
from .registry import Case, target

EPS = np.finfo(np.float64).eps
STEPS = [0.0, 5e-324, 1e-300, 1e-16, 1e-3, 1.0, 7.5, 1e12, 1e100, 1e300]
LIPSCHITZ = [0.0, 5e-324, 1e-300, 1e-12, 0.1, 1.0, 1.0, 10.0, 1e12, 1e200, 1e308, np.inf]


def draw_points(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    n = int(case.pick([1, 2, 3, 8, 30, 200]))
    steps = case.rng.choice(case.rng.choice(STEPS, size=int(case.rng.integers(1, 4))), size=n)
    x = np.cumsum(steps) + case.pick([0.0, 0.0, 1.0, -1e3, -1e300])
    y = draw_values(case, n)
    weight = None
    kind = case.pick(["none", "counts", "wide", "one heavy", "one light", "extreme"])
    if kind == "counts":
        weight = case.rng.integers(0, 3, size=n).astype(float)
    elif kind != "none":
        weight = 0.5 + case.rng.random(n)
        at = case.rng.integers(n)
        if kind == "wide":
            weight *= 10.0 ** case.rng.integers(-8, 5, size=n)
        elif kind == "extreme":
            weight *= 10.0 ** case.pick([-300, 200, 300])
        else:
            weight[at] *= case.pick([1e10, 1e100, 1e300]) if kind == "one heavy" else 1e-300
    if weight is not None and not weight.any():
        weight = None
    order = case.rng.permutation(n)
    return x[order], y, weight if weight is None else weight[order]


def draw_values(case: Case, n: int) -> np.ndarray:
    kind = case.pick(["normal", "whole", "two", "scaled", "mixed"])
    y = case.rng.normal(size=n)
    if kind == "whole":
        return case.rng.integers(-3, 4, size=n).astype(float)
    if kind == "two":
        return (y > 0).astype(float)
    if kind == "scaled":
        return y * 10.0 ** case.pick([-320, -300, -100, 100, 300, 307])
    return y * 10.0 ** case.rng.integers(-10, 10, size=n) if kind == "mixed" else y


def draw_options(case: Case, y: np.ndarray) -> dict[str, Any]:
    options: dict[str, Any] = {"lipschitz": float(case.pick(LIPSCHITZ)), "increasing": case.chance(0.8)}
    low, high = np.sort(case.rng.choice([*y, 0.0, y.min(), y.max()], size=2))
    if case.chance(0.3):
        options["y_min"] = float(low)
    if case.chance(0.3):
        options["y_max"] = float(high)
    return options


MOST = 1e12  # ratio of weights up to which the certificate tells rounding from mistakes


def ratio_of(weight: np.ndarray | None) -> float:
    used = np.ones(1) if weight is None else weight[weight > 0]
    with np.errstate(over="ignore"):
        return float(used.max() / used.min())


def slack_of(y: np.ndarray, z: np.ndarray, ratio: float) -> float:
    """Return what rounding explains: that of a heavy point shows at a light one by the ratio of weights."""
    scale = max(float(np.abs(y).max()), float(np.abs(z).max()))
    return scale * (1e-11 + EPS * len(y) * ratio) + 1e-317


@target("lpav")
def solve(case: Case) -> None:
    x, y, weight = draw_points(case)
    options = draw_options(case, y)
    case.say("lpav", (x.tolist(), y.tolist(), None if weight is None else weight.tolist(), options))
    z = lipschitz_isotonic_regression(x, y, sample_weight=weight, **options)
    case.need(z.shape == x.shape, "another shape than x")
    case.need_finite(z, "the solution")
    ratio = ratio_of(weight)
    check_feasible(case, x, z, options, slack_of(y, z, 1.0))
    if weight is not None and ratio > MOST:
        check_cost(case, x, y, z, weight, options)
        return
    violation, slack = lpav_certificate(x, y, z, sample_weight=weight, **options), slack_of(y, z, ratio)
    case.need(0 <= violation <= slack, f"the certificate is too large = {violation} above {slack}")


def check_cost(
    case: Case, x: np.ndarray, y: np.ndarray, z: np.ndarray, weight: np.ndarray, options: dict[str, Any]
) -> None:
    """Compare with the solution for weights that differ less: it may not be the better one."""
    floored = np.where(weight > 0, np.maximum(weight, weight.max() / MOST), 0)
    other = lipschitz_isotonic_regression(x, y, sample_weight=floored, **options)
    scale = max(np.abs(y).max(), 1e-300)
    cost, other_cost = (float((weight / weight.max()) @ ((v - y) / scale) ** 2) for v in (z, other))
    case.need(
        cost <= other_cost * (1 + 1e-9) + 1e-15 * len(y), f"another curve fits better = {cost}, {other_cost}"
    )


def check_feasible(case: Case, x: np.ndarray, z: np.ndarray, options: dict[str, Any], slack: float) -> None:
    z = z if options["increasing"] else -z
    low, high = options.get("y_min", -np.inf), options.get("y_max", np.inf)
    plain = z if options["increasing"] else -z
    case.need((plain >= low).all() and (plain <= high).all(), "the solution leaves its bounds")
    order = np.lexsort((z, x))
    with np.errstate(over="ignore", invalid="ignore"):
        gap, step = np.diff(x[order]), np.diff(z[order])
        allowed = np.where(gap > 0, options["lipschitz"] * gap, 0.0)
    case.need((step[gap > 0] >= -slack).all(), "the solution falls")
    case.need((step <= allowed + slack).all(), "the solution is too steep")


@target("lpav-input")
def take_bad_points(case: Case) -> None:
    """Give arrays and settings of wrong kinds, to the function and to the estimator."""
    arrays = {
        "x": case.rng.normal(size=12),
        "y": case.rng.normal(size=12),
        "sample_weight": case.rng.random(12),
    }
    settings: dict[str, Any] = {"lipschitz": 1.0, "y_min": None, "y_max": None, "increasing": True}
    case.spoilt("points")
    if case.chance(0.8):
        name = case.pick(arrays)
        arrays[name] = spoil_array(case, arrays[name])
        case.wild = False
    else:
        settings[case.pick(settings)] = case.pick(
            [-1, np.nan, "x", True, None, [], 1e308, np.inf, 5e-324, -np.inf, 3]
        )
    case.say("settings", settings)
    if case.chance(0.5):
        z = lipschitz_isotonic_regression(**arrays, **settings)
    else:
        # Points of no weight may lie outside the curve, where other settings answer with NaN.
        model = LipschitzIsotonicRegression(**settings, out_of_bounds="clip")
        model.fit(arrays["x"], arrays["y"], arrays["sample_weight"])
        z = model.predict(arrays["x"])
    case.need_finite(z, "the curve of odd points")
