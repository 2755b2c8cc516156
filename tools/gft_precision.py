"""Trains GFT and GFT-r in single and in double precision: how much of their published errors is rounding?

    python tools/gft_precision.py f2-5-fourier [--dtype float32] [--refine float32] [--seeds 5] [--device cuda]
    python tools/gft_precision.py f3-10-sigmoid [--padded]

The method with the paper's settings: 100 features, ReLU generator 512-512-512, LU of A^H A + 1e-7 I, Adam at 1e-4 on
theta, then on z, keeping the best state on a tenth of the rows. All seeds are trained as one batch. `--padded` includes
the constant coordinate of the biases in the total variation, as the published numbers do and thinfit does not. One line per
seed: problem, precision of GFT and of GFT-r, coordinates in the total variation, seed (with `--rows`, after the number of the
draw), test error of GFT, of GFT-r, and of GFT-r with b solved and f evaluated in single precision. Each precision draws its
own random numbers.
"""

import argparse
import itertools
import json
import math
import time

import torch
from step_time import f2

WIDTH, HIDDEN, POINTS, RIDGE, RATE, CHECK_EVERY = 100, 512, 1000, 1e-7, 1e-4, 200
TAU = 2 * math.pi
DTYPES = "float32", "float64"


def f3(x):
    wave = 10 * torch.sin(math.pi * x[..., 0] * x[..., 1])
    return wave + 20 * (x[..., 2] - 0.5) ** 2 + 10 * x[..., 3] + 5 * x[..., 4]


# function, inputs, samples, activation, lambda: the cells of Table 1 to explain
CELLS = {
    "f2-5-fourier": (f2, 5, 500, "fourier", 0.0),
    "f3-5-fourier": (f3, 5, 500, "fourier", 0.0),
    "f3-5-sigmoid": (f3, 5, 500, "sigmoid", 0.0),
    "f3-10-sigmoid": (f3, 10, 200, "sigmoid", 1e-4),
}


class Network:
    """Features, optimal output weights and total variation of a batch of networks, w of shape seeds x width x inputs."""

    def __init__(self, activation, padded):
        self.fourier, self.padded, self.singular = activation == "fourier", padded, 0

    def pad(self, x):
        return x if self.fourier else torch.cat([x, torch.ones_like(x[..., :1])], -1)

    def design(self, x, w):
        t = self.pad(x) @ w.mT
        if self.fourier:
            return torch.complex(torch.cos(TAU * t), torch.sin(TAU * t)) / WIDTH
        return torch.cat([torch.sigmoid(t) / WIDTH, torch.ones_like(t[..., :1])], -1)

    def solve(self, x, y, w):
        """The design matrix and b."""
        a = self.design(x, w)
        gram = a.mH @ a
        ridge = RIDGE * torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
        b, info = torch.linalg.solve_ex(gram + ridge, a.mH @ y.to(a.dtype)[..., None])
        self.singular = self.singular + (info != 0).sum()  # stays on the device: no step waits for it
        return a, b

    def predict(self, x, w, b):
        return (self.design(x, w) @ b).real[..., 0]

    def variation(self, p, w, b):
        """Mean of |grad f|_1 over the points, for each network."""
        t = self.pad(p) @ w.mT
        if self.fourier:
            b = b.mT
            slope = -TAU * (torch.sin(TAU * t) * b.real + torch.cos(TAU * t) * b.imag)
        else:
            s = torch.sigmoid(t)
            slope = s * (1 - s) * b[..., :WIDTH, :].mT
        inputs = w if self.fourier or self.padded else w[..., :-1]
        return (slope @ inputs / WIDTH).abs().sum(-1).mean(-1)


class Generator:
    """A batch of networks G, one per seed."""

    def __init__(self, seeds, d, **like):
        def uniform(fan, *shape):
            return ((2 * torch.rand(seeds, *shape, **like) - 1) / math.sqrt(fan)).requires_grad_()

        sizes = [d, HIDDEN, HIDDEN, HIDDEN, d]
        self.layers = [(uniform(i, i, o), uniform(i, 1, o)) for i, o in itertools.pairwise(sizes)]

    def parameters(self):
        return [leaf for layer in self.layers for leaf in layer]

    def freeze(self, dtype):
        self.layers = [tuple(leaf.detach().to(dtype) for leaf in layer) for layer in self.layers]

    def __call__(self, z):
        for weight, bias in self.layers[:-1]:
            z = torch.relu(torch.baddbmm(bias, z, weight))
        weight, bias = self.layers[-1]
        return torch.baddbmm(bias, z, weight)


