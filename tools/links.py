"""Checks that every relative link and image in README.md, python/README.md and docs/*.md leads somewhere.

A link to a heading must name one that is there. Addresses of other hosts are not visited. Run from anywhere:
`python3 tools/links.py`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Parts of the built site (tools/site.sh) that are no files of the book.
BUILT = {"playground/index.html", "api/thinfit/index.html"}

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")


def headings(text: str) -> set[str]:
    """The fragments that lead to the headings of a page, as forges and mdBook make them."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6}\s+(.+?)\s*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = sum(other == slug or re.fullmatch(re.escape(slug) + r"-\d+", other) is not None for other in found)
        found.add(f"{slug}-{count}" if count else slug)
    return found


def broken(page: Path) -> list[str]:
    """What is wrong with the links of a page."""
    text = page.read_text(encoding="utf-8")
    wrong = []
    for match in LINK.finditer(CODE.sub("", FENCE.sub("", text))):
        link = match[1] or match[2]
        path, _, fragment = link.partition("#")
        if re.match(r"[a-z]+:", link) or (page.parent.name == "docs" and path in BUILT):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            wrong.append(f"{page.relative_to(ROOT)}: `{link}` leads nowhere")
        elif fragment and target.suffix == ".md" and fragment not in headings(target.read_text(encoding="utf-8")):
            wrong.append(f"{page.relative_to(ROOT)}: `{link}` names a heading that is not there")
    return wrong


def main() -> int:
    wrong = [line for page in PAGES for line in broken(page)]
    listed = set(re.findall(r"\(([\w-]+\.md)\)", (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"SUMMARY.md"}
    wrong += [f"docs/SUMMARY.md: {name} is missing" for name in sorted(pages - listed)]
    print("\n".join(wrong) or f"all links of {len(PAGES)} pages lead somewhere", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
