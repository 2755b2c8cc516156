# Parquet: the same rows as rows.py, in files of 10^7 rows in a folder, groups of 10^6.
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, sys, os
source, folder = sys.argv[1:]
a=np.load(source,mmap_mode='r'); os.makedirs(folder,exist_ok=True)
for i in range(0,len(a),10**7):
    part=a[i:i+10**7]
    names=[f'c{j+1}' for j in range(a.shape[1])]
    with pq.ParquetWriter(f'{folder}/{i//10**7:02}.parquet', pa.schema([(n,pa.float64()) for n in names]), use_dictionary=False, compression='none') as w:
        for k in range(0,len(part),10**6):
            block=np.ascontiguousarray(part[k:k+10**6].T)
            w.write_table(pa.table([pa.array(c) for c in block],names=names),row_group_size=10**6)
