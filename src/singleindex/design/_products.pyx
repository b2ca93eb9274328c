"""Products with a data matrix that read only what they need.

Sums are carried in double precision whatever the type of the data.
"""

cimport cython

ctypedef fused real:
    float
    double

ctypedef fused index_t:
    int
    long long


def csc_matvec(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] w, double[::1] out,
):
    """Add to `out` the columns times `w`; columns whose coefficient is zero are not read."""
    cdef Py_ssize_t j
    cdef index_t i
    with nogil:
        for j in range(w.shape[0]):
            if w[j] != 0.0:
                for i in range(indptr[j], indptr[j + 1]):
                    out[indices[i]] += w[j] * data[i]


def csc_rmatvec(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] r, double[::1] out,
):
    """Write into `out` the inner product of every column with `r`."""
    cdef Py_ssize_t j
    cdef index_t i, end
    cdef double a, b
    with nogil:
        for j in range(out.shape[0]):
            # Two sums, so that an addition need not wait for the one before.
            a = 0.0
            b = 0.0
            i = indptr[j]
            end = indptr[j + 1]
            while i + 1 < end:
                a += data[i] * r[indices[i]]
                b += data[i + 1] * r[indices[i + 1]]
                i += 2
            if i < end:
                a += data[i] * r[indices[i]]
            out[j] = a + b


def csc_moments(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, Py_ssize_t n_weighted, double[::1] mean, double[::1] variance,
):
    """Write the weighted mean and variance of every column; `weight` sums to one.

    Two passes over a column, the second one about its mean: no cancellation. `n_weighted` is the number
    of rows of positive weight; a column that is constant over these has variance zero, exactly.
    """
    cdef Py_ssize_t j, n_stored
    cdef index_t i
    cdef double m, v, w, stored, gap, first
    cdef bint constant
    with nogil:
        for j in range(mean.shape[0]):
            m = 0.0
            stored = 0.0
            n_stored = 0
            constant = True
            first = 0.0
            for i in range(indptr[j], indptr[j + 1]):
                w = weight[indices[i]]
                if w > 0.0:
                    if n_stored == 0:
                        first = data[i]
                    constant = constant and data[i] == first
                    n_stored += 1
                    m += w * data[i]
                    stored += w
            # What is not stored is zero.
            if constant and (first == 0.0 or n_stored == n_weighted):
                mean[j] = first
                variance[j] = 0.0
                continue
            v = (1.0 - stored) * m * m if n_stored < n_weighted and stored < 1.0 else 0.0
            for i in range(indptr[j], indptr[j + 1]):
                gap = data[i] - m
                v += weight[indices[i]] * gap * gap
            mean[j] = m
            variance[j] = v


def dense_matvec_by_rows(
    const real[:, :] X, const Py_ssize_t[::1] columns, const double[::1] values, double[::1] out,
):
    """Write the given columns times `values` into `out`, row by row: for C-ordered X."""
    cdef Py_ssize_t i, k
    cdef double total
    with nogil:
        for i in range(X.shape[0]):
            total = 0.0
            for k in range(columns.shape[0]):
                total += X[i, columns[k]] * values[k]
            out[i] = total


def dense_matvec_by_columns(
    const real[:, :] X, const Py_ssize_t[::1] columns, const double[::1] values, double[::1] out,
):
    """Add the given columns times `values` to `out`, column by column: for F-ordered X."""
    cdef Py_ssize_t i, j, k
    cdef double value
    with nogil:
        for k in range(columns.shape[0]):
            j = columns[k]
            value = values[k]
            for i in range(X.shape[0]):
                out[i] += X[i, j] * value


def dense_gather(const real[:, :] X, const Py_ssize_t[::1] columns, double[:, ::1] out):
    """Write the given columns into the rows of `out`."""
    cdef Py_ssize_t i, k, begin, end
    cdef Py_ssize_t n = X.shape[0]
    # Rows by the dozen: what of X lies side by side is then still at hand, and so is what is written.
    cdef Py_ssize_t tile = n if X.strides[0] <= <Py_ssize_t> sizeof(real) else 16
    with nogil:
        begin = 0
        while begin < n:
            end = begin + tile if begin + tile < n else n
            for k in range(columns.shape[0]):
                for i in range(begin, end):
                    out[k, i] = X[i, columns[k]]
            begin = end


def csc_gather(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const Py_ssize_t[::1] columns, const Py_ssize_t[::1] starts, double[::1] out_data, int[::1] out_indices,
):
    """Write the entries of the given columns, each from its place of `starts` on."""
    cdef Py_ssize_t k, place
    cdef index_t i
    with nogil:
        for k in range(columns.shape[0]):
            place = starts[k]
            for i in range(indptr[columns[k]], indptr[columns[k] + 1]):
                out_data[place] = data[i]
                out_indices[place] = <int> indices[i]
                place += 1
