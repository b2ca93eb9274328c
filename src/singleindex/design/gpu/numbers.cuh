// How stored numbers are read, for all kernels. Set from outside: STORAGE (0 float, 1 double, 2 half, 3 bfloat16)
// and VEC, how many numbers are read at once. Sums are in `real`: double for double, float for all others.

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

// Reads VEC numbers that lie side by side, aligned to their common size.
__device__ __forceinline__ void read(const char *from, real *x) {
#if STORAGE == 1
#if VEC == 2
    double2 v = *(const double2 *)from;
    x[0] = v.x, x[1] = v.y;
#else
    x[0] = *(const double *)from;
#endif
#elif STORAGE == 0
#if VEC == 4
    float4 v = *(const float4 *)from;
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
#elif VEC == 2
    float2 v = *(const float2 *)from;
    x[0] = v.x, x[1] = v.y;
#else
    x[0] = *(const float *)from;
#endif
#else
#if VEC == 1
    x[0] = as_real(*(const unsigned short *)from);
#else
    unsigned bits[VEC / 2];
#if VEC == 8
    uint4 v = *(const uint4 *)from;
    bits[0] = v.x, bits[1] = v.y, bits[2] = v.z, bits[3] = v.w;
#elif VEC == 4
    uint2 v = *(const uint2 *)from;
    bits[0] = v.x, bits[1] = v.y;
#else
    bits[0] = *(const unsigned *)from;
#endif
#pragma unroll
    for (int k = 0; k < VEC / 2; k++) {
        x[2 * k] = as_real(bits[k] & 0xffffu);
        x[2 * k + 1] = as_real(bits[k] >> 16);
    }
#endif
#endif
}
