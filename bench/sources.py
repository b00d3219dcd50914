#!/usr/bin/env python3
"""Counts what is read from third-party documentation: pages, code blocks, anchors, links, and files left out.

bench/sources/sources.json lists releases of packages that contain documentation, which apt-get, npm and pip fetch into a
cache folder. bench/sources/expected.json has the counts of `docsearch index --check-links` for each. No database is
needed. A package is reported as not checked if its release or its client is missing.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from packages import CACHE, Missing, documentation
from reading import Reading, Unreadable, differences, read

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "sources" / "expected.json"
COUNTED = ("pages", "code blocks", "anchors", "links", "URLs", "no summary")


def row(name: str, counts: dict, wrong: list[str]) -> str:
    """A line of the table."""
    broken = sum(counts["broken"].values())
    resolved = f"{100 * (counts['links'] - broken) / counts['links']:.1f} %" if counts["links"] else "-"
    return (f"{name:16}" + "".join(f"{counts[column]:>12}" for column in COUNTED) + f"{resolved:>12}"
            f"{sum(counts['left out'].values()):>10}   {'differs' if wrong else 'as expected'}")


def show(reading: Reading) -> None:
    """Prints broken links."""
    for link in reading.broken:
        print(f"    {link['source_path']}: {link['link']}: {link['reason']}")


def again(program: Path, url: str, name: str, folder: Path, pages: int) -> None:
    """Indexes a set, which takes minutes the first time, and prints the times of further runs: one that skips unchanged
    files, and one that reads all files and finds no changed document."""
    command = [program, "--url", url, "index", folder, "--project", f"sources_{name}", "--source-root", name]

    def timed(*arguments: str) -> float:
        begun = time.monotonic()
        done = subprocess.run([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{program} ended with status {done.returncode}")
        return time.monotonic() - begun

    timed()
    for what, arguments in (("no file has changed", ()), ("all files are read", ("--refresh",))):
        best = min(timed(*arguments) for _ in range(3))
        print(f"    {what}: {best:.2f} s, {1000 * best / max(pages, 1):.2f} s for 1,000 pages", flush=True)


def main() -> None:
    sources = json.loads((HERE / "sources" / "sources.json").read_text())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=HERE.parent / "target" / "release" / "docsearch",
                        help="the program docsearch (default: %(default)s)")
    parser.add_argument("--sets", nargs="*", choices=sources, default=list(sources), help="sets (default: all)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the files (default: %(default)s)")
    parser.add_argument("--show", action="store_true", help="print broken links")
    parser.add_argument("--url", help="database to index the sets into, twice, to time the second run")
    parser.add_argument("--update", action="store_true", help="write the counts as the expected ones")
    options = parser.parse_args()
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.is_file() else {}
    failed, unchecked = [], []
    print(f"{'':16}" + "".join(f"{column:>12}" for column in (*COUNTED, "resolved")) + f"{'left out':>10}")
    for name in options.sets:
        try:
            folder = documentation(name, sources[name], options.cache)
            reading = read(options.program, folder)
        except Missing as missing:
            unchecked.append(f"{name}: {missing}")
            continue
        except Unreadable as unreadable:
            failed.append(name)
            print(f"{name:16}  {unreadable}", flush=True)
            continue
        counts = reading.counts()
        wrong = differences(expected.get(name, {}), counts)
        print(row(name, counts, wrong), flush=True)
        if options.update:
            expected[name] = counts
        elif wrong:
            failed.append(name)
            print("".join(f"    {line}\n" for line in wrong), end="")
        if options.show:
            show(reading)
        if options.url:
            again(options.program, options.url, name, folder, counts["pages"])
    if options.update:
        EXPECTED.write_text(json.dumps({name: expected[name] for name in sources if name in expected}, indent=1) + "\n")
    for reason in unchecked:
        print(f"NOT CHECKED {reason}")
    sys.exit(f"not as expected: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
