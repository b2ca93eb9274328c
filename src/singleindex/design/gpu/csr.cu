// Products with a sparse X whose entries were sorted by blocks of 2^14 columns, and by rows within a block.
//
// A block of columns is so narrow that its part of w, and of the gradient, lies in shared memory, where entries
// that lie anywhere are looked up and added to at the speed of reading them. Columns within a block take two
// bytes. Sums of the gradient are whole numbers of 64 bits: they do not depend on the order of the additions. So
// that they have as many digits in every column, columns are stored in units of the sum of their sizes, powers of
// two; w comes in the same units.
//
// starts: n_blocks × (n + 1), where the entries of a row begin that lie in a block.

#define WIDTH 16384
#define THREADS 1024

// The sum over `lanes` neighbouring lanes, by shuffles.
__device__ __forceinline__ real over_lanes(real value, int lanes) {
    for (int o = lanes / 2; o; o >>= 1) value += __shfl_xor_sync(~0u, value, o);
    return value;
}

// partial: n_blocks × n, each block's part of X w. `lanes` lanes share the entries of a row.
extern "C" __global__ void __launch_bounds__(THREADS)
csr_index(i64 n, i64 d, int lanes, i64 chunk, const real *__restrict__ data, const unsigned short *__restrict__ columns,
          const i64 *__restrict__ starts, const real *__restrict__ w, real *__restrict__ partial) {
    extern __shared__ __align__(16) char raw[];
    real *near = (real *)raw;
    const i64 block = blockIdx.y, from = block * WIDTH;
    for (i64 j = threadIdx.x; j < WIDTH; j += THREADS) near[j] = from + j < d ? w[from + j] : (real)0;
    __syncthreads();  // w is there
    const int groups = THREADS / lanes, lane = threadIdx.x % lanes;
    const i64 begin = blockIdx.x * chunk, end = min(begin + chunk, n);
    // All lanes of a warp go round together, as shuffles ask for.
    for (i64 i = begin + threadIdx.x / lanes; i - threadIdx.x / lanes < end; i += groups) {
        real sum = 0;
        if (i < end) {
            const i64 stop = starts[block * (n + 1) + i + 1];
            for (i64 k = starts[block * (n + 1) + i] + lane; k < stop; k += lanes) sum += data[k] * near[columns[k]];
        }
        sum = over_lanes(sum, lanes);
        if (lane == 0 && i < end) partial[block * n + i] = sum;
    }
}

// index = the sum over blocks, in their order.
extern "C" __global__ void __launch_bounds__(256)
csr_add(i64 n, int n_blocks, const real *__restrict__ partial, double *__restrict__ index) {
    for (i64 i = (i64)blockIdx.x * 256 + threadIdx.x; i < n; i += (i64)gridDim.x * 256) {
        double sum = 0;
        for (int b = 0; b < n_blocks; b++) sum += partial[b * n + i];
        index[i] = sum;
    }
}

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

// The power of two by which sums of sizes up to `bound` times the largest of `sizes` become whole numbers.
extern "C" __global__ void __launch_bounds__(512)
csr_scale(const double *__restrict__ sizes, int count, double bound, double *__restrict__ scale) {
    __shared__ double of_thread[512];
    double largest = 0;
    for (int i = threadIdx.x; i < count; i += 512) largest = fmax(largest, sizes[i]);
    of_thread[threadIdx.x] = largest;
    __syncthreads();  // the largest of all threads are there
    if (threadIdx.x > 0) return;
    for (int i = 1; i < 512; i++) largest = fmax(largest, of_thread[i]);
    int exponent;
    frexp(fmax(largest * bound, 2.2250738585072014e-308), &exponent);
    scale[0] = ldexp(1.0, min(61 - exponent, 1000));
}

// sums: d whole numbers of 1 / scale[0], which begin at zero; adds Xᵀ r to them. rows: of every entry, counted from
// the first row of its chunk. Threads take the entries of a chunk and a block one after the other, as they lie.
extern "C" __global__ void __launch_bounds__(THREADS)
csr_gradient(i64 n, i64 d, i64 chunk, const real *__restrict__ data, const unsigned short *__restrict__ columns,
             const unsigned short *__restrict__ rows, const i64 *__restrict__ starts, const double *__restrict__ r,
             const double *__restrict__ scale, u64 *__restrict__ sums) {
    extern __shared__ __align__(16) char raw[];
    unsigned *low = (unsigned *)raw, *high = low + WIDTH;
    const i64 block = blockIdx.y, from = block * WIDTH;
    for (int j = threadIdx.x; j < 2 * WIDTH; j += THREADS) low[j] = 0;
    __syncthreads();  // all sums are zero
    const i64 begin = blockIdx.x * chunk, end = min(begin + chunk, n);
    const i64 stop = starts[block * (n + 1) + end];
    const double unit = scale[0];
    const double *near = r + begin;
#pragma unroll 4
    for (i64 k = starts[block * (n + 1) + begin] + threadIdx.x; k < stop; k += THREADS) {
        const int c = columns[k];
        add(low + c, high + c, __double2ll_rn(near[rows[k]] * unit * (double)data[k]));
    }
    __syncthreads();  // all entries of the chunk are added
    for (i64 j = threadIdx.x; j < WIDTH && from + j < d; j += THREADS) {
        u64 sum = ((u64)high[j] << 32) + low[j];
        if (sum) atomicAdd(sums + from + j, sum);
    }
}

// out = the sums as numbers, in units of their own for each column.
extern "C" __global__ void __launch_bounds__(256)
csr_as_numbers(i64 d, const i64 *__restrict__ sums, const double *__restrict__ scale, const double *__restrict__ units,
               double *__restrict__ out) {
    i64 j = (i64)blockIdx.x * 256 + threadIdx.x;
    if (j < d) out[j] = (double)sums[j] / scale[0] * units[j];
}
