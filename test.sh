#!/usr/bin/env bash
# All checks of this repository: format, lints, documentation, tests. Needs cargo and Python; fetches what
# else it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Says what it runs, then runs it.
run() {
    printf '\n== %s\n' "$*"
    "$@"
}

# Installs the component $2 where `cargo $1` is missing.
need() {
    if cargo "$1" --version >/dev/null 2>&1; then
        return
    fi
    if ! command -v rustup >/dev/null; then
        echo "error: \`cargo $1\` is missing and there is no rustup to install it with; install $2 for your Rust" >&2
        exit 1
    fi
    run rustup component add "$2"
}

if ! command -v cargo >/dev/null; then
    echo "error: cargo is missing; install Rust from https://rustup.rs" >&2
    exit 1
fi
need fmt rustfmt
need clippy clippy

# Ranks of MPI are tested where there is one.
features=()
if command -v mpirun >/dev/null; then
    features=(--features thinfit-mpi/mpi,thinfit-cli/mpi)
else
    printf '\n== SKIPPED: tests of MPI ranks, since there is no mpirun (Debian: libopenmpi-dev openmpi-bin libclang-dev)\n'
fi

run cargo fmt --all --check
run python3 tools/links.py
run cargo clippy --workspace --all-targets --locked "${features[@]}" -- -D warnings
run env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked "${features[@]}"
# Unit, property, gradient, golden, end-to-end and documentation tests.
run cargo test --workspace --locked "${features[@]}"
# The Python package and the pages, against the program that the tests have just built.
program="${CARGO_TARGET_DIR:-$PWD/target}/debug/thinfit"
run env THINFIT="$program" bash python/test.sh
run env THINFIT="$program" bash web/test.sh

printf '\n== all checks passed\n'
