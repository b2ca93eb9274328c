// One visit of all rows of a dense X in device memory: index, link, residual and gradient in one reading.
//
// A "team" of TEAM warps visits tiles of ROWS rows, one after the other. Tiles come by bulk copies, issued by one
// thread, into a ring of STAGES places in shared memory, so that memory is read while others are computed on.
// Each thread owns fixed columns: it keeps their coefficients and their sums of the gradient in registers.
//
//   1. dot       every thread multiplies its columns of the tile; warps add up by shuffles, in a fixed order
//   2. barrier   the sums of all warps lie in shared memory
//   3. residual  every warp adds them up for itself and looks up the link, some lanes per row: no second barrier
//   4. gradient  residual × row, from the tile that is still in shared memory, into registers
//
// Where a row is too long for one multiprocessor, a cluster of CLUSTER blocks shares it, each with a part of the
// columns. Every warp then sends its sums of step 1 to all blocks, and a block waits in step 2 until as many bytes
// have arrived as all warps of the cluster send.
//
// The order of all sums depends on n, d and the number of teams alone. Sums of the gradient over PATCH rows at a
// time are in `real`, longer ones in double. Multiply and add are contracted only where it is written, so that numpy
// can follow bit by bit (tests/design/gpu_emulation.py).
//
// Set from outside, beside what numbers.cuh needs: CPT (vectors of VEC columns per thread), MODELS, TEAM, TEAMS (per
// block), ROWS, STAGES, CLUSTER, PATCH, and HELD: whether a thread keeps its part of a tile in registers between steps
// 1 and 4, which makes room for the next tile at once. Short rows have the registers for it.

#define LANES (TEAM * 32)
#define THREADS (TEAM * TEAMS * 32)
// Pairs of a model and a row of the tile, rounded up to a power of two: a warp's lanes are shared among them.
#define FULL (MODELS * ROWS)
#define PAIRS (FULL <= 1 ? 1 : FULL <= 2 ? 2 : FULL <= 4 ? 4 : FULL <= 8 ? 8 : FULL <= 16 ? 16 : 32)
#define GROUP (32 / PAIRS)
#define ALONE (TEAM == 1 && CLUSTER == 1)

// ------------------------------------------------------------------------------------------------ barriers

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Waits until the bulk copy that was announced at this barrier has arrived.
__device__ __forceinline__ void wait_for_copy(unsigned barrier, unsigned phase) {
    asm volatile(
        "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
        " @done bra over; bra again; over: }" ::"r"(barrier), "r"(phase) : "memory");
}

// Waits for all warps of the team.
__device__ __forceinline__ void wait_for_team(int team) {
    if (TEAM == 1)
        __syncwarp();
    else
        asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "r"(LANES) : "memory");
}

// Waits for all threads of all blocks that share rows.
__device__ __forceinline__ void wait_for_cluster() {
#if CLUSTER > 1
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

#if CLUSTER > 1
// Writes to the shared memory of a block of the cluster, and signals at its barrier that eight bytes have arrived.
__device__ __forceinline__ void send(unsigned to, unsigned barrier, int block, double value) {
    unsigned there, signal;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(to), "r"(block));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(signal) : "r"(barrier), "r"(block));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(there),
                 "l"(__double_as_longlong(value)), "r"(signal) : "memory");
}
#endif

