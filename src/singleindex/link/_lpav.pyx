"""Lipschitz isotonic regression by dynamic programming: the kernel.

Let F_i(z) be the least cost of points 0..i that ends at z. Its derivative is piecewise linear and
increasing; m_i is its zero. Crossing a gap cuts the derivative at m_i, moves the right part by the
gap and puts a flat piece in between. Adding point i + 1 adds w (z - y) to all of it, which moves
the zero.

A piece is (width, rise), the rise being that of the derivative over the piece. Pieces lie in
ascending z in a linked list of chunks; the zero is a place in one of them. So moving the zero
moves no data, and a flat piece is put in by shifting the few pieces behind it in its chunk.

A point of weight w adds w * width to every rise. This is lazy: a chunk is true as of the total
weight it was last brought up to. Totals are kept in double-double precision, so that weights may
differ by many orders of magnitude and no digit of a small one is lost in the difference of two large
totals. For the same reason rises are only ever added to.

The zero moves by some 100 pieces at a typical step. Three things make that cheap. The sums of the
pieces on either side of the zero within its chunk are known from the search that put it there, so
leaving a chunk looks at no piece. Chunks keep their summed width and rise, as do groups of
neighbouring chunks: a zero that goes far (labels that alternate on a grid send it over about
2 sqrt(n) pieces at every step) passes whole chunks, then whole groups at once. And the chunk in
which the zero ends is gone through once, which brings it up to date, finds the zero, takes the sums
and makes room for the two pieces that come in there.
"""

from libc.math cimport INFINITY, fabs, isinf
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

cdef extern from *:
    """
    #ifdef __linux__
    #include <stdint.h>
    #include <sys/mman.h>
    #endif
    /* Fresh memory costs a page fault per 4 KiB, up to a fifth of the running time; huge pages save most of it. */
    static void prefer_huge_pages(void *memory, size_t n_bytes) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        uintptr_t begin = ((uintptr_t) memory + 4095) & ~(uintptr_t) 4095;
        uintptr_t end = ((uintptr_t) memory + n_bytes) & ~(uintptr_t) 4095;
        if (n_bytes >= ((size_t) 4 << 20))
            (void) madvise((void *) begin, end - begin, MADV_HUGEPAGE);
    #endif
    }
    """
    void prefer_huge_pages(void *memory, size_t n_bytes) noexcept nogil

cdef enum:
    CAPACITY = 36          # pieces in a chunk
    GROUP_CAPACITY = 16    # chunks in a group
    FAR = 8                # chunks passed one by one before whole groups are tried
    OLD = 256              # sums that were added to so often are taken afresh

cdef struct Weight:    # an unevaluated sum, |low| at most half an ulp of high
    double high
    double low

cdef struct Piece:     # also the sums over several pieces
    double width
    double rise

cdef struct Chunk:
    Piece sums         # over the pieces; not kept up while the zero is in this chunk
    Weight total       # the rises are true as of this total weight
    int size
    int before         # neighbours in the list; -1 at its ends
    int after
    int group

cdef struct Group:     # a run of neighbouring chunks
    Piece sums         # over the pieces of its chunks
    Weight total       # the rise is true as of this total weight
    int first
    int last
    int before         # neighbours; -1 at the ends
    int after
    int n_chunks
    int age            # how often the sums were added to, OLD if they are not valid

cdef struct Curve:     # the derivative of F_i
    Chunk *chunks
    Piece *pieces      # those of chunk c start at c * CAPACITY
    Group *groups
    int n_expected
    int n_allocated
    int n_used
    int first_free     # a list through `after`
    int n_groups_allocated
    int n_groups
    int first_free_group    # a list through `first`
    int at             # the zero lies in chunk `at`, before piece `place`
    int place
    # Sums over the pieces of this chunk on either side of the zero. Neighbours in memory would be
    # written one by one and read as a pair, which stalls until the writes are through.
    double left_width
    double right_rise
    double zero
    double right_width
    double left_rise
    double left_slope  # beyond the pieces on either side
    double right_slope
    Weight total


