"""Coordinate descent on a penalised quadratic, for columns as arrays, as stored entries, or as their products.

All three minimise over u

    ½ ‖r(u)‖² + ½ alpha ‖u‖² + Σ_j amount_j |u_j|,   lower ≤ u ≤ upper,   r(u) = r − A (u − w),

or, for blocks of coefficients, Σ_b amount_b ‖u_b‖ without bounds. With m outputs u has a row for each column and
a column for each output, r a row for each output; A is common to all, or one for each. The columns of A are those of the data, centred and multiplied by the roots of the row weights. What moves
along with u is the *state*: the residual r, or, where only AᵀA is known, the gradient q = Aᵀr. Both are affine
in u, so that an extrapolation of the last few u costs no product with the data.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isinf, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    /* Sixteen sums side by side, always in the same order: however wide the registers of a machine are, it gives
       the same bits. */
    #if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
    #define EVERY_WIDTH __attribute__((target_clones("avx2", "default")))
    #else
    #define EVERY_WIDTH
    #endif
    #if defined(__GNUC__) || defined(__clang__)
    typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
    #endif

    EVERY_WIDTH static double dot(const double *a, const double *b, Py_ssize_t n)
    {
        Py_ssize_t i = 0;
        double s[16] = {0.0};
        int k;
    #if defined(__GNUC__) || defined(__clang__)
        Lanes low = {0.0}, high = {0.0};
        for (; i + 15 < n; i += 16) {
            low += *(const Lanes *)(a + i) * *(const Lanes *)(b + i);
            high += *(const Lanes *)(a + i + 8) * *(const Lanes *)(b + i + 8);
        }
        for (k = 0; k < 8; k++) { s[k] = low[k]; s[k + 8] = high[k]; }
    #else
        for (; i + 15 < n; i += 16)
            for (k = 0; k < 16; k++) s[k] += a[i + k] * b[i + k];
    #endif
        for (; i < n; i++) s[0] += a[i] * b[i];
        for (k = 0; k < 8; k++) s[k] += s[k + 8];
        return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    }

    EVERY_WIDTH static void add_times(double *out, double factor, const double *a, Py_ssize_t n)
    {
        Py_ssize_t i = 0;
    #if defined(__GNUC__) || defined(__clang__)
        for (; i + 7 < n; i += 8)
            *(Lanes *)(out + i) += factor * *(const Lanes *)(a + i);
    #endif
        for (; i < n; i++) out[i] += factor * a[i];
    }
    """
    double dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil
    void add_times(double *out, double factor, const double *a, Py_ssize_t n) noexcept nogil


cdef enum:
    KEPT = 5         # the sweeps of a round, from which the limit of u is extrapolated
    MOST_INNER = 20  # proximal steps for a block before the next one has its turn

# A column whose variance is a smaller share of its mean square than this is constant, but for rounding.
cdef double CONSTANT = 1e-26
# Share of the objective by which a sweep lowers it that only moves the last digits of u.
cdef double ROUNDING = 1e-32
# Squared share of the move of a block at which another proximal step is not worth it.
cdef double ENOUGH = 1e-6


cdef struct Problem:
    Py_ssize_t k               # columns
    Py_ssize_t m               # outputs
    Py_ssize_t length          # of the state of an output: rows, or k where it is the gradient
    const double *values       # (k, n), the stored entries, or the products (k, k)
    Py_ssize_t apart           # from the values of one output to those of the next: 0 where all share them
    bint known                 # whether the values are products
    const int *indices         # NULL but for stored entries
    const Py_ssize_t *indptr
    const double *mean         # of stored entries: their columns are centred without being changed
    const double *root         # the roots of the row weights
    double *shift              # of each output: what is still to be added to the state, times `root`
    double square              # of products: ‖r‖² at w
    const double *w            # of products: u at the start,
    const double *gradient     # and the gradient there
    double *state              # (m, length)
    double *u                  # (k, m)
    const double *norm         # squared lengths of the columns, of each output where they are apart
    const double *amount       # of each column, or of each block
    const double *lower
    const double *upper
    double alpha
    const Py_ssize_t *starts   # the first column of each block; NULL where each is one, and m = 1
    Py_ssize_t n_blocks
    const double *within       # of blocks: the products of the columns of each, one block after the other
    Py_ssize_t within_apart
    const double *bound        # of blocks: a bound of the eigenvalues of these, whatever the output
    double *spare              # of blocks: room for three of them


cdef inline Py_ssize_t own(const Problem *p, Py_ssize_t o, Py_ssize_t size) noexcept nogil:
    """Return where what has `size` numbers for an output lies for the o-th, if each has its own."""
    return o * size if p.apart else 0


