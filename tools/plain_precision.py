"""Trains the paper's plain network in single and in double precision: how much of its published error is rounding?

    python tools/plain_precision.py [--seeds 2] [--steps 100000]

Points, initial weights and steps are the same in both: Adam at 1e-3 on the mean squared error, full batch, last iterate.
One line per fit: problem, activation, seed, precision, test error.
"""

import argparse
import math

import torch
from step_time import f1, f2

PROBLEMS = {"f1": (300, f1), "f2": (500, f2)}


def network(activation, d, n, dtype):
    """Parameters as PyTorch's linear layers draw them, and the function."""

    def uniform(fan, *shape):
        return ((2 * torch.rand(*shape, dtype=torch.float64) - 1) / math.sqrt(fan)).to(dtype).requires_grad_()

    w = uniform(d, n, d)
    if activation == "fourier":
        a, c = uniform(n, n), uniform(n, n)
        return [w, a, c], lambda x: torch.cos(2 * math.pi * x @ w.T) @ a - torch.sin(2 * math.pi * x @ w.T) @ c
    bias, b, offset = uniform(d, n), uniform(n, n), uniform(n, 1)
    return [w, bias, b, offset], lambda x: torch.sigmoid(x @ w.T + bias) @ b + offset


def error(problem, activation, seed, dtype, steps):
    torch.manual_seed(seed)
    m, f = PROBLEMS[problem]
    x, fresh = torch.rand(m, 5, dtype=torch.float64), torch.rand(m, 5, dtype=torch.float64)
    y, truth = f(x).to(dtype), f(fresh)
    x = x.to(dtype)[: m - m // 10]  # the paper keeps a tenth for validation
    y = y[: len(x)]
    parameters, predict = network(activation, 5, 100, dtype)
    adam = torch.optim.Adam(parameters, lr=1e-3)
    for _ in range(steps):
        adam.zero_grad()
        torch.mean((predict(x) - y) ** 2).backward()
        adam.step()
    with torch.no_grad():
        return torch.mean((predict(fresh.to(dtype)).double() - truth) ** 2).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100_000)
    args = parser.parse_args()
    for problem, activation in ("f1", "sigmoid"), ("f2", "fourier"):
        for seed in range(1, args.seeds + 1):
            for dtype in torch.float32, torch.float64:
                value = error(problem, activation, seed, dtype, args.steps)
                print(problem, activation, seed, str(dtype).removeprefix("torch."), f"{value:.3e}", flush=True)


if __name__ == "__main__":
    main()
