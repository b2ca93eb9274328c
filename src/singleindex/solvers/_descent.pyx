"""Coordinate descent on a penalised quadratic, for columns as arrays, as stored entries, or as their products.

All three minimise over u

    ½ ‖r(u)‖² + ½ alpha ‖u‖² + Σ_j amount_j |u_j|,   lower ≤ u ≤ upper,   r(u) = r − A (u − w),

where the columns of A are those of the data, centred and multiplied by the roots of the row weights. What moves
along with u is the *state*: the residual r, or, where only AᵀA is known, the gradient q = Aᵀr. Both are affine
in u, so that an extrapolation of the last few u costs no product with the data.
"""

from libc.math cimport fabs, isinf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

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
    KEPT = 5  # the sweeps of a round, from which the limit of u is extrapolated

# A column whose variance is a smaller share of its mean square than this is constant, but for rounding.
cdef double CONSTANT = 1e-26
# Share of the objective by which a sweep lowers it that only moves the last digits of u.
cdef double ROUNDING = 1e-32


cdef struct Problem:
    Py_ssize_t k               # coordinates
    Py_ssize_t length          # of the state: rows, or k where it is the gradient
    const double *values       # (k, n), the stored entries, or the products (k, k)
    bint known                 # whether these are the products
    const int *indices         # NULL but for stored entries
    const Py_ssize_t *indptr
    const double *mean         # of stored entries: their columns are centred without being changed
    const double *root         # the roots of the row weights
    double total               # the sum of the row weights
    double shift               # what is still to be added to the state, times `root`
    double square              # of the products: ‖r‖² at w
    const double *w            # of the products: u at the start,
    const double *gradient     # and the gradient there
    double *state
    double *u
    const double *norm         # squared lengths of the columns
    const double *amount
    const double *lower
    const double *upper
    double alpha


cdef inline double slope_along(const Problem *p, Py_ssize_t j) noexcept nogil:
    """Return the j-th entry of Aᵀr."""
    cdef Py_ssize_t i
    cdef double a = 0.0, b = 0.0
    if p.known:
        return p.state[j]
    if p.indptr == NULL:
        return dot(p.values + j * p.length, p.state, p.length)
    i = p.indptr[j]
    while i + 1 < p.indptr[j + 1]:
        a += p.values[i] * p.state[p.indices[i]]
        b += p.values[i + 1] * p.state[p.indices[i + 1]]
        i += 2
    if i < p.indptr[j + 1]:
        a += p.values[i] * p.state[p.indices[i]]
    # r is orthogonal to `root` all the time, so that the mean need only be taken off what is stored of r.
    return a + b + p.shift * p.mean[j] * p.total


cdef inline void move_along(Problem *p, Py_ssize_t j, double delta) noexcept nogil:
    """Take `delta` times the j-th column off the residual, or its products off the gradient."""
    cdef Py_ssize_t i
    if p.indptr == NULL:
        add_times(p.state, -delta, p.values + j * p.length, p.length)
        return
    for i in range(p.indptr[j], p.indptr[j + 1]):
        p.state[p.indices[i]] -= delta * p.values[i]
    p.shift += delta * p.mean[j]


cdef void settle(Problem *p) noexcept nogil:
    """Add the shift to the residual."""
    if p.shift != 0.0:
        add_times(p.state, p.shift, p.root, p.length)
        p.shift = 0.0


cdef double squared_residual(Problem *p) noexcept nogil:
    cdef Py_ssize_t j
    cdef double s
    if not p.known:
        settle(p)
        return dot(p.state, p.state, p.length)
    s = p.square
    for j in range(p.k):
        s -= (p.u[j] - p.w[j]) * (p.gradient[j] + p.state[j])
    return s if s > 0.0 else 0.0


cdef double objective(Problem *p) noexcept nogil:
    cdef Py_ssize_t j
    cdef double s = 0.0
    for j in range(p.k):
        if p.u[j] != 0.0:
            s += p.amount[j] * fabs(p.u[j]) + 0.5 * p.alpha * p.u[j] * p.u[j]
    return s + 0.5 * squared_residual(p)


cdef inline double minimiser(const Problem *p, Py_ssize_t j) noexcept nogil:
    """Return the best u_j while all others stay."""
    cdef double g, t = p.amount[j], curvature = p.norm[j] + p.alpha
    if p.norm[j] == 0.0:
        # A constant column: the penalty alone decides, if there is one.
        return 0.0 if t > 0.0 or p.alpha > 0.0 else p.u[j]
    g = slope_along(p, j) + p.norm[j] * p.u[j]
    if g > t:
        g = (g - t) / curvature
        return g if g < p.upper[j] else p.upper[j]
    if g < -t:
        g = (g + t) / curvature
        return g if g > p.lower[j] else p.lower[j]
    return 0.0


