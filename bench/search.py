#!/usr/bin/env python3
"""Measures searches in a database with several indexed sets: in one project, in all, and with half hidden.

The sets are those that `make eval-all` has indexed. Compared figures are measured in
turns, on warm connections whose queries are cached; medians of the rounds are printed.
Then each query is sent with another ending, so that its embedding is not cached, and the stages of
its answer's `timings` are printed. An indented stage belongs to the one above it.
"""

import argparse
import json
import random
import shutil
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
# Keys of `timings`, in the order of a search, and two that are computed. Others are printed by their own names.
STAGES = {
    "transform_ms": "transformation",
    "embed_ms": "embedding",
    "rank_ms": "ranking",
    "keyword_ms": "  words",
    "vector_ms": "  vectors",
    "page_ms": "  pages",
    "boost_ms": "  rules",
    "present_ms": "sections and presenting",
    "grade_ms": "grading",
    "suggest_ms": "suggestions",
    "other_ms": "no stage",
    "total_ms": "whole search",
    "beyond_ms": "statement and client, beyond"}
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


def stages(connection: psycopg.Connection, queries: list[tuple[str, str]]) -> None:
    """Prints the time of each stage of a search, and the rest of the statement's time."""
    connection.execute("SELECT docsearch.restart_inference()")
    connection.execute("SELECT docsearch.embed('start')")
    timings: list[dict[str, float]] = []
    for number in range(ROUNDS):
        for text, project in queries:
            # The extension strips full stops from the end, but not commas.
            start = time.perf_counter()
            answer = connection.execute("SELECT search_docs_json(%s, %s)", [text + "," * (number + 1), project])
            of = answer.fetchone()[0]["timings"]
            whole = (time.perf_counter() - start) * 1000
            parts = sum(value for key, value in of.items()
                        if key != "total_ms" and not STAGES.get(key, " ").startswith(" "))
            timings.append(of | {"other_ms": of["total_ms"] - parts, "beyond_ms": whole - of["total_ms"]})
    keys = {key for of in timings for key in of}
    names = [*(key for key in STAGES if key in keys), *sorted(keys - STAGES.keys())]
    whole = statistics.fmean(of["total_ms"] for of in timings)
    print(f"\n{'search_docs_json, new queries':32}{'mean ms':>9}{'p50':>9}{'p95':>9}{'share':>8}")
    for key in names:
        values = [of.get(key, 0.0) for of in timings]
        mean, p95 = statistics.fmean(values), statistics.quantiles(values, n=20)[-1]
        print(f"{STAGES.get(key, key):32}{mean:9.2f}{statistics.median(values):9.2f}{p95:9.2f}{mean / whole:8.0%}")
    if shutil.which("perf"):
        print("which functions: perf record --call-graph fp -p PID of the backend, then perf report")


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
        stages(owner, queries)
        longest = longest_answer(owner, queries)
        print(f"longest compact answer: {longest} characters (at most {GREATEST_COMPACT})")


if __name__ == "__main__":
    main()
