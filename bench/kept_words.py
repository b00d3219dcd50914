#!/usr/bin/env python3
"""Measures the share of words that are kept of third-party documentation, against independent renderers.

bench/sources/words.json lists packages for each format. A word counts as kept if it is in what is stored, in the order
in which the renderer shows it. Fails if less than 99.5 % of the words of a format are kept, or less than 97 % of those
of a file, unless bench/sources/lost_words.json gives the reason. A format whose renderer is missing is reported as not
checked.
"""

import argparse
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from packages import CACHE, Missing, documentation
from rapidfuzz.distance import LCSseq
from rendering import RENDERERS, markdown_text

HERE = Path(__file__).resolve().parent
LEAST_OF_FORMAT = 0.995
LEAST_OF_FILE = 0.97
# The number of files of a format that are printed, those that lose most.
WORST = 10
# The share of files with fewer words is chance.
FEWEST_WORDS = 30
# What three adjacent words of a page share with at least half of the pages of its set is the frame of the site.
FRAME = 3
CHARACTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Scripts without spaces between words count by character.
WORD = re.compile(rf"[{CHARACTERS}]|[^\W_{CHARACTERS}]+")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).casefold())


@dataclass
class Page:
    """A file of a set: the words that its renderer shows, and how many of them are kept."""

    name: str
    shown: list[str]
    kept: int
    lost: list[str]

    @property
    def share(self) -> float:
        return self.kept / max(len(self.shown), 1)


def page(name: str, shown: list[str], stored: list[str]) -> Page:
    lost = Counter(shown) - Counter(stored)
    return Page(name, shown, LCSseq.similarity(shown, stored), [word for word, _ in lost.most_common(8)])


def in_best_order(pages: list[list[list[str]]], stored: list[str]) -> list[str]:
    """The words of pages, each in that of its orders that is the most like what is stored."""
    return [word for orders in pages for word in max(orders, key=lambda order: LCSseq.similarity(order, stored))]


def chosen(folder: Path, source: dict) -> list[str]:
    """Paths of files, evenly among all, up to the number in the list."""
    endings = tuple(source.get("only") or source["endings"])
    files = (file for file in folder.rglob("*") if file.is_file() and file.name.endswith(endings))
    paths = sorted(file.relative_to(folder).as_posix() for file in files)
    count = min(source["files"], len(paths))
    return [paths[index * len(paths) // count] for index in range(count)]


def stored_texts(program: Path, folder: Path) -> dict[str, str]:
    """The text that is stored of each file."""
    command = [program, "index", folder, "--project", "words", "--dry-run"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    texts: defaultdict[str, str] = defaultdict(str)
    for document in map(json.loads, filter(None, done.stdout.split("\n"))):
        texts[document["source_path"]] += f"\n{document['body']}"
    return texts


def without_frame(pages: dict[str, list[str]]) -> dict[str, list[str]]:
    """The words of pages without those of the frame that most of them have."""
    def runs(shown: list[str]) -> list[tuple[str, ...]]:
        return [tuple(shown[at:at + FRAME]) for at in range(len(shown) - FRAME + 1)]

    counts = Counter(run for shown in pages.values() for run in set(runs(shown)))
    frame = {run for run, count in counts.items() if count >= max(FRAME, len(pages) / 2)}
    without = {}
    for name, shown in pages.items():
        hidden = {at + offset for at, run in enumerate(runs(shown)) if run in frame for offset in range(FRAME)}
        without[name] = [word for at, word in enumerate(shown) if at not in hidden]
    return without


def measured(program: Path, name: str, source: dict, cache: Path) -> tuple[list[Page], list[str]]:
    """The pages of a set, and the files of which nothing is stored."""
    folder, format = documentation(name, source, cache), source["format"]
    texts = dict(RENDERERS[format](folder, chosen(folder, source)))
    stored = {path: words(markdown_text(text)) for path, text in stored_texts(program, folder).items() if path in texts}
    shown = {path: words(text) if isinstance(text, str) else
             in_best_order([list(map(words, orders)) for orders in text], stored.get(path, []))
             for path, text in texts.items()}
    shown = without_frame(shown) if format == "html" else shown
    shown = {path: found for path, found in shown.items() if len(found) >= FEWEST_WORDS}
    pages = [page(f"{name}/{path}", found, stored[path]) for path, found in shown.items() if path in stored]
    return pages, [f"{name}/{path}" for path in shown if path not in stored]


def reason_of(name: str, reasons: dict[str, str]) -> str | None:
    """Why words of a file may be lost: a reason for the file, or for its set."""
    return reasons.get(name) or reasons.get(name.split("/")[0])


def share(pages: list[Page]) -> float:
    return sum(page.kept for page in pages) / max(sum(len(page.shown) for page in pages), 1)


def report(format: str, pages: list[Page], missing: list[str], reasons: dict[str, str]) -> list[str]:
    """Prints the share of a format and its worst files, and gives what is not as it should be. Files with a reason are
    no part of the share."""
    counted = [page for page in pages if not reason_of(page.name, reasons)]
    total = sum(len(page.shown) for page in counted)
    sets = len({page.name.split("/")[0] for page in counted})
    print(f"{format:10}{len(counted):6} files of {sets:2} sets{total:10} words{100 * share(counted):9.2f} % kept, "
          f"{len(pages) - len(counted)} files with a reason", flush=True)
    for page in sorted((page for page in counted if page.share < 1), key=lambda page: page.share)[:WORST]:
        print(f"    {100 * page.share:6.2f} % {page.name}: {' '.join(page.lost)}")
    if missing:
        # The program names why: parts of other pages, pages that point elsewhere, and the like.
        print(f"    left out by the program: {len(missing)}, among them {missing[0]}")
    low = [page.name for page in counted if page.share < LEAST_OF_FILE]
    return low + ([format] if counted and share(counted) < LEAST_OF_FORMAT else [])


def main() -> None:
    sources = json.loads((HERE / "sources" / "words.json").read_text())
    reasons = json.loads((HERE / "sources" / "lost_words.json").read_text())
    formats = list(dict.fromkeys(source["format"] for source in sources.values()))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=HERE.parent / "target" / "release" / "docsearch",
                        help="the program docsearch (default: %(default)s)")
    parser.add_argument("--formats", nargs="*", choices=formats, default=formats, help="formats (default: all)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the files (default: %(default)s)")
    options = parser.parse_args()
    failed, unchecked = [], []
    for format in options.formats:
        pages, missing = [], []
        for name, source in sources.items():
            if source["format"] != format:
                continue
            try:
                found, not_stored = measured(options.program, name, source, options.cache)
            except Missing as reason:
                unchecked.append(f"{name}: {reason}")
                continue
            pages += found
            missing += not_stored
        if pages or missing:
            failed += report(format, pages, missing, reasons)
    for reason in unchecked:
        print(f"NOT CHECKED {reason}")
    sys.exit("words are lost: " + ", ".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
