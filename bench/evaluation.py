#!/usr/bin/env python3
"""Measures what `docsearch.evaluate` adds to the searches that it runs.

Works in the sets that eval-all has indexed. The queries of a set run in turns as a run of `evaluate`, and as searches of one
session with a prepared statement, which returns a count. Each round takes the total of both; a first round,
which warms caches, does not count. `evaluate_tasks` runs once, for the number of its calls and their time.
"""

import argparse
import statistics
import time
from pathlib import Path

import psycopg

RESULTS = 100


def texts(data: Path) -> tuple[str, str]:
    """Queries and judgments of a set in BEIR layout."""
    return (data / "queries.jsonl").read_text(), (data / "qrels.tsv").read_text()


def searches(connection: psycopg.Connection, project: str, queries: list[str]) -> float:
    """Seconds of all searches. Their columns are computed and counted in the server."""
    begun = time.monotonic()
    for query in queries:
        connection.execute("SELECT count(s) FROM search_docs(%s, %s, max_results => %s) s", [query, project, RESULTS], prepare=True)
    return time.monotonic() - begun


def measure(connection: psycopg.Connection, data: Path, rounds: int) -> None:
    """Prints the times of one set."""
    project = f"eval_{data.resolve().name}"
    connection.execute("SELECT docsearch.import_judgments('bench', %s, %s)", texts(data))
    queries = [row[0] for row in connection.execute(
        "SELECT d.query FROM docsearch.evaluate('bench', %s, max_results => 1) e, docsearch.evaluate_detail(e.run) d", [project])]
    pairs = []
    for number in range(rounds + 1):
        alone = searches(connection, project, queries)
        begun = time.monotonic()
        connection.execute("SELECT run FROM docsearch.evaluate('bench', %s, max_results => %s)", [project, RESULTS])
        together = time.monotonic() - begun
        if number:
            pairs.append((alone, together))
    alone, together = (statistics.median(values) for values in zip(*pairs))
    ratio = statistics.median(evaluated / searched for searched, evaluated in pairs)
    begun = time.monotonic()
    calls = connection.execute(
        "SELECT sum(d.calls) FROM docsearch.evaluate_tasks('bench', %s) e, docsearch.evaluate_tasks_detail(e.run) d",
        [project]).fetchone()[0]
    tasks = time.monotonic() - begun
    print(f"{data.resolve().name:20} {len(queries):4} queries   searches {alone:7.2f} s   evaluate {together:7.2f} s   "
          f"ratio {ratio:.3f}   tasks {tasks:7.2f} s, {calls} calls", flush=True)
    connection.execute("SELECT docsearch.drop_judgments('bench')")
    connection.execute("DELETE FROM docsearch.evaluation_run WHERE set_name = 'bench'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", type=Path, help="data sets in BEIR layout that eval-all has indexed")
    parser.add_argument("--url", required=True, help="database with the sets")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count (default: %(default)s)")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as connection:
        for data in options.data:
            measure(connection, data, options.rounds)


if __name__ == "__main__":
    main()
