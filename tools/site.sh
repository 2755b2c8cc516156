#!/usr/bin/env bash
# Builds the book, the playground and the pages of the Rust interface into target/site, which any static host serves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SITE="$PWD/target/site"
# Of the book; its version decides how pages look.
MDBOOK=0.5.4

if ! command -v mdbook >/dev/null; then
    cargo install --locked --version "$MDBOOK" --no-default-features --features search mdbook
fi
# First, because it clears its folder.
mdbook build docs --dest-dir "$SITE"
bash web/build.sh
rm -rf "${CARGO_TARGET_DIR:-target}/doc"
cargo doc --locked --no-deps -p thinfit -p thinfit-gp -p thinfit-model -p thinfit-baselines -p thinfit-auto -p thinfit-methods -p thinfit-table -p thinfit-export -p thinfit-plot
rm -rf "$SITE/api"
cp -r "${CARGO_TARGET_DIR:-target}/doc" "$SITE/api"
python3 tools/site_links.py "$SITE"
echo "built $SITE"
