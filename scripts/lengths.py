#!/usr/bin/env python3
"""Checks that no file of source, tests, scripts and SQL has more than 500 lines.

Prints each longer file with its number of lines, and exits with status 1 if there is one.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 500
# Expected output (.out), lock files and data have other endings.
ENDINGS = {".rs", ".py", ".sql"}
# Built, fetched, or released files.
ELSEWHERE = {"target", "node_modules", "releases"}


def sources() -> Iterator[Path]:
    """Files that people write."""
    for place, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in ELSEWHERE and not name.startswith("."))
        files = (Path(place, name) for name in sorted(names))
        yield from (file for file in files if file.suffix in ENDINGS or file.name == "Makefile")


def main() -> None:
    counts = {file.relative_to(ROOT): file.read_bytes().count(b"\n") for file in sources()}
    found = [f"{file} has {count} lines, more than {LONGEST}" for file, count in counts.items() if count > LONGEST]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
