"""Rows summed into bins of equal width."""

from libc.math cimport floor


def fill_bins(
    const double[::1] index, const double[::1] y, const double[::1] weight, double bins_per_unit,
    double first_bin, double[:, ::1] sums,
):
    """Add weight, weight × index and weight × y of every row to the row of `sums` of its bin.

    Bin k holds the indices from k to k + 1 widths; `first_bin` is the number of the first row of `sums`, and no
    index may lie outside of them.
    """
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(index.shape[0]):
            # In doubles: the number of a bin may be too large for an integer.
            k = <Py_ssize_t> (floor(index[i] * bins_per_unit) - first_bin)
            sums[k, 0] += weight[i]
            sums[k, 1] += weight[i] * index[i]
            sums[k, 2] += weight[i] * y[i]
