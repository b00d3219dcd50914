#!/usr/bin/env python3
"""Checks the links of the documentation, without the network.

Every relative link leads to an existing file, and its anchor to a heading of that page. Every page below docs/ is
in docs/SUMMARY.md, once, and links only to pages and pictures of the book: the built book has nothing else. Prints a line for
each problem, and exits with status 1 if there is one.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"
# Files that the built book has.
IN_BOOK = (".md", ".webp")
FENCE = re.compile(r" *(```+|~~~+)")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]: *<?(\S+?)>?$", re.M)
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
# Code within a line, HTML comments.
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)


@cache
def prose(page: Path) -> str:
    """A page with the same lines, but without code blocks and comments."""
    lines, fence = [], ""
    text = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), page.read_text())
    for line in text.splitlines():
        begun = FENCE.match(line)
        if fence:
            lines.append("")
            fence = "" if begun and begun[1].startswith(fence) else fence
        elif begun:
            lines.append("")
            fence = begun[1]
        else:
            lines.append(line)
    return "\n".join(lines)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of its headings, by the rules of GitHub and mdBook."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in HEADING.findall(prose(page)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = "".join("-" if letter.isspace() else letter for letter in text if letter.isalnum() or letter in "_-" or letter.isspace())
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def links(page: Path) -> Iterator[tuple[int, str]]:
    """The links of a page, with their lines."""
    text = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), prose(page))
    for match in [*LINK.finditer(text), *DEFINITION.finditer(text)]:
        yield text.count("\n", 0, match.start()) + 1, match[1]


def broken(page: Path, link: str) -> str | None:
    """The problem of a link, if there is one."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return f"{link} leads nowhere"
    if page.is_relative_to(DOCS) and not (target.is_relative_to(DOCS) and target.suffix in IN_BOOK):
        return f"{link} leads out of the book"
    if anchor and anchor not in (anchors(target) if target.suffix == ".md" else ()):
        return f"{link} names no heading there"
    return None


def problems() -> Iterator[str]:
    """All problems, one line each."""
    pages = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
    for page in pages:
        for line, link in links(page):
            if problem := broken(page, link):
                yield f"{page.relative_to(ROOT)}:{line}: {problem}"
    listed = Counter((DOCS / link).resolve() for _, link in links(SUMMARY))
    for page in pages:
        if page.is_relative_to(DOCS) and page != SUMMARY and listed[page] != 1:
            yield f"{page.relative_to(ROOT)} is {listed[page]} times in {SUMMARY.relative_to(ROOT)}"


def main() -> None:
    found = list(problems())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
