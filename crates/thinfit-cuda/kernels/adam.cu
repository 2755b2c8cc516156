// Adam on the leaf of every active run.

struct alignas(4 * sizeof(real)) Vector {
    real x, y, z, w;
};

template <typename T>
__device__ __forceinline__ void move(T *at, T g, T *first, T *second, const double *stride) {
    T m = (T)BETA1 * *first + (T)(1.0 - BETA1) * g, v = (T)BETA2 * *second + (T)(1.0 - BETA2) * g * g;
    *first = m, *second = v;
    *at -= (T)stride[0] * m / (sqrt(v) / (T)stride[1] + (T)EPSILON);
}

// Grid: (length of the leaf / 1024, runs); 256 threads. The last kernel of a step: it also moves the clock on.
extern "C" __global__ void adam(Parameters p) {
    int run = blockIdx.y;
    if (blockIdx.x == 0 && run == 0 && threadIdx.x == 0) p.clock[0] += 1, p.clock[1] += 1;
    if (!p.active[run]) return;
    const double *stride = p.stride_of + 2 * run;
    i64 i = blockIdx.x * (i64)1024 + 4 * threadIdx.x;
    if (p.leaf == PARAMETERS) {
        // θ of a run fills whole vectors of four.
        if (i >= p.theta_len) return;
        i += run * p.theta_len;
        Vector at = *(Vector *)(p.theta + i), g = *(const Vector *)(p.dtheta + i);
        Vector first = *(Vector *)(p.first_theta + i), second = *(Vector *)(p.second_theta + i);
        move<real>(&at.x, g.x, &first.x, &second.x, stride);
        move<real>(&at.y, g.y, &first.y, &second.y, stride);
        move<real>(&at.z, g.z, &first.z, &second.z, stride);
        move<real>(&at.w, g.w, &first.w, &second.w, stride);
        *(Vector *)(p.theta + i) = at, *(Vector *)(p.first_theta + i) = first, *(Vector *)(p.second_theta + i) = second;
        return;
    }
    i64 len = (i64)p.n * p.dim, shift = run * len;
    for (int part = 0; part < 4 && i < len; part++, i++) {
        i64 at = shift + i;
        if (p.leaf == LATENTS)
            move<real>(p.z + at, p.dz[at], p.first_z + at, p.second_z + at, stride);
        else
            move<double>(p.w + at, p.dw[at], p.first_w + at, p.second_w + at, stride);
    }
}

// Adam on b where it is a leaf, b = n · leaf_b but for the output bias. Grid: (k·c/128, runs).
extern "C" __global__ void adam_output(Parameters p) {
    int run = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x, count = p.k * p.c;
    if (!p.active[run] || i >= count) return;
    i64 at = (i64)run * count + i;
    double by = ACTIVATION != FOURIER && i % p.k == p.n ? 1.0 : p.n;
    move<double>(p.leaf_b + at, by * p.slope[at], p.first_b + at, p.second_b + at, p.stride_of + 2 * run);
    p.b[at] = by * p.leaf_b[at];
}
