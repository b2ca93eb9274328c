"""One visit of rows for many models: their links, bins and residuals, and products with sparse rows."""

cimport cython
from cython.parallel import prange

ctypedef fused real:
    float
    double

ctypedef fused index_t:
    int
    long long


# Rows whose places among the bins are found at once, by instructions for several numbers.
DEF SOME = 128
# Entries of sparse rows from which their columns are fetched before they are needed.
DEF AHEAD = 4


cdef extern from *:
    """
    /* For several widths of registers, where the compiler can choose between them at run time. Every number is
       worked on by itself, so that all widths give the same bits. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && defined(__x86_64__)
    #define FOR_ALL_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
    #define SOON(address) __builtin_prefetch(address)
    #else
    #define FOR_ALL_WIDTHS
    #define SOON(address)
    #endif

    FOR_ALL_WIDTHS
    static void add_multiple(
        double *restrict to, const double *restrict from, double by, Py_ssize_t n, const double *soon
    ) {
        for (Py_ssize_t k = 0; k < n; k += 8) SOON(soon + k);
        for (Py_ssize_t k = 0; k < n; k++) to[k] += by * from[k];
    }

    /* Where an index lies among the bins; the whole part is the number of its bin. What is no number falls into
       the first one, and the residuals tell of it. */
    FOR_ALL_WIDTHS
    static void find_places(
        const double *restrict u, Py_ssize_t n, double offset, double half, double last, double reach,
        double *restrict place
    ) {
        for (Py_ssize_t i = 0; i < n; i++) {
            double shifted = u[i] + offset;
            double p = half + half * shifted / (reach + (shifted < 0 ? -shifted : shifted));
            p = p < last ? p : last;
            place[i] = p > 0 ? p : 0;
        }
    }
    """
    void add_multiple(double *to, const double *source, double by, Py_ssize_t n, const double *soon) noexcept nogil
    void find_places(
        const double *u, Py_ssize_t n, double offset, double half, double last, double reach, double *place
    ) noexcept nogil


cdef double visit_model(
    double *index, Py_ssize_t n, double offset, const double *y, const double *weight, const int *fold, int held,
    const double *table, Py_ssize_t n_bins, double reach, double *bins,
) noexcept nogil:
    """Bin the rows of one model, write their residuals over their indices, and return the sum of these.

    `table` has the link at the edges of the bins, `bins` three sums for each bin of the rows that are learned
    from, then of those that are held out.
    """
    cdef double place[SOME]
    cdef Py_ssize_t start, i, k, b, size
    cdef int side
    cdef double r, omega = 1.0, total = 0.0
    cdef double *own
    start = 0
    while start < n:
        size = SOME if n - start > SOME else n - start
        find_places(index + start, size, offset, 0.5 * n_bins, n_bins - 0.5, reach, place)
        for k in range(size):
            i = start + k
            b = <int> place[k]
            side = fold[i] == held
            if weight != NULL:
                omega = weight[i]
            own = bins + 3 * (b + side * n_bins)
            own[0] += omega
            own[1] += omega * (index[i] + offset)
            own[2] += omega * y[i]
            r = (1 - side) * omega * (table[b] + (place[k] - b) * (table[b + 1] - table[b]) - y[i])
            index[i] = r
            total += r
        start += size
    return total


def visit_models(
    double[:, ::1] index, const double[::1] offset, const double[:, ::1] Y, const double[::1] weight,
    const int[::1] fold, const int[::1] held, const int[::1] output, const double[:, ::1] table, double reach,
    double[:, :, :, ::1] bins, double[::1] residual, int n_threads,
):
    """Visit rows whose indices under all models are known, a row of `index` for each model.

    The weighted residuals are written over the indices, and their sums added to `residual`. `Y` has a row for
    each output; `held` is the fold that a model does not learn from, `output` what it learns. `weight` may be
    None.
    """
    cdef const double *weights = &weight[0] if weight is not None else NULL
    cdef Py_ssize_t k
    cdef Py_ssize_t n = index.shape[1]
    for k in prange(index.shape[0], nogil=True, num_threads=n_threads, schedule="static"):
        residual[k] += visit_model(
            &index[k, 0], n, offset[k], &Y[output[k], 0], weights, &fold[0], held[k], &table[k, 0],
            bins.shape[2], reach, &bins[k, 0, 0, 0],
        )


def csr_many_indices(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr, Py_ssize_t start, Py_ssize_t stop,
    const double[:, ::1] W, double[:, ::1] out,
):
    """Add to `out` the rows from `start` to `stop` times W, which has a row for each column of X."""
    cdef Py_ssize_t i, n_models = W.shape[1]
    cdef index_t e, soon, end = indptr[indptr.shape[0] - 1]
    with nogil:
        for i in range(start, stop):
            for e in range(indptr[i], indptr[i + 1]):
                soon = indices[e + AHEAD] if e + AHEAD < end else 0
                add_multiple(&out[i - start, 0], &W[indices[e], 0], data[e], n_models, &W[soon, 0])


def csr_many_gradients(
    const real[::1] data, const index_t[::1] indices, const index_t[::1] indptr, Py_ssize_t start, Py_ssize_t stop,
    const double[:, ::1] R, double[:, ::1] out,
):
    """Add to `out`, a row for each column of X, the rows from `start` to `stop` times their residuals."""
    cdef Py_ssize_t i, n_models = R.shape[1]
    cdef index_t e, soon, end = indptr[indptr.shape[0] - 1]
    with nogil:
        for i in range(start, stop):
            for e in range(indptr[i], indptr[i + 1]):
                soon = indices[e + AHEAD] if e + AHEAD < end else 0
                add_multiple(&out[indices[e], 0], &R[i - start, 0], data[e], n_models, &out[soon, 0])
