"""What is looked at in a fitted curve: whether it is optimal, and which of its points are corners.

Nothing here is shared with the kernel of `_lpav`: what verifies must not repeat the mistakes of what it
verifies.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, isinf

# Of two sides whose weights sum to a total, one at least is within this share of it, whatever the rounding.
cdef double _HALF = 0.51


def largest_violation(
    const double[::1] x, const double[::1] y, const double[::1] w, const double[::1] z,
    double lipschitz, double y_min, double y_max, double tol,
):
    """Return the largest violation of the optimality conditions at `z`, in units of y.

    `x` strictly increasing, `w` positive. With the residual sums S over the points of a block that lie
    before a gap, blocks being runs of points linked by active constraints: S <= 0 at flat gaps, S >= 0
    at gaps on the Lipschitz cap, S = 0 for whole blocks; the first block may have S > 0 where
    z = y_min and the last one S < 0 where z = y_max.
    """
    cdef Py_ssize_t n = z.shape[0]
    cdef Py_ssize_t begin = 0
    cdef Py_ssize_t end
    cdef double worst = fmax(fmax(y_min - z[0], z[n - 1] - y_max), 0.0)
    cdef double gap, step
    with nogil:
        while begin < n:
            end = begin + 1
            while end < n:
                gap = lipschitz * (x[end] - x[end - 1])
                step = z[end] - z[end - 1]
                worst = fmax(worst, fmax(-step, step - gap))
                if tol < step < gap - tol:
                    break
                end += 1
            worst = fmax(worst, block_violation(
                x, y, w, z, lipschitz, tol, begin, end,
                begin == 0 and z[0] <= y_min + tol, end == n and z[n - 1] >= y_max - tol,
            ))
            begin = end
    return worst


cdef double block_violation(
    const double[::1] x, const double[::1] y, const double[::1] w, const double[::1] z,
    double lipschitz, double tol, Py_ssize_t begin, Py_ssize_t end, bint at_min, bint at_max,
) noexcept nogil:
    cdef double total = 0.0
    cdef double total_weight = 0.0
    cdef double before = 0.0
    cdef double weight = 0.0
    cdef double worst = 0.0
    # The bounds' multiplier: what they push the block with, from below at the first point.
    cdef double push = 0.0
    cdef double lowest = -INFINITY
    cdef double highest = INFINITY
    cdef double gap, step, weight_there
    cdef Py_ssize_t k
    for k in range(begin, end):
        total += w[k] * (z[k] - y[k])
        total_weight += w[k]
    if at_min and at_max:
        # Both bounds push: any push within [lowest, highest] satisfies every gap.
        for k in range(begin, end - 1):
            before += w[k] * (z[k] - y[k])
            gap = lipschitz * (x[k + 1] - x[k])
            step = z[k + 1] - z[k]
            if step <= tol and step < gap - tol:
                lowest = fmax(lowest, before)
            elif step > tol:
                highest = fmin(highest, before)
        push = fmax(fmax(total, 0.0), lowest if lowest <= highest else 0.5 * (lowest + highest))
        before = 0.0
    elif at_min:
        push = fmax(total, 0.0)
    if at_min or at_max:
        worst = fmax(0.0, (total - push) if at_max else fabs(total - push)) / total_weight
    else:
        worst = fabs(total) / total_weight
    # What the points before a gap pull with is what those behind it hold, and is summed over the lighter
    # side: the heavy one's rounding would be large for it. A side that a bound pushes does not tell.
    for k in range(begin, end - 1):
        before += w[k] * (z[k] - y[k])
        weight += w[k]
        if at_min != at_max and at_min or not at_min and not at_max and weight > _HALF * total_weight:
            continue
        weight_there = fmin(weight, fmax(total_weight - weight, w[k + 1])) if at_min else weight
        worst = fmax(worst, gap_violation(x, z, lipschitz, tol, k, before - push) / weight_there)
    if at_max:
        return worst
    before = 0.0
    weight = 0.0
    for k in range(end - 2, begin - 1, -1):
        before -= w[k + 1] * (z[k + 1] - y[k + 1])
        weight += w[k + 1]
        if at_min or weight <= _HALF * total_weight:
            worst = fmax(worst, gap_violation(x, z, lipschitz, tol, k, before) / weight)
    return worst


cdef inline double gap_violation(
    const double[::1] x, const double[::1] z, double lipschitz, double tol, Py_ssize_t k, double pull,
) noexcept nogil:
    """Return by how much the pull across the gap behind point k has the wrong sign for this gap."""
    cdef double gap = lipschitz * (x[k + 1] - x[k])
    cdef double step = z[k + 1] - z[k]
    if step <= tol:
        return fmax(pull, 0.0) if step < gap - tol else 0.0
    return fmax(-pull, 0.0)


def mark_corners(const double[::1] x, const double[::1] y, double tol, unsigned char[::1] keep):
    """Set `keep` to 1 where a point is needed: lines through the kept ones pass all others within `tol`.

    From each corner the line to the next kept point must run through the windows y ± tol of all points in
    between; the slopes that do are an interval, which only shrinks.
    """
    cdef Py_ssize_t n = x.shape[0]
    cdef Py_ssize_t corner = 0
    cdef Py_ssize_t i
    cdef double low = -INFINITY
    cdef double high = INFINITY
    cdef double gap, slope
    with nogil:
        for i in range(n):
            keep[i] = 0
        keep[0] = 1
        keep[n - 1] = 1
        for i in range(1, n):
            gap = x[i] - x[corner]
            slope = (y[i] - y[corner]) / gap
            # Slopes too steep for a number cannot be told from each other.
            if not low <= slope <= high or isinf(slope):
                corner = i - 1
                keep[corner] = 1
                low = -INFINITY
                high = INFINITY
                gap = x[i] - x[corner]
            slope = (y[i] - tol - y[corner]) / gap
            low = slope if slope > low else low
            slope = (y[i] + tol - y[corner]) / gap
            high = slope if slope < high else high
