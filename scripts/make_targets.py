#!/usr/bin/env python3
"""Checks that the Makefile has every target that the workflows and the documentation name.

Prints each missing target with the file and line that name it, and exits with status 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted(ROOT.glob(".github/**/*.yml"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
RULE = re.compile(r"^([a-z][a-z -]*):(?!=)", re.MULTILINE)
# The targets of a call, which precede its variables.
CALL = re.compile(r"(?:^|[\s;&|])make((?: [a-z][a-z-]*(?![\w./=-]))+)")
SPAN = re.compile(r"`(make [^`]+)`")


def targets() -> set[str]:
    """The targets of the Makefile."""
    return {name for names in RULE.findall((ROOT / "Makefile").read_text()) for name in names.split()}


def calls(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a workflow, and the code of a page, that call make."""
    is_page = file.suffix == ".md"
    is_code = not is_page
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if is_page and line.lstrip().startswith("```"):
            is_code = not is_code
        elif is_code or line.startswith("    make "):
            yield number, line.split("#")[0]
        elif is_page:
            yield from ((number, span) for span in SPAN.findall(line))


def named(file: Path) -> Iterator[tuple[int, str]]:
    """The targets that a file names, with their lines."""
    for number, text in calls(file):
        for words in CALL.findall(text):
            yield from ((number, word) for word in words.split())


def main() -> None:
    known = targets()
    found = [f"{file.relative_to(ROOT)}:{number}: the Makefile has no target {target}"
             for file in (*WORKFLOWS, *PAGES) for number, target in named(file) if target not in known]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
