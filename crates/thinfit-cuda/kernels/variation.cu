// R(w) = mean of ‖∇f‖ over the points, dR/db and dR/dw at fixed b: a tile of points for each block of threads.

// A number for each point of a tile, in one place so that few loads fetch them all.
struct alignas(16) Tile {
    double at[POINTS];
};

// The sum over the lanes of each of 32 numbers; number i ends in lane i. Lanes whose bit HALF is set keep the upper half.
template <int HALF>
__device__ __forceinline__ double transposed_sum(double *v, int lane) {
    const bool upper = lane & HALF;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        double give = upper ? v[i] : v[i + HALF], keep = upper ? v[i + HALF] : v[i];
        v[i] = keep + __shfl_xor_sync(~0u, give, HALF);
    }
    if constexpr (HALF > 1) return transposed_sum<HALF / 2>(v, lane);
    return v[0];
}

// A thread has a neuron at a time, and all points of the tile. Points that are missing in the last tile have σ = 0.
// Grid: (tiles, runs), whole warps; shared: POINTS · (d′ + d + 3 · n) + n · d′ + 32 doubles.
extern "C" __global__ void __launch_bounds__(128, 4) variation(Parameters p) {
    extern __shared__ __align__(16) double room[];
    int run = blockIdx.y, tile = blockIdx.x, start = tile * POINTS, n = p.n, d = p.d;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    if (p.lambda[run] == 0.0) return;
    int points = min(POINTS, p.points - start);
    double *phi = room + POINTS * (p.dim + d), *sine = phi + POINTS * n, *slope = sine + POINTS * n;
    double *w = slope + POINTS * n, *value = w + n * p.dim;
    // Coordinates of the points and u, then σ = dR/du, by input.
    Tile *at = (Tile *)room, *u = at + p.dim;
    const double *from = p.at + ((i64)run * p.points + start) * p.dim;
    for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) w[i] = p.w[(i64)run * n * p.dim + i];
    for (int i = threadIdx.x; i < POINTS * p.dim; i += blockDim.x) {
        int j = i / p.dim, q = i % p.dim;
        at[q].at[j] = j < points ? from[i] : 0.0;
    }
    __syncthreads();
    for (int l = threadIdx.x; l < n; l += blockDim.x) {
        double t[POINTS] = {};
        for (int q = 0; q < p.dim; q++) {
            const Tile x = at[q];
            const double by = w[q * n + l];
#pragma unroll
            for (int j = 0; j < POINTS; j++) t[j] = fma(x.at[j], by, t[j]);
        }
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            double2 plane = planes_at(t[j], 1.0 / n);
            phi[j * n + l] = plane.x, sine[j * n + l] = plane.y;
        }
    }
    const double weight = 1.0 / p.points;
    double total = 0.0;
    double *dw = p.point_dw + ((i64)run * p.tiles + tile) * n * p.dim;
    double *db = p.point_db + ((i64)run * p.tiles + tile) * p.k * p.c;
    for (int o = 0; o < p.c; o++) {
        const double *b = p.b + ((i64)run * p.c + o) * p.k;
        // A thread reads what it wrote above.
        for (int l = threadIdx.x; l < n; l += blockDim.x)
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                int i = j * n + l;
#if ACTIVATION == FOURIER
                slope[i] = -2.0 * PI * fma(b[l], sine[i], b[n + l] * phi[i]);
#else
                slope[i] = b[l] * first_derivative(phi[i], sine[i], n);
#endif
            }
        __syncthreads();
        // u = Re Σ b Φ′/n w, for as many inputs at a time as there are lanes for.
        constexpr int INPUTS = 32 / POINTS;
        static_assert(INPUTS * POINTS == 32, "a lane for each number");
        for (int first = warp * INPUTS; first < d; first += warps * INPUTS) {
            double sums[32] = {};
            for (int l = lane; l < n; l += 32) {
                double by[INPUTS];
#pragma unroll
                for (int q = 0; q < INPUTS; q++) by[q] = first + q < d ? w[(first + q) * n + l] : 0.0;
#pragma unroll
                for (int j = 0; j < POINTS; j++) {
                    const double s = slope[j * n + l];
#pragma unroll
                    for (int q = 0; q < INPUTS; q++) sums[q * POINTS + j] = fma(s, by[q], sums[q * POINTS + j]);
                }
            }
            double sum = transposed_sum<16>(sums, lane);
            int q = first + lane / POINTS;
            if (q < d) u[q].at[lane % POINTS] = sum;
        }
        __syncthreads();
        for (int j = warp; j < POINTS; j += warps) {
            double sum = 0.0;
            for (int q = lane; q < d; q += 32) {
                double v = u[q].at[j];
                sum += p.norm == ANISOTROPIC ? fabs(v) : v * v;
            }
            sum = warp_sum(sum);
            if (p.norm == ISOTROPIC) sum = sqrt(sum);
            const double share = j < points ? weight : 0.0;
            for (int q = lane; q < d; q += 32) {
                double v = u[q].at[j];
                u[q].at[j] = p.norm == DIRICHLET     ? 2.0 * v * share
                             : p.norm == ANISOTROPIC ? (v == 0.0 ? 0.0 : copysign(share, v))
                                                     : (sum == 0.0 ? 0.0 : v * (share / sum));
            }
            if (j < points) total += sum;
        }
        __syncthreads();
        for (int l = threadIdx.x; l < n; l += blockDim.x) {
            double e[POINTS] = {}, s[POINTS];
            for (int q = 0; q < d; q++) {
                const Tile sigma = u[q];
                const double by = w[q * n + l];
#pragma unroll
                for (int j = 0; j < POINTS; j++) e[j] = fma(sigma.at[j], by, e[j]);
            }
            // dR/db; then e becomes Re(bΦ″/n)·e.
            double re = 0.0, im = 0.0;
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                int i = j * n + l;
                s[j] = slope[i];
#if ACTIVATION == FOURIER
                re = fma(e[j], sine[i], re), im = fma(e[j], phi[i], im);
                e[j] *= 4.0 * PI * PI * (b[n + l] * sine[i] - b[l] * phi[i]);
#else
                re = fma(e[j], first_derivative(phi[i], sine[i], n), re);
                e[j] *= b[l] * second_derivative(phi[i], sine[i], n);
#endif
            }
#if ACTIVATION == FOURIER
            db[o * p.k + l] = -2.0 * PI * re, db[o * p.k + n + l] = -2.0 * PI * im;
#else
            db[o * p.k + l] = re;
#endif
            for (int q = 0; q < p.dim; q++) {
                const Tile x = at[q];
                double sum = o > 0 ? dw[q * n + l] : 0.0;
                if (q < d) {
                    const Tile sigma = u[q];
#pragma unroll
                    for (int j = 0; j < POINTS; j++) sum = fma(s[j], sigma.at[j], sum);
                }
#pragma unroll
                for (int j = 0; j < POINTS; j++) sum = fma(e[j], x.at[j], sum);
                dw[q * n + l] = sum;
            }
        }
#if ACTIVATION != FOURIER
        // The output bias has no slope.
        if (threadIdx.x == 0) db[o * p.k + n] = 0.0;
#endif
        __syncthreads();
    }
    if (lane == 0) value[warp] = total;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < warps; i++) total += value[i];
    p.point_value[(i64)run * p.tiles + tile] = total * weight;
}
