"""A model of time for a fit to m rows on R ranks, one a core, fitted to passes.csv, and what it says of clusters that we do not have.

first pass   m/R (a1 + read) + c1 + ceil(log2 R) e1     a1: hash, ranges, sample; c1: the sample of a rank; e1: telling another rank
search       S                                          30 s: the budget; candidates are shared, the growing network is not
second pass  m/R (a2 + read) + ceil(log2 R) e2          a2: features and QR, 2 k^2 operations for k = 201 columns
read         88 bytes a row / (bandwidth of a node / ranks of a node)

Bytes that travel: 24 MB a round in the first pass, 2 log2(leaves of a rank) triangles of 323 kB in the second.
"""
import csv, math
import numpy as np

rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open("passes.csv"))]
# Ranks that have a core each; the others show only what sharing a core costs. Open MPI binds a single rank to one core, so its two threads had one
# as well, but for the last line.
own = [r for r in rows if r["ranks"] <= 2 and r["threads"] == 1]
rounds = lambda ranks: math.ceil(math.log2(ranks)) if ranks > 1 else 0
def solve(terms, values):
    x, *_ = np.linalg.lstsq(np.array(terms), np.array(values), rcond=None)
    return x, np.array(terms) @ x
(a1, c1, e1), first = solve([[r["rows"] / r["ranks"], 1, rounds(r["ranks"])] for r in own], [r["first_s"] for r in own])
(a2, e2), second = solve([[r["rows"] / r["ranks"], rounds(r["ranks"])] for r in own], [r["second_s"] for r in own])
e1 = max(e1, float(np.median([r["told_s"] for r in own if r["ranks"] == 2])))
e2 = float(np.median([r["merged_s"] for r in own if r["ranks"] == 2]))
print(f"a1 {1e6*a1:.3f} us, c1 {c1:.2f} s, e1 {e1:.2f} s, a2 {1e6*a2:.3f} us ({2*201**2/a2/1e9:.0f} GFLOP/s a core), e2 {1e3*e2:.1f} ms")
for name, fitted, key in [("first", first, "first_s"), ("second", second, "second_s")]:
    off = [f / r[key] - 1 for f, r in zip(fitted, own)]
    print(f"{name} pass: the model is off by {100*np.sqrt(np.mean(np.square(off))):.0f} % (rms), {100*max(map(abs, off)):.0f} % at most")
mean = lambda ranks, threads, m: np.median([r["first_s"] + r["second_s"] for r in rows if (r["ranks"], r["threads"], r["rows"]) == (ranks, threads, m)])
print(f"strong, 4e6 rows: {mean(1,1,4e6):.2f} s on one rank, {mean(2,1,4e6):.2f} s on two: {100*mean(1,1,4e6)/mean(2,1,4e6)/2:.0f} %")
print(f"weak: {mean(1,1,4e6):.2f} s for 4e6 rows on one rank, {mean(2,1,8e6):.2f} s for 8e6 on two: {100*mean(1,1,4e6)/mean(2,1,8e6):.0f} %")
print(f"weak: {mean(1,1,2e6):.2f} s for 2e6 rows on one rank, {mean(2,1,4e6):.2f} s for 4e6 on two: {100*mean(1,1,2e6)/mean(2,1,4e6):.0f} %")
S, CORES, DISK = 30.0, 32, 2e9
print(f"\non paper: nodes of {CORES} such cores, each reading {DISK/1e9:.0f} GB/s, a search of {S:.0f} s\n")
print("| rows | nodes | first pass s | search s | second pass s | all s | of it reading | against 16 nodes |\n|---|---|---|---|---|---|---|---|")
for m in [1e9, 1e10, 1e11]:
    base = None
    for nodes in [16, 64, 256, 1024]:
        ranks = nodes * CORES
        read = m * 88 / (nodes * DISK)
        one = m / ranks * a1 + read + c1 + rounds(ranks) * e1
        two = m / ranks * a2 + read + rounds(ranks) * e2
        total = one + S + two
        base = base or total
        print(f"| {m:.0e} | {nodes} | {one:.1f} | {S:.0f} | {two:.1f} | {total:.0f} | {2*read:.1f} | {base/total:.1f}x |")
    rest = S + c1 + rounds(1024 * CORES) * (e1 + e2)
    half = m * ((a1 + a2) / CORES + 2 * 88 / DISK) / rest
    print(f"| {m:.0e} | {half:.0f} | | | | {2*rest:.0f} | | half of the time does not scale |")
