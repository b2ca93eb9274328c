// Sums in whole numbers: whatever the order in which they are added, they give the same bits.

// Adds to a number of 64 bits in two halves: shared memory adds 32 bits at a time. The carry is seen in what the
// lower half was before; it and the upper half mostly cancel or vanish, and then nothing is left to add.
__device__ __forceinline__ void add(unsigned *low, unsigned *high, i64 value) {
    unsigned lower = (unsigned)(u64)value, upper = (unsigned)((u64)value >> 32);
    if (lower) {
        unsigned before = atomicAdd(low, lower);
        if (before + lower < before) upper++;
    }
    if (upper) atomicAdd(high, upper);
}