cdef inline double slope_along(const Problem *p, Py_ssize_t j, Py_ssize_t o) noexcept nogil:
    """Return the j-th entry of Aᵀr of an output."""
    cdef const double *r = p.state + o * p.length
    cdef const double *values = p.values + o * p.apart
    cdef Py_ssize_t i
    cdef double a = 0.0, b = 0.0
    if p.known:
        return r[j]
    if p.indptr == NULL:
        return dot(values + j * p.length, r, p.length)
    i = p.indptr[j]
    while i + 1 < p.indptr[j + 1]:
        a += values[i] * r[p.indices[i]]
        b += values[i + 1] * r[p.indices[i + 1]]
        i += 2
    if i < p.indptr[j + 1]:
        a += values[i] * r[p.indices[i]]
    # r is orthogonal to `root` all the time, so that the mean need only be taken off what is stored of r.
    return a + b + p.shift[o] * p.mean[own(p, o, p.k) + j]


cdef inline void move_along(Problem *p, Py_ssize_t j, Py_ssize_t o, double delta) noexcept nogil:
    """Take `delta` times the j-th column off the residual, or its products off the gradient."""
    cdef double *r = p.state + o * p.length
    cdef const double *values = p.values + o * p.apart
    cdef Py_ssize_t i
    if p.indptr == NULL:
        add_times(r, -delta, values + j * p.length, p.length)
        return
    for i in range(p.indptr[j], p.indptr[j + 1]):
        r[p.indices[i]] -= delta * values[i]
    p.shift[o] += delta * p.mean[own(p, o, p.k) + j]


cdef void settle(Problem *p) noexcept nogil:
    """Add the shift to the residual. Means and roots are in units in which the roots have length one."""
    cdef Py_ssize_t o
    for o in range(p.m if p.shift != NULL else 0):
        if p.shift[o] != 0.0:
            add_times(p.state + o * p.length, p.shift[o], p.root + own(p, o, p.length), p.length)
            p.shift[o] = 0.0


cdef double squared_residual(Problem *p) noexcept nogil:
    cdef Py_ssize_t j, o
    cdef double s
    if not p.known:
        settle(p)
        return dot(p.state, p.state, p.m * p.length)
    s = p.square
    for j in range(p.k):
        for o in range(p.m):
            s -= (p.u[j * p.m + o] - p.w[j * p.m + o]) * (p.gradient[o * p.k + j] + p.state[o * p.k + j])
    return s if s > 0.0 else 0.0


cdef inline double length_of(const double *u, Py_ssize_t size) noexcept nogil:
    return sqrt(dot(u, u, size)) if size > 1 else fabs(u[0])


cdef inline Py_ssize_t first_of(const Problem *p, Py_ssize_t b) noexcept nogil:
    """Return where the coefficients of a block begin."""
    return (p.starts[b] if p.starts != NULL else b) * p.m


cdef double objective(Problem *p) noexcept nogil:
    cdef Py_ssize_t b, first, size
    cdef double s = 0.0, length
    for b in range(p.n_blocks):
        first = first_of(p, b)
        size = first_of(p, b + 1) - first
        length = length_of(p.u + first, size)
        if length != 0.0:
            s += p.amount[b] * length + 0.5 * p.alpha * length * length
    return s + 0.5 * squared_residual(p)


cdef inline double minimiser(const Problem *p, Py_ssize_t j) noexcept nogil:
    """Return the best u_j while all others stay."""
    cdef double g, t = p.amount[j], curvature = p.norm[j] + p.alpha
    if p.norm[j] == 0.0:
        # A constant column: the penalty alone decides, if there is one.
        return 0.0 if t > 0.0 or p.alpha > 0.0 else p.u[j]
    g = slope_along(p, j, 0) + p.norm[j] * p.u[j]
    if g > t:
        g = (g - t) / curvature
        return g if p.upper == NULL or g < p.upper[j] else p.upper[j]
    if g < -t:
        g = (g + t) / curvature
        return g if p.lower == NULL or g > p.lower[j] else p.lower[j]
    return 0.0


cdef double sweep_coordinates(Problem *p, bint only_used) noexcept nogil:
    cdef Py_ssize_t j
    cdef double best, delta, fallen = 0.0
    for j in range(p.k):
        if only_used and p.u[j] == 0.0:
            continue
        best = minimiser(p, j)
        delta = best - p.u[j]
        if delta != 0.0:
            p.u[j] = best
            move_along(p, j, 0, delta)
            fallen += 0.5 * (p.norm[j] + p.alpha) * delta * delta
    return fallen