class Rows:
    """Rows of a function for every seed, in one precision: nine tenths to fit, the rest to choose."""

    def __init__(self, points, values, dtype):
        self.like = {"dtype": dtype, "device": points.device}
        train = points.shape[1] - points.shape[1] // 10
        x, y = points.to(dtype), values.to(dtype)
        self.x, self.y, self.held, self.held_y = x[:, :train], y[:, :train], x[:, train:], y[:, train:]
        self.low = self.x.amin(1, keepdim=True)
        self.span = self.x.amax(1, keepdim=True) - self.low

    def anywhere(self):
        return self.low + self.span * torch.rand(len(self.x), POINTS, self.x.shape[-1], **self.like)


def sample(cell, seeds, file):
    """Points and values to fit and to test: fresh ones for each seed, or those of a file, each for so many seeds."""
    function, d, m, *_ = CELLS[cell]
    if file:
        with open(file) as text:
            draws = json.load(text)
        keys = "x", "y", "test_x", "test_y"
        tables = [torch.tensor([draw[key] for draw in draws], dtype=torch.float64) for key in keys]
        if tables[0].shape[1:] != (m, d):
            raise SystemExit(f"{file}: expected draws of {m} x {d} for {cell}, found {tuple(tables[0].shape[1:])}")
        return [table.repeat_interleave(seeds, 0) for table in tables]
    points, fresh = (torch.rand(seeds, rows, d, dtype=torch.float64) for rows in (m, 2000))
    return points, function(points), fresh, function(fresh)


def fit(cell, seeds, steps, padded, dtypes, device, file):
    """Test errors for each seed: of GFT, of GFT-r, and of GFT-r with b solved and f evaluated in single precision."""
    *_, activation, lam = CELLS[cell]
    torch.manual_seed(1)
    network = Network(activation, padded)
    points, values, fresh, truth = (table.to(device) for table in sample(cell, seeds, file))
    seeds, _, d = points.shape
    rows = [Rows(points, values, dtype) for dtype in dtypes]
    latent = d if network.fourier else d + 1
    generator = Generator(seeds, latent, **rows[0].like)

    def draw(rows):
        return torch.randn(seeds, WIDTH, latent, **rows.like)

    def descend(rows, leaves, latents, after):
        adam = torch.optim.Adam(leaves, lr=RATE)
        for step in range(1, steps + 1):
            adam.zero_grad()
            w = generator(latents())
            a, b = network.solve(rows.x, rows.y, w)
            losses = ((a @ b).real[..., 0] - rows.y).square().mean(-1)
            if lam > 0:
                losses = losses + lam * network.variation(rows.anywhere(), w, b)
            losses.sum().backward()  # seeds share nothing, so each leaf sees its own loss
            adam.step()
            if step % CHECK_EVERY == 0 or step == steps:
                after()

    @torch.no_grad()
    def error(rows, z, at, truth):
        w = generator(z).to(rows.x.dtype)
        _, b = network.solve(rows.x, rows.y, w)
        return (network.predict(at.to(w.dtype), w, b).double() - truth).square().mean(-1)

    descend(rows[0], generator.parameters(), lambda: draw(rows[0]), lambda: None)
    gft = error(rows[0], draw(rows[0]), fresh, truth)
    generator.freeze(rows[1].x.dtype)
    z = draw(rows[1]).requires_grad_()
    best, least = z.detach().clone(), torch.full((seeds,), math.inf, dtype=torch.float64, device=device)

    def keep():
        now = error(rows[1], z, rows[1].held, rows[1].held_y)
        better = now < least
        least[better] = now[better]
        best[better] = z.detach()[better]

    keep()
    descend(rows[1], [z], lambda: z, keep)
    if network.singular:
        print(f"# {network.singular} systems were singular")
    single = Rows(points, values, torch.float32)
    return gft, *(error(r, best, fresh, truth) for r in (rows[1], single))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cell", choices=CELLS)
    parser.add_argument("--dtype", choices=DTYPES, default="float64", help="precision of GFT")
    parser.add_argument("--refine", choices=DTYPES, help="precision of GFT-r, if different")
    parser.add_argument("--padded", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40_000, help="steps of GFT, and again of GFT-r")
    parser.add_argument("--rows", help="points to fit, from `cargo run --example rows`; --seeds fits of each draw")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    begun = time.perf_counter()
    names = [args.dtype, args.refine or args.dtype]
    dtypes = [getattr(torch, name) for name in names]
    errors = fit(args.cell, args.seeds, args.steps, args.padded, dtypes, args.device, args.rows)
    names += ["padded" if args.padded else "inputs"]
    for i, values in enumerate(zip(*errors)):
        draw, seed = divmod(i, args.seeds)
        seed = f"{draw + 1}.{seed + 1}" if args.rows else seed + 1
        print(args.cell, *names, seed, *(f"{value.item():.3e}" for value in values))
    print(f"# {time.perf_counter() - begun:.0f} s on {args.device}, PyTorch {torch.__version__}", flush=True)


if __name__ == "__main__":
    main()
