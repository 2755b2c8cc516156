"""Golden values for the tests of thinfit, from an autograd restatement of the method.

Everything is float64 on one thread. No derivative is written by hand: the output weights come from
torch.linalg.solve, the input gradient of the regulariser from torch.autograd.grad, the steps from
torch.optim.Adam, and autograd goes through all of it.

    python tools/golden.py            write crates/thinfit/tests/golden/*.json
    python tools/golden.py --check    compare gradients with central differences, write nothing
"""

import argparse
import json
import math
import pathlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

M, N, D, S = 40, 8, 3, 20  # samples, hidden neurons, inputs, points of the regulariser
HIDDEN = [16, 16]  # hidden widths of the generator
RATE, STEPS = 1e-3, 10  # Adam
MAX_COND = 1e5
MIN_FEATURE = 0.1  # smallest eigenvalue of A^H A, in units of eps
MIN_MARGIN = 1e-7  # no evaluation comes closer than this to a kink

ACTIVATIONS = {
    "fourier": lambda t: torch.exp(2j * math.pi * t),
    "cosine": lambda t: torch.cos(math.pi * t),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
}
# A small fresh generator gives features that are all alike: widen the latents, and scale the last weights up.
LATENT = 3.0
SPREAD = {"fourier": 3.0, "cosine": 4.0, "sigmoid": 20.0, "tanh": 10.0, "relu": 6.0}
EPS = {"fourier": 1e-4, "cosine": 1e-3, "sigmoid": 1e-3, "tanh": 1e-3, "relu": 1e-3}

# name of the term: (lambda, p, q)
TERMS = {"data": (0.0, 1, 1), "p1q1": (0.1, 1, 1), "p1q2": (0.1, 1, 2), "p2q2": (0.1, 2, 2)}


def has_bias(activation):
    return activation != "fourier"


def design(activation, w, x):
    """Rows Phi(<w_l, x_k>) / n; with biases x is padded by 1 and a last column of ones is added."""
    if not has_bias(activation):
        return ACTIVATIONS[activation](x @ w.T) / len(w)
    ones = torch.ones(len(x), 1)
    hidden = ACTIVATIONS[activation](torch.cat([x, ones], 1) @ w.T) / len(w)
    return torch.cat([hidden, ones], 1)


def apply(a, b):
    return (a @ b).real if a.is_complex() else a @ b


def generate(layers, z):
    h = z
    for layer in layers[:-1]:
        h = torch.relu(h @ layer["weight"].T + layer["bias"])
    return h @ layers[-1]["weight"].T + layers[-1]["bias"]


