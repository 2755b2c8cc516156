"""Lines of a Rust crate: code, documentation and tests, and the lengths of its files and functions.

python tools/count_lines.py crates/thinfit/src
"""

import pathlib
import re
import statistics
import sys


def count(text: str, is_test: bool) -> tuple[int, int, int]:
    """Lines of code, of documentation and of tests; blank lines and comments count for nothing."""
    code = doc = test = 0
    lines = text.split("\n")
    for i, line in enumerate(map(str.strip, lines)):
        is_test |= line == "#[cfg(test)]" and lines[i + 1].startswith("mod tests {")
        if not line:
            continue
        if is_test:
            test += 1
        elif line.startswith(("///", "//!")):
            doc += 1
        elif not line.startswith("//"):
            code += 1
    return code, doc, test


def functions(text: str) -> list[int]:
    """Lengths of the functions, by the indentation of their last brace."""
    lines, lengths = text.split("\n"), []
    for i, line in enumerate(lines):
        head = re.match(r"^(\s*)(pub(\([a-z]+\))? )?(const )?fn \w+", line)
        if head and not line.rstrip().endswith((";", "}")):
            end = next((j for j in range(i, len(lines)) if lines[j] == head[1] + "}"), None)
            lengths += [] if end is None else [end - i + 1]
    return lengths


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    total, longest, lengths = [0, 0, 0], (0, ""), []
    for path in sorted(root.rglob("*.rs")):
        text = path.read_text()
        is_test = path.stem == "tests" or "tests" in path.parts
        total = [a + b for a, b in zip(total, count(text, is_test), strict=True)]
        if not is_test:
            longest = max(longest, (text.count("\n"), str(path)))
            lengths += functions(text)
    code, doc, test = total
    print(f"{code} lines of code, {doc} of documentation ({doc / code:.2f}), {test} of tests ({test / code:.2f})")
    print(f"longest file: {longest[1]}, {longest[0]} lines")
    print(f"{len(lengths)} functions, median {statistics.median(lengths)} lines, {sum(n > 60 for n in lengths)} over 60")


if __name__ == "__main__":
    main()
