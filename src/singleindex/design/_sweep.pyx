"""One visit of every row: its index, its residual under a given link, its part of the gradient.

The rows are cut into blocks at places that depend on the data alone. Each block adds up its own gradient, and
the blocks are added in their order: the result is the same, bit for bit, for every number of threads.
Sums are carried in double precision whatever the type of the data. Without OpenMP the blocks take turns.
"""

from cython.parallel cimport prange
from libc.string cimport memset

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
    #if defined(__GNUC__) || defined(__clang__)
    #define fetch_early(address) __builtin_prefetch(address)
    #else
    #define fetch_early(address) ((void) (address))
    #endif
    """
    int usable_threads() nogil
    void fetch_early(const void *address) noexcept nogil


def count_threads():
    """Return how many threads OpenMP would use, 1 where there is none."""
    return usable_threads()


cdef enum:
    TILE = 16           # the most rows of sparse data that are visited together,
    TILE_ENTRIES = 256  # and their entries: few enough to be still at hand for the gradient
    LONG_TILE = 128     # the most rows where the index is taken from other entries than the gradient
    WIDE = 4            # rows of dense data that share one pass over the gradient


cdef struct Curve:             # a piecewise linear link, constant beyond its ends
    const double *x
    const double *y
    const double *slope        # of the piece that begins at each knot
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
    return curve.y[k] + curve.slope[k] * (index - x[k])


cdef Curve as_curve(
    const double[::1] x, const double[::1] y, const double[::1] slope, const int[::1] first,
) noexcept:
    cdef Curve curve
    curve.x, curve.y, curve.slope, curve.n = &x[0], &y[0], &slope[0], x.shape[0]
    curve.first, curve.n_cells = &first[0], first.shape[0]
    curve.cells_per_unit = 0.0
    if x.shape[0] > 1:
        curve.cells_per_unit = first.shape[0] / (x[x.shape[0] - 1] - x[0])
    return curve


cdef struct Rows:              # what the rows of all kinds of data have, and what is asked of them
    const double *y
    const double *weight       # NULL where all rows count alike
    const double *index_old    # NULL where there is no move to tell of
    double centre
    double centre_old
    double y_centre


cdef struct Sums:              # the nine sums of a sweep, and that of the weighted residuals
    double weight
    double c
    double move
    double gap
    double cc
    double cmove
    double moves
    double cgap
    double gaps
    double residual


cdef inline double visit(
    const Rows *rows, const Curve *curve, Py_ssize_t i, double index, Sums *sums,
) noexcept nogil:
    """Return the weighted residual of a row, and add what it has to the sums."""
    cdef double weight = 1.0 if rows.weight == NULL else rows.weight[i]
    cdef double c = index - rows.centre
    cdef double gap = rows.y[i] - rows.y_centre
    cdef double residual = weight * (value_at(curve, index) - rows.y[i])
    cdef double move = 0.0
    if rows.index_old != NULL:
        move = (rows.index_old[i] - index) - (rows.centre_old - rows.centre)
    sums.weight += weight
    sums.c += weight * c
    sums.move += weight * move
    sums.gap += weight * gap
    sums.cc += weight * c * c
    sums.cmove += weight * c * move
    sums.moves += weight * move * move
    sums.cgap += weight * c * gap
    sums.gaps += weight * gap * gap
    sums.residual += residual
    return residual


cdef inline void add_sums(const Sums *sums, double *out) noexcept nogil:
    out[0] += sums.weight
    out[1] += sums.c
    out[2] += sums.move
    out[3] += sums.gap
    out[4] += sums.cc
    out[5] += sums.cmove
    out[6] += sums.moves
    out[7] += sums.cgap
    out[8] += sums.gaps
    out[9] += sums.residual


cdef inline double sparse_dot(
    const real *data, const index_t *indices, Py_ssize_t k, Py_ssize_t end, const double *w,
    const Py_ssize_t stride,
) noexcept nogil:
    # Four sums, so that an addition need not wait for the one before.
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    while k + 3 < end:
        a += data[k] * w[stride * <Py_ssize_t> indices[k]]
        b += data[k + 1] * w[stride * <Py_ssize_t> indices[k + 1]]
        c += data[k + 2] * w[stride * <Py_ssize_t> indices[k + 2]]
        d += data[k + 3] * w[stride * <Py_ssize_t> indices[k + 3]]
        k += 4
    while k < end:
        a += data[k] * w[stride * <Py_ssize_t> indices[k]]
        k += 1
    return (a + b) + (c + d)


cdef inline void sparse_add(
    const real *data, const index_t *indices, Py_ssize_t k, Py_ssize_t end, double factor, double *out,
    const Py_ssize_t stride,
) noexcept nogil:
    cdef double a, b, c, d
    while k + 3 < end:
        # While these entries are used again, the next ones are on their way; past the end that does no harm.
        fetch_early(data + k + TILE_ENTRIES)
        fetch_early(indices + k + TILE_ENTRIES)
        a = factor * data[k]
        b = factor * data[k + 1]
        c = factor * data[k + 2]
        d = factor * data[k + 3]
        out[stride * <Py_ssize_t> indices[k]] += a
        out[stride * <Py_ssize_t> indices[k + 1]] += b
        out[stride * <Py_ssize_t> indices[k + 2]] += c
        out[stride * <Py_ssize_t> indices[k + 3]] += d
        k += 4
    while k < end:
        out[stride * <Py_ssize_t> indices[k]] += factor * data[k]
        k += 1


cdef inline void csr_rows(
    const real *data, const index_t *indices, const index_t *indptr,
    const real *own_data, const index_t *own_indices, const index_t *own_indptr,
    Py_ssize_t begin, Py_ssize_t end, const Rows *rows, const Curve *curve, const double *w, double *gradient,
    const Py_ssize_t stride, double *index, double *sums,
) noexcept nogil:
    """Visit the rows from `begin` to `end`, a few at a time: their entries are then still at hand."""
    cdef double residual[LONG_TILE]
    cdef Py_ssize_t i, stop
    cdef bint same = data == own_data
    cdef Py_ssize_t most_rows = TILE if same else LONG_TILE
    # Of its own, so that it stays in registers.
    cdef Sums own
    memset(&own, 0, sizeof(Sums))
    while begin < end:
        stop = begin + 1
        while stop < end and stop < begin + most_rows and (
            not same or indptr[stop + 1] - indptr[begin] <= TILE_ENTRIES
        ):
            stop += 1
        for i in range(begin, stop):
            index[i] = sparse_dot(own_data, own_indices, own_indptr[i], own_indptr[i + 1], w, stride)
        for i in range(begin, stop):
            residual[i - begin] = visit(rows, curve, i, index[i], &own)
        for i in range(begin, stop):
            sparse_add(data, indices, indptr[i], indptr[i + 1], residual[i - begin], gradient, stride)
        begin = stop
    add_sums(&own, sums)


cdef void csr_block(
    const real *data, const index_t *indices, const index_t *indptr,
    const real *own_data, const index_t *own_indices, const index_t *own_indptr,
    Py_ssize_t begin, Py_ssize_t end, const Rows *rows, const Curve *curve, const double *w, Py_ssize_t d,
    double *pairs, double *gradient, double *index, double *sums,
) noexcept nogil:
    """Visit the rows of one block; the index is taken from the matrix of `own_data`.

    Where w and the gradient are too long to lie near together, they are kept in pairs: then what was fetched
    for the index is what the gradient needs.
    """
    cdef Py_ssize_t j
    if pairs == NULL:
        csr_rows(
            data, indices, indptr, own_data, own_indices, own_indptr, begin, end, rows, curve, w, gradient, 1,
            index, sums,
        )
        return
    for j in range(d):
        pairs[2 * j] = w[j]
        pairs[2 * j + 1] = 0.0
    csr_rows(
        data, indices, indptr, own_data, own_indices, own_indptr, begin, end, rows, curve, pairs, pairs + 1, 2,
        index, sums,
    )
    for j in range(d):
        gradient[j] = pairs[2 * j + 1]


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


cdef void dense_rows(
    const real *X, Py_ssize_t row_length, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end,
    const Rows *rows, const Curve *curve, const double *w, double *index, double *gradient, double *sums,
) noexcept nogil:
    """Visit the rows from `begin` to `end`."""
    cdef double r[WIDE]
    cdef Py_ssize_t i, j, stop
    cdef const real *x
    # Of its own, so that it stays in registers.
    cdef Sums own
    memset(&own, 0, sizeof(Sums))
    while begin < end:
        stop = begin + WIDE if begin + WIDE < end else end
        for i in range(begin, stop):
            index[i] = dense_dot(X + i * row_length, w, d)
            r[i - begin] = visit(rows, curve, i, index[i], &own)
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
    add_sums(&own, sums)


cdef Rows as_rows(
    const double[::1] y, const double[::1] weight, const double[::1] index_old,
    double centre, double centre_old, double y_centre,
) noexcept:
    cdef Rows rows
    rows.y = &y[0]
    rows.weight = &weight[0] if weight is not None else NULL
    rows.index_old = &index_old[0] if index_old is not None else NULL
    rows.centre, rows.centre_old, rows.y_centre = centre, centre_old, y_centre
    return rows


def csr_sweep(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const real[::1] own_data, const index_t[::1] own_indices, const index_t[::1] own_indptr,
    const Py_ssize_t[::1] cuts,
    const double[::1] w, const double[::1] y, const double[::1] weight, const double[::1] index_old,
    double centre, double centre_old, double y_centre,
    const double[::1] knots, const double[::1] values, const double[::1] slopes, const int[::1] first,
    double[::1] index, double[:, ::1] gradients, double[:, ::1] sums, double[:, ::1] pairs, int n_threads,
):
    """Write the index of every row; add each block's gradient to its row of `gradients`, which starts at zero.

    The index is taken from the matrix of `own_data`, which need only have the columns that w has. `cuts` are
    the first rows of the blocks, and the number of rows at the end. `sums` gets, for each block, the nine sums
    of a sweep and that of the weighted residuals. The link has the `knots`, `values` and `slopes`; `first` is
    its look-up grid. `weight`, `index_old` and `pairs` may be None; `pairs` is room for twice `gradients`.
    """
    cdef Curve curve = as_curve(knots, values, slopes, first)
    cdef Rows rows = as_rows(y, weight, index_old, centre, centre_old, y_centre)
    # A matrix without entries has no first one to point to.
    cdef const real *entries = &data[0] if data.shape[0] > 0 else NULL
    cdef const index_t *columns = &indices[0] if data.shape[0] > 0 else NULL
    cdef const real *own_entries = &own_data[0] if own_data.shape[0] > 0 else NULL
    cdef const index_t *own_columns = &own_indices[0] if own_data.shape[0] > 0 else NULL
    cdef double *room = &pairs[0, 0] if pairs is not None else NULL
    cdef Py_ssize_t d = w.shape[0]
    cdef Py_ssize_t b
    for b in prange(cuts.shape[0] - 1, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1):
        csr_block(
            entries, columns, &indptr[0], own_entries, own_columns, &own_indptr[0], cuts[b], cuts[b + 1],
            &rows, &curve, &w[0], d, NULL if room == NULL else room + 2 * d * b, &gradients[b, 0], &index[0], &sums[b, 0],
        )


def dense_sweep(
    const real[:, :] X, const Py_ssize_t[::1] cuts,
    const double[::1] w, const double[::1] y, const double[::1] weight, const double[::1] index_old,
    double centre, double centre_old, double y_centre,
    const double[::1] knots, const double[::1] values, const double[::1] slopes, const int[::1] first,
    double[::1] index, double[:, ::1] gradients, double[:, ::1] sums, double[:, ::1] pairs, int n_threads,
):
    """Do as `csr_sweep` for a dense array; the entries of a row must lie side by side. No pairs are used."""
    cdef Curve curve = as_curve(knots, values, slopes, first)
    cdef Rows rows = as_rows(y, weight, index_old, centre, centre_old, y_centre)
    cdef Py_ssize_t row_length = X.strides[0] // <Py_ssize_t> sizeof(real)
    cdef const real *entries = &X[0, 0]
    cdef Py_ssize_t b
    for b in prange(cuts.shape[0] - 1, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1):
        dense_rows(
            entries, row_length, X.shape[1], cuts[b], cuts[b + 1], &rows, &curve, &w[0], &index[0],
            &gradients[b, 0], &sums[b, 0],
        )


def csr_count(const index_t[::1] indices, const index_t[::1] indptr, const unsigned char[::1] kept, index_t[::1] out):
    """Write into `out` the starts of the rows of a matrix that has only the columns that are kept."""
    cdef Py_ssize_t i, k
    cdef index_t n = 0
    with nogil:
        for i in range(indptr.shape[0] - 1):
            out[i] = n
            for k in range(indptr[i], indptr[i + 1]):
                n += kept[indices[k]]
        out[indptr.shape[0] - 1] = n


def csr_keep(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr, const unsigned char[::1] kept,
    real[::1] out_data, index_t[::1] out_indices,
):
    """Write the entries of the columns that are kept, in their order; one place more than they need is used."""
    cdef Py_ssize_t k
    cdef Py_ssize_t n = 0
    with nogil:
        for k in range(indptr[0], indptr[indptr.shape[0] - 1]):
            # Written in any case, and written over if it is not kept: no branch to guess.
            out_data[n] = data[k]
            out_indices[n] = indices[k]
            n += kept[indices[k]]


def link_residuals(
    const double[::1] index, const double[::1] y, const double[::1] weight, const double[::1] index_old,
    double centre, double centre_old, double y_centre,
    const double[::1] knots, const double[::1] values, const double[::1] slopes, const int[::1] first,
    double[::1] residual, double[::1] sums,
):
    """Write the weighted residual of every row whose index is known; add to the ten sums."""
    cdef Curve curve = as_curve(knots, values, slopes, first)
    cdef Rows rows = as_rows(y, weight, index_old, centre, centre_old, y_centre)
    cdef Py_ssize_t i
    cdef Sums own
    memset(&own, 0, sizeof(Sums))
    with nogil:
        for i in range(index.shape[0]):
            residual[i] = visit(&rows, &curve, i, index[i], &own)
    add_sums(&own, &sums[0])


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
            out[i] = sparse_dot(entries, columns, indptr[i], indptr[i + 1], &w[0], 1)


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
            sparse_add(entries, columns, indptr[i], indptr[i + 1], r[i], &out[0], 1)


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
