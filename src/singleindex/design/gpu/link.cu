// The residuals of rows whose index is known: for what is not swept in one visit.

#define BLOCK 256

// residual = weight × (link(index) − y); found: blocks × 3 × 32, by lane the sum of the residuals, the least and the
// highest index.
extern "C" __global__ void __launch_bounds__(BLOCK)
link_rows(i64 n, const Link *__restrict__ links, const double *__restrict__ index, const double *__restrict__ y,
          const double *__restrict__ weight, real *__restrict__ residual, double *__restrict__ found) {
    const Link link = links[0];
    double own[3] = {0, 1.0 / 0.0, -1.0 / 0.0};
    for (i64 i = (i64)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (i64)gridDim.x * BLOCK) {
        const double at = index[i], value = (weight ? weight[i] : 1) * link_less_y(link, at, y[i]);
        residual[i] = (real)value;
        own[0] += value;
        own[1] = fmin(own[1], at), own[2] = fmax(own[2], at);
    }
    __shared__ double of_thread[3][BLOCK];
    for (int what = 0; what < 3; what++) of_thread[what][threadIdx.x] = own[what];
    __syncthreads();  // the sums of all threads are there
    if (threadIdx.x >= 32) return;
    for (int k = threadIdx.x + 32; k < BLOCK; k += 32) {
        own[0] += of_thread[0][k];
        own[1] = fmin(own[1], of_thread[1][k]), own[2] = fmax(own[2], of_thread[2][k]);
    }
    for (int what = 0; what < 3; what++) found[(size_t)blockIdx.x * 96 + what * 32 + threadIdx.x] = own[what];
}