cdef inline void add_to(Weight *total, double w) noexcept nogil:
    cdef double high = total.high + w
    cdef double part = high - total.high
    total.low += (total.high - (high - part)) + (w - part)
    total.high = high


cdef inline double difference(Weight a, Weight b) noexcept nogil:
    return (a.high - b.high) + (a.low - b.low)


cdef inline Piece sum_pieces(const Piece *pieces, int begin, int end) noexcept nogil:
    # Two sums side by side: one alone would wait for each addition.
    cdef Piece even = Piece(width=0.0, rise=0.0)
    cdef Piece odd = Piece(width=0.0, rise=0.0)
    cdef int k = begin
    while k + 2 <= end:
        even.width += pieces[k].width
        even.rise += pieces[k].rise
        odd.width += pieces[k + 1].width
        odd.rise += pieces[k + 1].rise
        k += 2
    if k < end:
        even.width += pieces[k].width
        even.rise += pieces[k].rise
    even.width += odd.width
    even.rise += odd.rise
    return even


# ---------------------------------------------------------------- chunks and groups

cdef inline Piece *pieces_of(Curve *curve, int c) noexcept nogil:
    return &curve.pieces[<Py_ssize_t> c * CAPACITY]


cdef void *resize(void *memory, Py_ssize_t n_bytes) except NULL nogil:
    cdef void *grown = realloc(memory, n_bytes)
    if grown == NULL:
        with gil:
            raise MemoryError
    prefer_huge_pages(grown, n_bytes)
    return grown


cdef int take_chunk(Curve *curve) except -1 nogil:
    """Return an empty chunk that belongs to no list yet."""
    cdef int c = curve.first_free
    cdef Py_ssize_t n
    if c >= 0:
        curve.first_free = curve.chunks[c].after
    else:
        c = curve.n_used
        if c == curve.n_allocated:
            n = c + c // 8 + curve.n_expected
            curve.chunks = <Chunk *> resize(curve.chunks, n * sizeof(Chunk))
            curve.pieces = <Piece *> resize(curve.pieces, n * CAPACITY * sizeof(Piece))
            curve.n_allocated = <int> n
        curve.n_used += 1
    curve.chunks[c] = Chunk(
        sums=Piece(width=0.0, rise=0.0), total=curve.total, size=0, before=-1, after=-1, group=-1,
    )
    return c


cdef int take_group(Curve *curve) except -1 nogil:
    cdef int g = curve.first_free_group
    cdef Py_ssize_t n
    if g >= 0:
        curve.first_free_group = curve.groups[g].first
    else:
        g = curve.n_groups
        if g == curve.n_groups_allocated:
            n = g + g // 8 + 16
            curve.groups = <Group *> resize(curve.groups, n * sizeof(Group))
            curve.n_groups_allocated = <int> n
        curve.n_groups += 1
    curve.groups[g].n_chunks = 0
    curve.groups[g].age = OLD
    return g


cdef int split_group(Curve *curve, int g) except -1 nogil:
    """Move the upper half of a group into a new one."""
    cdef int new = take_group(curve)
    cdef int size = curve.groups[g].n_chunks // 2
    cdef int c = curve.groups[g].last
    cdef int k
    cdef int after = curve.groups[g].after
    curve.groups[new].before = g
    curve.groups[new].after = after
    curve.groups[g].after = new
    if after >= 0:
        curve.groups[after].before = new
    curve.groups[new].last = c
    curve.groups[new].n_chunks = size
    curve.groups[new].age = OLD
    for k in range(size):
        curve.chunks[c].group = new
        curve.groups[new].first = c
        c = curve.chunks[c].before
    curve.groups[g].last = c
    curve.groups[g].n_chunks -= size
    curve.groups[g].age = OLD
    return 0


