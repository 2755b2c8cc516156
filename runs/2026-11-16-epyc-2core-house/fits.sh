#!/bin/bash
# Fits by every method: fits.sh PROGRAM FOLDER. Run with two programs, then compare the files.
set -e
BIN=$1; OUT=$2; mkdir -p $OUT; cd $OUT
$BIN data f3 --rows 150 --seed 1 -o f3.csv >/dev/null
$BIN data f1 --rows 120 --seed 2 -o f1.csv >/dev/null
python3 - <<'P'
import csv,math
r=list(csv.reader(open('f3.csv')))
with open('multi.csv','w') as f:
    w=csv.writer(f); w.writerow(r[0]+['z','wt'])
    for i,row in enumerate(r[1:]):
        v=list(map(float,row)); w.writerow(row+[repr(math.sin(3*v[0])+v[1]), repr(0.5+ (i%4))])
P
F="--quiet --threads 2"
$BIN fit f3.csv --target y -o a-default.json $F --set refine.steps=200 --set generate.steps=200 >/dev/null
$BIN fit f3.csv --target y -o b-fopt.json --method f-opt $F --set direct.steps=300 >/dev/null
$BIN fit f3.csv --target y -o c-gft.json --method gft $F --set generate.steps=300 >/dev/null
$BIN fit f3.csv --target y -o d-random.json --method random $F >/dev/null
$BIN fit f3.csv --target y -o e-sigmoid.json --activation sigmoid $F --set refine.steps=200 --set generate.steps=200 --width 40 >/dev/null
$BIN fit multi.csv --target y,z --weights wt -o f-multi-weights.json $F --set refine.steps=200 --set generate.steps=200 --width 40 >/dev/null
$BIN fit f1.csv --target y -o g-lambda.json $F --lambda auto --set polish.steps=0 --set refine.steps=100 --set generate.steps=200 --width 30 >/dev/null
$BIN fit f1.csv --target y -o h-paper.json --preset paper $F --set refine.steps=200 --set generate.steps=200 --set 'generator.hidden=[64,64]' >/dev/null
$BIN fit f3.csv --target y -o i-relu-f64.json --activation relu $F --set refine.steps=200 --set generate.steps=200 --width 40 --set generator.precision=f64 >/dev/null
$BIN fit f3.csv --target y -o j-cosine.json --activation cosine $F --set refine.steps=200 --set generate.steps=200 --width 40 >/dev/null
$BIN fit f3.csv --target y -o k-real-form.json --activation fourier --set polish.form=real $F --set refine.steps=200 --set generate.steps=200 --width 20 >/dev/null
$BIN fit f1.csv --target y -o l-lambda-fixed.json $F --lambda 1e-3 --set polish.steps=0 --set refine.steps=100 --set generate.steps=200 --width 30 >/dev/null
# resumed: a long fit with a checkpoint, killed by Ctrl-C, then resumed
rm -f st.json
$BIN fit f3.csv --target y -o m-resumed.json --checkpoint st.json $F --set refine.steps=2500 --set generate.steps=1500 --width 60 >/dev/null & P=$!
sleep 0.5; kill -INT $P || true; wait $P || true
$BIN fit f3.csv --target y -o m-resumed.json --resume st.json $F >/dev/null
rm -f st.json
for m in shrimp harfe anova-rff swim arff rff plain noisy-gradients fully-sampled kernel-ridge kernel-ridge-validated salsa; do
 S=""; case $m in plain|noisy-gradients|fully-sampled) S="--set steps=300";; esac
 $BIN fit f1.csv --target y -o n-$m.json --method $m $F $S >/dev/null
done
