#!/usr/bin/env python3
"""Finds words that are not the field's, and long sentences of the documentation.

Prints each word of WORDS with its replacement, and each sentence of the documentation that has more than
LONGEST words. Exits with status 1 if there is one. With paths, reads only the files below them.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 35
ENDINGS = {".rs", ".py", ".sql", ".md", ".toml"}
# Released files, data of examples and tests, and this list.
ELSEWHERE = (
    "sql/releases/",
    "sql/schema/000",
    "tests/fixtures/",
    "crates/docsearch-fuzz/corpus/",
    "examples/",
    "model/",
    "scripts/english.py",
)
WORDS = {
    "leg": "retriever",
    "legs": "retrievers",
    "bears": "has",
    "bear": "have",
    "borne": "has",
    "bearer": "named document",
    "bearers": "named documents",
    "kindless": "name without its kind",
    "sight": "visibility",
    "witnessed": "visible",
    "lane": "worker thread",
    "lanes": "worker threads",
    "bell": "wake-up signal",
    "rouse": "wake",
    "manner": "options",
    "surroundings": "context",
    "harvest": "result",
    "survey": "statistics",
    "spool": "buffer",
    "mend": "repair or correct",
    "mends": "repairs or corrects",
    "mended": "repaired or corrected",
    "told": "reported, said or known",
    "tells": "says, shows or reports",
    "anew": "again",
    "knee": "soft cap",
    "nobody": "no role, or nothing",
    "somebody": "a role, a user, or another",
    "whoever": "the caller, or the user who",
    "stands": "is, or means",
    "stood": "was",
    "lifted": "boosted or expanded",
    "lifts": "boosts or expands",
    "so many": "up to N",
    "as many as": "up to N, or the number of",
    "says little": "is a stop word, or has a low idf",
    "say little": "are stop words, or have a low idf",
    "be rid of": "uninstall or remove",
}
# Words of WORDS that are right in some files: the start of the path, the words, the reason.
ALLOWED: list[tuple[str, set[str], str]] = [
    ("crates/docsearch-cli/src/evaluation/", {"judged"}, "documents with a judgment, in the words of TREC and BEIR"),
    ("crates/docsearch-cli/src/serving/serve", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("crates/docsearch-core/src/documents/keyword.rs", {"manner"}, "a word of the list of generic words"),
    ("crates/docsearch-core/src/documents/definition/tests.rs", {"stands"}, "text of a page"),
    ("crates/docsearch-core/src/query/input.rs", {"nobody"}, "a query of a reader"),
    ("crates/docsearch-inference/src/service/endpoints/", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("crates/docsearch-readers/src/formats/openapi/", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("CONTRIBUTING.md", {"nobody"}, "a Unix user"),
    ("tests/test_http.py", {"bearer", "nobody"}, "the scheme of HTTP's Authorization header, and a token"),
    ("tests/test_http_operation.py", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("tests/test_serve_page.py", {"bearer", "nobody"}, "the scheme of HTTP's Authorization header, and text of a page"),
    ("tests/test_widget.py", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("tests/test_reader_reports.py", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("tests/sql/", {"bear", "bears", "lifts", "mended", "nobody", "somebody", "stands", "tells", "told", "whoever"},
     "texts of pages, questions of readers, and names of roles"),
    ("tests/front.py", {"nobody"}, "text of a page"),
    ("tests/test_visibility.py", {"lifts", "stands"}, "text of pages"),
    ("tests/test_folder.py", {"nobody"}, "a user of the operating system"),
    ("scripts/server.py", {"nobody"}, "a user of the operating system"),
    ("bench/names.py", {"somebody", "nobody"}, "questions of readers"),
    ("CHANGELOG.md", {"leg", "mended"}, "values that explain_search and repair had"),
    ("docs/front-ends.md", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("docs/reference/models.md", {"bearer"}, "the scheme of HTTP's Authorization header"),
    ("docs/privacy.md", {"bearer"}, "the scheme of HTTP's Authorization header"),
]

CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
FENCE = re.compile(r"^ *(```|~~~)")
# What a page sets up before its blocks run.
COMMENT = re.compile(r"<!--.*?-->", re.S)


def files(below: list[str]) -> Iterator[str]:
    """The files of the repository that people write and read."""
    listed = subprocess.run(["git", "ls-files", "--", *below], cwd=ROOT, check=True, text=True, capture_output=True)
    for name in listed.stdout.splitlines():
        if (Path(name).suffix in ENDINGS or name == "Makefile") and not name.startswith(ELSEWHERE):
            yield name


def pattern() -> re.Pattern[str]:
    """Any of WORDS as a whole word or as a part of an identifier, which `_` and capitals separate."""
    words = sorted(WORDS, key=len, reverse=True)
    return re.compile(r"(?<![a-z])(" + "|".join(word.replace(" ", r"[\s_]") for word in words) + r")(?![a-z])")


def dialect(name: str, text: str) -> Iterator[str]:
    """Lines with a word of WORDS."""
    allowed = {word for start, words, _ in ALLOWED if name.startswith(start) for word in words}
    found = pattern()
    for number, line in enumerate(text.splitlines(), 1):
        for match in found.finditer(CAMEL.sub("_", line).lower()):
            word = re.sub(r"[\s_]", " ", match[1])
            if word not in allowed:
                yield f"{name}:{number}: “{word}”: write “{WORDS[word]}”"


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items and table cells of a Markdown text with their first lines."""
    block: list[str] = []
    start, fenced = 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if FENCE.match(line):
            fenced = not fenced
        ends = fenced or not line.strip() or FENCE.match(line) or line.startswith(("|", "#"))
        if (ends or re.match(r"\s*([-*]|\d+\.) ", line)) and block:
            yield start, " ".join(block)
            block = []
        if line.startswith("|"):
            yield from ((number, cell) for cell in re.split(r"(?<!\\)\|", line))
        elif not ends:
            start = start if block else number
            block.append(line.strip())


def sentences(paragraph: str) -> Iterator[str]:
    """Sentences, in which code and addresses of links are one word each."""
    text = re.sub(r"`[^`]*`", "code", paragraph)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    yield from re.split(r"(?<=[.!?:;])[\s)\"*]+", text)


def long_sentences(name: str, text: str) -> Iterator[str]:
    """Sentences of more than LONGEST words."""
    text = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for number, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            words = len(re.findall(r"\w[\w'’.-]*", sentence))
            if words > LONGEST:
                yield f"{name}:{number}: {words} words: {sentence[:60]} ..."


def main() -> None:
    found = []
    for name in files(sys.argv[1:]):
        text = (ROOT / name).read_text()
        found += dialect(name, text)
        if name.endswith(".md"):
            found += long_sentences(name, text)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
