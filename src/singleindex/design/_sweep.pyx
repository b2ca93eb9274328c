"""One visit of every row: its index, its residual under a given link, its part of the gradient.

The rows are cut into blocks at places that depend on the data alone. Each block adds up its own gradient, and
the blocks are added in their order: the result is the same, bit for bit, for every number of threads.
Sums are carried in double precision whatever the type of the data. Without OpenMP the blocks take turns.
"""

from cython.parallel cimport prange

ctypedef fused real:
    float
    double

ctypedef fused index_t:
    int
    long long

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    static int usable_threads(void) { return omp_get_max_threads(); }
    #else
    static int usable_threads(void) { return 1; }
    #endif
    """
    int usable_threads() nogil


def count_threads():
    """Return how many threads OpenMP would use, 1 where there is none."""
    return usable_threads()


cdef enum:
    TILE = 8       # rows of sparse data visited together: few enough for the nearest cache
    WIDE = 4       # rows of dense data that share one pass over the gradient


cdef struct Curve:             # a piecewise linear link, constant beyond its ends
    const double *x
    const double *y
    Py_ssize_t n
    const int *first           # per cell of an even grid over x, a knot at or before the cell
    double cells_per_unit
    Py_ssize_t n_cells


cdef inline double value_at(const Curve *curve, double index) noexcept nogil:
    cdef const double *x = curve.x
    cdef Py_ssize_t k
    if index <= x[0]:
        return curve.y[0]
    if index >= x[curve.n - 1]:
        return curve.y[curve.n - 1]
    k = <Py_ssize_t> ((index - x[0]) * curve.cells_per_unit)
    k = curve.first[k if k < curve.n_cells else curve.n_cells - 1]
    # The grid only says where to look: rounding may put the index into the next cell.
    while x[k] > index:
        k -= 1
    while x[k + 1] <= index:
        k += 1
    return curve.y[k] + (curve.y[k + 1] - curve.y[k]) * ((index - x[k]) / (x[k + 1] - x[k]))


cdef Curve as_curve(const double[::1] x, const double[::1] y, const int[::1] first) noexcept:
    cdef Curve curve
    curve.x, curve.y, curve.n = &x[0], &y[0], x.shape[0]
    curve.first, curve.n_cells = &first[0], first.shape[0]
    curve.cells_per_unit = 0.0
    if x.shape[0] > 1:
        curve.cells_per_unit = first.shape[0] / (x[x.shape[0] - 1] - x[0])
    return curve


cdef inline double sparse_dot(
    const real *data, const index_t *indices, Py_ssize_t k, Py_ssize_t end, const double *w,
) noexcept nogil:
    # Four sums, so that an addition need not wait for the one before.
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    while k + 3 < end:
        a += data[k] * w[indices[k]]
        b += data[k + 1] * w[indices[k + 1]]
        c += data[k + 2] * w[indices[k + 2]]
        d += data[k + 3] * w[indices[k + 3]]
        k += 4
    while k < end:
        a += data[k] * w[indices[k]]
        k += 1
    return (a + b) + (c + d)


cdef inline void sparse_add(
    const real *data, const index_t *indices, Py_ssize_t k, Py_ssize_t end, double factor, double *out,
) noexcept nogil:
    cdef double a, b, c, d
    while k + 3 < end:
        a = factor * data[k]
        b = factor * data[k + 1]
        c = factor * data[k + 2]
        d = factor * data[k + 3]
        out[indices[k]] += a
        out[indices[k + 1]] += b
        out[indices[k + 2]] += c
        out[indices[k + 3]] += d
        k += 4
    while k < end:
        out[indices[k]] += factor * data[k]
        k += 1


cdef double csr_rows(
    const real *data, const index_t *indices, const index_t *indptr, Py_ssize_t begin, Py_ssize_t end,
    const double *w, const double *y, const double *weight, const Curve *curve,
    double *index, double *gradient,
) noexcept nogil:
    """Visit the rows from `begin` to `end`; return the sum of their weighted residuals."""
    cdef double residual[TILE]
    cdef double total = 0.0
    cdef Py_ssize_t i, stop
    while begin < end:
        stop = begin + TILE if begin + TILE < end else end
        for i in range(begin, stop):
            index[i] = sparse_dot(data, indices, indptr[i], indptr[i + 1], w)
        for i in range(begin, stop):
            residual[i - begin] = weight[i] * (value_at(curve, index[i]) - y[i])
            total += residual[i - begin]
        for i in range(begin, stop):
            sparse_add(data, indices, indptr[i], indptr[i + 1], residual[i - begin], gradient)
        begin = stop
    return total


cdef inline double dense_dot(const real *x, const double *w, Py_ssize_t d) noexcept nogil:
    cdef double s[8]
    cdef Py_ssize_t j = 0
    cdef int k
    for k in range(8):
        s[k] = 0.0
    while j + 7 < d:
        for k in range(8):
            s[k] += x[j + k] * w[j + k]
        j += 8
    while j < d:
        s[0] += x[j] * w[j]
        j += 1
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))


cdef double dense_rows(
    const real *X, Py_ssize_t row_length, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end,
    const double *w, const double *y, const double *weight, const Curve *curve,
    double *index, double *gradient,
) noexcept nogil:
    """Visit the rows from `begin` to `end`; return the sum of their weighted residuals."""
    cdef double r[WIDE]
    cdef double total = 0.0
    cdef Py_ssize_t i, j, k, stop
    cdef const real *x
    while begin < end:
        stop = begin + WIDE if begin + WIDE < end else end
        for i in range(begin, stop):
            k = i - begin
            index[i] = dense_dot(X + i * row_length, w, d)
            r[k] = weight[i] * (value_at(curve, index[i]) - y[i])
            total += r[k]
        if stop - begin == WIDE:
            x = X + begin * row_length
            for j in range(d):
                gradient[j] += (r[0] * x[j] + r[1] * x[j + row_length]) + (
                    r[2] * x[j + 2 * row_length] + r[3] * x[j + 3 * row_length]
                )
        else:
            for i in range(begin, stop):
                x = X + i * row_length
                for j in range(d):
                    gradient[j] += r[i - begin] * x[j]
        begin = stop
    return total


def csr_sweep(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr, const Py_ssize_t[::1] cuts,
    const double[::1] w, const double[::1] y, const double[::1] weight,
    const double[::1] knots, const double[::1] values, const int[::1] first,
    double[::1] index, double[:, ::1] gradients, double[::1] residuals, int n_threads,
):
    """Write the index of every row; add each block's gradient to its row of `gradients`.

    `cuts` are the first rows of the blocks, and the number of rows at the end. `residuals` gets the sum of
    the weighted residuals of each block. The link has the `knots` and `values`; `first` is its look-up grid.
    """
    cdef Curve curve = as_curve(knots, values, first)
    # A matrix without entries has no first one to point to.
    cdef const real *entries = &data[0] if data.shape[0] > 0 else NULL
    cdef const index_t *columns = &indices[0] if data.shape[0] > 0 else NULL
    cdef Py_ssize_t b
    for b in prange(cuts.shape[0] - 1, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1):
        residuals[b] = csr_rows(
            entries, columns, &indptr[0], cuts[b], cuts[b + 1],
            &w[0], &y[0], &weight[0], &curve, &index[0], &gradients[b, 0],
        )


def dense_sweep(
    const real[:, :] X, const Py_ssize_t[::1] cuts,
    const double[::1] w, const double[::1] y, const double[::1] weight,
    const double[::1] knots, const double[::1] values, const int[::1] first,
    double[::1] index, double[:, ::1] gradients, double[::1] residuals, int n_threads,
):
    """Do as `csr_sweep` for a dense array; the entries of a row must lie side by side."""
    cdef Curve curve = as_curve(knots, values, first)
    cdef Py_ssize_t row_length = X.strides[0] // <Py_ssize_t> sizeof(real)
    cdef const real *entries = &X[0, 0]
    cdef Py_ssize_t b
    for b in prange(cuts.shape[0] - 1, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1):
        residuals[b] = dense_rows(
            entries, row_length, X.shape[1], cuts[b], cuts[b + 1],
            &w[0], &y[0], &weight[0], &curve, &index[0], &gradients[b, 0],
        )


def csr_matvec(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] w, double[::1] out,
):
    """Write X w into `out`."""
    cdef const real *entries = &data[0] if data.shape[0] > 0 else NULL
    cdef const index_t *columns = &indices[0] if data.shape[0] > 0 else NULL
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = sparse_dot(entries, columns, indptr[i], indptr[i + 1], &w[0])


def csr_rmatvec(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] r, double[::1] out,
):
    """Add Xᵀ r to `out`."""
    cdef const real *entries = &data[0] if data.shape[0] > 0 else NULL
    cdef const index_t *columns = &indices[0] if data.shape[0] > 0 else NULL
    cdef Py_ssize_t i
    with nogil:
        for i in range(r.shape[0]):
            sparse_add(entries, columns, indptr[i], indptr[i + 1], r[i], &out[0])


def csr_moments(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, double[::1] mean, double[::1] variance, double[::1] stored,
    Py_ssize_t[::1] n_stored, double[::1] lowest, double[::1] highest,
):
    """Write the weighted mean of every column, and the weighted sum of squares of its stored entries about it.

    Also the weight and the number of the stored entries of positive weight, the lowest and the highest of
    them. All outputs start at zero. `weight` sums to one.
    """
    cdef Py_ssize_t i, k, j
    cdef double value, gap
    with nogil:
        for i in range(weight.shape[0]):
            if weight[i] > 0.0:
                for k in range(indptr[i], indptr[i + 1]):
                    j, value = indices[k], data[k]
                    if n_stored[j] == 0 or value < lowest[j]:
                        lowest[j] = value
                    if n_stored[j] == 0 or value > highest[j]:
                        highest[j] = value
                    n_stored[j] += 1
                    stored[j] += weight[i]
                    mean[j] += weight[i] * value
        for i in range(weight.shape[0]):
            if weight[i] > 0.0:
                for k in range(indptr[i], indptr[i + 1]):
                    gap = data[k] - mean[indices[k]]
                    variance[indices[k]] += weight[i] * gap * gap
