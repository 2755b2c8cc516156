#!/bin/bash
# The same fits on 1, 2 and 3 threads, and on emulated processors with fewer instructions.
B=${B:-thinfit}
$B data f3 --rows 200 --seed 1 -o f3.csv; $B data f3 --rows 200 --seed 1 --test -o f3-test.csv
$B data g1 --rows 120 --seed 1 --noise 0.1 -o g1.csv; $B data g1 --rows 200 --seed 1 --test -o g1-test.csv
short="--width=30 --set generate.steps=200 --set refine.steps=200 --set check_every=50 --set polish.steps=5"
fit() { # name data options
  n=$1; d=$2; shift 2
  for t in 1 2 3; do $B fit $d.csv -t y -q --threads $t -o $n-native-$t.json "$@" >/dev/null; done
  $B predict $n-native-1.json $d-test.csv -q -o $n-native.csv
  for c in Haswell Nehalem; do
    qemu-x86_64 -cpu $c $B fit $d.csv -t y -q --threads 1 -o $n-$c.json "$@" >/dev/null 2>$n-$c.err
    # predicted by the native program: the difference is that of the models alone
    $B predict $n-$c.json $d-test.csv -q -o $n-$c.csv
    # the native model, evaluated there
    qemu-x86_64 -cpu $c $B predict $n-native-1.json $d-test.csv -q -o $n-at-$c.csv 2>/dev/null
  done
  sha256sum $n-*.json
}
fit gft f3 --method gft-r $short
fit process g1 --method gaussian-process --set starts=2 --set iterations=30
fit auto g1 --method auto --set budget=0.2
# As the third, with so few rows that the emulator is done before the clock cuts the search.
head -31 g1.csv > small.csv; cp g1-test.csv small-test.csv
fit small small --method auto --set budget=0.1
