"""Where the k largest of many sizes stand, in linear time.

The bits of a non-negative double, read as an integer, are in the order of the values. The distance of
these integers from the largest one is put into bins of 1/64 octave; counting tells the bin in which the
k-th largest value lies, and only the few values in it have to be compared.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

cdef enum:
    N_BINS = 2048
    SHIFT = 46     # keeps 6 of the 52 bits of the mantissa


cdef struct Candidate:
    double size
    Py_ssize_t place


cdef int larger_first(const void *a, const void *b) noexcept nogil:
    """Order by size, the largest first; equal ones by place, the lowest first."""
    cdef const Candidate *x = <const Candidate *> a
    cdef const Candidate *y = <const Candidate *> b
    if x.size != y.size:
        return 1 if x.size < y.size else -1
    return 1 if x.place > y.place else -1


cdef inline uint64_t bits_of(double size) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &size, sizeof(double))
    return bits


cdef inline uint32_t bin_of(double size, uint64_t most) noexcept nogil:
    cdef uint64_t distance = (most - bits_of(size)) >> SHIFT
    return <uint32_t> distance if distance < N_BINS else N_BINS - 1


def select_largest(const double[::1] size, Py_ssize_t k, Py_ssize_t[::1] out):
    """Write the places of the `k` largest sizes, 0 < k <= n, in ascending order.

    Sizes are not negative and not NaN. Of equal ones the lowest places are taken.
    """
    cdef Py_ssize_t n = size.shape[0]
    cdef uint32_t counts[N_BINS]
    cdef uint64_t most = 0
    cdef uint32_t last = 0
    cdef Py_ssize_t above, i, m, n_out
    cdef Candidate *candidates
    cdef Py_ssize_t found = 0
    with nogil:
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            most = bits_of(size[i]) if bits_of(size[i]) > most else most
        for i in range(n):
            counts[bin_of(size[i], most)] += 1
        above = 0
        while above + counts[last] < k:
            above += counts[last]
            last += 1
    candidates = <Candidate *> malloc(counts[last] * sizeof(Candidate))
    if candidates == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            if bin_of(size[i], most) == last:
                candidates[found] = Candidate(size=size[i], place=i)
                found += 1
        m = k - above
        if m < found:
            qsort(candidates, found, sizeof(Candidate), larger_first)
        # All above the bin, and of the bin all that come before its m-th candidate, that one included.
        n_out = 0
        for i in range(n):
            if bin_of(size[i], most) < last or (
                bin_of(size[i], most) == last
                and (
                    size[i] > candidates[m - 1].size
                    or m == found
                    or (size[i] == candidates[m - 1].size and i <= candidates[m - 1].place)
                )
            ):
                out[n_out] = i
                n_out += 1
        free(candidates)
