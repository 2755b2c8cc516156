// Random numbers by place: the latents that the program sent, and the points of the regulariser from the same ChaCha8
// streams as on the processor.

__device__ __forceinline__ u32 turned(u32 v, int by) { return (v << by) | (v >> (32 - by)); }

__device__ __forceinline__ void quarter(u32 &a, u32 &b, u32 &c, u32 &d) {
    a += b, d = turned(d ^ a, 16);
    c += d, b = turned(b ^ c, 12);
    a += b, d = turned(d ^ a, 8);
    c += d, b = turned(b ^ c, 7);
}

// The 16 words of block `counter`.
__device__ void chacha(const u32 *key, u64 counter, u64 stream, u32 *out) {
    u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
                     key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
                     (u32)counter, (u32)(counter >> 32), (u32)stream, (u32)(stream >> 32)};
    for (int i = 0; i < 16; i++) out[i] = start[i];
    for (int round = 0; round < 4; round++) {
        quarter(out[0], out[4], out[8], out[12]);
        quarter(out[1], out[5], out[9], out[13]);
        quarter(out[2], out[6], out[10], out[14]);
        quarter(out[3], out[7], out[11], out[15]);
        quarter(out[0], out[5], out[10], out[15]);
        quarter(out[1], out[6], out[11], out[12]);
        quarter(out[2], out[7], out[8], out[13]);
        quarter(out[3], out[4], out[9], out[14]);
    }
    for (int i = 0; i < 16; i++) out[i] += start[i];
}

// The latents of this step. Grid: (n·d′/128, runs).
extern "C" __global__ void draw(Parameters p) {
    int run = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x, count = p.n * p.dim;
    if (p.active[run] && i < count)
        p.z[(i64)run * count + i] = p.latents[((i64)p.clock[1] * p.runs + run) * count + i];
}

// The points of this step, eight numbers for each thread. Grid: (s·d/8/128, runs).
extern "C" __global__ void scatter(Parameters p) {
    int run = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 total = p.points * p.d;
    if (p.lambda[run] == 0.0 || 8 * (u32)i >= total) return;
    // 2³² words a place are 2²⁸ blocks.
    u64 place = 2 * (u64)p.clock[0] + (p.leaf == LATENTS);
    u32 words[16];
    chacha(p.keys + 8 * run, (place << 28) + i, p.point_stream, words);
    // The processor draws block by block of points, in each block input by input.
    u32 blocks = (p.points + 127) / 128;
    for (int q = 0; q < 8; q++) {
        u32 number = 8 * (u32)i + q;
        if (number >= total) return;
        u32 near = number / p.d, block = (u32)((u64)near * blocks / p.points);
        while ((u32)((u64)(block + 1) * p.points / blocks) <= near) block++;
        u32 start = (u32)((u64)block * p.points / blocks), rows = (u32)((u64)(block + 1) * p.points / blocks) - start;
        u32 rest = number - start * p.d, j = rest / rows, point = start + rest % rows;
        u64 bits = ((u64)words[2 * q + 1] << 32) | words[2 * q];
        double u = (double)(bits >> 11) * 0x1p-53;
        const double *box = p.domain + ((i64)run * p.d + j) * 2;
        p.at[((i64)run * p.points + point) * p.dim + j] = __dadd_rn(box[0], __dmul_rn(box[1] - box[0], u));
    }
}

// Counts a draw of the validation.
extern "C" __global__ void tick(Parameters p) { p.clock[1] += 1; }
