"""Slow and sure solvers of Lipschitz isotonic regression, to hold the fast one against."""

import bisect
import itertools
from fractions import Fraction

import clarabel
import numpy as np
import piqp
from scipy import sparse

INF = float("inf")


def merge_exactly(x, y, weight):
    """Return the distinct x of positive weight, their mean y and weight, in exact arithmetic."""
    weight = np.ones(len(x)) if weight is None else weight
    sums = {}
    for xi, yi, wi in zip(x, y, weight, strict=True):
        if wi > 0:
            total, product = sums.get(float(xi), (Fraction(0), Fraction(0)))
            wi = Fraction(float(wi))
            sums[float(xi)] = (total + wi, product + wi * Fraction(float(yi)))
    knots = sorted(sums)
    weights = [sums[k][0] for k in knots]
    means = [sums[k][1] / sums[k][0] for k in knots]
    return [Fraction(k) for k in knots], means, weights


def exact_gaps(knots, lipschitz):
    if lipschitz == INF:
        return [INF] * (len(knots) - 1)
    return [Fraction(float(lipschitz)) * (b - a) for a, b in itertools.pairwise(knots)]


def read_off(x, knots, values):
    """Return the curve through the knots at every x, rounded once; points of weight 0 lie between."""
    found = []
    for xi in map(Fraction, map(float, x)):
        j = bisect.bisect_right(knots, xi) - 1
        if j < 0 or j == len(knots) - 1:
            found.append(values[max(j, 0)])
        else:
            part = (xi - knots[j]) / (knots[j + 1] - knots[j])
            found.append(values[j] + part * (values[j + 1] - values[j]))
    return np.array([float(z) for z in found])


def solve_exactly(x, y, sample_weight=None, lipschitz=1.0, y_min=None, y_max=None):
    """Return the fitted values, in the order of x, by dynamic programming over fractions.

    Plain lists and no shortcuts: the derivative of the cost-to-come is a list of points (z, d),
    continued with the slopes `left` (None where y_min cuts it off) and `right`.
    """
    knots, means, weights = merge_exactly(x, y, sample_weight)
    gaps = exact_gaps(knots, lipschitz)
    low = None if y_min is None or y_min == -INF else Fraction(float(y_min))
    minimisers = []
    points, left, right = [], None, Fraction(0)
    for i, (mean, w) in enumerate(zip(means, weights, strict=True)):
        if i == 0:
            points = [(mean if low is None else low, Fraction(0))]
            left = None if low is not None else Fraction(0)
        else:
            points, right = cross_gap(points, right, minimisers[-1], gaps[i - 1])
        points = [(z, d + w * (z - mean)) for z, d in points]
        left = None if left is None else left + w
        right += w
        minimisers.append(find_zero(points, left, right))
    solution = [minimisers[-1]]
    if y_max is not None and y_max != INF:
        solution[0] = min(solution[0], Fraction(float(y_max)))
    for m, gap in zip(reversed(minimisers[:-1]), reversed(gaps), strict=True):
        lowest = m if gap == INF else solution[-1] - gap
        solution.append(min(max(m, lowest), solution[-1]))
    return read_off(x, knots, solution[::-1])


def cross_gap(points, right, zero, gap):
    """Cut the derivative at its zero, move the right part by the gap, put zero in between."""
    below = [(z, d) for z, d in points if d < 0]
    if gap == INF:
        return [*below, (zero, Fraction(0))], Fraction(0)
    above = [(z + gap, d) for z, d in points if d > 0]
    return [*below, (zero, Fraction(0)), (zero + gap, Fraction(0)), *above], right


def find_zero(points, left, right):
    z, d = points[0]
    if d >= 0:
        return z if left is None else z - d / left
    z, d = points[-1]
    if d <= 0:
        return z - d / right
    for (z, d), (z_next, d_next) in itertools.pairwise(points):
        if d <= 0 <= d_next:
            return z - d * (z_next - z) / (d_next - d) if d_next > d else z
    raise AssertionError("the derivative does not increase")


