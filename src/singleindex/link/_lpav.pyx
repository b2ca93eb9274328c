"""Lipschitz isotonic regression by dynamic programming: the kernel.

Let F_i(z) be the least cost of points 0..i that ends at z. Its derivative is piecewise linear and
increasing; m_i is its zero. Crossing a gap cuts the derivative at m_i, moves the right part by the
gap and puts a flat piece in between. Adding point i + 1 adds w (z - y) to all of it, which moves
the zero.

A piece is (width, rise), the rise being that of the derivative over the piece. Pieces lie in
ascending z in a linked list of chunks; the zero is a place between two pieces. So moving the zero
moves no data, and a flat piece is put in by shifting the few pieces behind it in its chunk.

A point of weight w adds w * width to every rise. This is lazy: a chunk is true as of the total
weight it was last brought up to. Totals are kept in double-double precision, so that weights may
differ by many orders of magnitude and no digit of a small one is lost in the difference of two large
totals. Chunks keep their summed width and rise: a zero that goes far (labels that alternate on a
grid send it over about sqrt(n) pieces at every step) passes whole chunks at once.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, isinf
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

cdef enum:
    CAPACITY = 32

cdef struct Weight:    # an unevaluated sum, |low| at most half an ulp of high
    double high
    double low

cdef struct Chunk:
    double width       # sums over the pieces, valid while `summed`
    double rise
    Weight total       # the rises are true as of this total weight
    int size
    int before         # neighbours in the list; -1 at its ends
    int after
    bint summed

cdef struct Piece:
    double width
    double rise

cdef struct Curve:     # the derivative of F_i
    Chunk *chunks
    Piece *pieces      # those of chunk c start at c * CAPACITY
    int n_allocated
    int n_used
    int first_free     # a list through `after`
    int at             # the zero lies in chunk `at`, before piece `place`,
    int place
    Piece passed       # or this far into that piece
    double zero
    Weight total
    double left_slope  # beyond the pieces on either side
    double right_slope


cdef inline void add_to(Weight *total, double w) noexcept nogil:
    cdef double high = total.high + w
    cdef double part = high - total.high
    total.low += (total.high - (high - part)) + (w - part)
    total.high = high


cdef inline double difference(Weight a, Weight b) noexcept nogil:
    return (a.high - b.high) + (a.low - b.low)


# ---------------------------------------------------------------- chunks

cdef inline Piece *pieces_of(Curve *curve, int c) noexcept nogil:
    return &curve.pieces[<Py_ssize_t> c * CAPACITY]


cdef int grow(Curve *curve) except -1 nogil:
    cdef Py_ssize_t n = curve.n_allocated + curve.n_allocated // 8 + 16
    cdef void *grown = realloc(curve.chunks, n * sizeof(Chunk))
    if grown == NULL:
        raise MemoryError
    curve.chunks = <Chunk *> grown
    grown = realloc(curve.pieces, n * CAPACITY * sizeof(Piece))
    if grown == NULL:
        raise MemoryError
    curve.pieces = <Piece *> grown
    curve.n_allocated = <int> n
    return 0


cdef int take_chunk(Curve *curve) except -1 nogil:
    """Return an empty chunk that belongs to no list yet."""
    cdef int c = curve.first_free
    if c >= 0:
        curve.first_free = curve.chunks[c].after
    else:
        if curve.n_used == curve.n_allocated:
            grow(curve)
        c = curve.n_used
        curve.n_used += 1
    curve.chunks[c].size = 0
    curve.chunks[c].before = -1
    curve.chunks[c].after = -1
    curve.chunks[c].summed = False
    curve.chunks[c].total = curve.total
    return c


cdef inline void open_chunk(Curve *curve, int c) noexcept nogil:
    """Bring the pieces of `c` up to the present total weight, before they are read or changed."""
    cdef Chunk *chunk = &curve.chunks[c]
    cdef Piece *pieces = pieces_of(curve, c)
    cdef double w = difference(curve.total, chunk.total)
    cdef int k
    if w != 0.0:
        for k in range(chunk.size):
            pieces[k].rise += w * pieces[k].width
    chunk.total = curve.total
    chunk.summed = False


cdef inline void sum_chunk(Curve *curve, int c) noexcept nogil:
    cdef Chunk *chunk = &curve.chunks[c]
    cdef Piece *pieces = pieces_of(curve, c)
    # Two sums of each side by side: one alone would wait for each addition.
    cdef Piece even = Piece(width=0.0, rise=0.0)
    cdef Piece odd = Piece(width=0.0, rise=0.0)
    cdef int k = 0
    while k + 2 <= chunk.size:
        even.width += pieces[k].width
        even.rise += pieces[k].rise
        odd.width += pieces[k + 1].width
        odd.rise += pieces[k + 1].rise
        k += 2
    if k < chunk.size:
        even.width += pieces[k].width
        even.rise += pieces[k].rise
    chunk.width = even.width + odd.width
    chunk.rise = even.rise + odd.rise
    chunk.summed = True


cdef int split_chunk(Curve *curve) except -1 nogil:
    """Move the upper half of the chunk at the zero into a new one after it."""
    cdef int new = take_chunk(curve)
    cdef int c = curve.at
    cdef Chunk *chunk = &curve.chunks[c]
    # A list that grows at one end of a chunk keeps its chunks full.
    cdef int keep = curve.place if curve.place == chunk.size or curve.place == 0 else chunk.size // 2
    cdef int size = chunk.size - keep
    memcpy(pieces_of(curve, new), pieces_of(curve, c) + keep, size * sizeof(Piece))
    curve.chunks[new].size = size
    curve.chunks[new].total = chunk.total
    curve.chunks[new].before = c
    curve.chunks[new].after = chunk.after
    if chunk.after >= 0:
        curve.chunks[chunk.after].before = new
    chunk.after = new
    chunk.size = keep
    if curve.place > keep or size == 0:
        curve.at = new
        curve.place -= keep
    return 0


cdef inline Piece *make_room(Curve *curve, int n) except NULL nogil:
    """Return `n` free places right of the zero. The chunk there is open."""
    cdef Chunk *chunk
    cdef Piece *pieces
    if curve.chunks[curve.at].size + n > CAPACITY:
        split_chunk(curve)
    chunk = &curve.chunks[curve.at]
    pieces = pieces_of(curve, curve.at) + curve.place
    memmove(pieces + n, pieces, (chunk.size - curve.place) * sizeof(Piece))
    chunk.size += n
    return pieces


cdef inline int insert_gap(Curve *curve, double gap) except -1 nogil:
    """Cut the piece in which the zero lies, and put a piece right of the zero in between."""
    cdef Piece *pieces
    cdef int n_left = curve.passed.width > 0.0 or curve.passed.rise > 0.0
    cdef int n_gap = gap > 0.0
    if n_left + n_gap == 0:
        return 0
    if n_left:
        pieces = pieces_of(curve, curve.at) + curve.place
        pieces.width -= curve.passed.width
        pieces.rise -= curve.passed.rise
    pieces = make_room(curve, n_left + n_gap)
    if n_left:
        pieces[0] = curve.passed
        curve.passed = Piece(width=0.0, rise=0.0)
        curve.place += 1
    if n_gap:
        pieces[n_left] = Piece(width=gap, rise=0.0)
    return 0


cdef void drop_right(Curve *curve) noexcept nogil:
    """Drop every piece right of the zero: an infinite gap has moved them out of reach."""
    cdef Chunk *chunk = &curve.chunks[curve.at]
    cdef int c = chunk.after
    cdef int after
    chunk.size = curve.place
    chunk.after = -1
    while c >= 0:
        after = curve.chunks[c].after
        curve.chunks[c].after = curve.first_free
        curve.first_free = c
        c = after


# ---------------------------------------------------------------- the zero

cdef inline int pass_chunks(Curve *curve, int c, bint forward, double *amount, double *width) noexcept nogil:
    """Pass whole chunks from `c` on while their rises fit into `amount`; return the one that does not fit."""
    cdef Chunk *chunks = curve.chunks
    cdef Weight total = curve.total
    cdef double rest = amount[0]
    cdef double passed = 0.0
    cdef double rise
    while c >= 0:
        if not chunks[c].summed:
            sum_chunk(curve, c)
        rise = chunks[c].rise + difference(total, chunks[c].total) * chunks[c].width
        if rise > rest:
            break
        rest -= rise
        passed += chunks[c].width
        c = chunks[c].after if forward else chunks[c].before
    amount[0] = rest
    width[0] += passed
    return c


cdef int zero_to_right(Curve *curve, double amount) except -1 nogil:
    """Move the zero right until the derivative has risen by `amount` > 0."""
    cdef int c = curve.at
    cdef int k = curve.place
    cdef Piece *pieces = pieces_of(curve, c)
    cdef int size = curve.chunks[c].size
    cdef double width = 0.0
    while k < size and pieces[k].rise <= amount:
        amount -= pieces[k].rise
        width += pieces[k].width
        k += 1
    if k == size:
        c = pass_chunks(curve, curve.chunks[c].after, True, &amount, &width)
        if c < 0:
            return beyond_right(curve, amount, width)
        open_chunk(curve, c)
        pieces = pieces_of(curve, c)
        k = 0
        # Rounding apart, the chunk's rise is above `amount`: the search ends inside.
        size = curve.chunks[c].size - 1
        while k < size and pieces[k].rise <= amount:
            amount -= pieces[k].rise
            width += pieces[k].width
            k += 1
        if pieces[k].rise < amount:
            amount = pieces[k].rise
    curve.at = c
    curve.place = k
    curve.passed = Piece(width=amount / pieces[k].rise * pieces[k].width, rise=amount)
    curve.zero += width + curve.passed.width
    return 0


cdef int beyond_right(Curve *curve, double amount, double width) except -1 nogil:
    """Put the zero on the half-line right of all pieces, `amount` above their end."""
    cdef int c = curve.at
    while curve.chunks[c].after >= 0:
        c = curve.chunks[c].after
    open_chunk(curve, c)
    curve.at = c
    curve.place = curve.chunks[c].size
    curve.zero += width + amount / curve.right_slope
    if amount > 0.0:
        make_room(curve, 1)[0] = Piece(width=amount / curve.right_slope, rise=amount)
        curve.place += 1
    return 0


cdef int zero_to_left(Curve *curve, double amount, double y_min) except -1 nogil:
    """Move the zero left until the derivative has fallen by `amount` > 0, or to `y_min`."""
    cdef int c = curve.at
    cdef int k = curve.place
    cdef Piece *pieces = pieces_of(curve, c)
    cdef double width = 0.0
    cdef double part
    while k > 0 and pieces[k - 1].rise <= amount:
        k -= 1
        amount -= pieces[k].rise
        width += pieces[k].width
    if k == 0:
        c = pass_chunks(curve, curve.chunks[c].before, False, &amount, &width)
        if c < 0:
            return beyond_left(curve, amount, width, y_min)
        open_chunk(curve, c)
        pieces = pieces_of(curve, c)
        k = curve.chunks[c].size
        while k > 1 and pieces[k - 1].rise <= amount:
            k -= 1
            amount -= pieces[k].rise
            width += pieces[k].width
        if pieces[k - 1].rise < amount:
            amount = pieces[k - 1].rise
    k -= 1
    part = amount / pieces[k].rise
    curve.at = c
    curve.place = k
    curve.passed = Piece(width=(1.0 - part) * pieces[k].width, rise=pieces[k].rise - amount)
    curve.zero -= width + part * pieces[k].width
    return 0


cdef int beyond_left(Curve *curve, double amount, double width, double y_min) except -1 nogil:
    """Put the zero on the half-line left of all pieces, or at `y_min`, where the curve ends."""
    cdef int c = curve.at
    while curve.chunks[c].before >= 0:
        c = curve.chunks[c].before
    open_chunk(curve, c)
    curve.at = c
    curve.place = 0
    if amount > 0.0 and isinf(y_min):
        make_room(curve, 1)[0] = Piece(width=amount / curve.left_slope, rise=amount)
        curve.zero -= width + amount / curve.left_slope
    elif isinf(y_min):
        curve.zero -= width
    else:
        # Below y_min there is nothing: what is left of the derivative is a jump there.
        curve.zero = y_min
        if amount > 0.0:
            make_room(curve, 1)[0] = Piece(width=0.0, rise=amount)
    return 0


cdef int start_curve(Curve *curve, double y, double w, double y_min) except -1 nogil:
    curve.at = take_chunk(curve)
    curve.place = 0
    curve.passed = Piece(width=0.0, rise=0.0)
    curve.left_slope = w
    curve.right_slope = w
    curve.zero = y if y > y_min else y_min
    if y < y_min:
        make_room(curve, 1)[0] = Piece(width=0.0, rise=w * (y_min - y))
    elif not isinf(y_min):
        make_room(curve, 1)[0] = Piece(width=y - y_min, rise=w * (y - y_min))
        curve.place = 1
    return 0


cdef int find_zeros(
    const double[::1] x, const double[::1] y, const double[::1] w,
    double lipschitz, double y_min, double[::1] m, Curve *curve,
) except -1 nogil:
    """Forward pass: m[i] is the minimiser of F_i."""
    cdef Py_ssize_t i
    cdef double gap, value
    start_curve(curve, y[0], w[0], y_min)
    m[0] = curve.zero
    for i in range(1, y.shape[0]):
        gap = lipschitz * (x[i] - x[i - 1])
        if isinf(gap):
            insert_gap(curve, 0.0)
            drop_right(curve)
            curve.right_slope = 0.0
        else:
            insert_gap(curve, gap)
        add_to(&curve.total, w[i])
        open_chunk(curve, curve.at)
        curve.left_slope += w[i]
        curve.right_slope += w[i]
        value = w[i] * (curve.zero - y[i])
        if value < 0.0:
            zero_to_right(curve, -value)
        elif value > 0.0:
            zero_to_left(curve, value, y_min)
        m[i] = curve.zero
    return 0


# ---------------------------------------------------------------- the solution

cdef void settle_block(
    const double[::1] y, const double[::1] w, double[::1] z, Py_ssize_t begin, Py_ssize_t end, double tol,
) noexcept nogil:
    """Give the linked points [begin, end) their common best level.

    Inside a block all differences are fixed, so the level is a weighted mean; taking it afresh
    frees the result from the rounding gathered on the way. A larger shift than rounding can
    explain means that the block leans on a neighbour that rounding has cut off: it stays.
    """
    cdef double total = 0.0
    cdef double residual = 0.0
    cdef double shift
    cdef Py_ssize_t k
    for k in range(begin, end):
        total += w[k]
        residual += w[k] * (y[k] - z[k])
    shift = residual / total
    if fabs(shift) <= tol:
        for k in range(begin, end):
            z[k] += shift


cdef void trace_back(
    const double[::1] x, const double[::1] y, const double[::1] w,
    double lipschitz, double y_min, double y_max, double[::1] z,
) noexcept nogil:
    """Backward pass: turn the minimisers m_i, given in `z`, into the solution."""
    cdef Py_ssize_t n = z.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t end = n
    # The point that holds the block's level: caps are measured from it, not summed up.
    cdef Py_ssize_t anchor = n - 1
    cdef double gap, capped, low, high
    cdef bint at_max = z[n - 1] >= y_max
    cdef double reach = 0.0
    cdef double tol
    for i in range(n):
        reach = fmax(reach, fabs(z[i]))
    tol = 2.2e-16 * (64 + n) * reach
    if at_max:
        z[n - 1] = y_max
    for i in range(n - 2, -1, -1):
        gap = lipschitz * (x[i + 1] - x[i])
        capped = z[anchor] - lipschitz * (x[anchor] - x[i]) if not isinf(gap) else -INFINITY
        if z[i] >= z[i + 1]:
            z[i] = z[i + 1]
            anchor = i
        elif z[i] <= capped:
            z[i] = capped
        else:
            if not (at_max and end == n):
                settle_block(y, w, z, i + 1, end, tol)
            end = i + 1
            anchor = i
    if z[0] > y_min and not (at_max and end == n):
        settle_block(y, w, z, 0, end, tol)
    if z[0] < y_min:
        z[0] = y_min
    # Settling moves blocks by rounding errors only; this keeps the order exact.
    for i in range(1, n):
        gap = lipschitz * (x[i] - x[i - 1])
        low = z[i - 1]
        high = low + gap
        if high > y_max:
            high = y_max
        z[i] = low if z[i] < low else high if z[i] > high else z[i]


def solve_lpav(
    const double[::1] x, const double[::1] y, const double[::1] w,
    double lipschitz, double y_min, double y_max, double[::1] z,
):
    """Write into `z` the fitted values for strictly increasing `x` and positive `w`.

    `lipschitz` is above 0 and may be infinite, so may the bounds; y_min <= y_max.
    """
    cdef Curve curve
    curve.chunks = NULL
    curve.pieces = NULL
    curve.n_allocated = 0
    curve.n_used = 0
    curve.first_free = -1
    curve.total = Weight(high=0.0, low=0.0)
    try:
        with nogil:
            find_zeros(x, y, w, lipschitz, y_min, z, &curve)
            trace_back(x, y, w, lipschitz, y_min, y_max, z)
    finally:
        free(curve.pieces)
        free(curve.chunks)


# ---------------------------------------------------------------- around the solution

def merge_ties(
    const double[::1] x, const double[::1] y, w, const Py_ssize_t[::1] order,
    double[::1] x_out, double[::1] y_out, double[::1] w_out,
):
    """Write the distinct x in ascending order, with weighted mean y and summed weight; return their number.

    Points of weight zero are left out. `w` may be None, which stands for ones.
    """
    cdef const double[::1] weight
    cdef bint weighted = w is not None
    cdef Py_ssize_t i, k
    cdef Py_ssize_t last = -1
    cdef double v = 1.0
    if weighted:
        weight = w
    with nogil:
        for i in range(order.shape[0]):
            k = order[i]
            if weighted:
                v = weight[k]
                if v == 0.0:
                    continue
            if last >= 0 and x_out[last] == x[k]:
                w_out[last] += v
                # The running mean cannot overflow where a sum of v * y could.
                y_out[last] += (v / w_out[last]) * (y[k] - y_out[last])
            else:
                last += 1
                x_out[last] = x[k]
                y_out[last] = y[k]
                w_out[last] = v
    return last + 1


def spread_ties(
    const double[::1] x, const Py_ssize_t[::1] order, const double[::1] knots, const double[::1] z,
    double[::1] out,
):
    """Write into `out` the value at each x, in the order of `x`, read off the distinct `knots`.

    A point of weight zero may lie between two knots, where the curve is linear, or beyond the ends.
    """
    cdef Py_ssize_t i, k
    cdef Py_ssize_t j = 0
    cdef Py_ssize_t last = knots.shape[0] - 1
    cdef double part
    with nogil:
        for i in range(order.shape[0]):
            k = order[i]
            while j < last and knots[j + 1] <= x[k]:
                j += 1
            if j == last or x[k] <= knots[j]:
                out[k] = z[j]
            else:
                part = (x[k] - knots[j]) / (knots[j + 1] - knots[j])
                out[k] = z[j] + part * (z[j + 1] - z[j])


cdef inline double excess(double signed_sum, double weight_before, double weight_after) noexcept nogil:
    """How far, in units of y, the lighter of two sides of a gap would still want to move."""
    return fmax(signed_sum, 0.0) / fmin(weight_before, weight_after)


def largest_violation(
    const double[::1] x, const double[::1] y, const double[::1] w, const double[::1] z,
    double lipschitz, double y_min, double y_max, double tol,
):
    """Return the largest violation of the optimality conditions at `z`, in units of y.

    `x` strictly increasing, `w` positive. With the residual sums S over the points of a block that lie
    before a gap, blocks being runs of points linked by active constraints: S <= 0 at flat gaps, S >= 0
    at gaps on the Lipschitz cap, S = 0 for whole blocks; the first block may have S > 0 where
    z = y_min and the last one S < 0 where z = y_max.
    """
    cdef Py_ssize_t n = z.shape[0]
    cdef Py_ssize_t begin = 0
    cdef Py_ssize_t end
    cdef double worst = fmax(fmax(y_min - z[0], z[n - 1] - y_max), 0.0)
    cdef double gap, step
    with nogil:
        while begin < n:
            end = begin + 1
            while end < n:
                gap = lipschitz * (x[end] - x[end - 1])
                step = z[end] - z[end - 1]
                worst = fmax(worst, fmax(-step, step - gap))
                if tol < step < gap - tol:
                    break
                end += 1
            worst = fmax(worst, block_violation(
                x, y, w, z, lipschitz, tol, begin, end,
                begin == 0 and z[0] <= y_min + tol, end == n and z[n - 1] >= y_max - tol,
            ))
            begin = end
    return worst


cdef double block_violation(
    const double[::1] x, const double[::1] y, const double[::1] w, const double[::1] z,
    double lipschitz, double tol, Py_ssize_t begin, Py_ssize_t end, bint at_min, bint at_max,
) noexcept nogil:
    cdef double total = 0.0
    cdef double total_weight = 0.0
    cdef double before = 0.0
    cdef double weight = 0.0
    cdef double worst = 0.0
    # The bounds' multiplier: what they push the block with, from below at the first point.
    cdef double push = 0.0
    cdef double lowest = -INFINITY
    cdef double highest = INFINITY
    cdef double gap, step
    cdef Py_ssize_t k
    for k in range(begin, end):
        total += w[k] * (z[k] - y[k])
        total_weight += w[k]
    if at_min and at_max:
        # Both bounds push: any push within [lowest, highest] satisfies every gap.
        for k in range(begin, end - 1):
            before += w[k] * (z[k] - y[k])
            gap = lipschitz * (x[k + 1] - x[k])
            step = z[k + 1] - z[k]
            if step <= tol and step < gap - tol:
                lowest = fmax(lowest, before)
            elif step > tol:
                highest = fmin(highest, before)
        push = fmax(fmax(total, 0.0), lowest if lowest <= highest else 0.5 * (lowest + highest))
        before = 0.0
    elif at_min:
        push = fmax(total, 0.0)
    if at_min or at_max:
        worst = fmax(0.0, (total - push) if at_max else fabs(total - push)) / total_weight
    else:
        worst = fabs(total) / total_weight
    for k in range(begin, end - 1):
        before += w[k] * (z[k] - y[k])
        weight += w[k]
        gap = lipschitz * (x[k + 1] - x[k])
        step = z[k + 1] - z[k]
        if step <= tol and step < gap - tol:
            worst = fmax(worst, excess(before - push, weight, total_weight - weight))
        elif step > tol:
            worst = fmax(worst, excess(push - before, weight, total_weight - weight))
    return worst
