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


def sums_of_whole_numbers(
    const long long[:, :] whole, double first_bin, double width, double weight_unit, double y_unit, double[:, ::1] sums,
):
    """Write the sums of bins that were added up in whole numbers.

    The rows of `whole` are the weight and weight × place within the bin, in units of `weight_unit`, and weight × y in
    units of `y_unit`; the units are powers of two.
    """
    cdef Py_ssize_t k
    cdef double weight
    with nogil:
        for k in range(sums.shape[0]):
            weight = whole[0, k] * weight_unit
            sums[k, 0] = weight
            sums[k, 1] = ((first_bin + k) * weight + whole[1, k] * weight_unit) * width
            sums[k, 2] = whole[2, k] * y_unit