cdef void turn(const Problem *p, Py_ssize_t b, const double *within, const double *delta, double *out) noexcept nogil:
    """Write AᵀA δ for the columns of a block."""
    cdef Py_ssize_t a, c, o, first = p.starts[b], size = p.starts[b + 1] - p.starts[b]
    cdef double s
    for a in range(size):
        for o in range(p.m):
            s = 0.0
            if size == 1:
                s = p.norm[own(p, o, p.k) + first] * delta[o]
            elif p.m == 1:
                s = dot(within + a * size, delta, size)
            else:
                for c in range(size):
                    s += within[(p.within_apart * o if p.apart else 0) + a * size + c] * delta[c * p.m + o]
            out[a * p.m + o] = s


cdef double improve_block(Problem *p, Py_ssize_t b, const double *within) noexcept nogil:
    """Minimise over a block, by proximal steps that need no data; return by how much the objective has fallen."""
    cdef Py_ssize_t j, o, i, begin = p.starts[b], size = (p.starts[b + 1] - p.starts[b]) * p.m
    cdef double *u = p.u + begin * p.m
    cdef double *g = p.spare
    cdef double *delta = g + size
    cdef double *turned = delta + size
    cdef double t = p.amount[b], curvature = p.bound[b] + p.alpha
    cdef double length, new_length, before, shrink, step, moved, fallen = 0.0
    cdef int n_inner
    before = length_of(u, size)
    if isinf(t) or p.bound[b] == 0.0:
        if before == 0.0 or (t == 0.0 and p.alpha == 0.0):
            return 0.0
        for i in range(size):
            delta[i] = -u[i]
        new_length = 0.0
    else:
        for j in range(size // p.m):
            for o in range(p.m):
                g[j * p.m + o] = slope_along(p, begin + j, o)
                delta[j * p.m + o] = turned[j * p.m + o] = 0.0
        new_length = before
        for n_inner in range(MOST_INNER):
            # δ + (g − AᵀA δ − alpha (u + δ)) / curvature is where the step leads, before it is shortened.
            length = 0.0
            for i in range(size):
                step = u[i] + delta[i] + (g[i] - turned[i] - p.alpha * (u[i] + delta[i])) / curvature
                turned[i] = step
                length += step * step
            length = sqrt(length)
            shrink = 1.0 - t / (curvature * length) if curvature * length > t else 0.0
            moved = 0.0
            for i in range(size):
                step = shrink * turned[i] - u[i]
                moved += (step - delta[i]) * (step - delta[i])
                delta[i] = step
            new_length = shrink * length
            turn(p, b, within, delta, turned)
            if moved <= ENOUGH * dot(delta, delta, size):
                break
        fallen = dot(g, delta, size) - 0.5 * dot(delta, turned, size)
    if new_length == 0.0:
        for i in range(size):
            delta[i] = -u[i]
    for j in range(size // p.m):
        for o in range(p.m):
            i = j * p.m + o
            if delta[i] != 0.0:
                u[i] = u[i] + delta[i] if new_length > 0.0 else 0.0
                move_along(p, begin + j, o, delta[i])
    if isinf(t):
        return 0.0
    return fallen + t * (before - new_length) + 0.5 * p.alpha * (before * before - new_length * new_length)


cdef double sweep_blocks(Problem *p, bint only_used) noexcept nogil:
    cdef Py_ssize_t b, size
    cdef double fallen = 0.0
    cdef const double *within = p.within
    for b in range(p.n_blocks):
        size = p.starts[b + 1] - p.starts[b]
        if not only_used or length_of(p.u + p.starts[b] * p.m, size * p.m) > 0.0:
            fallen += improve_block(p, b, within)
        if size > 1:
            within += size * size
    return fallen


cdef double sweep(Problem *p, bint only_used) noexcept nogil:
    """Minimise over one coordinate or block after the other; return by how much the objective has fallen."""
    return sweep_coordinates(p, only_used) if p.starts == NULL else sweep_blocks(p, only_used)


# ---------------------------------------------------------------- the gap


cdef inline double free_excess(double p, double u, double alpha, double norm, double lower, double upper) noexcept nogil:
    """Return what a coefficient without a penalty adds to the gap, where the gradient is `p`."""
    cdef double best, bound = upper if p > 0.0 else lower
    if p == 0.0 and alpha == 0.0:
        return 0.0
    if alpha == 0.0 and isinf(bound):
        # No dual bound exists until p is zero: what a step along this coordinate would bring, a measure only.
        return 0.5 * p * p / norm if norm > 0.0 else 0.0
    best = bound if alpha == 0.0 else p / alpha
    best = upper if best > upper else (lower if best < lower else best)
    return (p * best - 0.5 * alpha * best * best) + 0.5 * alpha * u * u - u * p


cdef inline double bound_towards(double p, Py_ssize_t j, const double *lower, const double *upper) noexcept nogil:
    """Return the bound of a coefficient on the side that p points to; there are none where there are no arrays."""
    cdef const double *bounds = upper if p > 0.0 else lower
    return bounds[j] if bounds != NULL else (INFINITY if p > 0.0 else -INFINITY)


cdef double gap_at(
    Py_ssize_t k, double square, const double *q, const double *u, const double *norm, const double *amount,
    const double *lower, const double *upper, double alpha,
) noexcept nogil:
    """Return the duality gap for the residual, shortened until it is feasible, as the dual point.

    The ridge of penalised coefficients counts as rows of their own, sqrt(alpha) u_j; that of others, and finite
    bounds, by conjugates.
    """
    cdef Py_ssize_t j
    cdef double p, t, s = 1.0, gap = 0.0
    for j in range(k):
        t = amount[j]
        if t > 0.0 and not isinf(t):
            p = q[j] - alpha * u[j]
            square += alpha * u[j] * u[j]
            if fabs(p) * s > t and isinf(bound_towards(p, j, lower, upper)):
                s = t / fabs(p)
    for j in range(k):
        t = amount[j]
        if isinf(t):
            continue
        if t == 0.0:
            gap += free_excess(
                s * q[j], u[j], alpha, norm[j], bound_towards(-1.0, j, lower, upper), bound_towards(1.0, j, lower, upper)
            )
            continue
        p = s * (q[j] - alpha * u[j])
        if u[j] != 0.0:
            gap += t * fabs(u[j]) - u[j] * p
        if fabs(p) > t and not isinf(bound_towards(p, j, lower, upper)):
            gap += (fabs(p) - t) * fabs(bound_towards(p, j, lower, upper))
    return gap + 0.5 * (1.0 - s) * (1.0 - s) * square


def duality_gap(
    double square, const double[::1] q, const double[::1] u, const double[::1] norm, const double[::1] amount,
    const double[::1] lower, const double[::1] upper, double alpha,
):
    """Return the duality gap at u, where the gradient is `q` and the squared length of the residual `square`.

    `norm` is read only of coefficients that have neither a penalty nor a ridge nor finite bounds: these have
    no dual bound, and add what a step along each would bring. `lower` and `upper` may be None.
    """
    check(q.shape[0] == u.shape[0] == norm.shape[0] == amount.shape[0])
    check((lower is None or lower.shape[0] == q.shape[0]) and (upper is None or upper.shape[0] == q.shape[0]))
    if q.shape[0] == 0:
        return 0.0
    return gap_at(
        q.shape[0], square, &q[0], &u[0], &norm[0], &amount[0], NULL if lower is None else &lower[0],
        NULL if upper is None else &upper[0], alpha,
    )


cdef double block_gap_at(
    Py_ssize_t n_blocks, Py_ssize_t m, const Py_ssize_t *starts, double square, const double *q, const double *u,
    const double *bound, const double *amount, double alpha,
) noexcept nogil:
    """Do as `gap_at` for blocks."""
    cdef Py_ssize_t b, i
    cdef double t, s = 1.0, gap = 0.0, length, used, along, over
    for b in range(n_blocks):
        t = amount[b]
        if t == 0.0 or isinf(t):
            continue
        length = 0.0
        for i in range(starts[b] * m, starts[b + 1] * m):
            length += (q[i] - alpha * u[i]) * (q[i] - alpha * u[i])
            square += alpha * u[i] * u[i]
        length = sqrt(length)
        if length * s > t:
            s = t / length
    for b in range(n_blocks):
        t = amount[b]
        if isinf(t):
            continue
        used = along = over = 0.0
        for i in range(starts[b] * m, starts[b + 1] * m):
            used += u[i] * u[i]
            along += u[i] * (q[i] - alpha * u[i])
            over += (alpha * u[i] - s * q[i]) * (alpha * u[i] - s * q[i])
        if t > 0.0:
            gap += t * sqrt(used) - s * along
        elif alpha > 0.0:
            gap += 0.5 * over / alpha
        elif bound[b] > 0.0:
            # A measure only, as for single coordinates: what a step would bring.
            gap += 0.5 * over / bound[b]
    return gap + 0.5 * (1.0 - s) * (1.0 - s) * square


def block_gap(
    double square, const double[:, ::1] q, const double[:, ::1] u, const Py_ssize_t[::1] starts,
    const double[::1] bound, const double[::1] amount, double alpha,
):
    """Return the duality gap for blocks of the rows of u; `bound` is read as `norm` is by `duality_gap`."""
    check(q.shape[0] == u.shape[0] and q.shape[1] == u.shape[1])
    check_starts(starts, amount.shape[0], u.shape[0])
    check(bound.shape[0] == amount.shape[0])
    if q.shape[0] == 0 or q.shape[1] == 0:
        return 0.0
    return block_gap_at(
        amount.shape[0], u.shape[1], &starts[0], square, &q[0, 0], &u[0, 0], &bound[0], &amount[0], alpha
    )


def screen(
    const double[::1] q, const double[::1] u, const double[::1] least, const double[::1] lower,
    const double[::1] upper, const unsigned char[::1] inside, Py_ssize_t[::1] out,
):
    """Write the numbers of the columns that belong in a working set and are not in it; return how many.

    These are the ones in use, those without a penalty, and those that the gradient q pushes by more than `least`.
    `lower` and `upper` may be None.
    """
    cdef Py_ssize_t j, n = 0
    check(q.shape[0] == u.shape[0] == least.shape[0] == inside.shape[0] == out.shape[0])
    check((lower is None or lower.shape[0] == q.shape[0]) and (upper is None or upper.shape[0] == q.shape[0]))
    with nogil:
        for j in range(q.shape[0]):
            if inside[j]:
                continue
            if u[j] != 0.0 or least[j] == 0.0 or (q[j] > least[j] and (upper is None or upper[j] > 0.0)) or (
                q[j] < -least[j] and (lower is None or lower[j] < 0.0)
            ):
                out[n] = j
                n += 1
    return n


cdef double own_gap(Problem *p, double *q) noexcept nogil:
    cdef Py_ssize_t j, o
    cdef double square = squared_residual(p)
    for j in range(p.k):
        for o in range(p.m):
            q[j * p.m + o] = slope_along(p, j, o)
    if p.starts != NULL:
        return block_gap_at(p.n_blocks, p.m, p.starts, square, q, p.u, p.bound, p.amount, p.alpha)
    return gap_at(p.k, square, q, p.u, p.norm, p.amount, p.lower, p.upper, p.alpha)


# ---------------------------------------------------------------- rounds of sweeps


cdef bint solve_small(double *M, double *z) noexcept nogil:
    """Solve M z = 1 by elimination, M of shape (KEPT, KEPT) and positive definite; tell whether it was."""
    cdef int i, j, l
    cdef double f
    for i in range(KEPT):
        z[i] = 1.0
    for i in range(KEPT):
        if not M[i * KEPT + i] > 0.0:
            return False
        for j in range(i + 1, KEPT):
            f = M[j * KEPT + i] / M[i * KEPT + i]
            for l in range(i, KEPT):
                M[j * KEPT + l] -= f * M[i * KEPT + l]
            z[j] -= f * z[i]
    for i in range(KEPT - 1, -1, -1):
        for j in range(i + 1, KEPT):
            z[i] -= M[i * KEPT + j] * z[j]
        z[i] /= M[i * KEPT + i]
    return True


cdef void keep(const Problem *p, double *room, int place) noexcept nogil:
    cdef Py_ssize_t n_u = p.k * p.m, n_state = p.m * p.length
    memcpy(room + place * (n_u + n_state), p.u, n_u * sizeof(double))
    memcpy(room + place * (n_u + n_state) + n_u, p.state, n_state * sizeof(double))


cdef void recall(Problem *p, const double *room, int place) noexcept nogil:
    cdef Py_ssize_t n_u = p.k * p.m, n_state = p.m * p.length
    memcpy(p.u, room + place * (n_u + n_state), n_u * sizeof(double))
    memcpy(p.state, room + place * (n_u + n_state) + n_u, n_state * sizeof(double))


cdef void extrapolate(Problem *p, double *room) noexcept nogil:
    """Move to where the last sweeps seem to lead (Anderson), if the objective is lower there.

    `room` holds u and the state before the first sweep of a round and after each; what is there is lost.
    """
    cdef Py_ssize_t j, n_u = p.k * p.m, n_state = p.m * p.length, both = n_u + n_state
    cdef int a, b
    cdef double M[KEPT * KEPT]
    cdef double z[KEPT]
    cdef double total = 0.0, trace = 0.0, share = 0.0, before = objective(p)
    # Differences of successive u, in place of the first of each two; the states stay.
    for a in range(KEPT):
        for j in range(n_u):
            room[a * both + j] = room[(a + 1) * both + j] - room[a * both + j]
    for a in range(KEPT):
        for b in range(a, KEPT):
            M[a * KEPT + b] = M[b * KEPT + a] = dot(room + a * both, room + b * both, n_u)
        trace += M[a * KEPT + a]
    for a in range(KEPT):
        M[a * KEPT + a] += 1e-12 * trace
    if not solve_small(M, z):
        return
    for a in range(KEPT):
        total += z[a]
    if not fabs(total) > 0.0:
        return
    # u of the last sweep, less what of the differences is to be taken back: the shares of all sweeps before each.
    for a in range(KEPT - 1):
        share += z[a] / total
        add_times(p.u, -share, room + (a + 1) * both, n_u)
    memset(p.state, 0, n_state * sizeof(double))
    for a in range(KEPT):
        add_times(p.state, z[a] / total, room + (a + 1) * both + n_u, n_state)
    if feasible(p) and objective(p) < before:
        return
    recall(p, room, KEPT)


cdef bint feasible(const Problem *p) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(p.k if p.starts == NULL else 0):
        if (p.lower != NULL and p.u[j] < p.lower[j]) or (p.upper != NULL and p.u[j] > p.upper[j]):
            return False
    return True


cdef double run(Problem *p, double target, Py_ssize_t max_sweeps, Py_ssize_t *n_sweeps) noexcept nogil:
    """Sweep until the gap is at most `target`; return it, a negative number where there is no memory."""
    cdef Py_ssize_t both = p.m * (p.k + p.length)
    # u and the state of a round, a gradient, and room for a block: at most all of u, three times.
    cdef double *room = <double *> malloc(((KEPT + 1) * both + 4 * p.k * p.m) * sizeof(double))
    cdef double *q
    cdef double fallen, gap, rounding, calm = target
    cdef int a
    if room == NULL:
        return -1.0
    q = room + (KEPT + 1) * both
    p.spare = q + p.k * p.m
    gap = own_gap(p, q)
    rounding = ROUNDING * objective(p)
    while gap > target and n_sweeps[0] < max_sweeps:
        settle(p)
        keep(p, room, 0)
        # Once over all, then over those in use; the last sweeps are those of one fixed-point iteration.
        fallen = sweep(p, False)
        for a in range(1, KEPT + 1):
            settle(p)
            keep(p, room, a)
            if a < KEPT:
                sweep(p, True)
        n_sweeps[0] += KEPT
        if fallen <= calm:
            gap = own_gap(p, q)
            calm *= 0.1
            if fallen <= rounding:
                break
        if gap > target:
            extrapolate(p, room)
    settle(p)
    gap = own_gap(p, q)
    free(room)
    return gap


def check(bint fits):
    """Raise where arrays do not go together: kernels read on beyond the end of one that is too short."""
    if not fits:
        raise ValueError("the arrays of a descent must have one entry for each column, or for each row, of the block.")


cdef Problem as_problem(
    double[:, ::1] state, double[:, ::1] u, const double[:, ::1] norm, const double[::1] amount,
    const double[::1] lower, const double[::1] upper, double alpha, const Py_ssize_t[::1] starts,
    const double[:, ::1] within, const double[::1] bound,
):
    """Return what all forms share; `norm` has a row for each output if each has its own columns, else one."""
    cdef Problem p
    p.k, p.m, p.length, p.known = u.shape[0], u.shape[1], state.shape[1], False
    check(p.k > 0 and p.m > 0 and p.length > 0 and state.shape[0] == p.m)
    check(norm.shape[1] == p.k and (norm.shape[0] == 1 or norm.shape[0] == p.m))
    p.apart = norm.shape[0] > 1
    p.indices, p.indptr, p.mean, p.root, p.shift, p.w, p.gradient = NULL, NULL, NULL, NULL, NULL, NULL, NULL
    p.lower, p.upper, p.starts, p.within, p.bound, p.spare = NULL, NULL, NULL, NULL, NULL, NULL
    p.square, p.alpha, p.within_apart, p.n_blocks = 0.0, alpha, 0, amount.shape[0]
    if starts is None:
        check(p.m == 1 and amount.shape[0] == p.k)
        check((lower is None or lower.shape[0] == p.k) and (upper is None or upper.shape[0] == p.k))
        p.lower = NULL if lower is None else &lower[0]
        p.upper = NULL if upper is None else &upper[0]
    else:
        check_starts(starts, p.n_blocks, p.k)
        check(bound.shape[0] == p.n_blocks and within.shape[0] == norm.shape[0])
        check(within.shape[1] == products_of(starts))
        p.starts, p.bound, p.within_apart = &starts[0], &bound[0], within.shape[1]
        p.within = &within[0, 0] if within.shape[1] else NULL
    p.state, p.u, p.norm, p.amount = &state[0, 0], &u[0, 0], &norm[0, 0], &amount[0]
    return p


cdef int check_starts(const Py_ssize_t[::1] starts, Py_ssize_t n_blocks, Py_ssize_t k) except -1:
    cdef Py_ssize_t b
    cdef bint fits = starts.shape[0] == n_blocks + 1 and starts[0] == 0 and starts[n_blocks] == k
    for b in range(n_blocks if fits else 0):
        fits = fits and starts[b] < starts[b + 1]
    check(fits)


cdef Py_ssize_t products_of(const Py_ssize_t[::1] starts):
    """Return how many products of columns the blocks have that are more than one column."""
    cdef Py_ssize_t b, size, total = 0
    for b in range(starts.shape[0] - 1):
        size = starts[b + 1] - starts[b]
        total += size * size if size > 1 else 0
    return total


cdef tuple solve(Problem *p, double target, Py_ssize_t max_sweeps):
    cdef Py_ssize_t n_sweeps = 0
    cdef double gap
    with nogil:
        gap = run(p, target, max_sweeps, &n_sweeps)
    if gap == -1.0:
        raise MemoryError()
    return gap, n_sweeps


def descend_dense(
    const double[:, :, ::1] values, double[:, ::1] r, double[:, ::1] u, const double[:, ::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    const Py_ssize_t[::1] starts, const double[:, ::1] within, const double[::1] bound,
    double target, Py_ssize_t max_sweeps,
):
    """Move u and the residual r in place until the gap is at most `target`; return it and the number of sweeps.

    `values` holds the columns, as `centre_dense` leaves them: those of all outputs, or of each. Without `starts`
    there is one output, and each column has an amount and bounds. With it there are blocks of columns, which begin
    there; `within` are the products of the columns of each that has several, `bound` bounds their eigenvalues.
    """
    cdef Problem p = as_problem(r, u, norm, amount, lower, upper, alpha, starts, within, bound)
    check(values.shape[0] == norm.shape[0] and values.shape[1] == p.k and values.shape[2] == p.length)
    p.values = &values[0, 0, 0]
    p.apart *= p.k * p.length
    return solve(&p, target, max_sweeps)


def descend_sparse(
    const double[:, ::1] data, const int[::1] indices, const Py_ssize_t[::1] indptr, const double[:, ::1] mean,
    const double[:, ::1] root, double[:, ::1] r, double[:, ::1] u, const double[:, ::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    const Py_ssize_t[::1] starts, const double[:, ::1] within, const double[::1] bound,
    double target, Py_ssize_t max_sweeps,
):
    """Do as `descend_dense` for columns in CSC, as `centre_sparse` leaves them.

    `root` are the roots of the row weights, brought to length one; r is orthogonal to them.
    """
    cdef Problem p = as_problem(r, u, norm, amount, lower, upper, alpha, starts, within, bound)
    cdef double[::1] shift = np.zeros(p.m)
    check(mean.shape[0] == root.shape[0] == data.shape[0] == norm.shape[0])
    check(mean.shape[1] == p.k and root.shape[1] == p.length)
    check_stored(data.shape[1], indices, indptr, p.k, p.length)
    p.values = &data[0, 0] if data.shape[1] else &mean[0, 0]
    p.indices = &indices[0] if indices.shape[0] else NULL
    p.indptr, p.mean, p.root, p.shift = &indptr[0], &mean[0, 0], &root[0, 0], &shift[0]
    # Where nothing is stored the entries of no output are ever read; still, each is to have its own means.
    p.apart *= data.shape[1] if data.shape[1] else 1
    return solve(&p, target, max_sweeps)


def descend_gram(
    const double[:, :, ::1] gram, double[:, ::1] q, double square, double[:, ::1] u, const double[:, ::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    const Py_ssize_t[::1] starts, const double[:, ::1] within, const double[::1] bound,
    double target, Py_ssize_t max_sweeps,
):
    """Do as `descend_dense` where only the products of the columns are known; q moves in place of r.

    `square` is the squared length of the residual at the start.
    """
    cdef Problem p = as_problem(q, u, norm, amount, lower, upper, alpha, starts, within, bound)
    cdef const double[:, ::1] w = u.copy()
    cdef const double[:, ::1] gradient = q.copy()
    check(gram.shape[0] == norm.shape[0] and gram.shape[1] == gram.shape[2] == p.k == p.length)
    p.values, p.known, p.square, p.w, p.gradient = &gram[0, 0, 0], True, square, &w[0, 0], &gradient[0, 0]
    p.apart *= p.k * p.k
    return solve(&p, target, max_sweeps)


# ---------------------------------------------------------------- columns of the metric


cdef int check_stored(
    Py_ssize_t n_stored, const int[::1] indices, const Py_ssize_t[::1] indptr, Py_ssize_t k, Py_ssize_t n,
) except -1:
    cdef Py_ssize_t i
    cdef bint fits = True
    check(indptr.shape[0] == k + 1 and indptr[0] == 0 and indptr[k] == n_stored == indices.shape[0])
    for i in range(k):
        fits = fits and indptr[i] <= indptr[i + 1]
    for i in range(indices.shape[0]):
        fits = fits and 0 <= indices[i] < n
    check(fits)


def centre_dense(double[:, ::1] values, const double[::1] factor, const double[::1] root, double[::1] norm):
    """Turn columns, the rows of `values`, into factor × root × (column − mean); write their squared lengths.

    The squares of `root` are the row weights. A constant column becomes zero, exactly.
    """
    cdef Py_ssize_t j, i, n = values.shape[1]
    cdef double total, m, s, raw, x
    cdef double *z
    check(values.shape[0] == factor.shape[0] == norm.shape[0] and n == root.shape[0] > 0)
    with nogil:
        total = dot(&root[0], &root[0], n)
        for j in range(values.shape[0]):
            z = &values[j, 0]
            for i in range(n):
                z[i] *= root[i]
            m = dot(z, &root[0], n) / total if total > 0.0 else 0.0
            raw = dot(z, z, n)
            add_times(z, -m, &root[0], n)
            s = dot(z, z, n)
            if s <= CONSTANT * raw:
                s = 0.0
            x = factor[j] if s > 0.0 else 0.0
            for i in range(n):
                z[i] *= x
            norm[j] = x * x * s


def centre_sparse(
    double[::1] data, const int[::1] indices, const Py_ssize_t[::1] indptr, const double[::1] factor,
    const double[::1] root, double[::1] mean, double[::1] norm,
):
    """Do as `centre_dense` for columns in CSC, but for the means: these are written, and taken off nowhere.

    They are multiplied by the length of `root`, so that they belong to roots of length one.
    """
    cdef Py_ssize_t j, i, k = factor.shape[0]
    cdef double total, m, s, stored, raw, x
    check(mean.shape[0] == norm.shape[0] == k and root.shape[0] > 0)
    check_stored(data.shape[0], indices, indptr, k, root.shape[0])
    with nogil:
        total = dot(&root[0], &root[0], root.shape[0])
        for j in range(k):
            m = 0.0
            stored = 0.0
            for i in range(indptr[j], indptr[j + 1]):
                x = root[indices[i]]
                stored += x * x
                m += x * x * data[i]
            m = m / total if total > 0.0 else 0.0
            # What is not stored is zero.
            s = (total - stored) * m * m if stored < total else 0.0
            raw = 0.0
            for i in range(indptr[j], indptr[j + 1]):
                x = root[indices[i]]
                s += x * x * (data[i] - m) * (data[i] - m)
                raw += x * x * data[i] * data[i]
            x = factor[j] if s > CONSTANT * raw else 0.0
            for i in range(indptr[j], indptr[j + 1]):
                data[i] *= x * root[indices[i]]
            mean[j] = x * m * sqrt(total)
            norm[j] = x * x * s


# ---------------------------------------------------------------- products of some columns among those of all


cdef int check_places(const Py_ssize_t[::1] which, Py_ssize_t d) except -1:
    cdef Py_ssize_t k
    cdef bint fits = True
    for k in range(which.shape[0]):
        fits = fits and 0 <= which[k] < d
    check(fits)


def gather_products(const double[:, :, ::1] gram, const Py_ssize_t[::1] which, double[:, :, ::1] out):
    """Write the products of some columns with each other."""
    cdef Py_ssize_t o, a, b
    check(gram.shape[1] == gram.shape[2] and out.shape[1] == out.shape[2] == which.shape[0])
    check(gram.shape[0] == out.shape[0])
    check_places(which, gram.shape[1])
    with nogil:
        for o in range(out.shape[0]):
            for a in range(which.shape[0]):
                for b in range(which.shape[0]):
                    out[o, a, b] = gram[o, which[a], which[b]]


def take_off_products(
    const double[:, :, ::1] gram, const Py_ssize_t[::1] which, const double[:, ::1] move, double[:, ::1] q,
):
    """Take off the gradients q, a row for each output, what the coefficients of some columns have moved by.

    `move` has a row for each of these columns, `gram` is of all outputs or of each.
    """
    cdef Py_ssize_t o, a, d = gram.shape[1]
    check(gram.shape[2] == q.shape[1] == d and (gram.shape[0] == 1 or gram.shape[0] == q.shape[0]))
    check(move.shape[0] == which.shape[0] and move.shape[1] == q.shape[0])
    check_places(which, d)
    with nogil:
        for o in range(q.shape[0]):
            for a in range(which.shape[0]):
                if move[a, o] != 0.0:
                    add_times(&q[o, 0], -move[a, o], &gram[o if gram.shape[0] > 1 else 0, which[a], 0], d)
