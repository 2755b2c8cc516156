"""Compares exported networks with `predict`: ONNX graphs in onnxruntime (f64 and f32), and C built by the system compiler.

    cargo run --release -p thinfit-export --example export_files -- FOLDER
    python tools/check_export.py FOLDER

Bounds: 1e-12 of max |f| in f64, 1e-6 of the sum of |b|/n in f32. Exits with 1 if one is exceeded.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime


def by_onnx(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": x})[0].astype(np.float64)


def by_c(path, x, outputs, flags):
    library = path.with_suffix(".so").resolve()
    subprocess.run(["cc", "-shared", "-fPIC", *flags, str(path), "-o", str(library)], check=True)
    function = getattr(ctypes.CDLL(str(library)), path.stem)
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    function.argtypes, function.restype = [pointer, pointer, ctypes.c_size_t], None
    y = np.empty((len(x), outputs))
    function(x, y, len(x))
    library.unlink()
    return y


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    names = sorted(folder.glob("*.facts.json"))
    if not names:
        sys.exit(f"{folder}: expected the files of the example export_files, found none; run it first")
    failed = False
    print("network      sum|b|/n / max|f|  onnx f64   c (c99)    c (native)  of max|f|;  onnx f32  of sum|b|/n")
    for path in names:
        facts = json.loads(path.read_text())
        name, shape = facts["name"], (facts["rows"], facts["inputs"])
        x = np.fromfile(folder / f"{name}.x").reshape(shape)
        y = np.fromfile(folder / f"{name}.y").reshape(facts["rows"], facts["outputs"])
        double = [
            np.abs(values - y).max() / facts["max"]
            for values in (
                by_onnx(folder / f"{name}.f64.onnx", x),
                by_c(folder / f"{name}.c", x, facts["outputs"], ["-std=c99", "-O3"]),
                by_c(folder / f"{name}.c", x, facts["outputs"], ["-O3", "-march=native"]),
            )
        ]
        single = np.abs(by_onnx(folder / f"{name}.f32.onnx", x.astype(np.float32)) - y).max() / facts["sum"]
        passed = max(double) <= 1e-12 and single <= 1e-6
        failed |= not passed
        columns = "   ".join(f"{value:.1e}" for value in double)
        ratio = facts["sum"] / facts["max"]
        print(f"{name:12} {ratio:17.1f}   {columns}               {single:.1e}   {'ok' if passed else 'FAILED'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
