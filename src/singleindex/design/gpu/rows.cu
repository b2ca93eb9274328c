// What there is to do row by row once the index is known: sums, and bins for the link.
//
// All of it in a fixed order or in whole numbers, so that every run gives the same bits. Nothing as long as the
// data leaves the device.

#define BLOCK 1024
#define AHEAD 2

struct Facts {  // of one model: this is what travels, with the sums and the bins
    double residual, low, high, exponent, first;
};

struct Asked {  // of one model: this is what is sent; the exponent is NAN for none
    double exponent, centre, centre_old, y_centre;
};

#define LEAST_EXPONENT -960
#define MOST_NUMBER 9007199254740992.0  // 2^53: beyond it whole numbers are not told apart

// ------------------------------------------------------------------------------------------------ facts

__device__ __forceinline__ double merged(double a, double b, int what) {
    return what == 0 ? a + b : what == 1 ? fmin(a, b) : fmax(a, b);
}

// Adds up what `count` workers have found, each a row of 3 × 32 lanes, of which the lanes from first_lane to
// end_lane are those of this model; and settles the width of the bins as Bins of link/bins.py does: the finest,
// from the exponent that was asked for on, at which the range of the index takes at most n_bins. Sets
// the bins to zero.
extern "C" __global__ void __launch_bounds__(BLOCK)
finish(const double *__restrict__ found, int count, int first_lane, int end_lane, const Asked *__restrict__ asked, int n_bins,
       Facts *__restrict__ facts, u64 *__restrict__ bins) {
    const double exponent = asked->exponent;
    for (int k = threadIdx.x; k < 3 * n_bins; k += BLOCK) bins[k] = 0;
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

struct Rows {  // what there is for every row: index_old and weight may be null
    const double *index, *index_old, *y, *weight;
    double centre, centre_old, y_centre;
};

struct Bins {  // in whole numbers of 1 / weight_scale and 1 / y_scale; first is NAN for none
    int n_bins;
    double first, bins_per_unit, weight_scale, y_scale;
    unsigned *lower, *upper;  // a block's own, in shared memory and in two halves, or null
    u64 *all;
};

__device__ __forceinline__ void visit(const Bins &bins, double value, double y, double omega) {
    const double place = value * bins.bins_per_unit, number = floor(place);
    const int k = (int)fmin(fmax(number - bins.first, 0.0), bins.n_bins - 1.0);
    const i64 whole[3] = {__double2ll_rn(omega * bins.weight_scale),
                          __double2ll_rn(omega * (place - number) * bins.weight_scale),
                          __double2ll_rn(omega * y * bins.y_scale)};
#pragma unroll
    for (int p = 0; p < 3; p++) {
        if (bins.lower)
            add(bins.lower + p * bins.n_bins + k, bins.upper + p * bins.n_bins + k, whole[p]);
        else
            atomicAdd(bins.all + p * bins.n_bins + k, (u64)whole[p]);
    }
}

__device__ __forceinline__ void visit(const Rows &rows, double value, double old, double y, double omega, double *sum) {
    const double c = value - rows.centre, gap = y - rows.y_centre;
    const double move = rows.index_old ? (old - value) - (rows.centre_old - rows.centre) : 0;
    sum[0] += omega;
    sum[1] += omega * c;
    sum[2] += omega * move;
    sum[3] += omega * gap;
    sum[4] += omega * c * c;
    sum[5] += omega * c * move;
    sum[6] += omega * move * move;
    sum[7] += omega * c * gap;
    sum[8] += omega * gap * gap;
}

// The nine sums of a sweep for each block: sums is blocks × 9. And the bins, where n_bins > 0: weight, weight ×
// place within the bin and weight × y, in whole numbers, which do not depend on the order in which they are added.
// bins: 3 × n_bins, which begin at zero; near: whether a block's own fit into shared memory.
extern "C" __global__ void __launch_bounds__(BLOCK)
visit_rows(i64 n, const double *__restrict__ index, const double *__restrict__ index_old,
           const double *__restrict__ y_of, const double *__restrict__ weight, const Asked *__restrict__ asked,
           double *__restrict__ sums, const Facts *__restrict__ facts, int n_bins, int near,
           double weight_scale, double y_scale, u64 *__restrict__ all) {
    extern __shared__ unsigned halves[];
    const Rows rows = {index, index_old, y_of, weight, asked->centre, asked->centre_old, asked->y_centre};
    if (near)
        for (int k = threadIdx.x; k < 6 * n_bins; k += BLOCK) halves[k] = 0;
    __syncthreads();  // all bins are zero
    Bins bins = {n_bins, facts->first, ldexp(1.0, -(int)facts->exponent), weight_scale, y_scale,
                 near ? halves : 0, halves + 3 * n_bins, all};
    const bool has_bins = n_bins > 0 && !isnan(bins.first);
    double sum[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    // Several rows are asked for before the first is used: they come from far.
    const i64 step = (i64)gridDim.x * BLOCK;
    for (i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x; i < n; i += AHEAD * step) {
        double value[AHEAD], old[AHEAD], y[AHEAD], omega[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const i64 at = i + k * step;
            const bool there = at < n;
            value[k] = there ? rows.index[at] : 0;
            old[k] = there && rows.index_old ? rows.index_old[at] : 0;
            y[k] = there ? rows.y[at] : 0;
            omega[k] = !there ? 0 : rows.weight ? rows.weight[at] : 1;
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (i + k * step >= n) continue;
            visit(rows, value[k], old[k], y[k], omega[k], sum);
            if (has_bins) visit(bins, value[k], y[k], omega[k]);
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
        u64 whole = ((u64)bins.upper[k] << 32) + bins.lower[k];
        if (whole) atomicAdd(all + k, whole);
    }
}

// ------------------------------------------------------------------------------------------------ parts

// Adds up the rows of a matrix of `count` rows of length d: warp w of 32 those with the numbers w, w + 32, …, then
// the warps in their order.
extern "C" __global__ void __launch_bounds__(BLOCK)
add_parts(const double *__restrict__ parts, int count, i64 d, double *__restrict__ out) {
    __shared__ double of_warp[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const i64 j = (i64)blockIdx.x * 32 + lane;
    double sum = 0;
    if (j < d) {
#pragma unroll 8
        for (int i = warp; i < count; i += 32) sum += parts[(size_t)i * d + j];
    }
    of_warp[warp][lane] = sum;
    __syncthreads();  // the sums of all warps are there
    if (warp > 0 || j >= d) return;
    double total = 0;
    for (int i = 0; i < 32; i++) total += of_warp[i][lane];
    out[j] = total;
}