cdef int link_after(Curve *curve, int c, int new) except -1 nogil:
    """Put the chunk `new` into the list after `c`, into the same group."""
    cdef int g = curve.chunks[c].group
    cdef int after = curve.chunks[c].after
    curve.chunks[new].before = c
    curve.chunks[new].after = after
    curve.chunks[new].group = g
    curve.chunks[c].after = new
    if after >= 0:
        curve.chunks[after].before = new
    if curve.groups[g].last == c:
        curve.groups[g].last = new
    curve.groups[g].n_chunks += 1
    if curve.groups[g].n_chunks > GROUP_CAPACITY:
        split_group(curve, g)
    return 0


cdef inline void open_chunk(Curve *curve, int c) noexcept nogil:
    """Bring the pieces of `c` up to the present total weight, before they are read or changed."""
    cdef Chunk *chunk = &curve.chunks[c]
    cdef Piece *pieces = pieces_of(curve, c)
    cdef double w = difference(curve.total, chunk.total)
    cdef int k
    cdef int size = chunk.size
    for k in range(size):
        pieces[k].rise += w * pieces[k].width
    chunk.total = curve.total


cdef inline void add_to_group(Curve *curve, double width, double rise) noexcept nogil:
    """Let the sums of the group at the zero follow a piece that has come in. Cuts do not change them."""
    cdef Group *group = &curve.groups[curve.chunks[curve.at].group]
    group.sums.rise += difference(curve.total, group.total) * group.sums.width + rise
    group.sums.width += width
    group.total = curve.total
    group.age += 1


cdef inline void close_chunk(Curve *curve) noexcept nogil:
    """Note the sums of the chunk at the zero, which leaves it."""
    cdef Chunk *chunk = &curve.chunks[curve.at]
    chunk.sums.width = curve.left_width + curve.right_width
    chunk.sums.rise = curve.left_rise + curve.right_rise


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
    chunk.size = keep
    link_after(curve, c, new)
    if curve.place > keep or size == 0:
        curve.chunks[c].sums = sum_pieces(pieces_of(curve, c), 0, keep)
        curve.at = new
        curve.place -= keep
    else:
        curve.chunks[new].sums = sum_pieces(pieces_of(curve, new), 0, size)
    return 0


cdef void sum_sides(Curve *curve) noexcept nogil:
    cdef Piece *pieces = pieces_of(curve, curve.at)
    cdef Piece left = sum_pieces(pieces, 0, curve.place)
    cdef Piece right = sum_pieces(pieces, curve.place, curve.chunks[curve.at].size)
    curve.left_width = left.width
    curve.left_rise = left.rise
    curve.right_width = right.width
    curve.right_rise = right.rise


cdef int insert(Curve *curve, double width, double rise) except -1 nogil:
    """Put a piece right of the zero into its chunk, which is open. The sums are left to be done."""
    cdef Chunk *chunk
    cdef Piece *pieces
    if curve.chunks[curve.at].size == CAPACITY:
        split_chunk(curve)
    chunk = &curve.chunks[curve.at]
    pieces = pieces_of(curve, curve.at) + curve.place
    memmove(pieces + 1, pieces, (chunk.size - curve.place) * sizeof(Piece))
    pieces[0] = Piece(width=width, rise=rise)
    chunk.size += 1
    return 0


cdef int insert_gap(Curve *curve, double gap) except -1 nogil:
    """Move what is right of the zero by `gap`."""
    if isinf(gap):
        drop_right(curve)
    elif gap > 0.0:
        add_to_group(curve, gap, 0.0)
        insert(curve, gap, 0.0)
    return 0


cdef void drop_right(Curve *curve) noexcept nogil:
    """Drop every piece right of the zero: an infinite gap has moved them out of reach."""
    cdef Chunk *chunk = &curve.chunks[curve.at]
    cdef Group *group = &curve.groups[chunk.group]
    cdef int c = chunk.after
    cdef int after, g
    chunk.size = curve.place
    chunk.after = -1
    curve.right_slope = 0.0
    while c >= 0:
        after = curve.chunks[c].after
        g = curve.chunks[c].group
        if g == chunk.group:
            group.n_chunks -= 1
        elif c == curve.groups[g].last:
            curve.groups[g].first = curve.first_free_group
            curve.first_free_group = g
        curve.chunks[c].after = curve.first_free
        curve.first_free = c
        c = after
    group.last = curve.at
    group.after = -1
    group.age = OLD


