// The product of a sparse matrix and a vector: the matrix sorted by blocks of 2^14 columns, by rows within a block.
//
// A block of columns is so narrow that its part of the vector lies in shared memory, where entries that lie anywhere
// are looked up at the speed of reading them. Columns within a block take two bytes. The same kernels, on the
// transposed matrix, give Xᵀ r: nothing is added up by several threads at once, and all sums have a fixed order.
//
// starts: n_blocks × (n + 1), where the entries of a row begin that lie in a block.

#define WIDTH 16384
#define THREADS 1024

// partial: n_blocks × n, each block's part of the product. `lanes` neighbouring lanes share the entries of a row.
extern "C" __global__ void __launch_bounds__(THREADS)
csr_parts(i64 n, i64 d, int lanes, i64 chunk, const real *__restrict__ data, const unsigned short *__restrict__ columns,
          const i64 *__restrict__ starts, const real *__restrict__ vector, real *__restrict__ partial) {
    extern __shared__ __align__(16) char raw[];
    real *near = (real *)raw;
    const i64 block = blockIdx.y, from = block * WIDTH;
    for (i64 j = threadIdx.x; j < WIDTH; j += THREADS) near[j] = from + j < d ? vector[from + j] : (real)0;
    __syncthreads();  // the vector is there
    const int groups = THREADS / lanes, group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    const i64 begin = blockIdx.x * chunk, end = min(begin + chunk, n);
    const i64 *start = starts + block * (n + 1);
    // All lanes of a warp go round together, as shuffles ask for.
    for (i64 first = begin; first < end; first += groups) {
        const i64 i = first + group;
        real sum = 0;
        if (i < end) {
            const i64 stop = start[i + 1];
            for (i64 k = start[i] + lane; k < stop; k += lanes) sum += data[k] * near[columns[k]];
        }
        for (int o = lanes / 2; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
        if (lane == 0 && i < end) partial[block * n + i] = sum;
    }
}

// out = the sum over blocks, in their order.
extern "C" __global__ void __launch_bounds__(256)
csr_add(i64 n, int n_blocks, const real *__restrict__ partial, double *__restrict__ out) {
    for (i64 i = (i64)blockIdx.x * 256 + threadIdx.x; i < n; i += (i64)gridDim.x * 256) {
        double sum = 0;
#pragma unroll 4
        for (int b = 0; b < n_blocks; b++) sum += partial[b * n + i];
        out[i] = sum;
    }
}