__device__ __forceinline__ void copy_tile(char *to, const char *from, unsigned bytes, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

// ------------------------------------------------------------------------------------------------ the sweep

// Adds up PAIRS values over the lanes of a warp, each in the order of a butterfly: lanes l and l ^ 16 first. Half
// of the values move at each of the first steps, so that lane l ends up with the sum of value l / GROUP only.
__device__ __forceinline__ wide over_warp(wide (&a)[PAIRS], int lane) {
#pragma unroll
    for (int left = PAIRS, o = 16; o; o >>= 1) {
        if (left > 1) {
            left /= 2;
            const bool upper = lane & o;
#pragma unroll
            for (int p = 0; p < PAIRS / 2; p++)
                if (p < left) {
                    wide keep = upper ? a[p + left] : a[p], send = upper ? a[p] : a[p + left];
                    a[p] = keep + __shfl_xor_sync(~0u, send, o);
                }
        } else {
            a[0] += __shfl_xor_sync(~0u, a[0], o);
        }
    }
    return a[0];
}

// X: n rows of d numbers, one after the other. w: MODELS × d. y, weight, index: MODELS × n; weight may be null.
// parts: (teams or clusters) × MODELS × d, the gradient of each. found: (teams or clusters) × 3 × 32, by lane the
// sum of the weighted residuals, the least and the highest index, lane = (model × ROWS + row of the tile) × GROUP.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
#if CLUSTER > 1
    __cluster_dims__(CLUSTER, 1, 1)
#endif
sweep(const char *__restrict__ X, i64 n, int d, const wide *__restrict__ w, const double *__restrict__ y,
      const double *__restrict__ weight, const Link *__restrict__ links, double *__restrict__ index,
      double *__restrict__ parts, double *__restrict__ found) {
    extern __shared__ __align__(128) char raw[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int team = warp / TEAM, of_team = threadIdx.x % LANES, warp_of_team = warp % TEAM;

    // The columns of this block: all of them, or its part of a row that a cluster shares.
#if CLUSTER > 1
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int share = ((d + CLUSTER - 1) / CLUSTER + VEC - 1) / VEC * VEC;
    const int begin = min((int)rank * share, d), width = min(share, d - begin);
    const i64 me = blockIdx.x / CLUSTER, everyone = gridDim.x / CLUSTER;
#else
    const unsigned rank = 0;
    const int begin = 0, width = d, share = d;
    const i64 me = (i64)blockIdx.x * TEAMS + team, everyone = (i64)gridDim.x * TEAMS;
#endif
    const int row_bytes = width * BYTES;
    // Of the widest block: what they send to each other must lie at the same place in all of them.
    const int tile_bytes = (ROWS * share * BYTES + 127) / 128 * 128;

    // Shared memory: the rings of all teams, their barriers, their sums by pair and warp (of two tiles in turn).
    char *ring = raw + (size_t)team * STAGES * tile_bytes;
    u64 *arrived = (u64 *)(raw + (size_t)TEAMS * STAGES * tile_bytes) + team * (STAGES + 2);
    u64 *met = arrived + STAGES;  // where a cluster's sums arrive, of two tiles in turn
    double *sums = (double *)(raw + (size_t)TEAMS * (STAGES * tile_bytes + (STAGES + 2) * 8)) +
                   team * 2 * FULL * CLUSTER * TEAM;

    const i64 n_tiles = (n + ROWS - 1) / ROWS, n_full = n / ROWS;
    const i64 mine = me < n_tiles ? (n_tiles - me + everyone - 1) / everyone : 0;

    wide w_own[MODELS][CPT][VEC];
    real g[MODELS][CPT][VEC];
#pragma unroll
    for (int m = 0; m < MODELS; m++)
#pragma unroll
        for (int c = 0; c < CPT; c++)
#pragma unroll
            for (int v = 0; v < VEC; v++) {
                int j = (c * LANES + of_team) * VEC + v;
                w_own[m][c][v] = j < width ? w[(size_t)m * d + begin + j] : (wide)0;
                g[m][c][v] = 0;
            }

    if (of_team == 0) {
        for (int s = 0; s < STAGES + 2; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrived + s)));
        // The copy engine must see the barriers before it signals at them.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // Nobody waits at a barrier that is not there yet; in a cluster nobody writes to a block that has not begun.
    __syncthreads();
    wait_for_cluster();

    auto load = [&](i64 k, int place) {
        i64 tile = me + k * everyone;
        if (tile >= n_full) return;  // a tile of fewer rows is read without the copy engine, see below
        unsigned barrier = shared_address(arrived + place);
        expect_bytes(barrier, ROWS * row_bytes);
        char *to = ring + (size_t)place * tile_bytes;
        const char *from = X + ((size_t)tile * ROWS * d + begin) * BYTES;
        if (CLUSTER == 1)
            copy_tile(to, from, ROWS * row_bytes, barrier);
        else
            for (int r = 0; r < ROWS; r++) copy_tile(to + r * row_bytes, from + (size_t)r * d * BYTES, row_bytes, barrier);
    };
    if (of_team == 0)
        for (int s = 0; s < STAGES && s < mine; s++) load(s, s);

    // Each group of lanes looks after one row of the tile under one model; its first lane speaks for it.
    const int pair = lane / GROUP, model = pair / ROWS, row_of_tile = pair % ROWS;
    const bool looks_up = pair < FULL, speaks = looks_up && lane % GROUP == 0;
    Link link;
    if (looks_up) link = links[model];
    double sum_of_residuals = 0, low = 1.0 / 0.0, high = -1.0 / 0.0, y_next = 0, weight_next = 0;
    auto fetch_row = [&](i64 k) {  // y and weight are asked for one tile ahead: they come from far
        i64 row = (me + k * everyone) * ROWS + row_of_tile;
        bool there = looks_up && k < mine && row < n;
        y_next = there ? y[(size_t)model * n + row] : 0;
        weight_next = !there ? 0 : weight ? weight[(size_t)model * n + row] : 1;
    };
    fetch_row(0);

    int place = 0, before = STAGES - 1;  // of this tile and of the one before, in the ring
    unsigned phase = 0;                  // turns with every round of the ring
    for (i64 k = 0; k < mine; k++) {
        const i64 tile = me + k * everyone;
        char *at = ring + (size_t)place * tile_bytes;
        const double y_row = y_next, weight_row = weight_next;
        if (tile < n_full) {
            wait_for_copy(shared_address(arrived + place), phase);
        } else {
            // The last rows, fewer than a tile, and zeros behind them. Nothing is copied here afterwards.
            wait_for_team(team);  // no warp still reads what was here before
            int there = (int)(n - tile * ROWS) * width;
            for (int j = of_team; j < ROWS * width; j += LANES) {
                size_t from = ((size_t)(tile * ROWS + j / width) * d + begin + j % width) * BYTES;
                for (int b = 0; b < BYTES; b++) at[(size_t)j * BYTES + b] = j < there ? X[from + b] : 0;
            }
            wait_for_team(team);
        }
        fetch_row(k + 1);

        wide a[PAIRS];
#if HELD
        Stored held[ROWS][CPT];
#endif
#pragma unroll
        for (int p = 0; p < PAIRS; p++) a[p] = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < CPT; c++) {
                int j = (c * LANES + of_team) * VEC;
                if (c < CPT - 1 || j < width) {
                    const Stored stored = *(const Stored *)(at + (r * width + j) * BYTES);
                    real x[VEC];
                    as_numbers(stored, x);
#if HELD
                    held[r][c] = stored;
#endif
#pragma unroll
                    for (int m = 0; m < MODELS; m++)
#pragma unroll
                        for (int v = 0; v < VEC; v++)
                            a[m * ROWS + r] = add_product((wide)x[v], w_own[m][c][v], a[m * ROWS + r]);
                }
            }
        if (ALONE && HELD) {
            __syncwarp();  // all lanes have their part of the tile
            if (lane == 0 && k + STAGES < mine) load(k + STAGES, place);
        }
        double value = (double)over_warp(a, lane);
        double *sums_now = sums + (k & 1) * FULL * CLUSTER * TEAM + pair * CLUSTER * TEAM;
#if CLUSTER > 1
        const unsigned meeting = shared_address(met + (k & 1));
        if (of_team == 0) expect_bytes(meeting, FULL * CLUSTER * TEAM * 8);
        if (speaks)
            for (int c = 0; c < CLUSTER; c++) send(shared_address(sums_now + rank * TEAM + warp_of_team), meeting, c, value);
        // The sums of all warps of all blocks are there; those of this block are then done with the tile before this
        // one, whose place is free. A block that is ahead sends the sums of the next tile to the other half, and those
        // of the tile after it only when this one has sent its own of the next, and is done with these.
        wait_for_copy(meeting, (k >> 1) & 1);
#else
        if (TEAM > 1 && speaks) sums_now[warp_of_team] = value;
        // The sums of all warps are there, and no warp still reads the tile before this one: its place is free.
        // The sums of the next tile go to the other half, so that slow warps may still read these.
        wait_for_team(team);
#endif
        if (!ALONE && of_team == 0 && k > 0 && k - 1 + STAGES < mine) load(k - 1 + STAGES, before);

        double residual = 0;
        if (looks_up) {
            if (TEAM * CLUSTER > 1) {
                value = 0;
                for (int i = 0; i < CLUSTER * TEAM; i++) value += sums_now[i];
            }
            residual = weight_row * link_less_y(link, value, y_row);
            i64 row = tile * ROWS + row_of_tile;
            if (speaks && warp_of_team == 0 && rank == 0 && row < n) {
                sum_of_residuals += residual;
                low = fmin(low, value), high = fmax(high, value);
                index[(size_t)model * n + row] = value;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            real e[MODELS];
#pragma unroll
            for (int m = 0; m < MODELS; m++) e[m] = __shfl_sync(~0u, (real)residual, (m * ROWS + r) * GROUP);
#pragma unroll
            for (int c = 0; c < CPT; c++) {
                int j = (c * LANES + of_team) * VEC;
                if (c < CPT - 1 || j < width) {
                    real x[VEC];
#if HELD
                    as_numbers(held[r][c], x);
#else
                    read(at + (r * width + j) * BYTES, x);
#endif
#pragma unroll
                    for (int m = 0; m < MODELS; m++)
#pragma unroll
                        for (int v = 0; v < VEC; v++) g[m][c][v] = add_product(e[m], x[v], g[m][c][v]);
                }
            }
        }
        // Short sums are moved to long ones, in double, so that digits do not get lost over many rows.
        if ((k + 1) % (PATCH / ROWS) == 0 || k + 1 == mine) {
            bool is_first = k < PATCH / ROWS;
#pragma unroll
            for (int m = 0; m < MODELS; m++)
#pragma unroll
                for (int c = 0; c < CPT; c++)
#pragma unroll
                    for (int v = 0; v < VEC; v++) {
                        int j = (c * LANES + of_team) * VEC + v;
                        if (j < width) {
                            double *to = parts + ((size_t)me * MODELS + m) * d + begin + j;
                            *to = is_first ? (double)g[m][c][v] : *to + (double)g[m][c][v];
                        }
                        g[m][c][v] = 0;
                    }
        }
        if (ALONE && !HELD) {
            __syncwarp();  // a warp that is a team knows by itself that it is done with its tile
            if (lane == 0 && k + STAGES < mine) load(k + STAGES, place);
        }
        before = place;
        if (++place == STAGES) place = 0, phase ^= 1;
    }
    if (warp_of_team == 0 && rank == 0) {
        double *to = found + me * 96 + lane;
        to[0] = sum_of_residuals, to[32] = low, to[64] = high;
    }
    wait_for_cluster();  // no block leaves while another may still write to it
}
