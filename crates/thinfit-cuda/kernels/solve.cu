// b(w) = S⁻¹Aᴴy with S = AᴴDA + εI, and v = S⁻¹g_b: one block of threads for each run.
//
// Cholesky in panels of 8 columns, left-looking: the update of a panel by all columns before it is a product (on the
// tensor cores, in double precision), then every warp factors the panel's 8 × 8 head along with 24 rows of its own, so
// that the warps need not wait for each other. In the end the diagonal blocks of 32 columns are replaced by their
// inverses: with them a triangular solve is a few products instead of a long chain. S lies in shared memory where it
// fits, else in global memory; the code is the same.

#if ACTIVATION == FOURIER
typedef double2 num;
__device__ __forceinline__ num number(double re, double im) { return {re, im}; }
__device__ __forceinline__ num conjugate(num a) { return {a.x, -a.y}; }
// c − a·b
__device__ __forceinline__ num minus(num c, num a, num b) {
    return {fma(-a.x, b.x, fma(a.y, b.y, c.x)), fma(-a.x, b.y, fma(-a.y, b.x, c.y))};
}
__device__ __forceinline__ num scaled(num a, double by) { return {a.x * by, a.y * by}; }
__device__ __forceinline__ num plus(num a, num b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ double real_part(num a) { return a.x; }
__device__ __forceinline__ num lane_value(num a, int lane) {
    return {__shfl_sync(~0u, a.x, lane), __shfl_sync(~0u, a.y, lane)};
}
__device__ __forceinline__ double lane_value(double a, int lane) { return __shfl_sync(~0u, a, lane); }
__device__ __forceinline__ num across(num a, int by) {
    return {__shfl_xor_sync(~0u, a.x, by), __shfl_xor_sync(~0u, a.y, by)};
}
#else
typedef double num;
__device__ __forceinline__ num number(double re, double) { return re; }
__device__ __forceinline__ num conjugate(num a) { return a; }
__device__ __forceinline__ num minus(num c, num a, num b) { return fma(-a, b, c); }
__device__ __forceinline__ num scaled(num a, double by) { return a * by; }
__device__ __forceinline__ num plus(num a, num b) { return a + b; }
__device__ __forceinline__ double real_part(num a) { return a; }
__device__ __forceinline__ num lane_value(num a, int lane) { return __shfl_sync(~0u, a, lane); }
__device__ __forceinline__ num across(num a, int by) { return __shfl_xor_sync(~0u, a, by); }
#endif

// The sums over four and over eight neighbouring lanes. All lanes of the warp.
__device__ __forceinline__ num four(num a) {
    a = plus(a, across(a, 2));
    return plus(a, across(a, 1));
}
__device__ __forceinline__ num eight(num a) { return four(plus(a, across(a, 4))); }

// c (16 × 8) += a (16 × 4) · b (4 × 8); lane i holds a[i/4 + 0, 8][i%4], b[i%4][i/4] and, in c, the columns 2(i%4) and
// 2(i%4) + 1 of the rows i/4 and i/4 + 8.
struct Corner {
    double x, y, z, w;
};
__device__ __forceinline__ void multiply_add(Corner &c, double top, double bottom, double b) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c.x), "+d"(c.y), "+d"(c.z), "+d"(c.w)
        : "d"(top), "d"(bottom), "d"(b));
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c.x), "+d"(c.y)
        : "d"(top), "d"(b));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c.z), "+d"(c.w)
        : "d"(bottom), "d"(b));
#else
    int lane = threadIdx.x & 31, row = lane >> 2, column = 2 * (lane & 3);
    for (int k = 0; k < 4; k++) {
        double left = __shfl_sync(~0u, b, 4 * column + k), right = __shfl_sync(~0u, b, 4 * column + 4 + k);
        double upper = __shfl_sync(~0u, top, 4 * row + k), lower = __shfl_sync(~0u, bottom, 4 * row + k);
        c.x = fma(upper, left, c.x), c.y = fma(upper, right, c.y);
        c.z = fma(lower, left, c.z), c.w = fma(lower, right, c.w);
    }
