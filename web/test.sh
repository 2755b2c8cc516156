#!/usr/bin/env bash
# Tests of the pages in a real browser: Chromium through playwright. THINFIT names the program to test. Skips, loudly, where
# there is no browser and none can be installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/test"

skip() {
    printf 'SKIPPED: the pages are not tested in a browser: %s\n' "$1" >&2
    exit 0
}

export THINFIT="${THINFIT:-$PWD/../../target/debug/thinfit}"
if [ ! -x "$THINFIT" ]; then
    echo "error: $THINFIT is no program; build it with \`cargo build -p thinfit-cli\`, or name one with THINFIT" >&2
    exit 1
fi

command -v node >/dev/null && command -v npm >/dev/null || skip "node or npm is missing"
node --test settings.test.js
if [ -z "${CHROMIUM:-}" ]; then
    if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || true
    fi
    CHROMIUM="$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)"
fi
[ -n "$CHROMIUM" ] || skip "there is no chromium; install it, or name one with CHROMIUM"
export CHROMIUM
npm ci --no-audit --no-fund >/dev/null 2>&1 || skip "npm cannot install playwright-core and axe-core"
if ! rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then
    echo "SKIPPED: the playground is not tested: rustup cannot add the target wasm32-unknown-unknown" >&2
    exec node --test report.test.js
fi
bash ../build.sh
npm test
