#!/usr/bin/env python3
"""Measures vague questions, in a database with the sets that `make eval-all` has indexed.

refined        search_refined on queries of each set: recall@10 of those that the grader sends back, first
               answer against the best one, nDCG@10 of all with a bootstrap interval of the difference, and
               how long calls with three retrievals take
rules          the time of the transformation by rules, by the timings of the search
abbreviations  acronyms and synonyms (bench/abbreviations): how often the page is in the top
               three; nothing was tuned on the held-out half
"""

import argparse
import json
import math
import random
import statistics
import time
from pathlib import Path

import psycopg

from fit_grade import load_set
from search import questions

ABBREVIATIONS = Path(__file__).resolve().parent / "abbreviations"
RESAMPLES = 2000
TRANSFORM = '{"transform": "rules"}'


def recall(found: list[str], right: set[str]) -> float:
    """Share of the right answers among the first ten."""
    return len(right & set(found[:10])) / len(right)


def ndcg(found: list[str], right: set[str]) -> float:
    """nDCG@10 with answers that are right or wrong."""
    gain = sum(1 / math.log2(rank + 2) for rank, slug in enumerate(found[:10]) if slug in right)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(right))))


def interval(differences: list[float]) -> tuple[float, float]:
    """95 % of the means of resampled differences."""
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-RESAMPLES // 40]


def refined(connection: psycopg.Connection, sets: list[Path], most: int) -> None:
    """Measures search_refined on each set."""
    before, after, thrice = [], [], []
    print("set                queries  sent back  recall@10 of these   nDCG@10 of all     difference")
    for data in sets:
        queries = load_set(data)
        queries = random.Random(data.name).sample(queries, min(most, len(queries)))
        own, best, sent = [], [], []
        for text, right in queries:
            start = time.perf_counter()
            answer = connection.execute("SELECT docsearch.search_refined(%s, %s, max_results => 10)",
                                        (text, f"eval_{data.name}")).fetchone()[0]
            if answer["iterations"] == 3:
                thrice.append((time.perf_counter() - start) * 1000)
            rows = connection.execute("SELECT slug FROM search_docs(%s, %s, max_results => 10)",
                                      (text, f"eval_{data.name}")).fetchall()
            first = [slug for (slug,) in rows]
            last = [result["slug"] for result in answer["results"]]
            own.append(ndcg(first, right))
            best.append(ndcg(last, right))
            if answer["trace"][0]["grade"]["should_refine"]:
                sent.append((recall(first, right), recall(last, right)))
        low, high = interval([new - old for new, old in zip(best, own)])
        recalls = [statistics.fmean(column) for column in zip(*sent)] if sent else [math.nan, math.nan]
        print(f"{data.name:18} {len(queries):7} {len(sent):10}  {recalls[0]:.4f} to {recalls[1]:.4f}     "
              f"{statistics.fmean(own):.4f} to {statistics.fmean(best):.4f}   {low:+.4f} to {high:+.4f}", flush=True)
        before += [old for old, _ in sent]
        after += [new for _, new in sent]
    print(f"all                        {len(before):10}  {statistics.fmean(before):.4f} to {statistics.fmean(after):.4f}")
    if len(thrice) > 1:
        print(f"refined   three retrievals p50 {statistics.median(thrice):.1f} ms, p95 "
              f"{statistics.quantiles(thrice, n=20)[-1]:.1f} ms ({len(thrice)} calls)")


def rules(connection: psycopg.Connection, queries: list[tuple[str, str]]) -> None:
    """Measures the transformation by rules."""
    taken = []
    for text, project in queries:
        for _ in range(2):
            answer = connection.execute("SELECT search_docs_json(%s, %s, config => %s)",
                                        (text, project, TRANSFORM)).fetchone()[0]
        taken.append(answer["timings"]["transform_ms"])
    print(f"rules     transformation p50 {statistics.median(taken):.2f} ms, p95 "
          f"{statistics.quantiles(taken, n=20)[-1]:.2f} ms ({len(taken)} queries)", flush=True)


def abbreviations(connection: psycopg.Connection, known: set[str]) -> None:
    """Counts pages in the top three."""
    for config in ("{}", TRANSFORM):
        counts: dict[str, list[bool]] = {}
        for data in sorted(ABBREVIATIONS.iterdir()):
            if f"eval_{data.name}" not in known:
                continue
            lines = (json.loads(line) for line in (data / "queries.jsonl").read_text().splitlines())
            halves = {line["text"]: line["metadata"]["half"] for line in lines}
            for text, right in load_set(data):
                rows = connection.execute("SELECT slug FROM search_docs(%s, %s, max_results => 3, config => %s)",
                                          (text, f"eval_{data.name}", config)).fetchall()
                counts.setdefault(halves[text], []).append(bool(right & {slug for (slug,) in rows}))
        for half, hits in sorted(counts.items()):
            print(f"abbreviations, {half} half, {config}: {sum(hits)} of {len(hits)} in the top three", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="directory of the data sets")
    parser.add_argument("--url", required=True, help="connection URL of the database that holds them")
    parser.add_argument("--queries", type=int, default=300, help="maximum number of queries of a set (default: 300)")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as connection:
        known = {name for (name,) in connection.execute("SELECT name FROM docsearch.project")}
        sets = [path.parent for path in sorted(options.data.glob("*/qrels.tsv")) if f"eval_{path.parent.name}" in known]
        if not sets:
            raise SystemExit("no set is indexed; see make eval-all")
        abbreviations(connection, known)
        rules(connection, questions(options.data, known))
        refined(connection, sets, options.queries)


if __name__ == "__main__":
    main()
