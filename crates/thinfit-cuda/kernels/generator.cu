// The generator's layers that are too thin for a library's product, and what goes before and after such a product.
//
// Layer (in → out): weights at θ + p.offset, input after input, then the biases; activations latent after latent. In a
// batch every run has its own θ, at stride p.theta_len.

// h = ReLU(Wx + bias), or w = Wx + bias in the last layer, a thread for each unit: for few inputs.
// Grid: (out/128, n, runs).
extern "C" __global__ void layer(Parameters p, const real *from, real *to) {
    int u = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y, run = blockIdx.z;
    if (u >= p.out) return;
    const real *theta = p.theta + (i64)run * p.theta_len + p.offset, *x = from + ((i64)run * p.n + l) * p.in_;
    real sum = 0;
    for (int t = 0; t < p.in_; t++) sum += theta[(i64)t * p.out + u] * x[t];
    sum += theta[(i64)p.in_ * p.out + u];
    if (p.last)
        p.w[((i64)run * p.out + u) * p.n + l] = sum;
    else
        to[((i64)run * p.n + l) * p.out + u] = sum < 0 ? 0 : sum;
}

// The same with a warp for each unit: for few units. Grid: (out · n / 8, 1, runs); 256 threads.
extern "C" __global__ void layer_narrow(Parameters p, const real *from, real *to) {
    int i = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31, run = blockIdx.z;
    if (i >= p.out * p.n) return;
    int u = i % p.out, l = i / p.out;
    const real *theta = p.theta + (i64)run * p.theta_len + p.offset, *x = from + ((i64)run * p.n + l) * p.in_;
    real sum = 0;
    for (int t = lane; t < p.in_; t += 32) sum += theta[(i64)t * p.out + u] * x[t];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(~0u, sum, offset);
    if (lane > 0) return;
    sum += theta[(i64)p.in_ * p.out + u];
    if (p.last)
        p.w[((i64)run * p.out + u) * p.n + l] = sum;
    else
        to[((i64)run * p.n + l) * p.out + u] = sum < 0 ? 0 : sum;
}

// After a library's product: adds its second half, if any, and the bias, and clips. Grid: (out/128, n, runs).
extern "C" __global__ void clip(Parameters p, real *to, const real *more) {
    int u = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y, run = blockIdx.z;
    if (u >= p.out) return;
    real bias = p.theta[(i64)run * p.theta_len + p.offset + (i64)p.in_ * p.out + u];
    i64 i = ((i64)run * p.n + l) * p.out + u;
    real *at = to + i, t = (more ? *at + more[i] : *at) + bias;
    if (p.last)
        p.w[((i64)run * p.out + u) * p.n + l] = t;
    else
        *at = t < 0 ? 0 : t;
}

// dx = Wᵀdh where h was not clipped, a thread for each input: for few units. Grid: (in/128, n, runs).
extern "C" __global__ void layer_back(Parameters p, const real *h, const real *from, real *to) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y, run = blockIdx.z;
    if (t >= p.in_) return;
    const real *theta = p.theta + (i64)run * p.theta_len + p.offset + (i64)t * p.out;
    const real *dh = from + ((i64)run * p.n + l) * p.out;
    real sum = 0;
    for (int u = 0; u < p.out; u++) sum += theta[u] * dh[u];
    i64 at = ((i64)run * p.n + l) * p.in_ + t;
    to[at] = p.offset > 0 && !(h[at] > 0) ? 0 : sum;
}

// The same with a warp for each input: for few inputs. Grid: (in · n / 8, 1, runs); 256 threads.
extern "C" __global__ void layer_back_narrow(Parameters p, const real *h, const real *from, real *to) {
    int i = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31, run = blockIdx.z;
    if (i >= p.in_ * p.n) return;
    int t = i % p.in_, l = i / p.in_;
    const real *theta = p.theta + (i64)run * p.theta_len + p.offset + (i64)t * p.out;
    const real *dh = from + ((i64)run * p.n + l) * p.out;
    real sum = 0;
    for (int u = lane; u < p.out; u += 32) sum += theta[u] * dh[u];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(~0u, sum, offset);
    i64 at = ((i64)run * p.n + l) * p.in_ + t;
    if (lane == 0) to[at] = p.offset > 0 && !(h[at] > 0) ? 0 : sum;
}

// After a library's product: adds its second half, if any; zero where h was clipped. Grid: (n · in / 256, 1, runs).
extern "C" __global__ void mask(Parameters p, const real *h, real *to, const real *more) {
    i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x, count = (i64)p.n * p.in_, at = blockIdx.z * count + i;
    if (i >= count) return;
    if (!(h[at] > 0))
        to[at] = 0;
    else if (more)
        to[at] += more[at];
}

// dW = dh xᵀ and, as its row `in`, the bias: from row p.first_row on. Grid: (rows, out/32, runs); block (32, 8): eight
// threads share the latents of one parameter.
extern "C" __global__ void gradient(Parameters p, const real *x, const real *dh) {
    __shared__ real parts[8][32];
    int u = blockIdx.y * 32 + threadIdx.x, t = p.first_row + blockIdx.x, run = blockIdx.z;
    const real *from = dh + (i64)run * p.n * p.out + u, *below = x + (i64)run * p.n * p.in_ + t;
    real sum = 0;
    if (u < p.out && t < p.in_)
#pragma unroll 8
        for (int l = threadIdx.y; l < p.n; l += 8) sum += from[(i64)l * p.out] * below[(i64)l * p.in_];
    else if (u < p.out)
#pragma unroll 8
        for (int l = threadIdx.y; l < p.n; l += 8) sum += from[(i64)l * p.out];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || u >= p.out) return;
    for (int part = 1; part < 8; part++) sum += parts[part][threadIdx.x];
    p.dtheta[(i64)run * p.theta_len + p.offset + (i64)t * p.out + u] = sum;
}

// The same for few units: neighbouring threads have neighbouring inputs. Grid: ((in + 1)/32, out, runs); block (32, 8).
extern "C" __global__ void gradient_narrow(Parameters p, const real *x, const real *dh) {
    __shared__ real parts[8][32];
    int t = blockIdx.x * 32 + threadIdx.x, u = blockIdx.y, run = blockIdx.z;
    const real *from = dh + (i64)run * p.n * p.out + u, *below = x + (i64)run * p.n * p.in_ + t;
    real sum = 0;
    if (t <= p.in_)
#pragma unroll 8
        for (int l = threadIdx.y; l < p.n; l += 8)
            sum += from[(i64)l * p.out] * (t < p.in_ ? below[(i64)l * p.in_] : (real)1);
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || t > p.in_) return;
    for (int part = 1; part < 8; part++) sum += parts[part][threadIdx.x];
    p.dtheta[(i64)run * p.theta_len + p.offset + (i64)t * p.out + u] = sum;
}
