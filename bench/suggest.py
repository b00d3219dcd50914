#!/usr/bin/env python3
"""Measures `docsearch.suggest` while names are typed: its time for each letter, and how early the target is shown.

Names are drawn from titles, headings, identifiers and questions of each project, without those that more than three
pages have. Each is typed letter by letter, and again with one error: a letter that is missing, doubled, wrong, or
swapped with the one before. A target counts if it is among the first five. `--save` writes the names and the
suggestions' targets; `--targets` types the names of such a file. If suggestions have no target, the page counts.
"""

import argparse
import json
import random
import statistics
import string
import time
from pathlib import Path

import psycopg

from intervals import wilson

FIRST = 5
LENGTHS = (3, 5, 8, 12)
MISTYPED_LENGTHS = (5, 8, 12)
MOST_TYPED = 24
SHORTEST_NAME = 4
LIMIT = 10
NAMES = {
    "page": """SELECT d.title, d.slug FROM docsearch.document d WHERE d.project_id = %(project)s
               AND (SELECT count(*) FROM docsearch.document o WHERE o.project_id = d.project_id
                    AND lower(o.title) = lower(d.title)) <= 3""",
    "section": """SELECT f.name, d.slug || '#' || f.anchor FROM docsearch.definition f
                  JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.document_id
                  WHERE f.project_id = %(project)s AND f.name = f.section AND f.anchor <> '' AND f.name ~ ' '
                    AND lower(d.title) <> lower(f.name)
                    AND (SELECT count(*) FROM docsearch.definition o WHERE o.project_id = f.project_id AND o.key = f.key) <= 3""",
    "identifier": """SELECT f.name, d.slug || CASE f.anchor WHEN '' THEN '' ELSE '#' || f.anchor END FROM docsearch.definition f
                     JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.document_id
                     WHERE f.project_id = %(project)s AND f.name ~ '[._]|[a-z][A-Z]' AND f.name !~ ' '
                       AND (SELECT count(*) FROM docsearch.definition o WHERE o.project_id = f.project_id AND o.key = f.key) <= 3""",
    "question": """SELECT q.question, d.slug || CASE q.anchor WHEN '' THEN '' ELSE '#' || q.anchor END FROM docsearch.question q
                   JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
                   WHERE q.project_id = %(project)s AND NOT q.stale""",
}


def drawn(connection: psycopg.Connection, projects: list[str], number: int) -> list[dict]:
    """Names of each kind, always the same ones."""
    names = []
    for project in projects:
        found = connection.execute("SELECT id FROM docsearch.project WHERE name = %s", [project]).fetchone()
        for kind, statement in NAMES.items():
            rows = connection.execute(f"{statement} ORDER BY 1, 2", {"project": found[0]}).fetchall()
            rows = [row for row in rows if len(row[0]) >= SHORTEST_NAME]
            chosen = random.Random(f"{project} {kind}").sample(rows, min(number, len(rows)))
            names += [{"project": project, "kind": kind, "name": name, "target": f"{project}/{place}"}
                      for name, place in chosen]
    return names


def mistyped(text: str, seed: str) -> str:
    """The text with one error behind its first letter."""
    draw = random.Random(seed)
    at = draw.randrange(1, len(text))
    wrong = draw.choice(string.ascii_lowercase)
    return draw.choice((text[:at] + text[at + 1:], text[:at] + text[at] + text[at:], text[:at] + wrong + text[at + 1:],
                        text[:at - 1] + text[at] + text[at - 1] + text[at + 1:]))


class Typing:
    """Suggestions for texts of one project at a time, and their times."""

    def __init__(self, connection: psycopg.Connection):
        self.connection = connection
        self.times: dict[str, list[float]] = {}

    def suggest(self, text: str, project: str, group: str) -> list[dict]:
        start = time.perf_counter()
        rows = self.connection.execute("SELECT to_jsonb(s) FROM docsearch.suggest(%s, %s, %s) s",
                                       [text, project, LIMIT]).fetchall()
        self.times.setdefault(group, []).append((time.perf_counter() - start) * 1000)
        return [row for row, in rows]

    def place(self, text: str, name: dict, group: str) -> int | None:
        """The place of the target, or None."""
        if not text.strip():
            return None
        wanted, page = name["target"], name["target"].partition("#")[0]
        for place, row in enumerate(self.suggest(text, name["project"], group)):
            own = row["target"] == wanted if "target" in row else f"{name['project']}/{row['slug']}" == page
            if own:
                return place
        return None


def group_of(length: int) -> str:
    """The row of the times to which a text belongs."""
    return f"{length} letter{'s' * (length > 1)}" if length < 3 else "3 and more"


def percentiles(times: list[float]) -> str:
    """Median, 95th percentile and maximum."""
    return f"p50 {statistics.median(times):5.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:5.1f}, max {max(times):5.1f}"


def share(right: list[bool]) -> str:
    """A share with its interval."""
    low, high = wilson(sum(right), len(right))
    return f"{100 * sum(right) / len(right):5.1f} % [{100 * low:.0f}, {100 * high:.0f}] of {len(right)}"


def measure(connection: psycopg.Connection, names: list[dict]) -> None:
    """Types each name, and prints times and shares."""
    typing = Typing(connection)
    early: dict[tuple[str, str, int], list[bool]] = {}
    falls, steps = 0, 0
    for name in names:
        text, seed = name["name"][:MOST_TYPED], f"{name['name']} {name['target']}"
        before = None
        for length in range(1, len(text) + 1):
            place = typing.place(text[:length], name, group_of(length))
            steps += before is not None
            falls += before is not None and (place is None or place > before)
            before = place
            if length in LENGTHS:
                early.setdefault((name["kind"], "typed", length), []).append(place is not None and place < FIRST)
        for length in MISTYPED_LENGTHS:
            if length <= len(text):
                wrong = mistyped(text[:length], f"{seed} {length}")
                place = typing.place(wrong, name, "3 and more, one error")
                early.setdefault((name["kind"], "one error", length), []).append(place is not None and place < FIRST)
    for group, times in typing.times.items():
        print(f"{group:24} {percentiles(times)} ({len(times)} texts)")
    for (kind, how, length), right in sorted(early.items()):
        print(f"{kind:12} {how:10} {length:2} letters  {share(right)}")
    print(f"a further letter moved the target down: {falls} of {steps}")


def projects(connection: psycopg.Connection) -> list[str]:
    """The names of all projects, of which there has to be one."""
    is_there, = connection.execute("SELECT to_regclass('docsearch.project') IS NOT NULL").fetchone()
    known = [name for name, in connection.execute("SELECT name FROM docsearch.project ORDER BY name")] if is_there else []
    if not known:
        raise SystemExit("There is no project: make demo indexes one, docsearch index any documentation.")
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="database with the projects")
    parser.add_argument("--projects", nargs="*", help="names of projects (default: all)")
    parser.add_argument("--names", type=int, default=100, help="names of each kind and project")
    parser.add_argument("--save", type=Path, help="file for the names")
    parser.add_argument("--targets", type=Path, help="file with the names of another run")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as connection:
        known = projects(connection)
        if options.targets:
            names = json.loads(options.targets.read_text())
        else:
            names = drawn(connection, options.projects or known, options.names)
        if options.save:
            options.save.write_text(json.dumps(names))
        for project in dict.fromkeys(name["project"] for name in names):
            print(project)
            measure(connection, [name for name in names if name["project"] == project])


if __name__ == "__main__":
    main()
