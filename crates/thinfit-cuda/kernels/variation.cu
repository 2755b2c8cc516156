// R(w) = mean of ‖∇f‖ over the points, dR/db and dR/dw at fixed b: a tile of points for each block of threads.

// Grid: (tiles, runs), whole warps; shared: POINTS · (4 · n + d + d′) + n · d′ + 32 doubles.
extern "C" __global__ void variation(Parameters p) {
    extern __shared__ double room[];
    int run = blockIdx.y, tile = blockIdx.x, start = tile * POINTS, n = p.n;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    if (p.lambda[run] == 0.0) return;
    int points = min(POINTS, p.points - start);
    double *phi = room, *sine = phi + POINTS * n, *slope = sine + POINTS * n, *inner = slope + POINTS * n;
    double *u = inner + POINTS * n, *at = u + POINTS * p.d, *w = at + POINTS * p.dim, *value = w + n * p.dim;
    const double *from = p.at + ((i64)run * p.points + start) * p.dim;
    for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) w[i] = p.w[(i64)run * n * p.dim + i];
    const double weight = 1.0 / p.points;
    for (int i = threadIdx.x; i < points * p.dim; i += blockDim.x) at[i] = from[i];
    __syncthreads();
    for (int i = threadIdx.x; i < points * n; i += blockDim.x) {
        int j = i / n, l = i % n;
        double t = 0.0;
        for (int q = 0; q < p.dim; q++) t = fma(at[j * p.dim + q], w[q * n + l], t);
        double2 plane = planes_at(t, 1.0 / n);
        phi[i] = plane.x, sine[i] = plane.y;
    }
    double total = 0.0;
    double *dw = p.point_dw + ((i64)run * p.tiles + tile) * n * p.dim;
    double *db = p.point_db + ((i64)run * p.tiles + tile) * p.k * p.c;
    for (int o = 0; o < p.c; o++) {
        const double *b = p.b + ((i64)run * p.c + o) * p.k;
        __syncthreads();
        for (int i = threadIdx.x; i < points * n; i += blockDim.x) {
            int l = i % n;
#if ACTIVATION == FOURIER
            slope[i] = -2.0 * PI * fma(b[l], sine[i], b[n + l] * phi[i]);
#else
            slope[i] = b[l] * first_derivative(phi[i], sine[i], n);
#endif
        }
        __syncthreads();
        for (int i = warp; i < points * p.d; i += warps) {
            int j = i / p.d, q = i % p.d;
            double sum = 0.0;
            for (int l = lane; l < n; l += 32) sum = fma(slope[j * n + l], w[q * n + l], sum);
            sum = warp_sum(sum);
            if (lane == 0) u[i] = sum;
        }
        __syncthreads();
        // u becomes σ = dR/du.
        for (int j = threadIdx.x; j < points; j += blockDim.x) {
            double sum = 0.0, *at_j = u + j * p.d;
            for (int q = 0; q < p.d; q++) sum += p.norm == ANISOTROPIC ? fabs(at_j[q]) : at_j[q] * at_j[q];
            if (p.norm == ISOTROPIC) sum = sqrt(sum);
            for (int q = 0; q < p.d; q++) {
                double v = at_j[q];
                at_j[q] = p.norm == DIRICHLET     ? 2.0 * v * weight
                          : p.norm == ANISOTROPIC ? (v == 0.0 ? 0.0 : copysign(weight, v))
                                                  : (sum == 0.0 ? 0.0 : v * (weight / sum));
            }
            total += sum;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < points * n; i += blockDim.x) {
            int j = i / n, l = i % n;
            double e = 0.0;
            for (int q = 0; q < p.d; q++) e = fma(u[j * p.d + q], w[q * n + l], e);
            inner[i] = e;
        }
        __syncthreads();
        // dR/db, a thread for each of its numbers; then inner becomes Re(bΦ″/n)·e.
        for (int i = threadIdx.x; i < p.k; i += blockDim.x) {
            double sum = 0.0;
#if ACTIVATION == FOURIER
            const double *plane = i < n ? sine + i : phi + i - n, *e = inner + i % n;
            for (int j = 0; j < points; j++) sum = fma(e[j * n], plane[j * n], sum);
            db[o * p.k + i] = -2.0 * PI * sum;
#else
            for (int j = 0; i < n && j < points; j++)
                sum = fma(inner[j * n + i], first_derivative(phi[j * n + i], sine[j * n + i], n), sum);
            db[o * p.k + i] = sum;
#endif
        }
        __syncthreads();
        for (int i = threadIdx.x; i < points * n; i += blockDim.x) {
            int l = i % n;
#if ACTIVATION == FOURIER
            inner[i] *= 4.0 * PI * PI * (b[n + l] * sine[i] - b[l] * phi[i]);
#else
            inner[i] *= b[l] * second_derivative(phi[i], sine[i], n);
#endif
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) {
            int q = i / n, l = i % n;
            double sum = o > 0 ? dw[i] : 0.0;
            for (int j = 0; j < points; j++) {
                if (q < p.d) sum = fma(slope[j * n + l], u[j * p.d + q], sum);
                sum = fma(inner[j * n + l], at[j * p.dim + q], sum);
            }
            dw[i] = sum;
        }
    }
    total = warp_sum(total);
    if (lane == 0) value[warp] = total;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < warps; i++) total += value[i];
    p.point_value[(i64)run * p.tiles + tile] = total * weight;
}

// dR/db = Σ tiles. Grid: (k·c/32, runs); block (32, 8).
extern "C" __global__ void gather(Parameters p) {
    __shared__ double parts[8][32];
    int run = blockIdx.y, count = p.k * p.c, i = blockIdx.x * 32 + threadIdx.x;
    double sum = 0.0;
    if (i < count && p.lambda[run] > 0.0)
#pragma unroll 8
        for (int t = threadIdx.y; t < p.tiles; t += 8) sum += p.point_db[((i64)run * p.tiles + t) * count + i];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || i >= count) return;
    for (int part = 1; part < 8; part++) sum += parts[part][threadIdx.x];
    p.point_sum[(i64)run * count + i] = sum;
}