# ---------------------------------------------------------------- the zero

cdef inline void sum_group(Curve *curve, Group *group) noexcept nogil:
    cdef Chunk *chunk
    cdef Piece sums = Piece(width=0.0, rise=0.0)
    cdef int c = group.first
    cdef int k
    for k in range(group.n_chunks):
        chunk = &curve.chunks[c]
        sums.width += chunk.sums.width
        sums.rise += chunk.sums.rise + difference(curve.total, chunk.total) * chunk.sums.width
        c = chunk.after
    group.sums = sums
    group.total = curve.total
    group.age = 0


cdef inline int pass_groups(Curve *curve, int g, bint forward, double *amount, double *width) noexcept nogil:
    """Pass whole groups from `g` on while their rises fit into `amount`; return the next chunk, or -1."""
    cdef Group *group
    cdef Weight total = curve.total
    cdef double rise
    while g >= 0:
        group = &curve.groups[g]
        if group.age >= OLD:
            sum_group(curve, group)
        rise = group.sums.rise + difference(total, group.total) * group.sums.width
        if rise > amount[0]:
            return group.first if forward else group.last
        amount[0] -= rise
        width[0] += group.sums.width
        g = group.after if forward else group.before
    return -1


cdef inline int pass_chunks(Curve *curve, int c, bint forward, double *amount, double *width) noexcept nogil:
    """Pass whole chunks from `c` on while their rises fit into `amount`; return the one that does not fit."""
    cdef Chunk *chunk
    cdef Weight total = curve.total
    cdef double rest = amount[0]
    cdef double passed = 0.0
    cdef double rise
    cdef int n_left = FAR
    while c >= 0:
        chunk = &curve.chunks[c]
        n_left -= 1
        if n_left < 0 and c == (curve.groups[chunk.group].first if forward else curve.groups[chunk.group].last):
            c = pass_groups(curve, chunk.group, forward, &rest, &passed)
            # What is left ends within this group.
            n_left = 2 * GROUP_CAPACITY
            continue
        rise = chunk.sums.rise + difference(total, chunk.total) * chunk.sums.width
        if rise > rest:
            break
        rest -= rise
        passed += chunk.sums.width
        c = chunk.after if forward else chunk.before
    amount[0] = rest
    width[0] = passed
    return c


cdef inline int room_for_cut(Chunk *chunk, double gap) noexcept nogil:
    """How far to move the pieces right of the zero, where two will come in: 2, or 0 where that is not easy."""
    return 2 if chunk.size + 2 <= CAPACITY and not isinf(gap) else 0


cdef int cut_full(Curve *curve, Piece part, Piece rest, double gap) except -1 nogil:
    """Cut the piece at `place` into `part` and `rest` where there is no room for it."""
    pieces_of(curve, curve.at)[curve.place] = rest
    insert_gap(curve, gap)
    insert(curve, part.width, part.rise)
    curve.place += 1
    sum_sides(curve)
    return 0


cdef void remove_empty(Curve *curve) noexcept nogil:
    """Where the zero hit the end of a piece, a part of width 0 was cut off: close the list up again."""
    cdef Chunk *chunk = &curve.chunks[curve.at]
    cdef Piece *pieces = pieces_of(curve, curve.at)
    cdef int k
    for k in range(curve.place + 1, curve.place - 2, -2):
        if pieces[k].width == 0.0 and pieces[k].rise == 0.0:
            memmove(pieces + k, pieces + k + 1, (chunk.size - k - 1) * sizeof(Piece))
            chunk.size -= 1
            curve.place -= k < curve.place