class Case:
    """One problem: data, points and constants. The leaf (w, z or theta) is given from outside."""

    def __init__(self, activation, outputs, term, weighted=False):
        self.activation, self.outputs, self.term, self.weighted = activation, outputs, term, weighted
        self.lam, self.p, self.q = TERMS[term]
        self.eps = EPS[activation]
        # The draws depend on activation and outputs only, so the terms of one problem can be compared. Draw until
        # every feature matters: none dead, none a copy of the others as far as the ridge can see.
        for attempt in range(1000):
            self.draw(np.random.default_rng([list(ACTIVATIONS).index(activation), outputs, attempt]))
            a = design(activation, self.w, self.x)
            if torch.linalg.eigvalsh(a.mH @ a).min() > MIN_FEATURE * self.eps:
                break
        else:
            raise RuntimeError(f"no good draw for {self.name()}")

    def draw(self, rng):
        def uniform(low, high, *shape):
            return torch.tensor(np.round(rng.uniform(low, high, shape), 6))

        self.x = uniform(0.0, 1.0, M, D)
        x1, x2, x3 = self.x.T
        targets = [torch.sin(2 * x1) + x2 * x3, torch.exp(-x1) * x2 - x3, torch.cos(x1 + 2 * x2) + x3**2]
        self.y = torch.round(torch.stack(targets[: self.outputs], 1), decimals=6)
        low, high = self.x.min(0).values, self.x.max(0).values
        self.points = torch.round(low + (high - low) * uniform(0.0, 1.0, S, D), decimals=6)
        width = D + has_bias(self.activation)
        self.z = torch.tensor(np.round(LATENT * rng.standard_normal((N, width)), 6))
        sizes = [width, *HIDDEN, width]
        self.layers = []
        for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
            r = 1 / math.sqrt(fan_in)
            t = r * SPREAD[self.activation] if i == len(HIDDEN) else r
            self.layers.append({"weight": uniform(-t, t, fan_out, fan_in), "bias": uniform(-r, r, fan_out)})
        self.weights = uniform(0.2, 2.0, M) if self.weighted else None
        self.w = generate(self.layers, self.z)

    def name(self):
        return f"{self.activation}-c{self.outputs}-{self.term}" + ("-weighted" if self.weighted else "")

    def system(self, w):
        """A, S = A^H D A + eps I and the right-hand side A^H D y."""
        a = design(self.activation, w, self.x)
        da = a if self.weights is None else self.weights[:, None] * a
        s = a.mH @ da + self.eps * torch.eye(a.shape[1])
        return a, s, da.mH @ self.y.to(a.dtype)

    def slopes(self, w, b):
        """grad f at the points, s x c x d, over the true inputs."""
        points = self.points.clone().requires_grad_(True)
        f = apply(design(self.activation, w, points), b)
        grads = [torch.autograd.grad(f[:, o].sum(), points, create_graph=True)[0] for o in range(self.outputs)]
        return torch.stack(grads, 1)

    def evaluate(self, w):
        a, s, rhs = self.system(w)
        b = torch.linalg.solve(s, rhs)
        squares = ((apply(a, b) - self.y) ** 2).sum(1)
        if self.weights is None:
            data = squares.mean()
        else:
            data = (self.weights * squares).sum() / self.weights.sum()
        norms = torch.linalg.vector_norm(self.slopes(w, b), ord=self.q, dim=2)
        variation = (norms**self.p).sum(1).mean()
        return {"b": b, "data": data, "variation": variation, "loss": data + self.lam * variation}

    def loss(self, w):
        return self.evaluate(w)["loss"]

    def margin(self, leaf):
        """Distance of this evaluation from the nearest kink (ReLU of model or generator, |u|)."""
        gaps = []
        if "w" not in leaf:
            h = leaf.get("z", self.z)
            for layer in leaf.get("theta", self.layers)[:-1]:
                h = h @ layer["weight"].T + layer["bias"]
                gaps.append(h.abs().min())
                h = torch.relu(h)
        w = self.weights_of(leaf).detach()
        if self.activation == "relu":
            x = torch.cat([self.x, self.points])
            gaps.append((x @ w[:, :-1].T + w[:, -1]).abs().min())
        _, s, rhs = self.system(w)
        u = self.slopes(w, torch.linalg.solve(s, rhs)).abs()
        gaps.append(u[u > 0].min())  # exactly 0 only where every ReLU is off
        return min(g.item() for g in gaps)

    def weights_of(self, leaf):
        """Input weights w when the given leaf replaces the drawn one."""
        if "w" in leaf:
            return leaf["w"]
        return generate(leaf.get("theta", self.layers), leaf.get("z", self.z))

    def fresh(self, kind):
        """A copy of one leaf that asks for gradients, and its tensors as a flat list."""
        if kind == "theta":
            value = [{k: v.clone().requires_grad_(True) for k, v in layer.items()} for layer in self.layers]
            return value, [v for layer in value for v in layer.values()]
        value = getattr(self, kind).clone().requires_grad_(True)
        return value, [value]

    def gradient(self, kind):
        value, _ = self.fresh(kind)
        self.loss(self.weights_of({kind: value})).backward()
        if kind == "theta":
            return [{k: v.grad for k, v in layer.items()} for layer in value]
        return value.grad

    def adam(self, kind):
        value, tensors = self.fresh(kind)
        optimiser = torch.optim.Adam(tensors, lr=RATE)
        losses = []
        for _ in range(STEPS):
            assert self.margin({kind: value}) > MIN_MARGIN, (self.name(), kind)
            optimiser.zero_grad()
            loss = self.loss(self.weights_of({kind: value}))
            losses.append(loss.item())
            loss.backward()
            optimiser.step()
        return {"rate": RATE, "losses": losses, "final": plain(value)}

    def record(self):
        out = self.evaluate(self.w)
        cond = torch.linalg.cond(self.system(self.w)[1]).item()
        assert cond <= MAX_COND, (self.name(), cond)
        b = out["b"]
        return {
            "origin": f"Made by tools/golden.py with torch {torch.__version__.split('+')[0]}.",
            "activation": self.activation,
            "m": M,
            "n": N,
            "d": D,
            "c": self.outputs,
            "s": S,
            "eps": self.eps,
            "cond": cond,
            "lambda": self.lam,
            "p": self.p,
            "q": self.q,
            "x": plain(self.x),
            "y": plain(self.y),
            "weights": None if self.weights is None else plain(self.weights),
            "points": plain(self.points),
            "layers": plain(self.layers),
            "z": plain(self.z),
            "w": plain(self.w),
            "b_re": plain(b.real),
            "b_im": plain(b.imag) if b.is_complex() else None,
            "loss": out["loss"].item(),
            "data_loss": out["data"].item(),
            "variation": out["variation"].item(),
            "grad_w": plain(self.gradient("w")),
            "grad_z": plain(self.gradient("z")),
            "grad_theta": plain(self.gradient("theta")),
            "adam": {kind: self.adam(kind) for kind in ("w", "z", "theta")},
        }


def plain(value):
    """Tensors, or lists and dicts of them, as nested lists of Python floats."""
    if isinstance(value, torch.Tensor):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value]


def cases():
    for activation in ACTIVATIONS:
        for outputs in (1, 3):
            for term in TERMS:
                yield Case(activation, outputs, term)
    for activation in ("fourier", "sigmoid"):
        yield Case(activation, 1, "p1q1", weighted=True)


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases():
        # One line per field; json writes floats with repr, which reads back to the same bits.
        lines = [f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in case.record().items()]
        path = folder / f"{case.name()}.json"
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(path.name, path.stat().st_size)


def check(entries=6, h=1e-6, tolerance=1e-6):
    """Central differences at a few entries of every leaf of every case."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for case in cases():
        for kind in ("w", "z", "theta"):
            value, tensors = case.fresh(kind)
            case.loss(case.weights_of({kind: value})).backward()
            scale = max(t.grad.abs().max().item() for t in tensors)
            assert scale > 0.0, (case.name(), kind)
            for _ in range(entries):
                t = tensors[rng.integers(len(tensors))]
                i = tuple(rng.integers(k) for k in t.shape)
                centre, sides = t[i].item(), []
                for sign in (1, -1):
                    t.data[i] = centre + sign * h
                    sides.append(case.loss(case.weights_of({kind: value})).item())
                t.data[i] = centre
                error = abs((sides[0] - sides[1]) / (2 * h) - t.grad[i].item()) / scale
                worst = max(worst, error)
                assert error < tolerance, (case.name(), kind, i, error)
    print(f"gradients agree with central differences, worst error {worst:.1e} of the largest entry")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with central differences, write nothing")
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=pathlib.Path, default=root / "crates/thinfit/tests/golden")
    arguments = parser.parse_args()
    if arguments.check:
        check()
    else:
        write(arguments.out)
