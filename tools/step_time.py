"""Time of one training step of the method as published, in PyTorch, float32 on the CPU or a GPU.

    python tools/step_time.py            a table
    python tools/step_time.py --json     the same as JSON on stdout
    python tools/step_time.py --device cuda

GFT step: fresh latents, w = G(z) with a ReLU generator 512-512-512, complex64 Fourier features, output weights by LU of
A^H A + 1e-7 I, mean squared error (plus lambda times the anisotropic total variation at 1000 fresh points), autograd
backward, Adam on theta. GFT-r step: the same with theta frozen and Adam on z.
"""

import argparse
import json
import math
import statistics
import time

import torch

WIDTH, POINTS, RIDGE, RATE = 100, 1000, 1e-7, 1e-4
TAU = 2 * math.pi


def f1(x):
    return x[..., 3] ** 2 + x[..., 1] * x[..., 2] + x[..., 0] * x[..., 1] + x[..., 3]


def f2(x):
    return torch.sin(x[..., 0]) + 7 * torch.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * torch.sin(x[..., 0])


PROBLEMS = {"f1": (f1, 5, 270), "f2": (f2, 10, 900)}  # function, inputs, training rows (90 % of 300 and 1000)


def features_exp(t):
    return torch.exp((1j * TAU) * t) / WIDTH


def features_polar(t):
    return torch.polar(torch.full_like(t, 1 / WIDTH), TAU * t)


def features_pair(t):
    t = TAU * t
    return torch.complex(torch.cos(t), torch.sin(t)) / WIDTH


def variation_closed(features, w, b, points):
    """Mean of |grad f|_1, with grad f = Re(2 pi i sum_l b_l A_l w_l) as real matrix products."""
    t = TAU * (points @ w.T)
    slope = torch.cos(t) * b[:, 0].imag + torch.sin(t) * b[:, 0].real  # minus sign dropped: only |u| counts
    return (slope @ w).abs().sum(1).mean() * (TAU / WIDTH)


def variation_autograd(features, w, b, points):
    """The same with grad f from a first backward pass that is itself differentiated."""
    points.requires_grad_(True)
    f = (features(points @ w.T) @ b).real
    (u,) = torch.autograd.grad(f.sum(), points, create_graph=True)
    return u.abs().sum(1).mean()


FEATURES = {"exp": features_exp, "polar": features_polar, "pair": features_pair}
VARIATIONS = {"closed": variation_closed, "autograd": variation_autograd}


def make_step(problem, phase, lam, options):
    """A closure that takes one training step."""
    function, d, m = PROBLEMS[problem]
    features, variation = FEATURES[options.features], VARIATIONS[options.variation]
    torch.manual_seed(0)
    x = torch.rand(m, d)
    y = function(x).to(torch.complex64)[:, None]
    ridge = RIDGE * torch.eye(WIDTH, dtype=torch.complex64)
    sizes = [d, 512, 512, 512, d]
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    generator = torch.nn.Sequential(*layers[:-1])
    fixed = None
    if phase == "gft":
        leaves = list(generator.parameters())
    else:
        generator.requires_grad_(False)
        fixed = torch.randn(WIDTH, d, requires_grad=True)
        leaves = [fixed]
    optimiser = torch.optim.Adam(leaves, lr=RATE, fused=True if options.fused else None)

    def step():
        optimiser.zero_grad()
        z = torch.randn(WIDTH, d) if fixed is None else fixed
        w = generator(z)
        a = features(x @ w.T)
        adjoint = a.mH
        b = torch.linalg.solve(adjoint @ a + ridge, adjoint @ y)
        loss = ((a @ b).real - y.real).square().mean()
        if lam > 0:
            loss = loss + lam * variation(features, w, b, torch.rand(POINTS, d))
        loss.backward()
        optimiser.step()
        return loss

    return step


def wait(options):
    """A GPU works on after a call has returned."""
    if options.device == "cuda":
        torch.cuda.synchronize()


def measure(options):
    keys = [(name, phase, lam) for name in PROBLEMS for phase in ("gft", "gft-r") for lam in (0, 1e-4)]
    steps = {key: make_step(*key, options) for key in keys}
    raw = {key: [] for key in keys}
    started = time.perf_counter()
    for step in steps.values():
        begun = time.perf_counter()
        for _ in range(2 * options.steps):
            loss = step()
            if time.perf_counter() - begun > options.seconds / 20:
                break
        assert math.isfinite(loss.item())
    # Batches go round robin, so that a slow moment of the machine does not hit one setting alone.
    for _ in range(options.batches):
        if raw[keys[0]] and time.perf_counter() - started > options.seconds:
            break  # on a busy machine: fewer batches, at least one of each
        for key, step in steps.items():
            step()
            wait(options)
            start = time.perf_counter()
            for _ in range(options.steps):
                step()
            wait(options)
            raw[key].append((time.perf_counter() - start) * 1e3 / options.steps)
    rows = []
    for (name, phase, lam), values in raw.items():
        rows.append(
            {
                "problem": name,
                "d": PROBLEMS[name][1],
                "m": PROBLEMS[name][2],
                "phase": phase,
                "lambda": lam,
                "ms": round(statistics.median(values), 4),
                "ms_min": round(min(values), 4),
                "ms_raw": [round(v, 4) for v in values],
            }
        )
    version = torch.__version__.split("+")[0]
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    return {"peer": f"pytorch {version}", "device": device, "threads": torch.get_num_threads(), "steps": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", type=int, default=15)
    parser.add_argument("--steps", type=int, default=10, help="steps in a batch")
    parser.add_argument("--seconds", type=float, default=40.0, help="start no new round of batches after this")
    parser.add_argument("--features", choices=FEATURES, default="pair", help="how exp(2 pi i t) is written")
    parser.add_argument("--variation", choices=VARIATIONS, default="closed", help="how grad f is computed")
    parser.add_argument("--fused", action="store_true", help="the fused Adam instead of the default one")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_default_device(options.device)
    result = measure(options)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['peer']}, {result['device']}, {result['threads']} threads")
    for row in result["steps"]:
        print(
            f"{row['problem']} d={row['d']:<3} m={row['m']:<4} {row['phase']:<6} lambda={row['lambda']:<7}"
            f" {row['ms']:8.3f} ms  (min {row['ms_min']:.3f})"
        )


if __name__ == "__main__":
    main()
