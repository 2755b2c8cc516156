"""Writes seeds for crates/thinfit-fuzz/corpus with other programs: text, NPY, NPZ, MAT and Parquet by NumPy, SciPy and
PyArrow, XLSX by hand, models and states by the program `thinfit`.

    python tools/fuzz_seeds.py target/release/thinfit

Existing files are kept, so seeds do not change with the version of their writer.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse

CORPUS = pathlib.Path(__file__).parent.parent / "crates" / "thinfit-fuzz" / "corpus"
SMALL = np.round(np.sin(np.arange(12.0)).reshape(4, 3), 3)


def place(target, name):
    """The path of a seed; none if it is there."""
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return None if path.exists() else path


def texts():
    seeds = {
        "plain.csv": "a,b,c\n1,2,3\n4.5,-6e-7,8\n9,10,11\n",
        "quotes.csv": 'a,"b c",d\n1,2,x\n3.5,-4e-5,y\n,NA,z\n6,7,"w\nv"\n8,9,"say ""so"""\n',
        "semicolons.csv": "name;länge;datum\r\nx;1,5;2024-01-02\r\ny;2,25;2024-02-29\r\nz;;2024-12-31\r\n",
        "tabs.tsv": "a\tb\tc\n1\t\t3\n4\tnan\t6\n7\t8\t9\n",
        "blanks.dat": "# comment\n  1.0   2.0  3.0\n  4.0   5.0  6.0\n  7.0 -inf 9.0\n",
        "no-header.csv": "1,2\n3,4\n5,6\n",
        "units.csv": "size,weight,when\n1 mm,3 kg,12:30\n2 mm,4 kg,13:45\n3 mm,5 kg,2024-01-01T10:00:00Z\n",
        "one-column.txt": "y\n1\n2\n3\n",
        "bom.csv": "\ufeffa,b\n1,2\n3,4\n",
    }
    for name, text in seeds.items():
        if path := place("text", name):
            path.write_bytes(text.encode())
    if path := place("text", "utf-16.csv"):
        path.write_bytes("a,b\n1,2\n".encode("utf-16"))


