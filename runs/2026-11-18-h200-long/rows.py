import array, math, random, sys
n, out, noise, seed = int(float(sys.argv[1])), sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
r = random.Random(seed)
h = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 11), }" % n
h += ' ' * ((64 - (10 + len(h) + 1) % 64) % 64) + '\n'
with open(out, 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + len(h).to_bytes(2, 'little') + h.encode())
    a = array.array('d')
    for i in range(n):
        x = [r.random() for _ in range(10)]
        y = 10*math.sin(math.pi*x[0]*x[1])+20*(x[2]-.5)**2+10*x[3]+5*x[4]+3*math.cos(4*x[5]*x[6])+2*math.tanh(3*(x[7]-x[8]))
        a.extend(x); a.append(y + noise*r.gauss(0, 1))
        if len(a) > 1_000_000: f.write(a.tobytes()); a = array.array('d')
    f.write(a.tobytes())