#endif
}

// 1/v of a positive number that is not denormal, without the branches of a division.
__device__ __forceinline__ double reciprocal(double v) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = fma(r, fma(-v, r, 1.0), r);
    return fma(r, fma(-v, r, 1.0), r);
}

// L below the heads, column by column at stride `ld`, and the heads, 64 numbers each; `size` is a multiple of 8.
struct Factor {
    num *l, *head;
    int ld, size;

    // Overwrites S by its factor; false where a pivot is not positive. All threads of the block.
    __device__ bool cholesky(int *failed) {
        int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
        int row = lane >> 2, quarter = lane & 3;
        for (int j0 = 0; j0 < size; j0 += PANEL) {
            if (j0 > 0)
                for (int i0 = j0 + 2 * PANEL * warp; i0 < size; i0 += 2 * PANEL * warps) {
                    // The last rows are beyond the matrix where an odd number of panels is left.
                    bool lower = i0 + PANEL < size;
                    const num *top = l + quarter * ld + i0 + row, *side = l + quarter * ld + j0 + row;
                    Corner re = {}, im = {}, more = {};
#pragma unroll 2
                    for (int k = 0; k < j0; k += 4) {
                        num a = top[k * ld], c = lower ? top[k * ld + PANEL] : number(0.0, 0.0), b = side[k * ld];
#if ACTIVATION == FOURIER
                        multiply_add(re, a.x, c.x, b.x);
                        multiply_add(im, a.y, c.y, b.x);
                        multiply_add(re, a.y, c.y, b.y);
                        multiply_add(more, a.x, c.x, b.y);
#else
                        multiply_add(k & 4 ? more : re, a, c, b);
#endif
                    }
                    num *to = l + (j0 + 2 * quarter) * ld + i0 + row;
#if ACTIVATION == FOURIER
                    to[0] = plus(to[0], number(-re.x, more.x - im.x));
                    to[ld] = plus(to[ld], number(-re.y, more.y - im.y));
                    if (lower) {
                        to[PANEL] = plus(to[PANEL], number(-re.z, more.z - im.z));
                        to[ld + PANEL] = plus(to[ld + PANEL], number(-re.w, more.w - im.w));
                    }
#else
                    to[0] -= re.x + more.x, to[ld] -= re.y + more.y;
                    if (lower) to[PANEL] -= re.z + more.z, to[ld + PANEL] -= re.w + more.w;
#endif
                }
            __syncthreads();
            int rows = 32 - PANEL;
            for (int base = j0 + PANEL + rows * warp; warp == 0 || base < size; base += rows * warps) {
                int at = lane < PANEL ? j0 + lane : base + lane - PANEL;
                num a[PANEL];
#pragma unroll
                for (int t = 0; t < PANEL; t++) a[t] = at < size ? l[(j0 + t) * ld + at] : number(0.0, 0.0);
                // Columns are scaled only in the end: so the roots are not in the chain from pivot to pivot.
                double pivots[PANEL];
#pragma unroll
                for (int t = 0; t < PANEL; t++) {
                    double pivot = lane_value(real_part(a[t]), t), inverse = reciprocal(pivot);
                    if (!(pivot >= 0x1p-1022)) *failed = 1;
                    pivots[t] = pivot;
                    num column = scaled(a[t], inverse);
#pragma unroll
                    for (int u = t + 1; u < PANEL; u++) a[u] = minus(a[u], column, conjugate(lane_value(a[t], u)));
                }
#pragma unroll
                for (int t = 0; t < PANEL; t++) a[t] = scaled(a[t], pivots[t] = rsqrt(pivots[t]));
                if (lane >= PANEL && at < size)
#pragma unroll
                    for (int t = 0; t < PANEL; t++) l[(j0 + t) * ld + at] = a[t];
                // The other warps read the head from l, so its factor goes elsewhere, with inverses on its diagonal.
                if (warp == 0 && base == j0 + PANEL && lane < PANEL)
#pragma unroll
                    for (int t = 0; t < PANEL; t++)
                        head[j0 * PANEL + t * PANEL + lane] = lane == t ? number(pivots[t], 0.0) : a[t];
                if (base + rows * warps >= size) break;
            }
            __syncthreads();
            if (*failed) return false;
        }
        return true;
    }

