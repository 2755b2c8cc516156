"""Fills the tables of docs/architecture.md from the source, and checks that imports point one way.

    python3 tools/architecture.py [--check]

Tables stand between `<!-- table:NAME -->` and `<!-- end -->`. With --check nothing is written; the script fails if the page would
change. It also fails if a crate or a module of the core imports one that stands below it. Standard library only, Python 3.11.
"""

import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from count_lines import count, functions  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
CORE = ROOT / "crates" / "thinfit" / "src"
# From what is imported to what imports.
CRATES = "text thinfit gp model baselines auto methods cuda mpi table plot design study export report experiments wasm cli fuzz python".split()
MODULES = "math executor data network solve train model polish fit".split()


def name(crate):
    return crate if crate == "thinfit" else "python/" if crate == "python" else f"thinfit-{crate}"


def folder(crate):
    return ROOT / "python" if crate == "python" else ROOT / "crates" / name(crate)


def lines(path):
    """Lines of code, documentation and tests in the files of a folder; its longest file."""
    total, longest = [0, 0, 0], (0, "")
    for file in sorted(path.rglob("*.rs")):
        if "target" in file.parts or ".venv" in str(file):
            continue
        inside = file.relative_to(path)
        is_test = file.stem == "tests" or "tests" in inside.parts
        text = file.read_text()
        total = [a + b for a, b in zip(total, count(text, is_test))]
        if not is_test:
            longest = max(longest, (text.count("\n"), str(inside)))
    return *total, longest


def about(count):
    """A number of lines to the nearest hundred, so that not every change makes the page stale."""
    return f"{round(count, -2):,}" if count >= 100 else str(count)


def production(text):
    """The text of a file without its tests."""
    return re.split(r"\n#\[cfg\(test\)\]\n(?:pub\S* )?mod tests", text)[0]


def crates(problems):
    """The table of crates, in an order in which each uses only those above it."""
    rows = ["| crate | purpose | uses | lines of code | of tests |", "|---|---|---|---|---|"]
    known = {name(crate).rstrip("/"): place for place, crate in enumerate(CRATES)}
    for place, crate in enumerate(CRATES):
        manifest = tomllib.loads((folder(crate) / "Cargo.toml").read_text())
        used = [other for other in manifest.get("dependencies", {}) if other in known]
        for other in used:
            if known[other] > place:
                problems.append(f"{name(crate)} uses {other}, which stands below it")
        code, _, test, _ = lines(folder(crate))
        used = ", ".join(f"`{other.removeprefix('thinfit-')}`" for other in sorted(used, key=known.get))
        rows.append(f"| `{name(crate)}` | {manifest['package']['description']} | {used} | {about(code)} | {about(test)} |")
    for found in (ROOT / "crates").iterdir():
        if found.name not in known:
            problems.append(f"{found.name} is missing in tools/architecture.py")
    return rows


def imports(module, exported):
    """The modules of the core that a module imports."""
    found = set()
    for file in [*(CORE / module).rglob("*.rs"), *CORE.glob(f"{module}.rs")]:
        if file.stem == "tests" or "tests" in file.parts:
            continue
        text = production(file.read_text())
        found |= set(re.findall(r"crate::([a-z_]+)::", text))
        for names in re.findall(r"use crate::\{([^}]*)\}", text, re.S) + re.findall(r"use crate::([A-Z]\w*)", text):
            found |= {exported.get(one.strip().split("::")[0]) for one in names.split(",")}
    return found & set(MODULES) - {module}


def modules(problems):
    """The table of the modules of the core, in an order in which each uses only those above it."""
    exported = {}
    for module, names in re.findall(r"pub use (\w+)::(?:\w+::)*\{?([^;]*?)\}?;", (CORE / "lib.rs").read_text(), re.S):
        exported |= {one.strip(): module for one in re.split(r"[,:{}\s]+", names) if one.strip()}
    rows = ["| module | files | uses | lines of code |", "|---|---|---|---|"]
    for place, module in enumerate(MODULES):
        used = sorted(imports(module, exported), key=MODULES.index)
        for other in used:
            if MODULES.index(other) > place:
                problems.append(f"crates/thinfit/src/{module} uses {other}, which stands below it")
        if not (CORE / module).is_dir():
            code = count((CORE / f"{module}.rs").read_text(), False)[0]
            rows.append(f"| `{module}.rs` | | {', '.join(f'`{one}`' for one in used)} | {about(code)} |")
            continue
        files = sorted({file.relative_to(CORE / module).parts[0].removesuffix(".rs") for file in (CORE / module).rglob("*.rs")})
        files = ", ".join(f"`{file}`" for file in files if file not in ("mod", "tests"))
        rows.append(f"| `{module}/` | {files} | {', '.join(f'`{one}`' for one in used)} | {about(lines(CORE / module)[0])} |")
    return rows


def size():
    """A sentence on the size of the core."""
    code, doc, test, (longest, file) = lines(CORE)
    own = lines(CORE.parent)[2]
    texts = [production(file.read_text()) for file in CORE.rglob("*.rs") if file.stem != "tests"]
    lengths = sorted(length for text in texts for length in functions(text))
    return [
        f"The core has {about(code)} lines of code, and for each of them {doc / code:.1f} lines of documentation and {own / code:.1f} of tests. "
        f"Its longest file is `{file}` with {about(longest)} lines; the median function has {lengths[len(lengths) // 2]}, and "
        f"{sum(length > 60 for length in lengths)} have more than 60."
    ]


def main():
    problems = []
    tables = {"crates": crates(problems), "modules": modules(problems), "size": size()}
    before = PAGE.read_text()
    page = before
    for table, rows in tables.items():
        start, end = f"<!-- table:{table} -->", "<!-- end -->"
        text = start + "\n\n" + "\n".join(rows) + "\n\n" + end
        page, count = re.subn(re.escape(start) + r".*?" + re.escape(end), lambda _: text, page, flags=re.S)
        if count != 1:
            problems.append(f"docs/architecture.md: {count} places for the table {table}, expected 1")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if "--check" in sys.argv:
        if page != before:
            problems.append("stale")
            print("error: docs/architecture.md is stale; run `python3 tools/architecture.py`", file=sys.stderr)
    else:
        PAGE.write_text(page)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
