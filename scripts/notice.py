#!/usr/bin/env python3
"""Writes section 5 of NOTICE: the linked Rust crates and their licences.

`cargo tree` lists the crates. Licences, authors and addresses come from
`cargo metadata`, copyright lines and licence texts from the crates' sources. What precedes section 5
stays unchanged. With --check nothing is written, and an outdated NOTICE is an error.
"""

import argparse
import difflib
import itertools
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import toolchain

NOTICE = toolchain.ROOT / "NOTICE"
HEADING = "5. Rust crates\n"
INTRODUCTION = """\
These are linked into pg_docsearch.so, into the program docsearch-inference or into the program docsearch,
in the versions of Cargo.lock, when they are built for Linux on x86-64. Crates that only run during the build, such as
procedural macros, are not listed. The repository does not contain these crates. Redistribute this notice with the
built files. `make notice` writes this section.
"""
PACKAGES = ("pg_docsearch", "docsearch-cli", "docsearch-inference")
TARGET = "x86_64-unknown-linux-gnu"
WIDTH = 80

LICENCE_FILE = re.compile(r"(un)?licen[cs]e|copying|copyright", re.IGNORECASE)
COPYRIGHT = re.compile(r"Copyright\s+(\(c\)|©|\d|[A-Z])|.*(©|\(c\))\s*\d{4}", re.IGNORECASE)
PROSE = re.compile(r"(?i:copyright)\s+(?:[a-z]|NOTICE|HOLDER|OWNER|AND)")
NOISE = re.compile(r"\s*<[^<>\s]*@[^<>]*>|(?<=reserved)\.$")


@dataclass(frozen=True)
class Licence:
    """An accepted licence, and the source of its text if NOTICE has to repeat it."""

    title: str
    crate: str = ""
    file: str = ""
    start: str = ""
    # Whether binaries have to include the copyright lines.
    attribution: bool = True


# In order of preference: if a crate offers a choice, the first of these is taken.
LICENCES = {
    "Apache-2.0": Licence("Apache License, Version 2.0", attribution=False),
    "Unlicense": Licence("The Unlicense", attribution=False),
    "MIT": Licence("MIT License", "strsim", "LICENSE", "Permission is"),
    "ISC": Licence("ISC License", "libloading", "LICENSE", "Permission to"),
    "Zlib": Licence("zlib License", "foldhash", "LICENSE", "This software"),
    "BSD-3-Clause": Licence("BSD 3-Clause License", "encoding_rs", "LICENSE-WHATWG", "Redistribution"),
    "LicenseRef-Snowball": Licence("BSD 3-Clause License of Snowball", "rust-stemmers", "algorithms/LICENSE",
                                   "Redistribution"),
    "Unicode-3.0": Licence("Unicode License V3", "unicode-properties", "LICENSE-UNICODE", "UNICODE LICENSE"),
    "Unicode-DFS-2016": Licence("Unicode License Agreement of 2016", "regex-syntax",
                                "src/unicode_tables/LICENSE-UNICODE", "UNICODE, INC."),
    "CC0-1.0": Licence("Creative Commons CC0 1.0 Universal", attribution=False),
    "CDLA-Permissive-2.0": Licence("Community Data License Agreement, Permissive, Version 2.0", "webpki-roots",
                                   "LICENSE", "# Community", attribution=False),
    "MPL-2.0": Licence("Mozilla Public License Version 2.0", "cssparser", "LICENSE", "Mozilla",
                       attribution=False),
}
# Crates whose sources are more precise about the licence than Cargo.toml.
CORRECTIONS = {
    "regex-syntax": "(MIT OR Apache-2.0) AND Unicode-DFS-2016",
    "rust-stemmers": "MIT AND LicenseRef-Snowball",
}
# Crates with copyright lines in sources, not in a licence file.
COPYRIGHTS = {
    "ring": ["Copyright (c) 2014-2019, Google Inc.", "Copyright (c) 2014, Intel Corporation"],
}


