#!/usr/bin/env bash
# All checks of the Python package. Builds the wheel, installs it in a fresh environment and runs the tests there against the
# newest scikit-learn; then installs the folder in another environment, as users do, and runs scikit-learn's checks against
# the oldest version that we support. Needs cargo and Python 3.10 or newer. THINFIT may name the program `thinfit`, built
# from the same sources; if it is not set, the program is built here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Prints a command, then runs it.
run() {
    printf '\n== %s\n' "$*"
    "$@"
}

# The first of the given interpreters that exists and is new enough.
interpreter() {
    for python in "$@"; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "error: the tests of the Python package need Python 3.10 or newer; install it from https://www.python.org" >&2
    exit 1
}

export PIP_DISABLE_PIP_VERSION_CHECK=1 MPLBACKEND=Agg
python=$(interpreter python3 python3.13 python3.12 python3.11 python3.10)
# With --workspace, cargo builds with the features of all members, and the wheel below needs hardly anything compiled again.
run cargo build --workspace --locked --bin thinfit --example random_graphs
built=${CARGO_TARGET_DIR:-$PWD/../target}/debug
export THINFIT=${THINFIT:-$built/thinfit}
# Graphs for onnxruntime.
THINFIT_GRAPHS=$(mktemp -d)
trap 'rm -rf "$THINFIT_GRAPHS"' EXIT
export THINFIT_GRAPHS
run "$built/examples/random_graphs" "$THINFIT_GRAPHS"

run "$python" -m venv .venv-build
run .venv-build/bin/pip install -q 'maturin>=1.16,<2' 'ruff==0.17.*'
run .venv-build/bin/ruff check .
run .venv-build/bin/ruff format --check .
rm -rf dist
# In the profile of the other tests, with checks of overflow and without a second compilation. For pip below, too.
profile='--profile dev --locked'
run .venv-build/bin/maturin build $profile --out dist
export MATURIN_PEP517_ARGS=$profile
wheel=$(echo dist/*.whl)

run "$python" -m venv --clear .venv-test
run .venv-test/bin/pip install -q "$wheel[test]"
run .venv-test/bin/python -m mypy lib/thinfit
run .venv-test/bin/pytest -q "$@"
run .venv-test/bin/pytest -q -p no:cacheprovider --doctest-modules --pyargs thinfit

# The oldest scikit-learn and numpy have wheels for Python 3.10 and 3.11 only.
oldest=$(interpreter python3.10 python3.11 "$python")
run "$oldest" -m venv --clear .venv-oldest
run .venv-oldest/bin/pip install -q . pytest
run .venv-oldest/bin/pytest -q tests/test_examples.py -k readme
versions=('scikit-learn==1.6.0' pandas)
if "$oldest" -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then
    versions+=('numpy==1.23.5')
fi
run .venv-oldest/bin/pip install -q "${versions[@]}"
run .venv-oldest/bin/pytest -q tests/test_estimator.py tests/test_weights.py
