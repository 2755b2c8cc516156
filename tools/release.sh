#!/usr/bin/env bash
# Builds the program and the wheel for a target (default: this machine) into target/dist/TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${1:-$(rustc -vV | sed -n 's/^host: //p')}"
out="target/dist/$target"
if [ "$target" = aarch64-unknown-linux-gnu ]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}"
    export CC_aarch64_unknown_linux_gnu="${CC_aarch64_unknown_linux_gnu:-aarch64-linux-gnu-gcc}"
fi
# Messages hold paths, which should not depend on the folder.
cargo_home="${CARGO_HOME:-$HOME/.cargo}"
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=/thinfit --remap-path-prefix=$cargo_home=/cargo"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$PWD=/thinfit -ffile-prefix-map=$cargo_home=/cargo"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"

mkdir -p "$out"
cargo build --release --locked -p thinfit-cli --target "$target"
cp "target/$target/release/thinfit" "$out/thinfit"
if command -v maturin >/dev/null; then
    maturin build --release --locked --target "$target" -m python/Cargo.toml -o "$out"
else
    echo "no maturin, no wheel: pip install maturin" >&2
fi
(cd "$out" && rm -f SHA256SUMS && sums="$(sha256sum -- *)" && echo "$sums" > SHA256SUMS)
cat "$out/SHA256SUMS"
