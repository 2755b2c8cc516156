// The sweeps over the rows: residuals with the loss and EᵀDr, then dL/dw through A.
//
// Block g of the grid takes tiles g, g + groups, … of the chunk and adds to slot g, so that a chunk after the other
// gives the same sums whatever the batch.

// Grid: (groups, runs), whole warps; shared: 2 · k · c + ROWS · c + 32 doubles.
extern "C" __global__ void residuals(Parameters p) {
    extern __shared__ double room[];
    int run = blockIdx.y, group = blockIdx.x, size = p.k * p.c;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    double *b = room, *db = b + size, *r = db + size, *parts = r + ROWS * p.c;
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        double value = p.b[(i64)run * size + i];
#if ACTIVATION == FOURIER
        if (i % p.k >= p.n) value = -value;
#endif
        b[i] = value, db[i] = 0.0;
    }
    __syncthreads();
    double loss = 0.0;
    for (int start = group * ROWS; start < p.rows; start += p.groups * ROWS) {
        int rows = min(ROWS, p.rows - start);
        for (int row = warp; row < rows; row += warps) {
            const double *e = planes_of(p, run, start + row);
            for (int o = 0; o < p.c; o++) {
                double sum = 0.0;
#pragma unroll 4
                for (int l = lane; l < p.k; l += 32) sum = fma(e[l], b[o * p.k + l], sum);
                sum = warp_sum(sum) - e[p.k + o];
                loss = fma(sum, sum, loss);
                if (lane == 0) r[row * p.c + o] = sum;
            }
        }
        __syncthreads();
        if (p.wants_adjoint)
            for (int i = threadIdx.x; i < size; i += blockDim.x) {
                int o = i / p.k, l = i % p.k;
                const double *e = planes_of(p, run, start) + l;
                double sum = db[i];
#pragma unroll 4
                for (int row = 0; row < rows; row++) sum = fma(e[(i64)row * p.ld], r[row * p.c + o], sum);
                db[i] = sum;
            }
        __syncthreads();
    }
    if (lane == 0) parts[warp] = loss;
    __syncthreads();
    double *to = p.loss + (i64)run * p.groups + group;
    if (threadIdx.x == 0) {
        double total = p.first > 0 ? *to : 0.0;
        for (int i = 0; i < warps; i++) total += parts[i];
        *to = total;
    }
    if (!p.wants_adjoint) return;
    double *slot = p.db + ((i64)run * p.groups + group) * size;
    for (int i = threadIdx.x; i < size; i += blockDim.x) slot[i] = db[i] + (p.first > 0 ? slot[i] : 0.0);
}

// The validation error of one draw. Grid: runs.
extern "C" __global__ void tally(Parameters p) {
    int run = blockIdx.x;
    if (!p.active[run]) return;
    double total = 0.0;
    for (int g = 0; g < p.groups; g++) total += p.loss[(i64)run * p.groups + g];
    p.errors[(i64)p.clock[1] * p.runs + run] = total / p.omega[run];
}