def arrays():
    kinds = {
        "double.npy": SMALL,
        "fortran.npy": np.asfortranarray(SMALL),
        "single-vector.npy": SMALL[0].astype("<f4"),
        "big-endian.npy": (100 * SMALL).astype(">i2"),
        "unsigned.npy": np.arange(6, dtype="<u8").reshape(2, 3),
        "flags.npy": SMALL > 0,
        "half.npy": SMALL.astype("<f2"),
        "cube.npy": SMALL.reshape(2, 2, 3),
        "fields.npy": np.array([(1.0, 2), (3.0, 4)], dtype=[("a", "<f8"), ("b", "<i4")]),
        "text.npy": np.array(["one", "two"]),
        "scalar.npy": np.array(2.5),
    }
    for name, array in kinds.items():
        if path := place("npy", name):
            np.save(path, array)
    if path := place("npy", "version-2.npy"):
        with path.open("wb") as file:
            np.lib.format.write_array(file, SMALL, version=(2, 0))
    parts = {"X": SMALL, "y": SMALL[:, 0].astype("<f4")}
    for name, save in [("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)]:
        if path := place("npz", name):
            save(path, **parts)
    if path := place("npz", "odd.npz"):
        np.savez_compressed(path, X=SMALL, names=np.array(["a", "b"]), cube=SMALL.reshape(2, 2, 3))
    # A bomb: zeros that unpack to many times their size.
    if path := place("npz", "zeros.npz"):
        np.savez_compressed(path, X=np.zeros(5_000))
    cell = np.empty(2, dtype=object)
    cell[:] = [1.0, "two"]
    # MATLAB has no vectors.
    parts["y"] = parts["y"].reshape(4, 1)
    several = parts | {"k": np.arange(4, dtype="int16").reshape(4, 1), "flag": SMALL > 0}
    odd = {"cell": cell, "record": {"a": 1.0}, "sparse": scipy.sparse.eye(3), "text": "words", "z": SMALL + 1j, "X": SMALL}
    for name, variables, compressed in [
        ("plain.mat", parts, False),
        ("compressed.mat", parts, True),
        ("several.mat", several, False),
        ("several-compressed.mat", several, True),
        ("odd.mat", odd, False),
        ("odd-compressed.mat", odd, True),
        ("zeros.mat", {"X": np.zeros((5_000, 1))}, True),
    ]:
        if path := place("mat", name):
            scipy.io.savemat(path, variables, do_compression=compressed)


def parquets():
    n = 8
    columns = {
        "a": pa.array(np.round(np.sin(np.arange(n)), 3)),
        "b": pa.array([None if i == 2 else i for i in range(n)], pa.int32()),
        "c": pa.array([f"level {i % 3}" for i in range(n)]),
        "d": pa.array(range(n), pa.date32()),
        "t": pa.array(range(n), pa.timestamp("ms")),
        "f": pa.array(range(n), pa.float32()),
        "flag": pa.array([i % 2 == 0 for i in range(n)]),
        "u": pa.array(range(n), pa.uint64()),
        "price": pa.array(range(n), pa.decimal128(7, 2)),
    }
    table = pa.table(columns)
    numbers = table.select(["a", "b", "f", "u"])
    delta = {"a": "BYTE_STREAM_SPLIT", "b": "DELTA_BINARY_PACKED", "c": "DELTA_BYTE_ARRAY", "u": "DELTA_BINARY_PACKED"}
    nested = pa.table({"list": pa.array([[1.0, 2.0], [], None]), "pair": pa.array([{"x": 1.0, "y": 2}] * 3)})
    for name, what, settings in [
        ("plain.parquet", table, {"compression": "none", "use_dictionary": False}),
        ("dictionary.parquet", table, {"compression": "snappy"}),
        ("checksums.parquet", numbers, {"compression": "none", "use_dictionary": False, "write_page_checksum": True}),
        ("checksums-snappy.parquet", table, {"compression": "snappy", "write_page_checksum": True}),
        ("zstd-v2.parquet", table, {"compression": "zstd", "data_page_version": "2.0", "write_page_checksum": True}),
        (
            "delta-v2.parquet",
            table.select(list(delta)),
            {"compression": "none", "use_dictionary": False, "column_encoding": delta, "data_page_version": "2.0"},
        ),
        ("groups.parquet", numbers, {"row_group_size": 3, "write_page_index": True, "compression": "none"}),
        ("nested.parquet", nested, {"compression": "none"}),
        # A bomb, as above.
        ("zeros.parquet", pa.table({"a": np.zeros(5_000)}), {"compression": "zstd", "use_dictionary": False}),
    ]:
        if path := place("parquet", name):
            # The description of Arrow is larger than all the rest, and never read.
            pq.write_table(what, path, store_schema=False, write_statistics=False, **settings)


def workbooks():
    """Sheets as XML that is not packed, so that a changed byte is a changed character."""
    main, parts = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org"
    relations = f"{parts}/officeDocument/2006/relationships"
    cells = {
        "numbers.xlsx": """<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="str"><v>b</v></c></row>
            <row r="2"><c r="A2"><v>1.5</v></c><c r="B2"><v>-2e-3</v></c></row><row r="4"><c r="B4"><v>7</v></c></row>""",
        "kinds.xlsx": """<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>
            <row><c t="b"><v>1</v></c><c s="1"><v>45000.5</v></c><c><f>A1+1</f><v>3</v></c></row>
            <row><c t="e"><v>#DIV/0!</v></c><c t="d"><v>2024-01-02</v></c><c t="s"><v>3</v></c></row>""",
    }
    for name, rows in cells.items():
        if path := place("xlsx", name):
            files = {
                "xl/workbook.xml": f"""<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>
                    <sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>""",
                "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{parts}/package/2006/relationships">
                    <Relationship Id="rId1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/>
                    <Relationship Id="rId2" Type="{relations}/sharedStrings" Target="sharedStrings.xml"/>
                    <Relationship Id="rId3" Type="{relations}/styles" Target="styles.xml"/></Relationships>""",
                "xl/worksheets/sheet1.xml": f"""<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>""",
                "xl/sharedStrings.xml": f"""<sst xmlns="{main}"><si><t>flag</t></si><si><t>day</t></si>
                    <si><r><t>su</t></r><r><t>m</t></r></si><si><t>much &amp; more</t></si></sst>""",
                "xl/styles.xml": f"""<styleSheet xmlns="{main}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>""",
            }
            with zipfile.ZipFile(path, "w") as packed:
                for file, text in files.items():
                    packed.writestr(zipfile.ZipInfo(file), text)


def models(program):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = [((3 * i) % 7 / 7, (4 * i) % 7 / 7) for i in range(12)]
        (folder / "a.csv").write_text("x1,x2,y\n" + "".join(f"{a!r},{b!r},{a - b!r}\n" for a, b in rows))
        kinds = ["low", "high", "none"]
        mixed = [f"{a!r},{kinds[i % 3]},{i + 1} mm,2024-01-{i + 1:02},{a - b!r},{a * b!r}" for i, (a, b) in enumerate(rows * 2)]
        (folder / "b.csv").write_text("x,kind,size,day,y,z\n" + "".join(row + "\n" for row in mixed))
        tiny = ["generate.steps=2", "refine.steps=2", "direct.steps=2", "check_every=1", "points=5"]
        tiny += ["generator.hidden=[3]", "polish.steps=1", "polish.starts=[]"]
        sets = [f"--set={setting}" for setting in tiny]

        def fit(target, name, table, *words):
            if path := place(target, name):
                output = folder / "model.json" if target == "state" else path
                words = ["--checkpoint", str(path), *words] if target == "state" else words
                outputs = ["--target", "y"] + (["--target", "z"] if table == "b" else [])
                command = [program, "fit", str(folder / f"{table}.csv"), *outputs, "-o", str(output), "-q", *words]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        for activation in ["fourier", "tanh", "sigmoid", "relu"]:
            fit("model", f"{activation}.json", "a", "--width=2", "--activation", activation, "--method=f-opt", *sets)
        fit("model", "encoded.json", "b", "--width=2", "--method=gft-r", *sets)
        fit("model", "auto.json", "b", "--budget=1")
        for method in ["gaussian-process", "kernel-ridge", "salsa", "rff"]:
            words = ["--set=width=3"] if method == "rff" else []
            fit("model", f"{method}.json", "a", f"--method={method}", *words)
        fit("state", "f-opt.json", "a", "--width=2", "--activation=tanh", "--method=f-opt", *sets)
        fit("state", "gft-r.json", "a", "--width=2", "--method=gft-r", *sets)
        fit("state", "several.json", "a", "--width=2", "--method=gft-r", "--lambda=auto", *sets)


def variants():
    """What a fit of twelve rows does not find: a kernel of several parts, edges, and warped inputs."""
    text = (CORPUS / "model" / "gaussian-process.json").read_text()
    part = {"weight": 0.8, "inputs": [0, 1], "lengths": [0.5, 0.7]}
    shares = {"shares": [0.5, 0.9]}
    parts = [part | {"shape": "gaussian"}, part | {"shape": "matern52"}, part | {"shape": {"additive": 2}}]
    parts += [part | {"shape": "anova"} | shares, part | {"shape": "anova-matern52"} | shares]
    edges = [{"crossing": "jump", "direction": [3.0, -2.0], "offset": 0.2}, {"crossing": "bend", "direction": [0.6, 0.8], "offset": -0.1}]
    beyond = {"shape": "gaussian", "weight": 1.0, "inputs": [0, 1, 3, 2], "lengths": [0.5, 0.7, 1.1, 0.9]}
    for name, kernel in [("parts.json", {"parts": parts}), ("edges.json", {"parts": [beyond], "edges": edges})]:
        if path := place("model", name):
            model = json.loads(text)
            model["body"]["kernel"] = kernel
            path.write_text(json.dumps(model, separators=(",", ":")))
    for name in ["fourier", "parts"]:
        if path := place("model", f"{name}-warped.json"):
            model = json.loads((CORPUS / "model" / f"{name}.json").read_text())
            model["input_scaler"]["warp"] = [{"centre": 0.1, "width": 0.2}, None]
            path.write_text(json.dumps(model, separators=(",", ":")))


texts()
arrays()
parquets()
workbooks()
models(sys.argv[1])
variants()