def solve_by_enumeration(x, y, sample_weight=None, lipschitz=1.0, y_min=None, y_max=None):
    """Return the fitted values by trying every set of active constraints, over fractions."""
    knots, means, weights = merge_exactly(x, y, sample_weight)
    gaps = exact_gaps(knots, lipschitz)
    low = None if y_min is None or y_min == -INF else Fraction(float(y_min))
    high = None if y_max is None or y_max == INF else Fraction(float(y_max))
    best, best_cost = None, None
    states = [("free", "flat") if gap == INF else ("free", "flat", "cap") for gap in gaps]
    for pattern in itertools.product([None, low], [None, high], *states):
        z = _stationary_point(means, weights, gaps, *pattern)
        if z is None or not _is_feasible(z, gaps, low, high):
            continue
        cost = sum(w * (a - b) ** 2 for w, a, b in zip(weights, z, means, strict=True))
        if best is None or cost < best_cost:
            best, best_cost = z, cost
    return read_off(x, knots, best)


def _stationary_point(means, weights, gaps, low, high, *states):
    """Return the best z with exactly these constraints active, or None where they clash."""
    n = len(means)
    ends = [i for i in range(1, n) if states[i - 1] == "free"] + [n]
    z, begin = [], 0
    for end in ends:
        offsets = [Fraction(0)]
        for i in range(begin, end - 1):
            offsets.append(offsets[-1] + (gaps[i] if states[i] == "cap" else 0))
        held = []
        if begin == 0 and low is not None:
            held.append(low)
        if end == n and high is not None:
            held.append(high - offsets[-1])
        total = sum(weights[begin:end])
        pulls = zip(weights[begin:end], means[begin:end], offsets, strict=True)
        level = held[0] if held else sum(w * (m - o) for w, m, o in pulls) / total
        if any(h != level for h in held):
            return None
        z += [level + o for o in offsets]
        begin = end
    return z


def _is_feasible(z, gaps, low, high):
    inside = (low is None or z[0] >= low) and (high is None or z[-1] <= high)
    return inside and all(0 <= b - a <= g for (a, b), g in zip(itertools.pairwise(z), gaps, strict=True))


def quadratic_programme(x, y, weight, lipschitz, y_min, y_max):
    """Return the problem over the distinct x: least squares subject to lower <= A z <= upper."""
    knots, inverse = np.unique(x, return_inverse=True)
    n = len(knots)
    weight = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=float)
    weights = np.bincount(inverse, weight, n)
    means = np.bincount(inverse, weight * y, n) / weights
    # A common factor of the weights changes nothing but the accuracy that interior points reach.
    weights = weights / weights.max()
    steps = sparse.diags_array([-np.ones(n), np.ones(n)], offsets=[0, 1], shape=(n - 1, n))
    A = sparse.vstack([steps, sparse.eye_array(n)]).tocsc()
    lower = np.r_[np.zeros(n - 1), np.full(n, -INF if y_min is None else y_min)]
    upper = np.r_[lipschitz * np.diff(knots), np.full(n, INF if y_max is None else y_max)]
    return inverse, weights, means, A, lower, upper


def solve_by_clarabel(x, y, sample_weight=None, lipschitz=1.0, y_min=None, y_max=None):
    inverse, w, means, A, lower, upper = quadratic_programme(x, y, sample_weight, lipschitz, y_min, y_max)
    above, below = np.isfinite(lower), np.isfinite(upper)
    constraints = sparse.vstack([-A[above], A[below]]).tocsc()
    bounds = np.r_[-lower[above], upper[below]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.diags_array(w).tocsc(), -w * means, constraints, bounds,
        [clarabel.NonnegativeConeT(len(bounds))], settings,
    )  # fmt: skip
    return np.array(solver.solve().x)[inverse]


def solve_by_piqp(x, y, sample_weight=None, lipschitz=1.0, y_min=None, y_max=None):
    inverse, w, means, A, lower, upper = quadratic_programme(x, y, sample_weight, lipschitz, y_min, y_max)
    n = len(w)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    limits = {"h_l": lower[: n - 1], "h_u": upper[: n - 1], "x_l": lower[n - 1 :], "x_u": upper[n - 1 :]}
    solver.setup(sparse.diags_array(w).tocsc(), -w * means, None, None, A[: n - 1], **limits)
    solver.solve()
    return np.array(solver.result.x)[inverse]
