#!/usr/bin/env python3
"""Tunes a project for each data set by its documents alone, and measures queries that took no part in it.

Larger sets are sampled: at most --pages pages, those that answer queries first. Prints a row for each set and writes the table:
the difference on pages that the search has not seen with its interval, the time, and nDCG@10 of the set's own queries before
and after, as a mean over their groups, with the groups that differ.
"""

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

import psycopg

BATCH = 100
FIELDS = ["set", "pages", "status", "training", "held_out", "tried", "seconds", "copy_seconds", "held_out_before", "held_out_after",
          "difference", "low", "high", "own_queries", "own_before", "own_after", "groups", "error_of_score",
          "error_of_probability", "settings", "reasons"]


def sample(data: Path, most: int) -> tuple[list[dict], str, str]:
    """Documents, queries and judgments of a set; queries whose pages are left out have no judgment."""
    pages = [json.loads(line) for line in (data / "corpus.jsonl").read_text().splitlines()]
    judgments = (data / "qrels.tsv").read_text().splitlines()
    judged = {line.split("\t")[1] for line in judgments[1:]}
    order = random.Random(data.name)
    order.shuffle(pages)
    pages.sort(key=lambda page: page["_id"] not in judged)
    kept = pages[:most]
    known = {page["_id"] for page in kept}
    lines = [line for line in judgments[1:] if line.split("\t")[1] in known]
    return kept, (data / "queries.jsonl").read_text(), "\n".join([judgments[0], *lines])


def index(connection: psycopg.Connection, project: str, pages: list[dict]) -> None:
    """Indexes pages into a new project."""
    if connection.execute("SELECT 1 FROM docsearch.project WHERE name = %s", (project,)).fetchone():
        connection.execute("SELECT docsearch.drop_project(%s)", (project,))
    connection.execute("SELECT docsearch.create_project(%s)", (project,))
    documents = [{"slug": page["_id"], "title": page["title"], "body": page["text"], "metadata": page.get("metadata", {})}
                 for page in pages]
    for start in range(0, len(documents), BATCH):
        connection.execute("SELECT FROM docsearch.index_docs(%s, %s)", (project, json.dumps(documents[start : start + BATCH])))
    connection.execute("SELECT docsearch.finish_load(%s)", (project,))


def evaluate(connection: psycopg.Connection, project: str) -> tuple[int, dict[str, float]]:
    """The run of the set's own queries, and the nDCG@10 of each group."""
    run = connection.execute("SELECT run FROM docsearch.evaluate(%s, %s)", (project, project)).fetchone()[0]
    rows = connection.execute("SELECT query_group, ndcg FROM docsearch.evaluate_groups(%s)", (run,)).fetchall()
    return run, {group: ndcg for group, ndcg in rows if group != "overall"}


def measure(connection: psycopg.Connection, data: Path, options: argparse.Namespace) -> dict:
    """The row of a set."""
    project = f"tune_{data.name}"
    pages, queries, judgments = sample(data, options.pages)
    index(connection, project, pages)
    connection.execute("SELECT docsearch.import_judgments(%s, %s, %s)", (project, queries, judgments))
    first, before = evaluate(connection, project)
    begun = time.perf_counter()
    tuning = connection.execute("SELECT docsearch.tune(%s, make_interval(secs => %s), in_background => false)",
                                (project, options.seconds)).fetchone()[0]
    seconds = time.perf_counter() - begun
    status, evidence, after_settings = connection.execute(
        "SELECT status, evidence, after - 'calibration' FROM docsearch.tuning WHERE id = %s", (tuning,)).fetchone()
    second, after = evaluate(connection, project)
    differences = connection.execute(
        "SELECT query_group, difference, low, high FROM docsearch.compare(%s, %s) WHERE measure = 'ndcg'", (first, second))
    groups = [f"{group} {before.get(group, 0):.3f} {difference:+.3f} ({low:+.3f} to {high:+.3f})"
              for group, difference, low, high in differences]
    overall, calibration = evidence.get("overall") or {}, evidence.get("calibration") or {}
    count = {side: sum(kinds.values()) for side, kinds in evidence["queries"].items()}
    low, high = overall.get("interval", (None, None))
    row = {
        "set": data.name, "pages": len(pages), "status": status, "training": count["training"], "held_out": count["held_out"],
        "tried": evidence.get("tried"), "seconds": round(seconds, 1), "copy_seconds": evidence.get("copy_seconds"),
        "held_out_before": overall.get("before"), "held_out_after": overall.get("after"),
        "difference": overall.get("difference"), "low": low, "high": high,
        "own_queries": len(queries.splitlines()), "own_before": statistics.fmean(before.values()),
        "own_after": statistics.fmean(after.values()), "groups": "; ".join(groups),
        "error_of_score": calibration.get("error_of_score"), "error_of_probability": calibration.get("error_of_probability"),
        "settings": json.dumps(evidence.get("settings")), "reasons": "; ".join(evidence.get("reasons", [])),
    }
    if options.evidence:
        options.evidence.mkdir(parents=True, exist_ok=True)
        (options.evidence / f"{data.name}.json").write_text(json.dumps(evidence, indent=1))
    if not options.keep:
        connection.execute("SELECT docsearch.drop_project(%s)", (project,))
        connection.execute("SELECT docsearch.drop_judgments(%s)", (project,))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="data sets, or directories of them")
    parser.add_argument("--url", required=True, help="connection URL of a development server")
    parser.add_argument("--pages", type=int, default=1000, help="maximum number of pages of a set (default: 1000)")
    parser.add_argument("--seconds", type=float, default=600, help="time of a tuning in seconds (default: 600)")
    parser.add_argument("--output", type=Path, default=Path("target/tune/table.tsv"), help="the table")
    parser.add_argument("--evidence", type=Path, help="folder for the evidence of each set")
    parser.add_argument("--keep", action="store_true", help="keep the projects")
    options = parser.parse_args()
    sets = sorted({path.parent for data in options.data for pattern in ("qrels.tsv", "*/qrels.tsv") for path in data.glob(pattern)})
    if not sets:
        sys.exit("no data sets there")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with psycopg.connect(options.url, autocommit=True) as connection, options.output.open("w") as table:
        connection.execute("SELECT docsearch.migrate()")
        table.write("\t".join(FIELDS) + "\n")
        for data in sets:
            row = measure(connection, data, options)
            rows.append(row)
            values = [f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()]
            table.write("\t".join(values) + "\n")
            table.flush()
            shown = {field: value for field, value in zip(FIELDS, values)}
            print(" ".join(f"{field}={value}" for field, value in shown.items() if field not in {"groups", "settings"}), flush=True)
            print("  " + row["groups"].replace("; ", "\n  "), flush=True)
    accepted = [row for row in rows if row["status"] == "accepted"]
    gains = [row["own_after"] - row["own_before"] for row in rows]
    print(f"accepted {len(accepted)} of {len(rows)}; own queries {statistics.fmean(gains):+.4f}, the mean over sets")


if __name__ == "__main__":
    main()
