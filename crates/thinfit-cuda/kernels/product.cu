// Products of wide layers in single precision on the tensor cores, with bias, ReLU and mask where they belong.
//
// A tensor core multiplies TF32 numbers, which have 11 bits. Every f32 is the sum of two of them up to 2⁻²² of itself,
// so three products of parts make one that is as good as an f32 product. A block of threads makes 64 × 64 numbers of the
// result, each of its four warps 32 × 32; the operands pass through shared memory in slices of 16, four at a time on
// their way.

#if SINGLE && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

constexpr int SIDE = 64, SLICE = 16, STAGES = 4;
// Distances in shared memory for which the loads of a warp fall on different banks.
constexpr int ALONG_SUM = SLICE + 4, ALONG_SIDE = SIDE + 8;
constexpr int TILE_ROOM = SIDE * ALONG_SUM;

__device__ __forceinline__ void copy_later(float *to, const float *from, int bytes, int wanted) {
    u32 address = (u32)__cvta_generic_to_shared(to);
    if (wanted == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
}

// A matrix of `side` × `sum` numbers: entry (i, k) at from[i·step + k] if SUM_FIRST, else at from[i + k·step].
template <bool SUM_FIRST> struct Operand {
    const float *from;
    int step, side, sum;

    // Starts to copy rows first … first + 63 of slice k0 … k0 + 15; zeros beyond the matrix.
    __device__ void fetch(float *to, int first, int k0) const {
        bool whole = step % 4 == 0 && ((u64)from & 15) == 0;
        int across = SUM_FIRST ? SLICE : SIDE, most = SUM_FIRST ? sum : side, others = SUM_FIRST ? side : sum;
        int x0 = SUM_FIRST ? k0 : first, y0 = SUM_FIRST ? first : k0, pitch = SUM_FIRST ? ALONG_SUM : ALONG_SIDE;
        int width = whole ? 4 : 1, per_row = across / width;
        for (int i = threadIdx.x; i < SIDE * SLICE / width; i += blockDim.x) {
            int x = i % per_row * width, y = i / per_row;
            // Bytes that exist; the rest of a vector is zero.
            int there = y0 + y < others ? min(width, max(0, most - x0 - x)) : 0;
            const float *at = there > 0 ? from + (i64)(y0 + y) * step + x0 + x : from;
            copy_later(to + y * pitch + x, at, 4 * there, 4 * width);
        }
    }
    __device__ static float at(const float *tile, int i, int k) {
        return SUM_FIRST ? tile[i * ALONG_SUM + k] : tile[k * ALONG_SIDE + i];
    }
};

// The nearest TF32 number, and that of what is left.
__device__ __forceinline__ void split(float v, u32 &big, u32 &small) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(big) : "f"(v));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(small) : "f"(v - __uint_as_float(big)));
}

__device__ __forceinline__ void tensor(float *c, const u32 *a, const u32 *b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// c = A Bᵀ for the tile of this block; `finish(i, j, value)` takes the numbers.
template <bool A_FIRST, bool B_FIRST, typename Finish>
__device__ void product(Operand<A_FIRST> a, Operand<B_FIRST> b, Finish finish) {
    __shared__ float tiles[STAGES][2][TILE_ROOM];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = lane >> 2, place = lane & 3;
    int i0 = blockIdx.x * SIDE, j0 = blockIdx.y * SIDE, wi = warp % 2 * 32, wj = warp / 2 * 32;
    float c[2][4][4] = {};
    int slices = (a.sum + SLICE - 1) / SLICE;
    auto fetch = [&](int slice) {
        if (slice < slices) {
            a.fetch(tiles[slice % STAGES][0], i0, slice * SLICE);
            b.fetch(tiles[slice % STAGES][1], j0, slice * SLICE);
        }
        asm volatile("cp.async.commit_group;");
    };
    for (int slice = 0; slice < STAGES - 1; slice++) fetch(slice);
    for (int slice = 0; slice < slices; slice++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        fetch(slice + STAGES - 1);
        const float *at = tiles[slice % STAGES][0], *bt = tiles[slice % STAGES][1];
#pragma unroll
        for (int k = 0; k < SLICE; k += 8) {
            u32 big_a[2][4], small_a[2][4], big_b[4][2], small_b[4][2];
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    split(Operand<A_FIRST>::at(at, wi + 16 * r + group + 8 * (q & 1), k + place + 4 * (q >> 1)),
                          big_a[r][q], small_a[r][q]);
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int q = 0; q < 2; q++)
                    split(Operand<B_FIRST>::at(bt, wj + 8 * r + group, k + place + 4 * q), big_b[r][q], small_b[r][q]);
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int s = 0; s < 4; s++) {
                    tensor(c[r][s], small_a[r], big_b[s]);
                    tensor(c[r][s], big_a[r], small_b[s]);
                    tensor(c[r][s], big_a[r], big_b[s]);
                }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int s = 0; s < 4; s++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                int i = i0 + wi + 16 * r + group + 8 * (q >> 1), j = j0 + wj + 8 * s + 2 * place + (q & 1);
                if (i < a.side && j < b.side) finish(i, j, c[r][s][q]);
            }
}

// h = ReLU(Wx + bias). Grid: (out/64, n/64, runs); 128 threads, as below.
extern "C" __global__ void __launch_bounds__(128) forward_product(Parameters p, const float *from, float *to) {
    i64 run = blockIdx.z;
    const float *theta = p.theta + run * p.theta_len + p.offset, *bias = theta + (i64)p.in_ * p.out;
    from += run * p.n * p.in_, to += run * p.n * p.out;
    double *w = p.w + run * p.n * p.out;
    product(Operand<false>{theta, p.out, p.out, p.in_}, Operand<true>{from, p.in_, p.n, p.in_},
            [&](int u, int l, float value) {
                value += bias[u];
                if (p.last)
                    w[(i64)u * p.n + l] = value;
                else
                    to[(i64)l * p.out + u] = value < 0.0f ? 0.0f : value;
            });
}

// dx = Wᵀdh where h was not clipped. Grid: (in/64, n/64, runs).
extern "C" __global__ void __launch_bounds__(128)
    backward_product(Parameters p, const float *h, const float *from, float *to) {
    i64 run = blockIdx.z;
    const float *theta = p.theta + run * p.theta_len + p.offset;
    from += run * p.n * p.out, to += run * p.n * p.in_, h += run * p.n * p.in_;
    product(Operand<true>{theta, p.out, p.in_, p.out}, Operand<true>{from, p.out, p.n, p.out},
            [&](int t, int l, float value) {
                i64 at = (i64)l * p.in_ + t;
                to[at] = p.offset > 0 && !(h[at] > 0.0f) ? 0.0f : value;
            });
}

// dW = dh xᵀ. Grid: (out/64, in/64, runs).
extern "C" __global__ void __launch_bounds__(128) gradient_product(Parameters p, const float *x, const float *dh) {
    i64 run = blockIdx.z;
    float *to = p.dtheta + run * p.theta_len + p.offset;
    x += run * p.n * p.in_, dh += run * p.n * p.out;
    product(Operand<false>{dh, p.out, p.out, p.n}, Operand<false>{x, p.in_, p.in_, p.n},
            [&](int u, int t, float value) { to[(i64)t * p.out + u] = value; });
}

#else

// Without such tensor cores the library makes these products.
extern "C" __global__ void forward_product(Parameters) {}
extern "C" __global__ void backward_product(Parameters) {}
extern "C" __global__ void gradient_product(Parameters) {}

#endif
