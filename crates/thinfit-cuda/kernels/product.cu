// Products of wide layers in single precision, with bias, ReLU and mask where they belong.
//
// A library splits long sums in a way that depends on the batch, and its kernels leave a third of the device idle at our
// sizes. Here every number is one sum in its order, whatever the batch. Tensor cores were tried: even with every f32 as
// a sum of two TF32 numbers the steps left those of the processor sooner, and they were no faster at these sizes.
//
// A block of 128 threads makes a tile of the result; the operands pass through shared memory in slices of 16 terms, four
// slices on their way at a time.

#if SINGLE

constexpr int SLICE = 16, STAGES = 4;

// A matrix of `side` × `sum` numbers: entry (i, k) at from[i·step + k] if SUM_FIRST, else at from[i + k·step].
// A tile of it has SIDE = LANES · EACH rows; thread `lane` of LANES has EACH of them.
template <bool SUM_FIRST, int LANES, int EACH> struct Operand {
    static constexpr int SIDE = LANES * EACH;
    // Distances in shared memory for which the loads of a warp fall on different banks.
    static constexpr int PITCH = SUM_FIRST ? SLICE + 4 : SIDE + 4;
    static constexpr int ROOM = SUM_FIRST ? SIDE * PITCH : SLICE * PITCH;
    const float *from;
    int step, side, sum;

    // Starts to copy the rows from `first` on of the slice at k0; zeros beyond the matrix.
    __device__ __forceinline__ void fetch(float *to, int first, int k0) const {
        constexpr int ACROSS = SUM_FIRST ? SLICE : SIDE, DOWN = SUM_FIRST ? SIDE : SLICE;
        int x0 = SUM_FIRST ? k0 : first, y0 = SUM_FIRST ? first : k0;
        int wide = SUM_FIRST ? sum : side, high = SUM_FIRST ? side : sum;
        if (step % 4 == 0 && ((u64)from & 15) == 0)
            copy<4, ACROSS, DOWN>(to, x0, y0, wide, high);
        else
            copy<1, ACROSS, DOWN>(to, x0, y0, wide, high);
    }
    template <int VECTOR, int ACROSS, int DOWN>
    __device__ __forceinline__ void copy(float *to, int x0, int y0, int wide, int high) const {
#pragma unroll
        for (int i = threadIdx.x; i < ACROSS * DOWN / VECTOR; i += 128) {
            int x = i % (ACROSS / VECTOR) * VECTOR, y = i / (ACROSS / VECTOR);
            // Numbers that exist; the rest of a vector is zero.
            int there = y0 + y < high ? min(VECTOR, max(0, wide - x0 - x)) : 0;
            const float *at = there > 0 ? from + (i64)(y0 + y) * step + x0 + x : from;
            later<VECTOR>(to + y * PITCH + x, at, 4 * there);
        }
    }
    template <int VECTOR> __device__ __forceinline__ static void later(float *to, const float *from, int bytes) {
#if __CUDA_ARCH__ >= 800
        u32 address = (u32)__cvta_generic_to_shared(to);
        if (VECTOR == 4)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
#else
        for (int i = 0; i < VECTOR; i++) to[i] = 4 * i < bytes ? from[i] : 0.0f;
#endif
    }

    // Row r of those that `lane` has.
    __device__ __forceinline__ static int row(int lane, int r) {
        return SUM_FIRST ? lane + LANES * r : EACH * lane + r;
    }
    // Four terms of each row of `lane`: values[r][k].
    __device__ __forceinline__ static void load(const float *tile, int lane, int k, float (&values)[EACH][4]) {
        if (SUM_FIRST) {
#pragma unroll
            for (int r = 0; r < EACH; r++) {
                float4 v = *(const float4 *)(tile + row(lane, r) * PITCH + k);
                values[r][0] = v.x, values[r][1] = v.y, values[r][2] = v.z, values[r][3] = v.w;
            }
        } else {
#pragma unroll
            for (int q = 0; q < 4; q++)
#pragma unroll
                for (int r = 0; r < EACH; r += EACH % 4 == 0 ? 4 : 2) {
                    const float *at = tile + (k + q) * PITCH + EACH * lane + r;
                    if (EACH % 4 == 0) {
                        float4 v = *(const float4 *)at;
                        values[r][q] = v.x, values[r + 1][q] = v.y;
                        values[r + (EACH > 2 ? 2 : 0)][q] = v.z, values[r + (EACH > 2 ? 3 : 1)][q] = v.w;
                    } else {
                        float2 v = *(const float2 *)at;
                        values[r][q] = v.x, values[r + 1][q] = v.y;
                    }
                }
        }
    }
};

