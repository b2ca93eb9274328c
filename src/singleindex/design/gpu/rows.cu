// What there is to do row by row once the index is known: sums, and bins for the link.
//
// All of it in a fixed order or in whole numbers, so that every run gives the same bits. Nothing as long as the
// data leaves the device.

#define BLOCK 1024

struct Facts {  // of one model: this is what travels, with the sums and the bins
    double residual, low, high, exponent, first;
};

#define LEAST_EXPONENT -960
#define MOST_NUMBER 9007199254740992.0  // 2^53: beyond it whole numbers are not told apart

// ------------------------------------------------------------------------------------------------ facts

__device__ __forceinline__ double merged(double a, double b, int what) {
    return what == 0 ? a + b : what == 1 ? fmin(a, b) : fmax(a, b);
}

// Adds up what `count` workers have found, each a row of 3 × 32 lanes, of which the lanes from first_lane to
// end_lane are those of this model; and settles the width of the bins as Bins of link/bins.py does: the finest,
// from `exponent` on where there is one (NAN for none), at which the range of the index takes at most n_bins.
extern "C" __global__ void __launch_bounds__(BLOCK)
finish(const double *__restrict__ found, int count, int first_lane, int end_lane, double exponent, int n_bins,
       Facts *__restrict__ facts) {
    __shared__ double of_warp[3][32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const double none[3] = {0, 1.0 / 0.0, -1.0 / 0.0};
    for (int what = 0; what < 3; what++) {
        double own = none[what];
#pragma unroll 8
        for (int t = warp; t < count; t += 32) own = merged(own, found[(size_t)t * 96 + what * 32 + lane], what);
        of_warp[what][warp][lane] = own;
    }
    __syncthreads();  // all warps have added up their workers
    __shared__ double of_lane[3][32];
    if (warp < 3) {
        double own = none[warp];
        for (int i = 0; i < 32; i++) own = merged(own, of_warp[warp][i][lane], warp);
        of_lane[warp][lane] = own;
    }
    __syncthreads();  // all lanes have added up their warps
    if (threadIdx.x > 0) return;
    double total[3] = {0, 1.0 / 0.0, -1.0 / 0.0};
    for (int what = 0; what < 3; what++)
        for (int i = first_lane; i < end_lane; i++) total[what] = merged(total[what], of_lane[what][i], what);
    const double low = total[1], high = total[2], reach = fmax(fabs(low), fabs(high));
    facts->residual = total[0], facts->low = low, facts->high = high;
    int e = LEAST_EXPONENT;
    facts->first = 0.0 / 0.0;
    // What is not finite has no bin; it shows in the gradient, where it is looked for.
    if (isfinite(total[0]) && isfinite(low) && isfinite(high)) {
        if (!isnan(exponent)) {
            e = (int)exponent;
        } else if (reach > 0) {
            int finest, wide;
            frexp(reach, &finest);
            e = finest - 52;
            double spread = (high - low) / n_bins;
            if (spread > 0) {
                frexp(spread, &wide);
                e = max(e, wide - 1);
            }
            e = max(e, LEAST_EXPONENT);
        }
        for (;; e++) {
            double begin = floor(ldexp(low, -e)), end = floor(ldexp(high, -e));
            facts->first = begin;
            if (n_bins < 2 || (end - begin < n_bins && fmax(-begin, end) <= MOST_NUMBER)) break;
        }
    }
    facts->exponent = e;
}

// ------------------------------------------------------------------------------------------------ sums and bins

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

// The nine sums of a sweep for each block: sums is blocks × 9. And the bins, where n_bins > 0: weight, weight ×
// place within the bin and weight × y, in whole numbers of 1 / weight_scale and 1 / y_scale, which do not depend on
// the order in which they are added. bins: 3 × n_bins, which begin at zero; near: whether a block's own fit into
// shared memory, in two halves.
extern "C" __global__ void __launch_bounds__(BLOCK)
visit_rows(i64 n, const double *__restrict__ index, const double *__restrict__ index_old,
           const double *__restrict__ y, const double *__restrict__ weight, double centre, double centre_old,
           double y_centre, double *__restrict__ sums, const Facts *__restrict__ facts, int n_bins, int near,
           double weight_scale, double y_scale, u64 *__restrict__ bins) {
    extern __shared__ unsigned halves[];
    unsigned *lower = halves, *upper = halves + 3 * n_bins;
    if (near)
        for (int k = threadIdx.x; k < 6 * n_bins; k += BLOCK) halves[k] = 0;
    __syncthreads();  // all bins are zero
    const bool has_bins = n_bins > 0 && !isnan(facts->first);
    const double bins_per_unit = ldexp(1.0, -(int)facts->exponent), first = facts->first;
    double sum[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (i64)gridDim.x * BLOCK) {
        const double value = index[i], y_row = y[i], omega = weight ? weight[i] : 1;
        const double c = value - centre, gap = y_row - y_centre;
        const double move = index_old ? (index_old[i] - value) - (centre_old - centre) : 0;
        sum[0] += omega;
        sum[1] += omega * c;
        sum[2] += omega * move;
        sum[3] += omega * gap;
        sum[4] += omega * c * c;
        sum[5] += omega * c * move;
        sum[6] += omega * move * move;
        sum[7] += omega * c * gap;
        sum[8] += omega * gap * gap;
        if (!has_bins) continue;
        const double place = value * bins_per_unit, number = floor(place);
        const int k = (int)fmin(fmax(number - first, 0.0), n_bins - 1.0);
        const i64 whole[3] = {__double2ll_rn(omega * weight_scale), __double2ll_rn(omega * (place - number) * weight_scale),
                              __double2ll_rn(omega * y_row * y_scale)};
#pragma unroll
        for (int p = 0; p < 3; p++) {
            if (near)
                add(lower + p * n_bins + k, upper + p * n_bins + k, whole[p]);
            else
                atomicAdd(bins + p * n_bins + k, (u64)whole[p]);
        }
    }
    // Sums over the block: by shuffles within warps, then over warps in their order.
    __shared__ double of_warp[9][BLOCK / 32];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        for (int o = 16; o; o >>= 1) sum[k] += __shfl_xor_sync(~0u, sum[k], o);
        if (threadIdx.x % 32 == 0) of_warp[k][threadIdx.x / 32] = sum[k];
    }
    __syncthreads();  // the sums of all warps are there, and all bins of the block
    if (threadIdx.x < 9) {
        double total = 0;
        for (int i = 0; i < BLOCK / 32; i++) total += of_warp[threadIdx.x][i];
        sums[(size_t)blockIdx.x * 9 + threadIdx.x] = total;
    }
    if (!has_bins || !near) return;
    for (int k = threadIdx.x; k < 3 * n_bins; k += BLOCK) {
        u64 whole = ((u64)upper[k] << 32) + lower[k];
        if (whole) atomicAdd(bins + k, whole);
    }
}

// ------------------------------------------------------------------------------------------------ parts

// Adds up every `chunk` rows of a matrix of `count` rows of length d, in their order.
extern "C" __global__ void __launch_bounds__(256)
add_parts(const double *__restrict__ parts, int count, i64 d, int chunk, double *__restrict__ out) {
    i64 j = (i64)blockIdx.x * 256 + threadIdx.x;
    int begin = blockIdx.y * chunk, end = min(begin + chunk, count);
    if (j >= d) return;
    double sum = 0;
#pragma unroll 8
    for (int i = begin; i < end; i++) sum += parts[(size_t)i * d + j];
    out[(size_t)blockIdx.y * d + j] = sum;
}
