"""Rows summed into bins of equal width."""


def fill_bins(
    const double[::1] index, const double[::1] y, const double[::1] weight, double bins_per_unit,
    double first_bin, double[:, ::1] sums,
):
    """Add weight, weight × index and weight × y of every row to the row of `sums` of its bin.

    `weight` may be None, for rows that all count as one.

    Bin k holds the indices from k to k + 1 widths; `first_bin` is the number of the first row of `sums`, and no
    index may lie outside of them.
    """
    cdef const double *weights = &weight[0] if weight is not None else NULL
    cdef Py_ssize_t i, k
    cdef Py_ssize_t first = <Py_ssize_t> first_bin
    cdef double w = 1.0
    cdef double place
    with nogil:
        for i in range(index.shape[0]):
            place = index[i] * bins_per_unit
            k = <Py_ssize_t> place
            if place < k:  # cut towards zero; bins are counted downwards
                k -= 1
            k -= first
            if weights != NULL:
                w = weights[i]
            sums[k, 0] += w
            sums[k, 1] += w * index[i]
            sums[k, 2] += w * y[i]
