N=thinfit; R="mpirun --allow-run-as-root --oversubscribe"
t() { local s=$(date +%s.%N); "$@" >/dev/null 2>&1 || echo FAILED; local e=$(date +%s.%N); printf '%.2f' $(echo "$e - $s" | bc); }
for i in 1 2 3; do for n in 1 2; do
 echo "auto ranks=$n $(t $R -n $n $N fit f3.csv --target y --threads 1 -q -o a$n.json --budget 10) load=$(cut -d' ' -f1 /proc/loadavg)"
 echo "gft-r-lambda-auto ranks=$n $(t $R -n $n $N fit f3.csv --target y --threads 1 -q -o g$n.json --method gft-r --lambda auto --set generate.steps=500 --set refine.steps=500) load=$(cut -d' ' -f1 /proc/loadavg)"
 rm -rf runs$n; echo "reproduce ranks=$n $(t $R -n $n $N reproduce table1 --columns f1-5,f3-5 --methods gft,gft-r,kernel-ridge,gaussian-process --activations fourier --seeds 3 --lambda paper --jobs 1 --set generate.steps=300 --set refine.steps=200 -q -o runs$n) load=$(cut -d' ' -f1 /proc/loadavg)"
done; done
cmp a1.json a2.json && cmp g1.json g2.json && echo same models