// dw = dtᵀX with dt = Re(conj(dA)·Φ′/n), dA = αbᴴ + βvᴴ, α = (2/Ω)r − Av, β = y − Ab.
// Grid: (groups, runs), whole warps; shared: 2·k·c + 4·ROWS·c + ROWS·n + n·d′ + ROWS·d′ doubles.
extern "C" __global__ void sweep(Parameters p) {
    extern __shared__ double room[];
    int run = blockIdx.y, group = blockIdx.x, size = p.k * p.c, n = p.n;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    double *b = room, *v = b + size, *alpha = v + size, *dt = alpha + 4 * ROWS * p.c;
    double *dw = dt + ROWS * n, *x = dw + n * p.dim;
    double share = 2.0 / p.omega[run];
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        b[i] = p.b[(i64)run * size + i], v[i] = p.v[(i64)run * size + i];
    for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) dw[i] = 0.0;
    __syncthreads();
    for (int start = group * ROWS; start < p.rows; start += p.groups * ROWS) {
        int rows = min(ROWS, p.rows - start);
        const double *from = row_of(p, p.x, p.dim, run, p.first + start);
        const double *root = row_of(p, p.root, 1, run, p.first + start);
        for (int i = threadIdx.x; i < rows * p.dim; i += blockDim.x) x[i] = from[i];
        for (int row = warp; row < rows; row += warps) {
            const double *e = planes_of(p, run, start + row);
            for (int o = 0; o < p.c; o++) {
                double *to = alpha + 4 * (row * p.c + o);
                const double *bo = b + o * p.k, *vo = v + o * p.k;
#if ACTIVATION == FOURIER
                double br = 0.0, bi = 0.0, vr = 0.0, vi = 0.0;
#pragma unroll 4
                for (int l = lane; l < n; l += 32) {
                    double cosine = e[l], sine = e[n + l];
                    br = fma(cosine, bo[l], fma(-sine, bo[n + l], br)), bi = fma(cosine, bo[n + l], fma(sine, bo[l], bi));
                    vr = fma(cosine, vo[l], fma(-sine, vo[n + l], vr)), vi = fma(cosine, vo[n + l], fma(sine, vo[l], vi));
                }
                br = warp_sum(br) - e[p.k + o], bi = warp_sum(bi), vr = warp_sum(vr), vi = warp_sum(vi);
                if (lane == 0) to[0] = fma(share, br, -vr), to[1] = -vi, to[2] = -br, to[3] = -bi;
#else
                double br = 0.0, vr = 0.0;
#pragma unroll 4
                for (int l = lane; l < p.k; l += 32) br = fma(e[l], bo[l], br), vr = fma(e[l], vo[l], vr);
                br = warp_sum(br) - e[p.k + o], vr = warp_sum(vr);
                if (lane == 0) to[0] = fma(share, br, -vr), to[2] = -br;
#endif
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < rows * n; i += blockDim.x) {
            int row = i / n, l = i % n;
            const double *e = planes_of(p, run, start + row);
            double sum = 0.0;
#if ACTIVATION == FOURIER
            double re = 0.0, im = 0.0;
            for (int o = 0; o < p.c; o++) {
                const double *a = alpha + 4 * (row * p.c + o), *bo = b + o * p.k, *vo = v + o * p.k;
                double br = bo[l], bi = bo[n + l], vr = vo[l], vi = vo[n + l];
                re += a[0] * br + a[1] * bi + a[2] * vr + a[3] * vi;
                im += a[0] * bi - a[1] * br + a[2] * vi - a[3] * vr;
            }
            sum = -2.0 * PI * (e[l] * im + e[n + l] * re);
#else
            for (int o = 0; o < p.c; o++) {
                const double *a = alpha + 4 * (row * p.c + o);
                sum = fma(a[0], b[o * p.k + l], fma(a[2], v[o * p.k + l], sum));
            }
#if ACTIVATION == COSINE
            sum *= first_derivative(0.0, e[p.k + p.c + l], n);
#else
            // Φ′ is not linear in Φ: the root of the weight must come out, and in again.
            double by = root[row];
            sum *= by > 0.0 ? by * first_derivative(e[l] / by, 0.0, n) : 0.0;
#endif
#endif
            dt[i] = sum;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) {
            int j = i / n, l = i % n;
            double sum = dw[i];
#pragma unroll 4
            for (int row = 0; row < rows; row++) sum = fma(dt[row * n + l], x[row * p.dim + j], sum);
            dw[i] = sum;
        }
        __syncthreads();
    }
    double *slot = p.dw_shares + ((i64)run * p.groups + group) * n * p.dim;
    for (int i = threadIdx.x; i < n * p.dim; i += blockDim.x) slot[i] = dw[i] + (p.first > 0 ? slot[i] : 0.0);
}

// dw = Σ groups + λ Σ tiles, for Adam (column by column) and for the generator (latent by latent).
// Grid: (n·d′/32, runs); block (32, 8).
extern "C" __global__ void collect(Parameters p) {
    __shared__ double parts[8][32];
    int run = blockIdx.y, count = p.n * p.dim, i = blockIdx.x * 32 + threadIdx.x;
    double lambda = p.lambda[run], sum = 0.0, more = 0.0;
    if (i < count) {
        for (int g = threadIdx.y; g < p.groups; g += 8) sum += p.dw_shares[((i64)run * p.groups + g) * count + i];
        if (lambda > 0.0)
            for (int t = threadIdx.y; t < p.tiles; t += 8) more += p.point_dw[((i64)run * p.tiles + t) * count + i];
    }
    parts[threadIdx.y][threadIdx.x] = fma(lambda, more, sum);
    __syncthreads();
    if (threadIdx.y > 0 || i >= count) return;
    sum = 0.0;
    for (int part = 0; part < 8; part++) sum += parts[part][threadIdx.x];
    int j = i / p.n, l = i % p.n;
    p.dw[(i64)run * count + i] = sum;
    p.dout[(i64)run * count + l * p.dim + j] = (real)sum;
}
