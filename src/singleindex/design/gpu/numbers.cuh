// How stored numbers are read, for all kernels. Set from outside: STORAGE (0 float, 1 double, 2 half, 3 bfloat16)
// and VEC, how many numbers are read at once. Sums over rows are in `real`: double for double, float for all others.
// An index, and w, are in `wide`: in double for float, too, where WIDE says so. The link is fitted to bins of the
// index, and how long w has to be for it is so ill-conditioned that an index of seven digits leaves four of it.

typedef unsigned long long u64;
typedef long long i64;

#if STORAGE == 1
typedef double real;
#define BYTES 8
#else
typedef float real;
#if STORAGE == 0
#define BYTES 4
#else
#define BYTES 2
#endif
#endif
#if WIDE
typedef double wide;
#else
typedef real wide;
#endif

// ------------------------------------------------------------------------------------------------ numbers

__device__ __forceinline__ real as_real(unsigned bits) {
#if STORAGE == 2
    real value;
    asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(bits));
    return value;
#elif STORAGE == 3
    return __uint_as_float(bits << 16);
#else
    return (real)0;
#endif
}

// In single precision in one rounding; numpy follows by way of double. Its doubles it cannot follow so.
__device__ __forceinline__ float add_product(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
__device__ __forceinline__ double add_product(double a, double b, double sum) { return sum + a * b; }

// VEC numbers that lie side by side, as they are stored and aligned to their common size.
#if VEC * BYTES == 16
typedef uint4 Stored;
#elif VEC * BYTES == 8
typedef uint2 Stored;
#elif VEC * BYTES == 4
typedef unsigned Stored;
#else
typedef unsigned short Stored;
#endif

__device__ __forceinline__ void as_numbers(const Stored &stored, real *x) {
#if BYTES >= 4
    const real *numbers = (const real *)&stored;
#pragma unroll
    for (int v = 0; v < VEC; v++) x[v] = numbers[v];
#elif VEC == 1
    x[0] = as_real(stored);
#else
    const unsigned *bits = (const unsigned *)&stored;
#pragma unroll
    for (int k = 0; k < VEC / 2; k++) {
        x[2 * k] = as_real(bits[k] & 0xffffu);
        x[2 * k + 1] = as_real(bits[k] >> 16);
    }
#endif
}

__device__ __forceinline__ void read(const char *from, real *x) { as_numbers(*(const Stored *)from, x); }
