// Products with a dense X on any device, for any stored numbers and any distance between rows.

#define WARPS 8

// index = X w, a warp per row: lanes add up every 32nd vector of VEC columns, then by shuffles.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
row_products(const char *__restrict__ X, i64 n, i64 d, i64 pitch, const wide *__restrict__ w,
             double *__restrict__ index) {
    const int lane = threadIdx.x % 32;
    for (i64 i = (i64)blockIdx.x * WARPS + threadIdx.x / 32; i < n; i += (i64)gridDim.x * WARPS) {
        const char *row = X + i * pitch;
        wide sum = 0;
#pragma unroll 4
        for (i64 j = lane * VEC; j < d; j += 32 * VEC) {
            real x[VEC];
            read(row + j * BYTES, x);
#pragma unroll
            for (int v = 0; v < VEC; v++) sum = add_product((wide)x[v], w[j + v], sum);
        }
        for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
        if (lane == 0) index[i] = sum;
    }
}

// Sums of r × (x − point) over `chunk` rows for every column, and of r × (x − point)² where `squares` is not
// null: out and squares are chunks × d. Threads own VEC columns, WARPS of them take turns in the rows of a chunk.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
column_sums(const char *__restrict__ X, i64 n, i64 d, i64 pitch, i64 chunk, const double *__restrict__ r,
            const double *__restrict__ point, double *__restrict__ out, double *__restrict__ squares) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const i64 j = ((i64)blockIdx.x * 32 + lane) * VEC;
    const i64 begin = blockIdx.y * chunk, end = min(begin + chunk, n);
    double sum[VEC], square[VEC], from[VEC];
#pragma unroll
    for (int v = 0; v < VEC; v++) sum[v] = square[v] = 0, from[v] = point && j < d ? point[j + v] : 0;
    if (j < d) {
#pragma unroll 4
        for (i64 i = begin + warp; i < end; i += WARPS) {
            real x[VEC];
            read(X + i * pitch + j * BYTES, x);
            double factor = r[i];
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                double gap = (double)x[v] - from[v], part = factor * gap;
                sum[v] += part;
                if (squares) square[v] += part * gap;
            }
        }
    }
    // The warps of the block, in their order.
    __shared__ double of_warp[WARPS][32 * VEC];
    for (int pass = 0; pass < (squares ? 2 : 1); pass++) {
        for (int v = 0; v < VEC; v++) of_warp[warp][lane * VEC + v] = pass ? square[v] : sum[v];
        __syncthreads();  // the sums of all warps are there
        for (int k = threadIdx.x; k < 32 * VEC; k += 32 * WARPS) {
            double total = 0;
            for (int i = 0; i < WARPS; i++) total += of_warp[i][k];
            i64 column = (i64)blockIdx.x * 32 * VEC + k;
            if (column < d) (pass ? squares : out)[blockIdx.y * d + column] = total;
        }
        __syncthreads();  // all have read them: the squares may follow
    }
}
