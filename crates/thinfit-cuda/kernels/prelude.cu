// What all kernels share. Above this text stands what the program writes (parameters.rs, compiler.rs): `Parameters`, sizes,
// the numbers of activations, leaves and norms, and Adam's coefficients.
//
// Arrays hold one run after the other; `run` is always a coordinate of the grid. Sums over rows are made in a fixed
// order: every group of rows has a slot of its own, and the slots are added one after the other. No kernel adds by
// atomics, so a launch with the same arguments gives the same bits.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr double PI = 3.14159265358979323846;

// Where the parts of run `run` begin.
__device__ __forceinline__ const double *row_of(const Parameters &p, const double *table, int width, int run, i64 row) {
    return table + ((i64)run * p.m + row) * width;
}
__device__ __forceinline__ double *planes_of(const Parameters &p, int run, int row) {
    return p.e + ((i64)run * p.chunk + row) * p.ld;
}

// The sum over the 32 lanes of a warp, in all lanes.
__device__ __forceinline__ double warp_sum(double v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(~0u, v, offset);
    return v;
}

// Φ′/n and Φ″/n of a real activation from Φ/n and, for the cosine, sin(πt)/n.
__device__ __forceinline__ double first_derivative(double phi, double sine, double n) {
#if ACTIVATION == SIGMOID
    return phi * (1.0 - phi * n);
#elif ACTIVATION == TANH
    return (1.0 - phi * n * (phi * n)) / n;
#elif ACTIVATION == RELU
    return phi > 0.0 ? 1.0 / n : 0.0;
#else
    return -PI * sine;
#endif
}
__device__ __forceinline__ double second_derivative(double phi, double sine, double n) {
#if ACTIVATION == SIGMOID
    return phi * (1.0 - phi * n) * (1.0 - 2.0 * phi * n);
#elif ACTIVATION == TANH
    return -2.0 * phi * n * first_derivative(phi, sine, n);
#elif ACTIVATION == RELU
    return 0.0;
#else
    return -PI * PI * phi;
#endif
}

// The planes of one neuron at t = ⟨w, x⟩, times `scale`: cosine and sine, or Φ and, for the cosine, its sine.
__device__ __forceinline__ double2 planes_at(double t, double scale) {
    double2 plane = {0.0, 0.0};
#if ACTIVATION == FOURIER
    sincospi(2.0 * t, &plane.y, &plane.x);
#elif ACTIVATION == COSINE
    sincospi(t, &plane.y, &plane.x);
#elif ACTIVATION == SIGMOID
    plane.x = 1.0 / (1.0 + exp(-t));
#elif ACTIVATION == TANH
    plane.x = tanh(t);
#else
    plane.x = t < 0.0 ? 0.0 : t;
#endif
    return {plane.x * scale, plane.y * scale};
}
