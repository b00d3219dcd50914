#!/usr/bin/env python3
"""Compares docs/specification.md with the tests.

Every behaviour has an existing test, or is still to be built. Measurements are targets of make. No test names a
behaviour that does not exist. Prints a line for each problem, and exits with status 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECIFICATION = ROOT / "docs" / "specification.md"
TO_BE_BUILT = re.compile(r"still to be built(: .+)?")
BEHAVIOUR = re.compile(r"- \*\*S(\d+\.\d+)\*\* ")
SHOWN_BY = re.compile(r"  - (.*)")
TEST = re.compile(r"`([^`:]+)(?:: (\w+))?`")
MEASUREMENT = re.compile(r"measured by `make ([\w-]+)`")
# s0_18 in the name of a test or in a comment.
NUMBER = re.compile(r"(?<![A-Za-z0-9])s(\d+)_(\d+)(?![A-Za-z0-9])")
# How a test is defined; in SQL, its name is in the comment above.
DEFINITIONS = {".rs": r"\bfn {}\b", ".py": r"^ *def {}\b", ".sql": r"^--.*(?<!\w){}(?!\w)"}


def behaviours(text: str) -> list[tuple[str, list[str]]]:
    """The numbers of behaviours with the lines below them."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if begun := BEHAVIOUR.match(line):
            found.append((begun[1], []))
        elif (shown := SHOWN_BY.fullmatch(line)) and found:
            found[-1][1].append(shown[1])
    return found


def missing(shown_by: str) -> str | None:
    """The problem of a line below a behaviour, if there is one."""
    if TO_BE_BUILT.fullmatch(shown_by):
        return None
    if measured := MEASUREMENT.fullmatch(shown_by):
        is_target = re.search(rf"^{measured[1]}:", (ROOT / "Makefile").read_text(), re.M)
        return None if is_target else f"there is no make {measured[1]}"
    if not (test := TEST.fullmatch(shown_by)):
        return f"neither a test nor a measurement: {shown_by}"
    file, name = ROOT / test[1], test[2]
    if not file.is_file() or file.suffix not in DEFINITIONS:
        return f"there is no file of tests {test[1]}"
    if name is None:
        return None if file.suffix == ".sql" else f"which test of {test[1]}?"
    defined = re.search(DEFINITIONS[file.suffix].format(name), file.read_text(), re.M)
    return None if defined else f"there is no {name} in {test[1]}"


def cited() -> Iterator[tuple[Path, str]]:
    """The numbers that tests name."""
    for folder in ("src", "crates", "tests"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in DEFINITIONS:
                numbers = {f"{group}.{place}" for group, place in NUMBER.findall(file.read_text())}
                yield from ((file.relative_to(ROOT), number) for number in sorted(numbers))


def problems() -> Iterator[str]:
    """All problems, one line each."""
    known = set()
    for number, lines in behaviours(SPECIFICATION.read_text()):
        if number in known:
            yield f"S{number} occurs twice"
        known.add(number)
        wrong = [problem for line in lines if (problem := missing(line))]
        yield from (f"S{number}: {problem}" for problem in wrong)
        if all(MEASUREMENT.fullmatch(line) for line in lines):
            yield f"S{number}: no test, and not still to be built"
    if not known:
        yield f"no behaviour in {SPECIFICATION.relative_to(ROOT)}"
    yield from (f"{file} names S{number}, which is not specified" for file, number in cited() if number not in known)


def main() -> None:
    found = list(problems())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