cdef inline void cut(Curve *curve, Piece part, Piece rest, double gap) noexcept nogil:
    """Cut the piece at `place` into `part` and `rest`, with a flat piece in between; there is room for it."""
    cdef Piece *pieces = pieces_of(curve, curve.at) + curve.place
    pieces[0] = part
    pieces[1] = Piece(width=gap, rise=0.0)
    pieces[2] = rest
    add_to_group(curve, gap, 0.0)
    curve.chunks[curve.at].size += 2
    curve.place += 1
    if part.rise == 0.0 or rest.rise == 0.0:
        remove_empty(curve)


cdef inline int search_right(Curve *curve, int begin, double amount, double gap) except -1 nogil:
    """Find the zero right of the place `begin` in the chunk `at`; bring the chunk up to date and cut it there.

    All in one go: each piece is read once, and written where it stays after the cut.
    """
    cdef Chunk *chunk = &curve.chunks[curve.at]
    cdef Piece *pieces = pieces_of(curve, curve.at)
    cdef double w = difference(curve.total, chunk.total)
    cdef int room = room_for_cut(chunk, gap)
    cdef int last = chunk.size - 1
    cdef int j, k
    cdef double width, rise, part
    cdef double left_width = 0.0
    cdef double left_rise = 0.0
    cdef double passed_width = 0.0
    cdef double passed_rise = 0.0
    cdef double right_width = 0.0
    cdef double right_rise = 0.0
    chunk.total = curve.total
    for j in range(begin):
        rise = pieces[j].rise + w * pieces[j].width
        pieces[j].rise = rise
        left_width += pieces[j].width
        left_rise += rise
    k = begin
    while k < last:
        rise = pieces[k].rise + w * pieces[k].width
        if passed_rise + rise > amount:
            break
        pieces[k].rise = rise
        passed_width += pieces[k].width
        passed_rise += rise
        k += 1
    width = pieces[k].width
    rise = pieces[k].rise + w * width
    for j in range(last, k, -1):
        right_width += pieces[j].width
        right_rise += pieces[j].rise + w * pieces[j].width
        pieces[j + room] = Piece(width=pieces[j].width, rise=pieces[j].rise + w * pieces[j].width)
    # Rounding apart, what is left of the amount is less than this rise.
    amount = amount - passed_rise if amount - passed_rise < rise else rise
    # The division need not wait for the search to end, but it may round up.
    part = amount * (width / rise) if rise > 0.0 else 0.0
    part = part if part < width else width
    curve.place = k
    curve.zero += passed_width + part
    curve.left_width = left_width + passed_width + part
    curve.left_rise = left_rise + passed_rise + amount
    curve.right_width = right_width + (width - part) + gap
    curve.right_rise = right_rise + (rise - amount)
    if not room:
        return cut_full(curve, Piece(width=part, rise=amount), Piece(width=width - part, rise=rise - amount), gap)
    cut(curve, Piece(width=part, rise=amount), Piece(width=width - part, rise=rise - amount), gap)
    return 0


cdef inline int search_left(Curve *curve, int begin, double amount, double gap) except -1 nogil:
    """The same left of the place `begin`."""
    cdef Chunk *chunk = &curve.chunks[curve.at]
    cdef Piece *pieces = pieces_of(curve, curve.at)
    cdef double w = difference(curve.total, chunk.total)
    cdef int room = room_for_cut(chunk, gap)
    cdef int j, k
    cdef double width, rise, rise_left, part
    cdef double left_width = 0.0
    cdef double left_rise = 0.0
    cdef double passed_width = 0.0
    cdef double passed_rise = 0.0
    cdef double right_width = 0.0
    cdef double right_rise = 0.0
    chunk.total = curve.total
    for j in range(chunk.size - 1, begin - 1, -1):
        rise = pieces[j].rise + w * pieces[j].width
        right_width += pieces[j].width
        right_rise += rise
        pieces[j + room] = Piece(width=pieces[j].width, rise=rise)
    k = begin - 1
    while k > 0:
        rise = pieces[k].rise + w * pieces[k].width
        if passed_rise + rise > amount:
            break
        passed_width += pieces[k].width
        passed_rise += rise
        pieces[k + room] = Piece(width=pieces[k].width, rise=rise)
        k -= 1
    width = pieces[k].width
    rise = pieces[k].rise + w * width
    for j in range(k - 1, -1, -1):
        rise_left = pieces[j].rise + w * pieces[j].width
        left_width += pieces[j].width
        left_rise += rise_left
        pieces[j].rise = rise_left
    amount = amount - passed_rise if amount - passed_rise < rise else rise
    # The division need not wait for the search to end, but it may round up.
    part = amount * (width / rise) if rise > 0.0 else 0.0
    part = part if part < width else width
    curve.place = k
    curve.zero -= passed_width + part
    curve.left_width = left_width + (width - part)
    curve.left_rise = left_rise + (rise - amount)
    curve.right_width = right_width + passed_width + part + gap
    curve.right_rise = right_rise + passed_rise + amount
    if not room:
        return cut_full(curve, Piece(width=width - part, rise=rise - amount), Piece(width=part, rise=amount), gap)
    cut(curve, Piece(width=width - part, rise=rise - amount), Piece(width=part, rise=amount), gap)
    return 0