@dataclass(frozen=True)
class Crate:
    """A linked crate in one version."""

    name: str
    version: str
    # SPDX identifiers that all apply, in order of preference.
    licences: tuple[str, ...]
    authors: tuple[str, ...]
    repository: str
    source: Path

    @classmethod
    def read(cls, package: dict) -> "Crate":
        """The crate that a package of `cargo metadata` describes."""
        expression = CORRECTIONS.get(package["name"]) or package["license"] or ""
        try:
            licences = choose(expression)
        except ValueError as error:
            raise SystemExit(f"{package['name']} {package['version']}: {error}. "
                             "If that licence may be used, add it to LICENCES in scripts/notice.py.")
        return cls(package["name"], package["version"], licences, tuple(package["authors"]),
                   package["repository"] or "", Path(package["manifest_path"]).parent)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def copyright(self) -> str:
        """The copyright lines of the licence files; without any, the authors."""
        lines = [line for file in self.licence_files() for line in copyright_lines(file)]
        lines += COPYRIGHTS.get(self.name, [])
        authors = ", ".join(NOISE.sub("", author) for author in self.authors)
        return "; ".join(dict.fromkeys(lines)) or f"Copyright (c) {authors or f'the authors of {self.name}'}"

    def licence_files(self) -> list[Path]:
        """The licence files, except those of test data, which is not linked."""
        return sorted(path for path in self.source.rglob("*") if path.is_file()
                      and LICENCE_FILE.match(path.name)
                      and not path.relative_to(self.source).parts[0].startswith("test"))

    def notices(self) -> list[Path]:
        """The NOTICE files that the Apache License requires to pass on."""
        return sorted(path for path in self.source.glob("NOTICE*") if path.is_file())


def copyright_lines(file: Path) -> Iterator[str]:
    """The copyright lines of a licence file, without mail addresses.

    A file with the Apache License has none that count: that licence does not ask for them.
    """
    text = file.read_text(errors="replace")
    if "apache.org/licenses" in text:
        return
    for line in text.splitlines():
        line = line.strip(" \t/*#")
        if COPYRIGHT.match(line) and not PROSE.match(line):
            yield NOISE.sub("", line)


def choose(expression: str) -> tuple[str, ...]:
    """The licences of an SPDX expression that apply together; `/` is an old form of OR."""
    tokens = re.findall(r"[()/]|[^\s()/]+(?:\s+WITH\s+[^\s()/]+)?", expression)
    order = list(LICENCES)
    possible = [sorted(licences, key=order.index) for licences in alternatives(tokens)
                if licences <= LICENCES.keys()]
    if tokens or not possible:
        raise ValueError(f"unknown licence {expression!r}")
    return tuple(min(possible, key=lambda licences: [order.index(licence) for licence in licences]))


def alternatives(tokens: list[str]) -> list[frozenset[str]]:
    """The sets of licences that an expression offers. Consumes the tokens."""
    found = combination(tokens)
    while tokens and tokens[0] in ("OR", "/"):
        del tokens[0]
        found += combination(tokens)
    return found


def combination(tokens: list[str]) -> list[frozenset[str]]:
    """The same for the terms that AND joins."""
    found = term(tokens)
    while tokens and tokens[0] == "AND":
        del tokens[0]
        found = [left | right for left, right in itertools.product(found, term(tokens))]
    return found


def term(tokens: list[str]) -> list[frozenset[str]]:
    """The same for one licence or an expression in parentheses."""
    if not tokens:
        return []
    token = tokens.pop(0)
    if token != "(":
        return [frozenset([token])]
    found = alternatives(tokens)
    closing = tokens[:1]
    del tokens[:1]
    return found if closing == [")"] else []


def cargo(*arguments: str) -> str:
    """What cargo prints."""
    run = subprocess.run(["cargo", *arguments], cwd=toolchain.ROOT, stdout=subprocess.PIPE,
                         text=True, env=toolchain.build_environment())
    if run.returncode != 0:
        raise SystemExit(f"cargo {arguments[0]} failed")
    return run.stdout


def linked() -> set[tuple[str, str]]:
    """Name and version of every package that is linked into a built file."""
    lines = itertools.chain.from_iterable(
        cargo("tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro", "--target", TARGET,
              "--prefix", "none", "--format", "{p}").splitlines() for package in PACKAGES)
    fields = (line.split() for line in lines if line)
    return {(name, version.removeprefix("v")) for name, version, *_ in fields}


