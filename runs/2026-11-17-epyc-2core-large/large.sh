#!/usr/bin/env bash
# Fits big tables without any option, one after the other: large.sh THINFIT [COMMAND...] writes large.csv beside the tables in
# the working folder. The command goes before thinfit, for instance `taskset -c 0,1`. Needs Python 3.
set -euo pipefail
thinfit="$1"
shift

table() { # rows, inputs: three inputs matter, noise has a tenth of the deviation.
    python3 - "$1" "$2" > "table-$1x$2.csv" <<'PYTHON'
import math, random, sys
rows, inputs = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
print(",".join([f"x{j + 1}" for j in range(inputs)] + ["y"]))
for _ in range(rows):
    x = [random.random() for _ in range(inputs)]
    y = math.sin(5 * x[0]) + 2 * x[1] * x[2] + 0.08 * random.gauss(0, 1)
    print(",".join(f"{v:.9g}" for v in x + [y]))
PYTHON
}

echo "rows,inputs,exit,seconds,cpu_seconds,peak_mb,forecast_mb,rmse,load" > large.csv
for shape in "100000 3" "20000 50" "200 1000" "5 20000"; do
    read -r rows inputs <<< "$shape"
    [ -e "table-${rows}x$inputs.csv" ] || table "$rows" "$inputs"
    # A limit that the table keeps and the fit does not makes it say what it takes.
    said="$("$thinfit" fit "table-${rows}x$inputs.csv" --target y --memory 40MB -o none.json 2>&1 || true)"
    echo "$said"
    forecast="$(sed -n 's/.* takes about \([0-9.]*\) \([MG]\)B.*/\1 \2/p' <<< "$said" | awk '{ print $2 == "G" ? 1000 * $1 : $1 }')"
    load="$(cut -d' ' -f1 /proc/loadavg)"
    start="$(date +%s.%N)"
    code=0
    python3 - "$@" "$thinfit" fit "table-${rows}x$inputs.csv" --target y -o "model-${rows}x$inputs.json" --json > out.json 2> peak <<'PYTHON' || code=$?
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_maxrss} {used.ru_utime + used.ru_stime:.1f}", file=sys.stderr)
sys.exit(done.returncode)
PYTHON
    seconds="$(echo "$(date +%s.%N) $start" | awk '{ printf "%.1f", $1 - $2 }')"
    cpu="$(tail -1 peak | cut -d' ' -f2)"
    peak="$(tail -1 peak | awk '{ printf "%.0f", $1 * 1.024 / 1000 }')"
    rmse="$(python3 -c 'import json; print("%.4g" % json.load(open("out.json"))["validation"]["mse"][0] ** 0.5)' || true)"
    echo "$rows,$inputs,$code,$seconds,$cpu,$peak,$forecast,$rmse,$load" | tee -a large.csv
done
