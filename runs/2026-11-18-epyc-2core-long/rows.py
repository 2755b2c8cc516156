import numpy as np, sys
n=int(float(sys.argv[1])); out=sys.argv[2]; noise=float(sys.argv[3]); seed=int(sys.argv[4])
a=np.lib.format.open_memmap(out,mode='w+',dtype='f8',shape=(n,11))
rng=np.random.default_rng(seed)
B=1_000_000
for i in range(0,n,B):
    k=min(B,n-i); x=rng.random((k,10))
    y=10*np.sin(np.pi*x[:,0]*x[:,1])+20*(x[:,2]-.5)**2+10*x[:,3]+5*x[:,4]+3*np.cos(4*x[:,5]*x[:,6])+2*np.tanh(3*(x[:,7]-x[:,8]))
    a[i:i+k,:10]=x; a[i:i+k,10]=y+noise*rng.standard_normal(k)
a.flush()
