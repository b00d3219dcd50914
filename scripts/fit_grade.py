#!/usr/bin/env python3
"""Fits the models that grade answers, and measures them on queries that were not used for it.

Needs a database in which `make eval-all` has indexed the data sets. Every query of a set is graded in its
own project, where its answers are known, and some queries of other sets in it, too: questions about things
that its documents do not have. Half of the queries, drawn by the hash of their ids, fit the models; the other
half measures. Writes crates/docsearch-core/data/grade.json with --write.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy
import psycopg

DATA = Path(__file__).resolve().parent.parent / "crates" / "docsearch-core" / "data" / "grade.json"
FOREIGN = 60
PENALTY = 0.05
# A right answer is refused as seldom as a wrong one is given: both count alike.
QUERY = """
SELECT (SELECT array_agg(r.slug ORDER BY r.rank) FROM search_docs(%(query)s, %(project)s) r),
       docsearch.grade_features(%(query)s, %(project)s), docsearch.grade_results(%(query)s, %(project)s)
"""


def read(data: Path) -> list[tuple[str, str, set[str]]]:
    """Id, text and right answers of the queries of a set."""
    right: dict[str, set[str]] = {}
    for line in (data / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")
        if float(score) > 0:
            right.setdefault(query, set()).add(document)
    lines = (json.loads(line) for line in (data / "queries.jsonl").read_text().splitlines())
    return [(line["_id"], line["text"], right[line["_id"]]) for line in lines if line["_id"] in right]


def number(*parts: str) -> int:
    """A number that looks drawn and is always the same."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:4], "big")


def observe(connection: psycopg.Connection, sets: dict[str, list], most: int) -> list[dict]:
    """Features and labels of queries in their own project and in others."""
    rows = []
    for name, queries in sets.items():
        own = sorted(queries, key=lambda query: number(name, query[0]))[:most]
        others = [(other, query) for other, queries in sets.items() if other != name for query in queries]
        others.sort(key=lambda other: number(name, other[0], other[1][0]))
        asked = [(name, query, query[2]) for query in own]
        asked += [(other, query, None) for other, query in others[:FOREIGN]]
        for source, (identifier, text, right), answers in asked:
            found, features, grade = connection.execute(
                QUERY, {"query": text, "project": f"eval_{name}"}).fetchone()
            rows.append({"set": name, "foreign": answers is None, "features": features, "grade": grade,
                         "hit": bool(answers) and bool(set((found or [])[:5]) & answers),
                         "held": number(source, identifier) % 2 == 1})
        print(f"{name}: {len(asked)} queries", file=sys.stderr)
    return rows


def fit(features: numpy.ndarray, labels: numpy.ndarray, weights: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """Logistic regression with a penalty on standardised weights, by Newton's method."""
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9
    matrix = numpy.hstack([numpy.ones((len(features), 1)), (features - mean) / scale])
    penalty = PENALTY * len(features) / 100 * numpy.eye(matrix.shape[1])
    penalty[0, 0] = 0
    solution = numpy.zeros(matrix.shape[1])
    for _ in range(50):
        probability = 1 / (1 + numpy.exp(-matrix @ solution))
        gradient = matrix.T @ (weights * (probability - labels)) + penalty @ solution
        curvature = (matrix * (weights * probability * (1 - probability))[:, None]).T @ matrix + penalty
        solution -= numpy.linalg.solve(curvature, gradient)
    slopes = solution[1:] / scale
    return float(solution[0] - slopes @ mean), slopes


def balanced(labels: numpy.ndarray) -> numpy.ndarray:
    """Weights that give both labels the same weight together."""
    share = labels.mean()
    return numpy.where(labels == 1, 0.5 / max(share, 1e-9), 0.5 / max(1 - share, 1e-9))


def area_under_curve(scores: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Probability that a positive scores above a negative."""
    order = numpy.argsort(numpy.argsort(scores, kind="stable"), kind="stable") + 1
    positive = int(labels.sum())
    negative = len(labels) - positive
    return float((order[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path, help="data sets in BEIR layout, indexed as eval_NAME")
    parser.add_argument("--url", required=True, help="libpq URL of the database")
    parser.add_argument("--most", type=int, default=150, help="queries of each set, at most")
    parser.add_argument("--observations", type=Path, help="file for the features and labels: written, or read if it is there")
    parser.add_argument("--write", action="store_true", help="write data/grade.json")
    options = parser.parse_args()
    if options.observations and options.observations.is_file():
        rows = json.loads(options.observations.read_text())
    else:
        with psycopg.connect(options.url, autocommit=True) as connection:
            rows = observe(connection, {path.name: read(path) for path in options.directories}, options.most)
        if options.observations:
            options.observations.write_text(json.dumps(rows))
    names = sorted(rows[0]["features"])
    features = numpy.array([[row["features"][name] for name in names] for row in rows])
    held = numpy.array([row["held"] for row in rows])
    foreign = numpy.array([row["foreign"] for row in rows])
    hit = numpy.array([row["hit"] for row in rows], dtype=float)
    models = {}
    for model, chosen, labels in (("relevance", ~foreign, hit), ("grounded", foreign | ~foreign, (~foreign).astype(float))):
        train, test = chosen & ~held, chosen & held
        weights = balanced(labels[train]) if model == "grounded" else numpy.ones(train.sum())
        bias, slopes = fit(features[train], labels[train], weights)
        scores = 1 / (1 + numpy.exp(-(features @ slopes + bias)))
        models[model] = {"bias": round(bias, 4), "weights": {name: round(float(slope), 4) for name, slope in zip(names, slopes)}}
        print(f"{model}: area under the curve {area_under_curve(scores[test], labels[test]):.3f} "
              f"on {int(test.sum())} queries that did not fit it")
        if model == "grounded":
            print(f"  not grounded: {(scores[held & foreign] < 0.5).mean():.3f} of questions about other things, "
                  f"{(scores[held & ~foreign] < 0.5).mean():.3f} of those that the documents answer")
            for name in sorted({row["set"] for row in rows}):
                of_set = numpy.array([row["set"] == name for row in rows]) & held
                print(f"    {name}: {(scores[of_set & foreign] < 0.5).mean():.3f}, {(scores[of_set & ~foreign] < 0.5).mean():.3f}")
    shipped = numpy.array([row["grade"]["relevance"] for row in rows])
    print(f"as shipped: relevance {area_under_curve(shipped[held & ~foreign], hit[held & ~foreign]):.3f}; not grounded "
          f"{numpy.mean([not row['grade']['grounded'] for row in rows if row['held'] and row['foreign']]):.3f}, "
          f"{numpy.mean([not row['grade']['grounded'] for row in rows if row['held'] and not row['foreign']]):.3f}")
    if options.write:
        DATA.write_text(json.dumps(models, indent=2) + "\n")


if __name__ == "__main__":
    main()
