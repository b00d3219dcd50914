#!/usr/bin/env python3
"""Evaluates every data set below some directories and writes one table.

A data set is a directory with queries.jsonl. Each gets a report of `docsearch eval` in
the output directory; the table, one line for each group, goes to table.tsv beside them
and to standard output.
"""

import argparse
import json
import subprocess
from pathlib import Path

MEASURES = ("ndcg10", "mrr10", "p1", "p3", "recall100")
QUERIES = ("queries.jsonl", "queries.jsonl.gz")
COLUMNS = ("set", "group", "queries", "nDCG@10", "MRR", "P@1", "P@3", "recall", "p50 ms", "p95 ms",
           "spread", "high", "hit@1", "low", "hit@1", "nDCG@10 difference")


def data_sets(directories: list[Path]) -> list[Path]:
    """The data sets: each directory given, or those in it."""
    found = []
    for directory in directories:
        inside = [directory, *sorted(path for path in directory.iterdir() if path.is_dir())]
        sets = [path for path in inside if any((path / name).is_file() for name in QUERIES)]
        if not sets:
            raise SystemExit(f"no data set in {directory}: nothing there has queries.jsonl")
        found += sets
    return found


def evaluate(data: Path, report: Path, options: argparse.Namespace) -> None:
    """Runs `docsearch eval` on one data set."""
    command = [options.program, "--url", options.url, "eval", data, "--report", report]
    if options.config:
        command += ["--config", options.config]
    if options.no_index:
        command.append("--no-index")
    if options.nonsense:
        command += ["--nonsense", options.nonsense]
    if options.foreign:
        command += ["--foreign", options.foreign]
    if options.train and (data / "queries.train.jsonl").is_file():
        command += ["--queries", "queries.train.jsonl", "--qrels", "qrels.train.tsv"]
    elif options.train and (data / "qrels" / "train.tsv").is_file():
        command += ["--qrels", "qrels/train.tsv"]
    baseline = options.baseline / report.name if options.baseline else None
    if baseline and baseline.is_file():
        command += ["--baseline", baseline]
    status = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL).returncode
    if status > 1:
        raise SystemExit(status)


def difference(report: dict, group: str) -> str:
    """Difference of nDCG@10 to the baseline; a star if the interval excludes 0."""
    for one in report.get("comparison", {}).get("differences", []):
        if one["group"] == group and one["measure"] == "nDCG@10":
            low, high = one["interval"]
            return f"{one['difference']:+.4f} {'*' if low > 0 or high < 0 else ' '}"
    return ""


def share(value: float | None) -> str:
    """A share with three decimals, or a dash if there is none."""
    return "-" if value is None else f"{value:.3f}"


def rows(report: dict) -> list[list[str]]:
    """The lines of one report: its groups, if there are several, then the total."""
    groups = report["groups"] if len(report["groups"]) > 1 else {}
    lines = []
    for name, summary in [*groups.items(), ("overall", report["overall"])]:
        confidence = [share(summary["confidence"].get(level, {}).get(key))
                      for level in ("high", "low") for key in ("share", "hit1")]
        lines.append([report["dataset"], name, str(summary["queries"]),
                      *(f"{summary[measure]:.4f}" for measure in MEASURES),
                      f"{summary['p50_ms']:.2f}", f"{summary['p95_ms']:.2f}",
                      share(summary["wide_spread"]), *confidence, difference(report, name)])
    return lines


def nonsense(report: dict) -> str:
    """How many queries without an answer got a result of confidence `high`."""
    overall = report["nonsense"]["overall"]
    return f"{report['dataset']}: {overall['high']} of {overall['queries']}"


def aligned(table: list[list[str]]) -> str:
    """The table for a terminal: two columns left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) if place < 2 else cell.rjust(width)
                               for place, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path, help="data sets, or directories of them")
    parser.add_argument("--program", required=True, help="the command-line program")
    parser.add_argument("--url", required=True, help="connection URL")
    parser.add_argument("--output", required=True, type=Path, help="directory of the reports")
    parser.add_argument("--config", help="search settings, a JSON object")
    parser.add_argument("--no-index", action="store_true", help="search the projects without indexing")
    parser.add_argument("--nonsense", help="queries of random words for each set")
    parser.add_argument("--foreign", help="queries of another domain for each set")
    parser.add_argument("--baseline", type=Path, help="directory of earlier reports")
    parser.add_argument("--train", action="store_true",
                        help="queries.train.jsonl or qrels/train.tsv where a set has it")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    reports = []
    for data in data_sets(options.data):
        report = options.output / f"{data.resolve().name}.json"
        evaluate(data, report, options)
        reports.append(json.loads(report.read_text()))
    table = [list(COLUMNS), *(line for report in reports for line in rows(report))]
    (options.output / "table.tsv").write_text(
        "".join("\t".join(cell.strip() for cell in line) + "\n" for line in table))
    print(aligned(table))
    asked = [nonsense(report) for report in reports if "nonsense" in report]
    if asked:
        print("nonsense with confidence high: " + ", ".join(asked))


if __name__ == "__main__":
    main()