// The tile (A Bᵀ) of this block; `finish(i, j, value)` takes its numbers.
template <typename A, typename B, int MINE, int YOURS, typename Finish>
__device__ __forceinline__ void product(A a, B b, Finish finish) {
    __shared__ __align__(16) float tiles[STAGES][A::ROOM + B::ROOM];
    int i0 = blockIdx.x * A::SIDE, j0 = blockIdx.y * B::SIDE, left = threadIdx.x % 16, right = threadIdx.x / 16;
    float c[MINE][YOURS] = {};
    int slices = (a.sum + SLICE - 1) / SLICE;
    auto fetch = [&](int slice) {
        if (slice < slices) {
            a.fetch(tiles[slice % STAGES], i0, slice * SLICE);
            b.fetch(tiles[slice % STAGES] + A::ROOM, j0, slice * SLICE);
        }
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.commit_group;");
#endif
    };
    for (int slice = 0; slice < STAGES - 1; slice++) fetch(slice);
    for (int slice = 0; slice < slices; slice++) {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
#endif
        __syncthreads();
        fetch(slice + STAGES - 1);
        const float *at = tiles[slice % STAGES], *bt = at + A::ROOM;
#pragma unroll
        for (int k = 0; k < SLICE; k += 4) {
            float mine[MINE][4], yours[YOURS][4];
            A::load(at, left, k, mine);
            B::load(bt, right, k, yours);
#pragma unroll
            for (int q = 0; q < 4; q++)
#pragma unroll
                for (int r = 0; r < MINE; r++)
#pragma unroll
                    for (int s = 0; s < YOURS; s++) c[r][s] = fmaf(mine[r][q], yours[s][q], c[r][s]);
        }
    }
#pragma unroll
    for (int r = 0; r < MINE; r++)
#pragma unroll
        for (int s = 0; s < YOURS; s++) {
            int i = i0 + A::row(left, r), j = j0 + B::row(right, s);
            if (i < a.side && j < b.side) finish(i, j, c[r][s]);
        }
}

// h = ReLU(Wx + bias). Grid: (out / tile, n / tile, runs), as below.
template <int MINE, int YOURS> __device__ __forceinline__ void forward(const Parameters &p, const float *from, float *to) {
    typedef Operand<false, 16, MINE> A;
    typedef Operand<true, 8, YOURS> B;
    i64 run = blockIdx.z;
    const float *theta = p.theta + run * p.theta_len + p.offset, *bias = theta + (i64)p.in_ * p.out;
    from += run * p.n * p.in_, to += run * p.n * p.out;
    double *w = p.w + run * p.n * p.out;
    product<A, B, MINE, YOURS>(A{theta, p.out, p.out, p.in_}, B{from, p.in_, p.n, p.in_}, [&](int u, int l, float value) {
        value += bias[u];
        if (p.last)
            w[(i64)u * p.n + l] = value;
        else
            to[(i64)l * p.out + u] = value < 0.0f ? 0.0f : value;
    });
}

// dx = Wᵀdh where h was not clipped.
template <int MINE, int YOURS>
__device__ __forceinline__ void backward(const Parameters &p, const float *h, const float *from, float *to) {
    typedef Operand<true, 16, MINE> A;
    typedef Operand<true, 8, YOURS> B;
    i64 run = blockIdx.z;
    const float *theta = p.theta + run * p.theta_len + p.offset;
    from += run * p.n * p.out, to += run * p.n * p.in_, h += run * p.n * p.in_;
    product<A, B, MINE, YOURS>(A{theta, p.out, p.in_, p.out}, B{from, p.out, p.n, p.out}, [&](int t, int l, float value) {
        i64 at = (i64)l * p.in_ + t;
        to[at] = p.offset > 0 && !(h[at] > 0.0f) ? 0.0f : value;
    });
}

// dW = dh xᵀ.
template <int MINE, int YOURS> __device__ __forceinline__ void outer(const Parameters &p, const float *x, const float *dh) {
    typedef Operand<false, 16, MINE> A;
    typedef Operand<false, 8, YOURS> B;
    i64 run = blockIdx.z;
    float *to = p.dtheta + run * p.theta_len + p.offset;
    x += run * p.n * p.in_, dh += run * p.n * p.out;
    product<A, B, MINE, YOURS>(A{dh, p.out, p.out, p.n}, B{x, p.in_, p.in_, p.n},
                               [&](int u, int t, float value) { to[(i64)t * p.out + u] = value; });
}

// Tiles of 64 × 64, and of 32 × 32 for small batches, which would not fill the device.
extern "C" __global__ void __launch_bounds__(128) forward_64(Parameters p, const float *from, float *to) {
    forward<4, 8>(p, from, to);
}
extern "C" __global__ void __launch_bounds__(128) forward_32(Parameters p, const float *from, float *to) {
    forward<2, 4>(p, from, to);
}
extern "C" __global__ void __launch_bounds__(128)
    backward_64(Parameters p, const float *h, const float *from, float *to) {
    backward<4, 8>(p, h, from, to);
}
extern "C" __global__ void __launch_bounds__(128)
    backward_32(Parameters p, const float *h, const float *from, float *to) {
    backward<2, 4>(p, h, from, to);
}
extern "C" __global__ void __launch_bounds__(128) outer_64(Parameters p, const float *x, const float *dh) {
    outer<4, 8>(p, x, dh);
}
extern "C" __global__ void __launch_bounds__(128) outer_32(Parameters p, const float *x, const float *dh) {
    outer<2, 4>(p, x, dh);
}

#endif