def crates() -> list[Crate]:
    """The linked third-party crates, by name and version."""
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1"))
    names = linked()
    found = (Crate.read(package) for package in metadata["packages"]
             if package["source"] and (package["name"], package["version"]) in names)
    return sorted(found, key=str)


def wrap(text: str, indent: str, following: str | None = None) -> str:
    """A paragraph in lines of at most WIDTH characters; a name and its version stay together."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=following or indent,
                         break_long_words=False, break_on_hyphens=False) + "\n"


def heading(licences: tuple[str, ...]) -> str:
    """The heading of a group of crates."""
    if licences == ("Apache-2.0",):
        return ("Apache License, Version 2.0, for which the text is in model/LICENSE-model; where a crate offers "
                "a choice, this is the one taken:")
    if licences == ("Unlicense",):
        return "The Unlicense, where a crate offers a choice (no conditions):"
    below = " and ".join(LICENCES[licence].title for licence in licences if LICENCES[licence].file)
    if "MPL-2.0" in licences:
        return (f"{below}, text below. The source code of these crates is unchanged. It is published under the "
                "name and version given, where `cargo fetch` gets it from, and developed in the repository "
                "given:")
    if "Apache-2.0" in licences:
        return f"Apache License, Version 2.0, as above, and {below}, text below:"
    return f"{below}, {'texts' if len(licences) > 1 else 'text'} below:"


def entries(licences: tuple[str, ...], group: list[Crate]) -> str:
    """The crates of a group with their notices."""
    if "MPL-2.0" in licences:
        return "".join(wrap(f"{crate}: {crate.repository}", "    ", "      ") for crate in group)
    if not any(LICENCES[licence].attribution for licence in licences):
        return wrap(", ".join(map(str, group)) + ".", "    ")
    holders: dict[str, list[str]] = {}
    for crate in group:
        holders.setdefault(crate.copyright(), []).append(str(crate))
    return "".join(wrap(f"{', '.join(names)}: {copyright}", "    ", "      ")
                   for copyright, names in holders.items())


def indented(title: str, text: str) -> str:
    """A third-party text below its title."""
    return f"{title}\n\n{textwrap.indent(text.strip(), '    ')}\n"


def text_of(licence: Licence, found: list[Crate]) -> str:
    """The text of a licence, from the crate that LICENCES names."""
    file = next((crate.source / licence.file for crate in found if crate.name == licence.crate), None)
    text = file.read_text() if file and file.is_file() else ""
    if licence.start not in text:
        raise SystemExit(f"The crates have no {licence.crate}/{licence.file} with the {licence.title}: "
                         "let LICENCES in scripts/notice.py name another crate and file for it.")
    return indented(licence.title, text[text.index(licence.start):].replace("\t", "    "))


def section(found: list[Crate]) -> Iterable[str]:
    """The parts of section 5, which empty lines separate."""
    yield HEADING + "   -----------\n" + wrap(INTRODUCTION, "   ")
    order = list(LICENCES)
    groups: dict[tuple[str, ...], list[Crate]] = {}
    for crate in found:
        groups.setdefault(crate.licences, []).append(crate)
    for licences in sorted(groups, key=lambda licences: [order.index(licence) for licence in licences]):
        yield wrap(heading(licences), "   ")
        yield entries(licences, groups[licences])
    used = set(itertools.chain.from_iterable(groups))
    yield from (text_of(licence, found) for name, licence in LICENCES.items() if name in used and licence.file)
    yield from (indented(f"{file.name} of {crate}", file.read_text()) for crate in found
                for file in crate.notices())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; print the difference and fail if NOTICE is outdated")
    options = parser.parse_args()
    old = NOTICE.read_text()
    before, found, _ = old.partition(HEADING)
    if not found:
        raise SystemExit(f"{NOTICE} has no line {HEADING.strip()!r}")
    parts = (re.sub(r"[ \t]+$", "", part, flags=re.MULTILINE) for part in section(crates()))
    new = before + "\n".join(parts)
    if not options.check:
        NOTICE.write_text(new)
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True),
                                                   "NOTICE", "NOTICE as it should be"))
        raise SystemExit("NOTICE is outdated: run `make notice`")


if __name__ == "__main__":
    main()