cdef double sweep(Problem *p, bint only_used) noexcept nogil:
    """Minimise over one coordinate after the other; return by how much the objective has fallen at least."""
    cdef Py_ssize_t j
    cdef double best, delta, fallen = 0.0
    for j in range(p.k):
        if only_used and p.u[j] == 0.0:
            continue
        best = minimiser(p, j)
        delta = best - p.u[j]
        if delta != 0.0:
            p.u[j] = best
            move_along(p, j, delta)
            fallen += 0.5 * (p.norm[j] + p.alpha) * delta * delta
    return fallen


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
            if fabs(p) * s > t and isinf(upper[j] if p > 0.0 else lower[j]):
                s = t / fabs(p)
    for j in range(k):
        t = amount[j]
        if isinf(t):
            continue
        if t == 0.0:
            gap += free_excess(s * q[j], u[j], alpha, norm[j], lower[j], upper[j])
            continue
        p = s * (q[j] - alpha * u[j])
        gap += t * fabs(u[j]) - u[j] * p
        if p > t and not isinf(upper[j]):
            gap += (p - t) * upper[j]
        elif p < -t and not isinf(lower[j]):
            gap += (p + t) * lower[j]
    return gap + 0.5 * (1.0 - s) * (1.0 - s) * square


def duality_gap(
    double square, const double[::1] q, const double[::1] u, const double[::1] norm, const double[::1] amount,
    const double[::1] lower, const double[::1] upper, double alpha,
):
    """Return the duality gap at u, where the gradient is `q` and the squared length of the residual `square`.

    `norm` is read only of coefficients that have neither a penalty nor a ridge nor finite bounds: these have
    no dual bound, and add what a step along each would bring.
    """
    check(q.shape[0] == u.shape[0] == norm.shape[0] == amount.shape[0] == lower.shape[0] == upper.shape[0])
    if q.shape[0] == 0:
        return 0.0
    return gap_at(q.shape[0], square, &q[0], &u[0], &norm[0], &amount[0], &lower[0], &upper[0], alpha)


def screen(
    const double[::1] q, const double[::1] u, const double[::1] least, const double[::1] lower,
    const double[::1] upper, const unsigned char[::1] inside, Py_ssize_t[::1] out,
):
    """Write the numbers of the columns that belong in a working set and are not in it; return how many.

    These are the ones in use, those without a penalty, and those that the gradient q pushes by more than `least`.
    """
    cdef Py_ssize_t j, n = 0
    check(q.shape[0] == u.shape[0] == least.shape[0] == lower.shape[0] == upper.shape[0])
    check(q.shape[0] == inside.shape[0] == out.shape[0])
    with nogil:
        for j in range(q.shape[0]):
            if inside[j]:
                continue
            if u[j] != 0.0 or least[j] == 0.0 or (q[j] > least[j] and upper[j] > 0.0) or (
                q[j] < -least[j] and lower[j] < 0.0
            ):
                out[n] = j
                n += 1
    return n


cdef double own_gap(Problem *p, double *q) noexcept nogil:
    cdef Py_ssize_t j
    cdef double square = squared_residual(p)
    for j in range(p.k):
        q[j] = slope_along(p, j)
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
    memcpy(room + place * (p.k + p.length), p.u, p.k * sizeof(double))
    memcpy(room + place * (p.k + p.length) + p.k, p.state, p.length * sizeof(double))


cdef void recall(Problem *p, const double *room, int place) noexcept nogil:
    memcpy(p.u, room + place * (p.k + p.length), p.k * sizeof(double))
    memcpy(p.state, room + place * (p.k + p.length) + p.k, p.length * sizeof(double))


cdef void extrapolate(Problem *p, double *room) noexcept nogil:
    """Move to where the last sweeps seem to lead (Anderson), if the objective is lower there.

    `room` holds u and the state before the first sweep of a round and after each; what is there is lost.
    """
    cdef Py_ssize_t j, both = p.k + p.length
    cdef int a, b
    cdef double M[KEPT * KEPT]
    cdef double z[KEPT]
    cdef double total = 0.0, trace = 0.0, before = objective(p)
    # Differences of successive u, in place of the first of each two; the states stay.
    for a in range(KEPT):
        for j in range(p.k):
            room[a * both + j] = room[(a + 1) * both + j] - room[a * both + j]
    for a in range(KEPT):
        for b in range(a, KEPT):
            M[a * KEPT + b] = M[b * KEPT + a] = dot(room + a * both, room + b * both, p.k)
        trace += M[a * KEPT + a]
    for a in range(KEPT):
        M[a * KEPT + a] += 1e-12 * trace
    if not solve_small(M, z):
        return
    for a in range(KEPT):
        total += z[a]
    if not fabs(total) > 0.0:
        return
    # u of the last sweep, less what of the differences is to be taken back.
    for j in range(p.k):
        p.u[j] = room[KEPT * both + j]
    total = 1.0 / total
    trace = 0.0
    for a in range(KEPT - 1):
        trace += z[a] * total  # the shares of all sweeps before the (a + 2)-th
        add_times(p.u, -trace, room + (a + 1) * both, p.k)
    for j in range(p.length):
        p.state[j] = 0.0
    for a in range(KEPT):
        add_times(p.state, z[a] * total, room + (a + 1) * both + p.k, p.length)
    if feasible(p) and objective(p) < before:
        return
    recall(p, room, KEPT)


