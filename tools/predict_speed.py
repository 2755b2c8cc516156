"""Rows predicted per second on one thread, as JSON: thinfit, onnxruntime on the exported graph (f64), the exported C,
and scikit-learn's kernel ridge regression with 500 centres. 100 neurons, 10 inputs, 10^7 rows, batches of 4096 and 65536.

    cargo build --release -p thinfit-export --example predict_speed
    python tools/predict_speed.py FOLDER

First runs the example, which fits the network and writes its exports to FOLDER. Needs an idle machine.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import ctypes
import json
import pathlib
import subprocess
import time

import numpy as np
import onnxruntime
from sklearn.kernel_ridge import KernelRidge

ROWS = 10 * 2**20
BATCHES = (4096, 65536)


def rate(predict, x, rows, batch):
    """Rows per second over `rows` rows, cycling through x in batches."""
    predict(x[:batch])
    start = time.perf_counter()
    for first in range(0, rows, batch):
        at = first % len(x)
        predict(x[at : at + batch])
    return rows / (time.perf_counter() - start)


def onnx(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(["y"], {"x": x})[0]


def compiled(path, flags):
    library = path.with_suffix(".so").resolve()
    subprocess.run(["cc", "-shared", "-fPIC", *flags, str(path), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).network
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    function.argtypes, function.restype = [pointer, pointer, ctypes.c_size_t], None
    library.unlink()

    def predict(x):
        y = np.empty((len(x), 1))
        function(x, y, len(x))
        return y

    return predict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--example", default="target/release/examples/predict_speed", help="the built example")
    arguments = parser.parse_args()
    folder = arguments.folder
    ran = subprocess.run([arguments.example, str(folder)], check=True, capture_output=True, text=True)
    record = {"thinfit": json.loads(ran.stdout)}

    x = np.random.default_rng(0).random((2**20, 10))
    predictors = {
        "onnxruntime f64": (onnx(folder / "network.onnx"), ROWS),
        "c -O3": (compiled(folder / "network.c", ["-O3"]), ROWS),
        "c -O3 -march=native": (compiled(folder / "network.c", ["-O3", "-march=native"]), ROWS),
        "kernel ridge, 500 centres": (KernelRidge(kernel="rbf", gamma=0.5, alpha=1e-6).fit(x[:500], x[:500, 0]).predict, ROWS // 10),
    }
    for name, (predict, rows) in predictors.items():
        record[name] = {"rows": rows}
        for batch in BATCHES[: 1 if "ridge" in name else 2]:
            record[name][f"rows_per_second_batch_{batch}"] = rate(predict, x, rows, batch)
    best = max(value for key, value in record["onnxruntime f64"].items() if key != "rows")
    slower = min(value for key, value in record["thinfit"].items() if key.startswith("rows_per"))
    record["thinfit over onnxruntime"] = slower / best
    batch = "rows_per_second_batch_4096"
    record["c over onnxruntime, batches of 4096"] = {
        name: record[name][batch] / record["onnxruntime f64"][batch] for name in predictors if name.startswith("c ")
    }
    record["onnxruntime version"] = onnxruntime.__version__
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
