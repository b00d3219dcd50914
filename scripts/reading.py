"""Results of `docsearch index --check-links` for a folder: pages, anchors, links, and files that are left out."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

# `# fn main() {` in Rust; `// highlight-next-line`; `# [!code focus]` behind a line.
HIDDEN = re.compile(r"# |#$|\s*(?://|#|<!--)\s*highlight-(?:next-line|start|end)")
NOTE = re.compile(r"\s*(?://|#|<!--)\s*\[!code [^\]]*\](?:\s*-->)?$")
FENCE = re.compile(r"([ >]*)(`{3,}|~{3,})")
# Exit codes of the program: success, and broken links or unreadable files.
READ = (0, 1)


class Unreadable(Exception):
    """The program could not read a folder."""


@dataclass
class Reading:
    """The program's report about a folder."""

    pages: dict[str, dict]
    done: dict
    broken: list[dict] = field(default_factory=list)

    def counts(self) -> dict:
        """The counts that are compared with expected ones."""
        pages = list(self.pages.values())
        return {
            "pages": len(pages),
            "code blocks": sum(page["code_blocks"] for page in pages),
            "anchors": sum(len(page["anchors"]) for page in pages),
            "links": self.done["links"],
            "broken": dict(sorted(Counter(link["reason"] for link in self.broken).items())),
            "URLs": sum(bool(page.get("url")) for page in pages),
            "no summary": sum(not page.get("summary") for page in pages),
            "left out": dict(sorted(self.done["left_out"].items())),
        }


def read(program: Path | str, folder: Path, *options: str) -> Reading:
    """Runs the program on a folder."""
    done = subprocess.run([program, "index", folder, "--project", "reading", "--check-links", "--json", *options],
                          capture_output=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in READ or not events or events[-1]["event"] != "done":
        raise Unreadable(f"{program} ended with status {done.returncode} on {folder}: {done.stderr.strip().splitlines()[:1]}")
    pages: dict[str, dict] = {}
    for page in (event for event in events if event["event"] == "page"):
        if page["slug"] in pages:
            raise Unreadable(f"{folder}: two pages have the slug {page['slug']!r}")
        pages[page["slug"]] = page
    return Reading(pages, events[-1], [event for event in events if event["event"] == "broken_link"])


def add_code(reading: Reading, program: Path | str, folder: Path) -> None:
    """Runs the program on a folder again, for the fenced code blocks of each page."""
    done = subprocess.run([program, "index", folder, "--project", "reading", "--dry-run"], capture_output=True, text=True)
    if done.returncode not in READ:
        raise Unreadable(f"{program} ended with status {done.returncode} on {folder}: {done.stderr.strip().splitlines()[:1]}")
    for document in map(json.loads, filter(None, done.stdout.split("\n"))):
        if document["slug"] in reading.pages:
            reading.pages[document["slug"]]["code"] = list(fenced(document["body"]))


def fenced(body: str) -> Iterator[str]:
    """The fenced code blocks in Markdown, without the indentation of their fences."""
    fence, block = None, []
    for line in body.split("\n"):
        begun = FENCE.match(line)
        if fence is None:
            fence, block = begun, []
        elif begun and begun[2].startswith(fence[2]) and line.strip(" >`~") == "":
            yield "\n".join(block)
            fence = None
        else:
            is_indented = line.startswith(fence[1])
            block.append((line[len(fence[1]):] if is_indented else line.lstrip(" >")).rstrip())


def differences(expected: dict, counted: dict) -> list[str]:
    """Differences between expected and actual counts, one line each."""
    lines = []
    for name in dict.fromkeys([*expected, *counted]):
        wanted, found = expected.get(name), counted.get(name)
        if isinstance(wanted, dict) and isinstance(found, dict):
            lines += [f"{name}, {line}" for line in differences(wanted, found)]
        elif (wanted or 0) != (found or 0):
            lines.append(f"{name}: {found or 0}, expected {wanted or 0}")
    return lines


def plain(value: object) -> object:
    """Text with plain apostrophes, since generators replace them."""
    return value.replace("’", "'") if isinstance(value, str) else value


def shown(code: str) -> str:
    """Code without marks for the generator: hidden lines of mdBook, and marks that highlight or hide lines."""
    lines = [line for line in code.split("\n") if not HIDDEN.match(line)]
    return "\n".join(NOTE.sub("", line) for line in lines)


def unlike(source: Reading, site: Reading, sources: Iterable[str] = (), generated: Iterable[str] = (),
           filled: Iterable[str] = ()) -> list[str]:
    """Differences between the pages of a site and those of its sources, one line each.

    Patterns tell which pages only the `sources` have, as they are not published; which only the site has, as they are
    `generated` and no source is behind them; and into which code of theirs has `filled` blocks of code.
    """
    def is_one(slug: str, patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(slug, pattern) for pattern in patterns)

    lines = [f"{slug}: only in the {where}"
             for where, these, those, patterns in (("sources", source, site, sources), ("site", site, source, generated))
             for slug in sorted(these.pages.keys() - those.pages.keys())
             if not is_one(slug, patterns)]
    for slug in sorted(source.pages.keys() & site.pages.keys()):
        ours, theirs = source.pages[slug], site.pages[slug]
        for name in ("title", "url") if is_one(slug, filled) else ("title", "url", "code_blocks"):
            if plain(ours.get(name)) != plain(theirs.get(name)):
                lines.append(f"{slug}: {name} {ours.get(name)!r} in the sources, {theirs.get(name)!r} in the site")
        for where, these, those in (("sources", ours, theirs), ("site", theirs, ours)):
            # The title may be in the front matter of one and a heading of the other.
            title = re.sub(r"\W+", "-", these["title"].lower()).strip("-")
            more = [anchor for anchor in these["anchors"]
                    if anchor not in (*those["anchors"], *those["targets"]) and (where, anchor) != ("site", title)]
            if more:
                lines.append(f"{slug}: anchors only in the {where}: {' '.join(more)}")
        lines += [f"{slug}: code only in the sources: {code[:80]!r}" for code in ours.get("code", ())
                  if not {code, shown(code)} & set(theirs.get("code", ()))]
    return lines
