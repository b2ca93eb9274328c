// The fastest readings of device memory that we know to write: the floor that an iteration is measured against.

typedef unsigned long long u64;
typedef long long i64;

// By loads into registers: every 16 bytes once, nothing written.
extern "C" __global__ void __launch_bounds__(512)
read_once(const uint4 *__restrict__ X, i64 n_vectors, unsigned *__restrict__ out) {
    unsigned seen = 0;
    i64 step = (i64)gridDim.x * 512, i = (i64)blockIdx.x * 512 + threadIdx.x;
    for (; i + 7 * step < n_vectors; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = __ldcs(X + i + k * step);
#pragma unroll
        for (int k = 0; k < 8; k++) seen |= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < n_vectors; i += step) {
        uint4 v = __ldcs(X + i);
        seen |= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (seen == 0x9e3779b9u) out[0] = seen;  // hardly ever: so that the reading is not left out
}

// By bulk copies into a ring of STAGES places in shared memory, as the sweep has them, and nothing done with it.
#define STAGES 6
#define PLACE 32768

extern "C" __global__ void __launch_bounds__(32)
copy_once(const char *__restrict__ X, i64 n_places) {
    extern __shared__ __align__(128) char raw[];
    u64 *arrived = (u64 *)(raw + STAGES * PLACE);
    if (threadIdx.x > 0) return;
    auto at = [](const void *p) { return (unsigned)__cvta_generic_to_shared(p); };
    for (int s = 0; s < STAGES; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(arrived + s)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    i64 mine = blockIdx.x < n_places ? (n_places - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    auto load = [&](i64 k) {
        int s = k % STAGES;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(arrived + s)), "r"(PLACE) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         at(raw + s * PLACE)),
                     "l"(X + (blockIdx.x + k * gridDim.x) * PLACE), "r"(PLACE), "r"(at(arrived + s)) : "memory");
    };
    for (i64 k = 0; k < STAGES && k < mine; k++) load(k);
    for (i64 k = 0; k < mine; k++) {
        asm volatile(
            "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
            " @done bra over; bra again; over: }" ::"r"(at(arrived + k % STAGES)), "r"((unsigned)(k / STAGES) & 1) : "memory");
        if (k + STAGES < mine) load(k + STAGES);
    }
}
