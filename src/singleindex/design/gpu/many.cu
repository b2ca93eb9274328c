// Rows whose indices under many models are known: their bins, links and residuals, as design/_many.pyx has them.
//
// A block of threads has one model and all rows at hand. So nobody else adds to the bins of that model, and those of
// several visits are added in the order of the visits: every run gives the same bits.

#define BLOCK 512
#define WARPS (BLOCK / 32)
// Bins that there is room for at a time, 24 bytes each: 48 KiB, which every device has.
#define SLOTS 2048
// Whole numbers stay below two to this power, whatever is added up in them.
#define BITS 62

// The larger of two; what is no number is larger than any.
__device__ __forceinline__ double larger(double a, double b) { return b > a || b != b ? b : a; }

// Returns the largest number that any thread of the block has. All threads of the block call it together.
__device__ double largest_of_block(double own, double *of_warp) {
    for (int o = 16; o; o >>= 1) own = larger(own, __shfl_xor_sync(~0u, own, o));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // the largest of every warp is there
    double largest = of_warp[0];
    for (int i = 1; i < WARPS; i++) largest = larger(largest, of_warp[i]);
    __syncthreads();  // all have read them: the room is free
    return largest;
}

// The power of two by which n numbers of this size at the most become whole numbers whose sum has room.
__device__ double scale_for(i64 n, double largest) {
    int exponent;
    frexp((double)n * largest, &exponent);
    return ldexp(1.0, min(BITS - exponent, 1000));
}

// index: a row of n for each model, over which the weighted residuals are written, 0 for rows that are held out.
// y: rows that lie `pitch` numbers apart, one for each output; weight: null for ones. bins: models × 2 × n_bins × 3,
// of rows that are learned from and of those held out the sums of weight, weight × index, weight × y; residual: the
// sums of the residuals. To both is added. What is no number, or too large for one, makes the latter none.
extern "C" __global__ void __launch_bounds__(BLOCK)
visit_models(i64 n, int n_bins, double reach, real *__restrict__ index, const double *__restrict__ offset,
             const double *__restrict__ y, i64 pitch, const double *__restrict__ weight, const int *__restrict__ fold,
             const int *__restrict__ held, const int *__restrict__ output, const double *__restrict__ table,
             double *__restrict__ bins, double *__restrict__ residual) {
    extern __shared__ unsigned room[];
    const int model = blockIdx.x, held_out = held[model];
    const double shift = offset[model], half = 0.5 * n_bins, last = n_bins - 0.5;
    index += (size_t)model * n, y += (size_t)output[model] * pitch;
    table += (size_t)model * (n_bins + 1), bins += (size_t)model * 6 * n_bins;

    // How fine whole numbers may be depends on the largest there are.
    double most[3] = {0, 0, 0};
    for (i64 i = threadIdx.x; i < n; i += BLOCK) {
        const double omega = weight ? weight[i] : 1;
        most[0] = larger(most[0], omega);
        most[1] = larger(most[1], fabs(omega * ((double)index[i] + shift)));
        most[2] = larger(most[2], fabs(omega * y[i]));
    }
    double scale[3];
    bool is_sound = true;
    for (int p = 0; p < 3; p++) {
        most[p] = largest_of_block(most[p], (double *)room);
        is_sound &= isfinite((double)n * most[p]);
        scale[p] = is_sound ? scale_for(n, most[p]) : 0;
    }

    // Where there are more bins than room, all rows are visited once for each part of the bins.
    double total = 0;
    for (int first = 0; first < 2 * n_bins; first += SLOTS) {
        const int count = min(SLOTS, 2 * n_bins - first);
        const bool is_last = first + count == 2 * n_bins;
        for (int j = threadIdx.x; j < 6 * count; j += BLOCK) room[j] = 0;
        unsigned *lower = room, *upper = room + 3 * count;
        __syncthreads();  // all bins are zero
        for (i64 i = threadIdx.x; i < n; i += BLOCK) {
            const double u = (double)index[i] + shift, omega = weight ? weight[i] : 1;
            double place = half + half * u / (reach + fabs(u));
            place = place < last ? place : last;
            place = place > 0 ? place : 0;
            const int bin = (int)place, side = fold[i] == held_out, slot = bin + side * n_bins - first;
            if (slot >= 0 && slot < count) {
                add(lower + slot, upper + slot, __double2ll_rn(omega * scale[0]));
                add(lower + count + slot, upper + count + slot, __double2ll_rn(omega * u * scale[1]));
                add(lower + 2 * count + slot, upper + 2 * count + slot, __double2ll_rn(omega * y[i] * scale[2]));
            }
            if (is_last) {  // nobody needs the index any more
                const double fitted = table[bin] + (place - bin) * (table[bin + 1] - table[bin]);
                const double r = (1 - side) * omega * (fitted - y[i]);
                index[i] = (real)r;
                total += r;
            }
        }
        __syncthreads();  // all rows are in their bins
        for (int j = threadIdx.x; j < 3 * count; j += BLOCK) {
            const i64 whole = (i64)(((u64)upper[j] << 32) + lower[j]);
            if (whole) bins[3 * (first + j % count) + j / count] += (double)whole * (1 / scale[j / count]);
        }
        __syncthreads();  // all have been read: the room is free
    }

    // The sum of the residuals: by shuffles within warps, then over warps in their order.
    double *of_warp = (double *)room;
    for (int o = 16; o; o >>= 1) total += __shfl_xor_sync(~0u, total, o);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = total;
    __syncthreads();  // the sums of all warps are there
    if (threadIdx.x > 0) return;
    total = 0;
    for (int i = 0; i < WARPS; i++) total += of_warp[i];
    residual[model] += is_sound ? total : 0.0 / 0.0;
}