    // Replaces the diagonal blocks of 32 columns by their inverses.
    __device__ void invert() {
        int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
        for (int j0 = PANEL * warp; j0 < size; j0 += PANEL * warps) {
            num *h = head + j0 * PANEL, x[PANEL];
            int column = lane % PANEL;
#pragma unroll
            for (int i = 0; i < PANEL; i++) {
                num sum = number(i == column ? 1.0 : 0.0, 0.0);
#pragma unroll
                for (int t = 0; t < i; t++) sum = minus(sum, h[t * PANEL + i], x[t]);
                x[i] = i < column ? number(0.0, 0.0) : scaled(sum, real_part(h[i * PANEL + i]));
            }
            if (lane < PANEL)
#pragma unroll
                for (int i = 0; i < PANEL; i++) l[(j0 + column) * ld + j0 + i] = x[i];
        }
        __syncthreads();
        pair<PANEL>();
        pair<2 * PANEL>();
    }

    // Two inverse blocks X and Z of WIDTH columns with Y between them have the inverse [X 0; −ZYX Z]. Above the diagonal
    // X and Z are zero. `head` is free for YX.
    template <int WIDTH> __device__ void pair() {
        constexpr int ENTRIES = WIDTH * WIDTH;
        int pairs = (size + 2 * WIDTH - 1) / (2 * WIDTH);
        for (int i = threadIdx.x; i < pairs * ENTRIES; i += blockDim.x) {
            int first = i / ENTRIES * 2 * WIDTH, row = i % WIDTH, column = i % ENTRIES / WIDTH, at = first + WIDTH + row;
            if (at >= size) continue;
            num sum = number(0.0, 0.0), more = sum;
#pragma unroll
            for (int t = 0; t < WIDTH; t += 2) {
                const num *x = l + (first + column) * ld + first + t, *y = l + (first + t) * ld + at;
                sum = minus(sum, y[0], x[0]), more = minus(more, y[ld], x[1]);
            }
            head[(first / 2 + column) * WIDTH + row] = plus(sum, more);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < pairs * ENTRIES; i += blockDim.x) {
            int first = i / ENTRIES * 2 * WIDTH, row = i % WIDTH, column = i % ENTRIES / WIDTH, at = first + WIDTH + row;
            if (at >= size) continue;
            num sum = number(0.0, 0.0), more = sum;
            int last = min(WIDTH, size - first - WIDTH);
#pragma unroll
            for (int t = 0; t < WIDTH; t += 2) {
                if (t >= last) break;
                const num *z = l + (first + WIDTH + t) * ld + at, *yx = head + (first / 2 + column) * WIDTH + t;
                sum = minus(sum, z[0], yx[0]), more = minus(more, z[ld], yx[1]);
            }
            l[(first + column) * ld + at] = scaled(plus(sum, more), -1.0);
        }
        __syncthreads();
    }

