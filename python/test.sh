#!/usr/bin/env bash
# Builds the wheel, installs it in an environment of its own and runs all tests there; then installs the folder with the
# oldest scikit-learn that we support and runs scikit-learn's checks against it. Needs cargo and Python 3.10 or newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Says what it runs, then runs it.
run() {
    printf '\n== %s\n' "$*"
    "$@"
}

# An environment $1, made by the interpreter $2 where it is missing.
environment() {
    if [ ! -x "$1/bin/python" ]; then
        run "$2" -m venv "$1"
    fi
}

export PIP_DISABLE_PIP_VERSION_CHECK=1 MPLBACKEND=Agg
# The oldest Python that we support, if it is here.
oldest=python3
if python3.10 --version >/dev/null 2>&1; then
    oldest=python3.10
fi

environment .venv-build python3
run .venv-build/bin/pip install -q 'maturin>=1.16,<2'
rm -rf dist
run .venv-build/bin/maturin build --release --locked --out dist
wheel=$(echo dist/*.whl)

environment .venv-test python3
run .venv-test/bin/pip install -q --upgrade "$wheel[test]"
run .venv-test/bin/pip install -q --force-reinstall --no-deps "$wheel"
run cargo build --release --locked -p thinfit-cli
export THINFIT=${CARGO_TARGET_DIR:-$PWD/../target}/release/thinfit
run .venv-test/bin/pytest -q "$@"
run .venv-test/bin/pytest -q --doctest-modules -p no:cacheprovider --pyargs thinfit
run .venv-test/bin/python -m mypy -p thinfit

environment .venv-oldest "$oldest"
old=('scikit-learn==1.6.0' pytest)
if .venv-oldest/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then
    old+=('numpy==1.23.5')
fi
run .venv-oldest/bin/pip install -q "${old[@]}"
run .venv-oldest/bin/pip install -q --force-reinstall --no-deps .
run .venv-oldest/bin/pytest -q tests/test_estimator.py tests/test_weights.py
