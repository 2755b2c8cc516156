"""Rewrites the links of the built site into the repository, then checks all links.

The pages of the book link to `../runs` and other folders outside `docs`, which the built site does not have.
`python3 tools/site_links.py target/site` points these links to the repository and fails if any link is broken. Links to the
repository are checked against this checkout; other external links are not checked.
"""

import re
import sys
from html import escape, unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = re.search(r'^repository = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]

LINK = re.compile(r'(?<=[\s"])(href|src)="([^"]*)"')
NAMED = re.compile(r'\s(?:id|name)="([^"]*)"')


def in_repository(path: str) -> Path | None:
    """What a link of the book to `path`, outside of it, means; mdBook has made `.html` of `.md`."""
    target = (ROOT / "docs" / path).resolve()
    page = target.with_suffix(".md")
    if target.suffix == ".html" and not target.exists() and page.exists():
        target = page
    return target if target.exists() and target.is_relative_to(ROOT) else None


def outside(text: str) -> str:
    """The page with the address of the repository in all links that leave the book."""

    def address(match: re.Match[str]) -> str:
        path, hash, fragment = unescape(match[2]).partition("#")
        target = in_repository(path) if path.startswith("../") else None
        if target is None:
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        link = f"{REPOSITORY}/{kind}/main/{target.relative_to(ROOT).as_posix()}{hash}{fragment}"
        return f'{match[1]}="{escape(link)}"'

    return LINK.sub(address, text)


def broken(page: Path, site: Path) -> list[str]:
    """What is wrong with the links of a page."""
    wrong = []
    for _, link in LINK.findall(page.read_text(encoding="utf-8")):
        link = unescape(link)
        if re.match(r"[a-z]+:|//", link):
            continue
        path, _, fragment = link.partition("#")
        # The page for addresses that are not there is shown at any depth, so its links begin at the root.
        start = site if path.startswith("/") else page.parent
        target = (start / path.partition("?")[0].lstrip("/")).resolve() if path else page
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            wrong.append(f"{page.relative_to(site)}: `{link}` leads nowhere")
        elif fragment and target.suffix == ".html" and fragment not in NAMED.findall(target.read_text(encoding="utf-8")):
            wrong.append(f"{page.relative_to(site)}: `{link}` names a place that is not there")
    return wrong


def main(site: Path) -> int:
    book = sorted(site.glob("*.html"))
    for page in book:
        page.write_text(outside(page.read_text(encoding="utf-8")), encoding="utf-8")
    pages = [*book, *sorted((site / "playground").glob("*.html"))]
    wrong = [line for page in pages for line in broken(page, site)]
    print("\n".join(wrong) or f"all links of {len(pages)} pages lead somewhere", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
