"""The order that sorts an array of doubles: a radix sort in linear time.

A double's bits, read as an integer with the negative ones flipped, are in the order of the values.
The distance of such an integer from the least one is cut to its 32 leading bits (leading over the
range that occurs, so data far from zero lose nothing) and packed with the index into one word of
64 bits. Words are sorted by the upper half, in up to three passes of 11 bits. Values that agree in
these bits come out side by side, and are sorted by the bits that were cut off: 32 at most, so that
no data whatever takes more than these two rounds.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    WIDE = 11      # bits of a digit: few passes for many words,
    NARROW = 8     # few counters for few words
    FEW = 3000
    SHORT = 24     # words that are sorted by insertion


cdef inline uint64_t rank_of(double value) noexcept nogil:
    """An integer that is larger for a larger value."""
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(double))
    # All bits of a negative number are flipped, else the sign alone.
    return <uint64_t> bits ^ (<uint64_t> (bits >> 63) | (<uint64_t> 1 << 63))


cdef inline void sort_by_insertion(uint64_t *words, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef uint64_t word
    for i in range(1, n):
        word = words[i]
        k = i
        while k > 0 and words[k - 1] > word:
            words[k] = words[k - 1]
            k -= 1
        words[k] = word


cdef inline void sort_by_digit(
    const uint64_t *words, uint64_t *out, Py_ssize_t n, uint32_t *counts, int shift, uint32_t mask,
) noexcept nogil:
    """Move words to `out` in the order of one digit; `counts` says how often each digit occurs."""
    cdef uint32_t begin = 0
    cdef uint32_t count, digit, k
    cdef Py_ssize_t i
    for k in range(mask + 1):
        count = counts[k]
        counts[k] = begin
        begin += count
    for i in range(n):
        digit = <uint32_t> (words[i] >> shift) & mask
        out[counts[digit]] = words[i]
        counts[digit] += 1


cdef uint64_t *sort_words(uint64_t *words, uint64_t *spare, Py_ssize_t n) noexcept nogil:
    """Sort by the upper 32 bits, stably; return `words` or `spare`, whichever holds the result."""
    cdef uint32_t counts[4 << WIDE]
    cdef uint32_t *of_digit
    cdef int width = WIDE if n > FEW else NARROW
    cdef int n_digits = 3 if n > FEW else 4
    cdef uint32_t mask = (<uint32_t> 1 << width) - 1
    cdef Py_ssize_t i
    cdef int d
    cdef uint32_t upper
    memset(counts, 0, n_digits * ((<size_t> 1) << width) * sizeof(uint32_t))
    for i in range(n):
        upper = <uint32_t> (words[i] >> 32)
        # The fourth digit is counted in either case: it is zero, and then not used, for wide ones.
        counts[upper & mask] += 1
        counts[(1 << width) + ((upper >> width) & mask)] += 1
        counts[(2 << width) + ((upper >> (2 * width)) & mask)] += 1
        if n_digits == 4:
            counts[(3 << width) + (upper >> (3 * width))] += 1
    for d in range(n_digits):
        of_digit = &counts[d << width]
        # A digit that is the same everywhere sorts nothing.
        if of_digit[(words[0] >> (32 + d * width)) & mask] < <uint64_t> n:
            sort_by_digit(words, spare, n, of_digit, 32 + d * width, mask)
            words, spare = spare, words
    return words


cdef void sort_run(const double *x, uint64_t *words, uint64_t *spare, Py_ssize_t n, uint64_t cut_bits) noexcept nogil:
    """Sort `n` words that agree in the upper half by the bits that were cut off."""
    cdef Py_ssize_t i
    cdef uint64_t index
    cdef uint64_t *result
    for i in range(n):
        index = <uint32_t> words[i]
        words[i] = ((rank_of(x[index]) & cut_bits) << 32) | index
    if n <= SHORT:
        sort_by_insertion(words, n)
        return
    result = sort_words(words, spare, n)
    if result != words:
        memcpy(words, result, n * sizeof(uint64_t))


cdef inline bint is_sorted(const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(1, n):
        if x[i] < x[i - 1]:
            return False
    return True


cdef void find_order(const double *x, Py_ssize_t n, uint64_t *words, uint64_t *spare, Py_ssize_t *order) noexcept nogil:
    cdef uint64_t least = rank_of(x[0])
    cdef uint64_t most = least
    cdef uint64_t rank
    cdef uint64_t *sorted_words
    cdef int n_cut = 0
    cdef Py_ssize_t i, begin
    for i in range(1, n):
        rank = rank_of(x[i])
        least = rank if rank < least else least
        most = rank if rank > most else most
    # Counted from a multiple of 2^32, so that the cut bits are those of the rank itself.
    least = least >> 32 << 32
    while (most - least) >> n_cut >> 32 != 0:
        n_cut += 1
    for i in range(n):
        words[i] = (((rank_of(x[i]) - least) >> n_cut) << 32) | <uint64_t> i
    sorted_words = sort_words(words, spare, n)
    if sorted_words == spare:
        words, spare = spare, words
    begin = 0
    while n_cut > 0 and begin < n:
        i = begin + 1
        while i < n and (words[i] >> 32) == (words[begin] >> 32):
            i += 1
        if i > begin + 1:
            sort_run(x, words + begin, spare, i - begin, (<uint64_t> 1 << n_cut) - 1)
        begin = i
    for i in range(n):
        order[i] = <uint32_t> words[i]


def sort_order(const double[::1] x, Py_ssize_t[::1] order):
    """Write into `order` the indices that sort `x` ascending; equal values stay in the order they come in.

    `x` has no NaN and fewer than 2^32 entries.
    """
    cdef Py_ssize_t n = x.shape[0]
    cdef Py_ssize_t i
    cdef uint64_t *words
    if order.shape[0] != n or n >> 32 != 0:
        raise ValueError(f"cannot sort {n} values into an order of {order.shape[0]}")
    if n == 0:
        return
    if is_sorted(&x[0], n):
        for i in range(n):
            order[i] = i
        return
    words = <uint64_t *> malloc(2 * n * sizeof(uint64_t))
    if words == NULL:
        raise MemoryError
    with nogil:
        find_order(&x[0], n, words, words + n, &order[0])
    free(words)