cdef inline int zero_to_right(Curve *curve, double amount, double w, double gap) except -1 nogil:
    """Move the zero right until the derivative has risen by `amount` > 0, `w` being the new weight."""
    cdef double width = 0.0
    cdef double rise = curve.right_rise + w * curve.right_width
    cdef int begin = curve.place
    cdef int c
    if rise <= amount:
        amount -= rise
        close_chunk(curve)
        c = pass_chunks(curve, curve.chunks[curve.at].after, True, &amount, &width)
        curve.zero += curve.right_width + width
        if c < 0:
            return beyond_right(curve, amount, gap)
        curve.at = c
        begin = 0
    return search_right(curve, begin, amount, gap)


cdef inline int zero_to_left(Curve *curve, double amount, double w, double gap, double y_min) except -1 nogil:
    """Move the zero left until the derivative has fallen by `amount` > 0, or to `y_min`."""
    cdef double width = 0.0
    cdef double rise = curve.left_rise + w * curve.left_width
    cdef int begin = curve.place
    cdef int c
    if rise <= amount:
        amount -= rise
        close_chunk(curve)
        c = pass_chunks(curve, curve.chunks[curve.at].before, False, &amount, &width)
        curve.zero -= curve.left_width + width
        if c < 0:
            return beyond_left(curve, amount, gap, y_min)
        curve.at = c
        begin = curve.chunks[c].size
    return search_left(curve, begin, amount, gap)


cdef int beyond_right(Curve *curve, double amount, double gap) except -1 nogil:
    """Put the zero on the half-line right of all pieces, `amount` above their end."""
    while curve.chunks[curve.at].after >= 0:
        curve.at = curve.chunks[curve.at].after
    open_chunk(curve, curve.at)
    curve.place = curve.chunks[curve.at].size
    if amount > 0.0:
        curve.zero += amount / curve.right_slope
        add_to_group(curve, amount / curve.right_slope, amount)
        insert(curve, amount / curve.right_slope, amount)
        curve.place += 1
    insert_gap(curve, gap)
    sum_sides(curve)
    return 0


cdef int beyond_left(Curve *curve, double amount, double gap, double y_min) except -1 nogil:
    """Put the zero on the half-line left of all pieces, or at `y_min`, where the curve ends."""
    while curve.chunks[curve.at].before >= 0:
        curve.at = curve.chunks[curve.at].before
    open_chunk(curve, curve.at)
    curve.place = 0
    if not isinf(y_min):
        # Below y_min there is nothing: what is left of the derivative is a jump there.
        curve.zero = y_min
        if amount > 0.0:
            add_to_group(curve, 0.0, amount)
            insert(curve, 0.0, amount)
    elif amount > 0.0:
        curve.zero -= amount / curve.left_slope
        add_to_group(curve, amount / curve.left_slope, amount)
        insert(curve, amount / curve.left_slope, amount)
    insert_gap(curve, gap)
    sum_sides(curve)
    return 0