    // x = S⁻¹x. All threads of the block; `part` has room for 32 numbers.
    __device__ void solve(num *x, num *part) {
        int row = threadIdx.x >> 3, share = threadIdx.x & 7;
        for (int j0 = 0; j0 < size; j0 += BLOCK) {
            int width = min(BLOCK, size - j0);
            // Eight threads for each row.
            if (threadIdx.x < 8 * BLOCK) {
                num sum = number(0.0, 0.0);
                for (int t = share; t <= row && row < width; t += 8) sum = minus(sum, l[(j0 + t) * ld + j0 + row], x[j0 + t]);
                sum = eight(sum);
                if (share == 0 && row < width) part[row] = scaled(sum, -1.0);
            }
            __syncthreads();
            if (threadIdx.x < width) x[j0 + threadIdx.x] = part[threadIdx.x];
            // Four threads for each row below, whole warps at a time.
            for (int base = j0 + BLOCK; base < size; base += blockDim.x >> 2) {
                int r = base + (threadIdx.x >> 2);
                num sum = number(0.0, 0.0), more = sum;
                const num *column = l + (j0 + (threadIdx.x & 3)) * ld + r, *by = part + (threadIdx.x & 3);
                if (r < size)
#pragma unroll
                    for (int t = 0; t < BLOCK; t += 8)
                        sum = minus(sum, column[t * ld], by[t]), more = minus(more, column[(t + 4) * ld], by[t + 4]);
                sum = four(plus(sum, more));
                if (r < size && (threadIdx.x & 3) == 0) x[r] = plus(x[r], sum);
            }
            __syncthreads();
        }
        for (int j0 = (size - 1) / BLOCK * BLOCK; j0 >= 0; j0 -= BLOCK) {
            int width = min(BLOCK, size - j0);
            if (threadIdx.x < 8 * BLOCK) {
                num sum = number(0.0, 0.0);
                if (row < width)
                    for (int t = row + share; t < width; t += 8)
                        sum = minus(sum, conjugate(l[(j0 + row) * ld + j0 + t]), x[j0 + t]);
                sum = eight(sum);
                if (share == 0 && row < width) part[row] = scaled(sum, -1.0);
            }
            __syncthreads();
            if (threadIdx.x < width) x[j0 + threadIdx.x] = part[threadIdx.x];
            for (int base = 0; base < j0; base += blockDim.x >> 2) {
                int r = base + (threadIdx.x >> 2);
                num sum = number(0.0, 0.0), more = sum;
                const num *column = l + r * ld + j0 + (threadIdx.x & 3), *by = part + (threadIdx.x & 3);
                if (r < j0)
#pragma unroll
                    for (int t = 0; t < BLOCK; t += 8) {
                        if (t >= width) break;
                        sum = minus(sum, conjugate(column[t]), by[t]);
                        more = minus(more, conjugate(column[t + 4]), by[t + 4]);
                    }
                sum = four(plus(sum, more));
                if (r < j0 && (threadIdx.x & 3) == 0) x[r] = plus(x[r], sum);
            }
            __syncthreads();
        }
    }
};

// The factor of run `run` in global memory.
__device__ __forceinline__ Factor factor_of(const Parameters &p, int run) {
    num *l = (num *)p.factor + (i64)run * ((p.stride + PANEL) * p.size + SPARE);
    return {l, l + (i64)p.stride * p.size, p.stride, p.size};
}

// Coefficient planes (k × c) from complex numbers, and back.
__device__ __forceinline__ void put(const Parameters &p, double *planes, int l, num value) {
#if ACTIVATION == FOURIER
    planes[l] = value.x, planes[p.n + l] = value.y;
#else
    planes[l] = value;
#endif
}
#if ACTIVATION == FOURIER
#define UNKNOWNS(p) (p).n
#else
#define UNKNOWNS(p) (p).k
#endif

// The lower half of AᴴDA from EᵀE, padded by the unit matrix; above it, zeros in the diagonal blocks.
__device__ void fill(const Parameters &p, const double *gram, Factor f) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    int unknowns = UNKNOWNS(p), width = p.k + p.c;
    for (int column = warp; column < f.size; column += 2 * warps)
        for (int start = column / BLOCK * BLOCK + lane; start < f.size; start += 128) {
            // Many loads before the first store.
            num values[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int row = start + i % 4 * 32, c = column + i / 4 * warps;
                values[i] = number(row == c ? 1.0 : 0.0, 0.0);
                if (row >= c && row < unknowns && c < unknowns) {
                    const double *cosines = gram + (i64)c * width + row;
#if ACTIVATION == FOURIER
                    const double *sines = cosines + (i64)p.n * width;
                    values[i] = {cosines[0] + sines[p.n], sines[0] - cosines[p.n]};
#else
                    values[i] = cosines[0];
#endif
                }
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int row = start + i % 4 * 32, c = column + i / 4 * warps;
                if (row < f.size && c < f.size) f.l[c * f.ld + row] = values[i];
            }
        }
    __syncthreads();
}

