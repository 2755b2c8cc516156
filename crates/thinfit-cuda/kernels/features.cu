// The design matrix of a chunk of rows: E = √D [planes | y | sines], a row after the other.
//
// With the root of the weight in every row, EᵀE holds AᴴDA and AᴴDy at once, and no later kernel needs D but where Φ′
// is not linear in Φ.

// Grid: (rows / FEATURE_ROWS, or all of the chunk where EᵀE is made in parts, runs); shared: FEATURE_ROWS · d′ doubles.
extern "C" __global__ void features(Parameters p) {
    extern __shared__ double x[];
    int run = blockIdx.y, first = blockIdx.x * FEATURE_ROWS, rows = min(FEATURE_ROWS, p.rows - first);
    if (rows <= 0) {
        // Rows that fill up the last part count nothing.
        double *e = planes_of(p, run, first);
        for (int i = threadIdx.x; i < min(FEATURE_ROWS, p.chunk - first) * p.ld; i += blockDim.x) e[i] = 0.0;
        return;
    }
    i64 at = p.first + first;
    const double *from = row_of(p, p.x, p.dim, run, at), *w = p.w + (i64)run * p.n * p.dim;
    const double *root = row_of(p, p.root, 1, run, at), *y = row_of(p, p.y, p.c, run, at);
    for (int i = threadIdx.x; i < FEATURE_ROWS * p.dim; i += blockDim.x) x[i] = i < rows * p.dim ? from[i] : 0.0;
    __syncthreads();
    for (int l = threadIdx.x; l < p.n; l += blockDim.x) {
        double t[FEATURE_ROWS] = {};
        for (int j = 0; j < p.dim; j++) {
            double weight = w[j * p.n + l];
            for (int r = 0; r < FEATURE_ROWS; r++) t[r] = fma(x[r * p.dim + j], weight, t[r]);
        }
        for (int r = 0; r < FEATURE_ROWS; r++) {
            if (r >= rows) break;
            double *e = planes_of(p, run, first + r);
            double2 plane = planes_at(t[r], root[r] / p.n);
            e[l] = plane.x;
#if ACTIVATION == FOURIER
            e[p.n + l] = plane.y;
#elif ACTIVATION == COSINE
            e[p.k + p.c + l] = plane.y;
#endif
        }
    }
    for (int i = threadIdx.x; i < rows * p.c; i += blockDim.x) {
        int r = i / p.c;
        planes_of(p, run, first + r)[p.k + i % p.c] = root[r] * y[i];
    }
    for (int i = rows * p.ld + threadIdx.x; p.parts > 1 && i < FEATURE_ROWS * p.ld; i += blockDim.x)
        planes_of(p, run, first)[i] = 0.0;
#if ACTIVATION != FOURIER
    for (int r = threadIdx.x; r < rows; r += blockDim.x) planes_of(p, run, first + r)[p.n] = root[r];
#endif
}

// EᵀE of a chunk from those of its parts. Grid: ((k + c)² / 256, runs).
extern "C" __global__ void combine(Parameters p) {
    int run = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x, count = (p.k + p.c) * (p.k + p.c);
    if (i >= count) return;
    double *to = p.gram + (i64)run * count + i, sum = p.first > 0 ? *to : 0.0;
    for (int part = 0; part < p.parts; part++) sum += p.gram_parts[((i64)run * p.parts + part) * count + i];
    *to = sum;
}