cdef int start_curve(Curve *curve, double y, double w, double y_min) except -1 nogil:
    cdef int g = take_group(curve)
    curve.at = take_chunk(curve)
    curve.chunks[curve.at].group = g
    curve.groups[g].first = curve.at
    curve.groups[g].last = curve.at
    curve.groups[g].before = -1
    curve.groups[g].after = -1
    curve.groups[g].n_chunks = 1
    curve.groups[g].age = OLD
    curve.place = 0
    curve.left_slope = w
    curve.right_slope = w
    curve.zero = y if y > y_min else y_min
    if y < y_min:
        insert(curve, 0.0, w * (y_min - y))
    elif not isinf(y_min):
        insert(curve, y - y_min, w * (y - y_min))
        curve.place = 1
    return 0


cdef int find_zeros(
    const double[::1] x, const double[::1] y, const double[::1] w,
    double lipschitz, double y_min, double[::1] m, Curve *curve,
) except -1 nogil:
    """Forward pass: m[i] is the minimiser of F_i."""
    cdef Py_ssize_t n = y.shape[0]
    cdef Py_ssize_t i
    cdef double gap, value
    start_curve(curve, y[0], w[0], y_min)
    m[0] = curve.zero
    insert_gap(curve, lipschitz * (x[1] - x[0]) if n > 1 else 0.0)
    sum_sides(curve)
    for i in range(1, n):
        gap = lipschitz * (x[i + 1] - x[i]) if i + 1 < n else 0.0
        add_to(&curve.total, w[i])
        curve.left_slope += w[i]
        curve.right_slope += w[i]
        value = w[i] * (curve.zero - y[i])
        if value < 0.0:
            zero_to_right(curve, -value, w[i], gap)
        elif value > 0.0:
            zero_to_left(curve, value, w[i], gap, y_min)
        else:
            open_chunk(curve, curve.at)
            insert_gap(curve, gap)
            sum_sides(curve)
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
        # Not fmax, which is a call.
        reach = fabs(z[i]) if fabs(z[i]) > reach else reach
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
    if z[0] > y_max:
        z[0] = y_max
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
    curve.groups = NULL
    # Two pieces a point in chunks that are two thirds full; pages never written to cost nothing.
    curve.n_expected = <int> (3 * z.shape[0] // CAPACITY) + 16
    curve.n_allocated = 0
    curve.n_used = 0
    curve.first_free = -1
    curve.n_groups_allocated = 0
    curve.n_groups = 0
    curve.first_free_group = -1
    curve.total = Weight(high=0.0, low=0.0)
    try:
        with nogil:
            find_zeros(x, y, w, lipschitz, y_min, z, &curve)
            trace_back(x, y, w, lipschitz, y_min, y_max, z)
    finally:
        free(curve.pieces)
        free(curve.chunks)
        free(curve.groups)


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
    cdef double part, gap
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
                # The running mean cannot overflow where a sum of v * y could; at the ends of the numbers
                # the difference can.
                part = v / w_out[last]
                gap = y[k] - y_out[last]
                if isinf(gap):
                    y_out[last] = (1.0 - part) * y_out[last] + part * y[k]
                else:
                    y_out[last] += part * gap
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
    cdef double part, gap, rise
    with nogil:
        for i in range(order.shape[0]):
            k = order[i]
            while j < last and knots[j + 1] <= x[k]:
                j += 1
            if j == last or x[k] <= knots[j]:
                out[k] = z[j]
            else:
                gap = knots[j + 1] - knots[j]
                if isinf(gap):
                    part = (0.5 * x[k] - 0.5 * knots[j]) / (0.5 * knots[j + 1] - 0.5 * knots[j])
                else:
                    part = (x[k] - knots[j]) / gap
                rise = z[j + 1] - z[j]
                out[k] = z[j] + part * rise if not isinf(rise) else (1.0 - part) * z[j] + part * z[j + 1]