// Copies the lower half of a factor, many loads before the first store. All threads of the block.
__device__ void copy(Factor from, Factor to) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5, size = from.size;
    for (int column = warp; column < size; column += 2 * warps)
        for (int row = column / BLOCK * BLOCK + lane; row < size; row += 128) {
            num values[2][4];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int at = row + i % 4 * 32, c = column + i / 4 * warps;
                if (at < size && c < size) values[i / 4][i % 4] = from.l[c * from.ld + at];
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int at = row + i % 4 * 32, c = column + i / 4 * warps;
                if (at < size && c < size) to.l[c * to.ld + at] = values[i / 4][i % 4];
            }
        }
    __syncthreads();
}

// Grid: runs; shared: the factor where it fits (p.shared), then size + 32 numbers.
extern "C" __global__ void __launch_bounds__(512) solve(Parameters p) {
    extern __shared__ __align__(16) double room[];
    __shared__ int failed;
    __shared__ double trace, largest;
    int run = blockIdx.x, width = p.k + p.c;
    const double *gram = p.gram + (i64)run * width * width;
    Factor kept = factor_of(p, run), f = kept;
    num *x = (num *)room;
    if (p.shared) f.l = x, f.head = f.l + f.ld * f.size, x = f.head + PANEL * f.size + SPARE;
    double *b = p.b + (i64)run * p.k * p.c, eps = 0.0;
    for (;;) {
        fill(p, gram, f);
        if (eps == 0.0) {
            if (threadIdx.x < 32) {
                double sum = 0.0, most = 0.0;
                for (int l = threadIdx.x; l < UNKNOWNS(p); l += 32) {
                    double d = real_part(f.l[l * f.ld + l]);
                    if (l < p.n) sum += d;
                    most = d > most || isnan(d) ? d : most;
                }
                sum = warp_sum(sum);
                for (int offset = 16; offset > 0; offset >>= 1) {
                    double other = __shfl_xor_sync(~0u, most, offset);
                    most = other > most || isnan(other) ? other : most;
                }
                if (threadIdx.x == 0) trace = sum, largest = most;
            }
            __syncthreads();
            if (!isfinite(trace) || !isfinite(largest)) {
                // The loss shows it.
                for (int i = threadIdx.x; i < p.k * p.c; i += blockDim.x) b[i] = nan("");
                return;
            }
            eps = p.relative ? p.ridge * trace / p.n : p.ridge;
        }
        for (int l = threadIdx.x; l < UNKNOWNS(p); l += blockDim.x) f.l[l * f.ld + l] = plus(f.l[l * f.ld + l], number(eps, 0.0));
        if (threadIdx.x == 0) failed = 0;
        __syncthreads();
        if (f.cholesky(&failed)) break;
        __syncthreads();
        eps = fmax(10.0 * eps, fmax(0.5 * 0x1p-52 * largest, 0x1p-1022 / 0x1p-52));
        if (!isfinite(eps)) {
            for (int i = threadIdx.x; i < p.k * p.c; i += blockDim.x) b[i] = nan("");
            return;
        }
        if (threadIdx.x == 0 && p.active[run]) p.raised[run] += 1;
    }
    f.invert();
    for (int o = 0; o < p.c; o++) {
        const double *side = gram + (i64)(p.k + o) * width;
        for (int l = threadIdx.x; l < f.size; l += blockDim.x)
#if ACTIVATION == FOURIER
            x[l] = l < p.n ? number(side[l], -side[p.n + l]) : number(0.0, 0.0);
#else
            x[l] = l < p.k ? side[l] : 0.0;
#endif
        __syncthreads();
        f.solve(x, x + f.size);
        for (int l = threadIdx.x; l < UNKNOWNS(p); l += blockDim.x) put(p, b + o * p.k, l, x[l]);
        __syncthreads();
    }
    if (p.shared) copy(f, kept);
}

