#!/usr/bin/env bash
# Builds the playground into target/site/playground: static files for any host. Needs cargo, and rustup where the target for
# WebAssembly is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TARGET=wasm32-unknown-unknown
BUILT="${CARGO_TARGET_DIR:-target}"
SITE=target/site/playground

if command -v rustup >/dev/null && ! rustup target list --installed | grep -q "^$TARGET$"; then
    rustup target add "$TARGET"
fi
# Vectors of 128 bits, which every browser has. Relaxed ones would make results depend on the machine.
RUSTFLAGS="-C target-feature=+simd128" cargo build --locked --profile web --target "$TARGET" -p thinfit-wasm

rm -rf "$SITE"
mkdir -p "$SITE"
cp web/playground/*.html web/playground/*.css web/playground/*.js "$SITE"
cp "$BUILT/$TARGET/web/thinfit_wasm.wasm" "$SITE/thinfit.wasm"
echo "built $SITE: $(find "$SITE" -type f -exec gzip -9 -c {} + | wc -c) bytes compressed"
