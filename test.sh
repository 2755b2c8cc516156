#!/usr/bin/env bash
# All checks of this repository: format, lints, documentation, tests. Needs cargo and Python; fetches what
# else it needs. `test.sh --mpi` runs the further checks, of MPI ranks, which need an MPI library and libclang.
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

# Lints and documentation of all crates, with the given options of cargo.
lint() {
    run cargo clippy --workspace --all-targets --locked "$@" -- -D warnings
    run env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked "$@"
}

case "${1:-}" in
--mpi)
    if ! command -v mpirun >/dev/null; then
        echo "error: mpirun is missing; install MPI and libclang (Debian: libopenmpi-dev openmpi-bin libclang-dev)" >&2
        exit 1
    fi
    # With --workspace, cargo takes the dependencies as the other checks have built them.
    mpi=(--features thinfit-mpi/mpi,thinfit-cli/mpi)
    lint "${mpi[@]}"
    run cargo build --workspace --locked "${mpi[@]}" --example share
    run cargo test --workspace --locked "${mpi[@]}" --test ranks
    run cargo test --workspace --locked "${mpi[@]}" --test program -- ranks::
    printf '\n== all checks of MPI ranks passed\n'
    exit
    ;;
'') ;;
*)
    echo "error: unknown option $1; give none, or --mpi" >&2
    exit 2
    ;;
esac

run cargo fmt --all --check
run python3 tools/links.py
run python3 tools/architecture.py --check
lint
# Unit, property, gradient, golden and end-to-end tests, then those in the documentation. Examples are not built: `lint` checks them.
run cargo test --workspace --tests --locked
run cargo test --workspace --doc --locked
# The Python package and the pages, against the program that the tests have just built. Python's tests take one core; the playground
# is built on the other meanwhile, so that `web/test.sh` finds it done.
program="${CARGO_TARGET_DIR:-$PWD/target}/debug/thinfit"
if command -v npm >/dev/null; then
    bash web/build.sh >/dev/null 2>&1 &
    trap "kill $! 2>/dev/null || true" EXIT
fi
run env THINFIT="$program" bash python/test.sh
wait
run env THINFIT="$program" bash web/test.sh

printf '\n== all checks passed (those of MPI ranks: bash test.sh --mpi)\n'
