#!/usr/bin/env python3
"""Searches in a database with several indexed sets: in one project, in all, and with half hidden.

The sets are those that `make eval-all` has indexed. Everything that is compared is measured in
turns, on warm connections whose queries were asked before; medians of the rounds are printed.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

ROLE = "docsearch_bench_half"
POLICY = "docsearch_bench_half"
ROUNDS = 3
QUERIES = 40
GREATEST_COMPACT = 2000
Search = Callable[[psycopg.Connection, str, str], object]


def in_one(connection: psycopg.Connection, query: str, project: str) -> object:
    """The project that the query belongs to."""
    return connection.execute("SELECT slug FROM search_docs(%s, %s)", [query, project]).fetchall()


def in_all(connection: psycopg.Connection, query: str, _: str) -> object:
    """Every project."""
    return connection.execute("SELECT slug FROM search_docs(%s)", [query]).fetchall()


def questions(data: Path, known: set[str]) -> list[tuple[str, str]]:
    """Queries of each set that is indexed, with its project."""
    found = []
    for path in sorted(data.glob("*/queries.jsonl")):
        project = f"eval_{path.parent.name}"
        if project in known:
            texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
            chosen = random.Random(project).sample(texts, min(QUERIES, len(texts)))
            found += [(text, project) for text in chosen]
    return found


def milliseconds(connection: psycopg.Connection, search: Search,
                 queries: list[tuple[str, str]]) -> tuple[float, float]:
    """Median and 95th percentile of one round."""
    times = []
    for text, project in queries:
        start = time.perf_counter()
        search(connection, text, project)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def compare(owner: psycopg.Connection, reader: psycopg.Connection,
            queries: list[tuple[str, str]]) -> None:
    """Prints latencies for the owner, who sees all, and for a role that sees half."""
    for label, search in (("in one project", in_one), ("in all projects", in_all)):
        for connection in (owner, reader):
            milliseconds(connection, search, queries)
        rounds = [[milliseconds(connection, search, queries) for connection in (owner, reader)]
                  for _ in range(ROUNDS)]
        for place, who in enumerate(("all documents", "half of them")):
            middle = [statistics.median(values) for values in zip(*(r[place] for r in rounds))]
            print(f"{label}, {who} visible: p50 {middle[0]:.1f} ms, p95 {middle[1]:.1f} ms")


def longest_answer(connection: psycopg.Connection, queries: list[tuple[str, str]]) -> int:
    """Characters of the longest compact answer with 5 results."""
    return max(connection.execute("SELECT length(search_docs_text(%s, %s))", query).fetchone()[0]
               for query in queries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="database with the sets")
    parser.add_argument("--data", required=True, type=Path, help="directory of the sets")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as owner:
        counts = dict(owner.execute("""
            SELECT p.name, count(*) FROM docsearch.project p
            JOIN docsearch.document d ON d.project_id = p.id GROUP BY 1""").fetchall())
        queries = questions(options.data, set(counts))
        if not queries:
            raise SystemExit(f"no set of {options.data} is indexed: run make eval-all first")
        print(f"{len(counts)} projects, {sum(counts.values())} documents, {len(queries)} queries")
        owner.execute(f"CREATE ROLE {ROLE}")
        try:
            owner.execute("SELECT docsearch.grant_usage(%s)", [ROLE])
            owner.execute(f"CREATE POLICY {POLICY} ON docsearch.document FOR SELECT TO {ROLE} "
                          "USING (id % 2 = 0)")
            owner.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
            with psycopg.connect(options.url, autocommit=True) as reader:
                reader.execute(f"SET ROLE {ROLE}")
                compare(owner, reader, queries)
        finally:
            owner.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
            owner.execute(f"DROP POLICY IF EXISTS {POLICY} ON docsearch.document")
            owner.execute(f"DROP OWNED BY {ROLE}")
            owner.execute(f"DROP ROLE {ROLE}")
        longest = longest_answer(owner, queries)
        print(f"longest compact answer: {longest} characters (at most {GREATEST_COMPACT})")


if __name__ == "__main__":
    main()