// Adds up loss and g_b = (2/Ω)AᴴDr + λ dR/db, solves v = S⁻¹g_b, and counts the step. Where b is a leaf, g_b is its
// gradient and v = 0.
// Grid: runs; shared: as `solve`, or none where b is a leaf.
extern "C" __global__ void __launch_bounds__(512) adjoint(Parameters p) {
    extern __shared__ __align__(16) double room[];
    int run = blockIdx.x;
    double lambda = p.lambda[run], omega = p.omega[run];
    Factor kept = factor_of(p, run), f = kept;
    num *x = (num *)room;
    const bool leaf = p.leaf == BOTH;
    if (p.shared && !leaf) {
        f.l = x, f.head = f.l + f.ld * f.size, x = f.head + PANEL * f.size + SPARE;
        copy(kept, f);
    }
    const double *shares = p.db + (i64)run * p.groups * p.k * p.c;
    const double *others = p.point_db + (i64)run * p.tiles * p.k * p.c;
    double *v = p.v + (i64)run * p.k * p.c;
    for (int i = threadIdx.x; i < p.k * p.c; i += blockDim.x) {
        double sum = 0.0;
#pragma unroll 16
        for (int g = 0; g < p.groups; g++) sum += shares[(i64)g * p.k * p.c + i];
        sum *= 2.0 / omega;
#if ACTIVATION == FOURIER
        if (i % p.k >= p.n) sum = -sum;
#endif
        if (lambda > 0.0) {
            double more = 0.0;
#pragma unroll 16
            for (int t = 0; t < p.tiles; t++) more += others[(i64)t * p.k * p.c + i];
            sum = fma(lambda, more, sum);
        }
        if (leaf) p.slope[(i64)run * p.k * p.c + i] = sum;
        v[i] = leaf ? 0.0 : sum;
    }
    if (threadIdx.x >= blockDim.x - 32) {
        int lane = threadIdx.x & 31;
        double data = 0.0, variation = 0.0;
        for (int g = lane; g < p.groups; g += 32) data += p.loss[(i64)run * p.groups + g];
        if (lambda > 0.0)
            for (int tile = lane; tile < p.tiles; tile += 32) variation += p.point_value[(i64)run * p.tiles + tile];
        data = warp_sum(data), variation = warp_sum(variation);
        double *to = p.losses + 2 * ((i64)p.clock[1] * p.runs + run);
        if (lane == 0 && p.active[run]) {
            to[0] = data / omega, to[1] = variation;
            int steps = p.steps[run] += 1;
            p.stride_of[2 * run] = p.rate[0] / (1.0 - pow(BETA1, (double)steps));
            p.stride_of[2 * run + 1] = sqrt(1.0 - pow(BETA2, (double)steps));
        }
    }
    if (leaf) return;
    __syncthreads();
    for (int o = 0; o < p.c; o++) {
        for (int l = threadIdx.x; l < f.size; l += blockDim.x)
#if ACTIVATION == FOURIER
            x[l] = l < p.n ? number(v[o * p.k + l], v[o * p.k + p.n + l]) : number(0.0, 0.0);
#else
            x[l] = l < p.k ? v[o * p.k + l] : 0.0;
#endif
        __syncthreads();
        f.solve(x, x + f.size);
        for (int l = threadIdx.x; l < UNKNOWNS(p); l += blockDim.x) put(p, v + o * p.k, l, x[l]);
        __syncthreads();
    }
}