cdef bint feasible(const Problem *p) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(p.k):
        if not (p.lower[j] <= p.u[j] <= p.upper[j]):
            return False
    return True


cdef double run(Problem *p, double target, Py_ssize_t max_sweeps, Py_ssize_t *n_sweeps) noexcept nogil:
    """Sweep until the gap is at most `target`; return it, a negative number where there is no memory."""
    cdef Py_ssize_t both = p.k + p.length
    cdef double *room = <double *> malloc((KEPT + 1) * both * sizeof(double) + p.k * sizeof(double))
    cdef double *q
    cdef double fallen, gap, rounding, calm = target
    cdef int a
    if room == NULL:
        return -1.0
    q = room + (KEPT + 1) * both
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
    double[::1] state, double[::1] u, const double[::1] norm, const double[::1] amount,
    const double[::1] lower, const double[::1] upper, double alpha,
):
    cdef Problem p
    check(0 < u.shape[0] == norm.shape[0] == amount.shape[0] == lower.shape[0] == upper.shape[0])
    check(state.shape[0] > 0)
    p.k, p.length, p.known = u.shape[0], state.shape[0], False
    p.indices, p.indptr, p.mean, p.root, p.w, p.gradient = NULL, NULL, NULL, NULL, NULL, NULL
    p.total, p.shift, p.square, p.alpha = 0.0, 0.0, 0.0, alpha
    p.state, p.u, p.norm, p.amount = &state[0], &u[0], &norm[0], &amount[0]
    p.lower, p.upper = &lower[0], &upper[0]
    return p


cdef tuple solve(Problem *p, double target, Py_ssize_t max_sweeps):
    cdef Py_ssize_t n_sweeps = 0
    cdef double gap
    with nogil:
        gap = run(p, target, max_sweeps, &n_sweeps)
    if gap == -1.0:
        raise MemoryError()
    return gap, n_sweeps


def descend_dense(
    const double[:, ::1] values, double[::1] r, double[::1] u, const double[::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    double target, Py_ssize_t max_sweeps,
):
    """Move u and the residual r in place until the gap is at most `target`; return it and the number of sweeps.

    The columns are the rows of `values`, centred and weighted as by `centre_dense`.
    """
    cdef Problem p = as_problem(r, u, norm, amount, lower, upper, alpha)
    check(values.shape[0] == p.k and values.shape[1] == p.length)
    p.values = &values[0, 0]
    return solve(&p, target, max_sweeps)


def descend_sparse(
    const double[::1] data, const int[::1] indices, const Py_ssize_t[::1] indptr, const double[::1] mean,
    const double[::1] root, double[::1] r, double[::1] u, const double[::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    double target, Py_ssize_t max_sweeps,
):
    """Do as `descend_dense` for columns in CSC, weighted as by `centre_sparse`; r is orthogonal to `root`."""
    cdef Problem p = as_problem(r, u, norm, amount, lower, upper, alpha)
    check(mean.shape[0] == p.k and root.shape[0] == p.length)
    check_stored(data, indices, indptr, p.k, p.length)
    p.values = &data[0] if data.shape[0] else &mean[0]
    p.indices = &indices[0] if indices.shape[0] else NULL
    p.indptr, p.mean, p.root = &indptr[0], &mean[0], &root[0]
    p.total = dot(p.root, p.root, p.length)
    return solve(&p, target, max_sweeps)


def descend_gram(
    const double[:, ::1] gram, double[::1] q, double square, double[::1] u, const double[::1] norm,
    const double[::1] amount, const double[::1] lower, const double[::1] upper, double alpha,
    double target, Py_ssize_t max_sweeps,
):
    """Do as `descend_dense` where only the products of the columns are known; q moves in place of r.

    `square` is the squared length of the residual at the start.
    """
    cdef Problem p = as_problem(q, u, norm, amount, lower, upper, alpha)
    cdef const double[::1] w = u.copy()
    cdef const double[::1] gradient = q.copy()
    check(gram.shape[0] == gram.shape[1] == p.k == p.length)
    p.values, p.known, p.square, p.w, p.gradient = &gram[0, 0], True, square, &w[0], &gradient[0]
    return solve(&p, target, max_sweeps)


# ---------------------------------------------------------------- columns of the metric


cdef void check_stored(
    const double[::1] data, const int[::1] indices, const Py_ssize_t[::1] indptr, Py_ssize_t k, Py_ssize_t n,
):
    cdef Py_ssize_t i
    cdef bint fits = True
    check(indptr.shape[0] == k + 1 and indptr[0] == 0 and indptr[k] == data.shape[0] == indices.shape[0])
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
    """Do as `centre_dense` for columns in CSC, but for the means: these are written, and taken off nowhere."""
    cdef Py_ssize_t j, i, k = factor.shape[0]
    cdef double total, m, s, stored, raw, x
    check(mean.shape[0] == norm.shape[0] == k and root.shape[0] > 0)
    check_stored(data, indices, indptr, k, root.shape[0])
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
            mean[j] = x * m
            norm[j] = x * x * s
