#!/usr/bin/env python3
"""Fits the models that grade answers, and measures them on documentation that was left out.

Needs a database in which `make eval-all` has indexed the data sets, and `make bench-questions` the sets of
bench/questions. Every query of a set is graded in its own project, where its answers are known, and sentences of other
sets in it, too: questions about things that its documents do not have. For each figure, the models are fitted without
the documentation that is asked, and without the questions about it that were asked elsewhere; intervals are of 1,000
draws of questions. The models that --write puts into crates/docsearch-core/data/grade.json are fitted on all.

For another embedding model: index the sets with it, run this with --model NAME --write, and build the extension.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import questions as bench  # noqa: E402

DATA = Path(__file__).resolve().parent.parent / "crates" / "docsearch-core" / "data" / "grade.json"
# Minimum number of words of a question for other documentation: an index entry of one manual is often in another's.
LEAST_WORDS = 4
PENALTY = 0.3
DRAWS = 1000
# The features of each model. Others add nothing on documentation that was left out. Relevance uses all of them.
GROUNDED = ("best_coverage", "dense", "mean_dense", "score", "sections", "terms", "together", "unknown", "unknown_name")
BY_WORDS = ("best_coverage", "keyword", "rarest", "sections", "terms", "unknown", "unknown_name")
QUERY = """
SELECT (SELECT array_agg(r.slug ORDER BY r.rank) FROM search_docs(%(query)s, %(project)s) r),
       docsearch.grade_features(%(query)s, %(project)s), docsearch.grade_results(%(query)s, %(project)s)
"""


def load_set(data: Path) -> list[tuple[str, set[str]]]:
    """Texts and right answers of the queries of a set in BEIR layout."""
    right: dict[str, set[str]] = {}
    for line in (data / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")
        if float(score) > 0:
            right.setdefault(query, set()).add(document)
    lines = (json.loads(line) for line in (data / "queries.jsonl").read_text().splitlines())
    return [(line["text"], right[line["_id"]]) for line in lines if line["_id"] in right]


def number(*parts: str) -> int:
    """A pseudo-random number that depends only on its arguments."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:4], "big")


def observe(connection: psycopg.Connection, sets: dict[str, list], most: int, foreign: int) -> list[dict]:
    """Features and labels of queries in their own project and in others, where no page is right."""
    rows = []
    for name, queries in sets.items():
        own = sorted(queries, key=lambda query: number(name, query[0]))[:most]
        asked = [(name, text, right) for text, right in own]
        for other, others in sets.items():
            if other != name:
                sentences = [text for text, right in others if right and len(text.split()) >= LEAST_WORDS]
                sentences.sort(key=lambda text: number(name, other, text))
                asked += [(other, text, set()) for text in sentences[:foreign]]
        for source, text, right in asked:
            found, features, grade = connection.execute(QUERY, {"query": text, "project": name}).fetchone()
            rows.append({"set": name, "source": source, "query": text, "about": bool(right), "features": features,
                         "grounded": grade["grounded"], "hit": bool(set((found or [])[:5]) & right)})
        print(f"{name}: {len(asked)} queries", file=sys.stderr, flush=True)
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


def even(groups: numpy.ndarray) -> numpy.ndarray:
    """Weights with the same sum for each group, 1 on average."""
    kinds, places, counts = numpy.unique(groups, return_inverse=True, return_counts=True)
    return len(groups) / (len(kinds) * counts[places])


def area_under_curve(scores: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Probability that a positive scores above a negative."""
    order = numpy.argsort(numpy.argsort(scores, kind="stable"), kind="stable") + 1
    positive = int(labels.sum())
    negative = len(labels) - positive
    return float((order[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def interval(values: numpy.ndarray) -> str:
    """A mean with the interval in which 95 % of draws have theirs."""
    if not len(values):
        return "-"
    draws = numpy.random.default_rng(1).choice(values.astype(float), (DRAWS, len(values))).mean(axis=1)
    low, high = numpy.quantile(draws, [0.025, 0.975])
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}] of {len(values)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, help="data sets in BEIR layout, indexed as eval_NAME")
    parser.add_argument("--questions", nargs="*", default=[], help="sets of bench/questions, indexed as questions_NAME")
    parser.add_argument("--url", help="libpq URL of the database")
    parser.add_argument("--most", type=int, default=180, help="queries of each set, at most")
    parser.add_argument("--foreign", type=int, default=25, help="questions of each other set that a set is asked, at most")
    parser.add_argument("--observations", type=Path, help="file for the features and labels: written, or read if it is there")
    parser.add_argument("--keep", type=float, help="minimum share of answered questions that are grounded")
    parser.add_argument("--relevance", action="store_true", help="fit relevance, too; needs sets of every kind, tools too")
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="embedding model of the projects")
    parser.add_argument("--write", action="store_true", help="write data/grade.json")
    options = parser.parse_args()
    if options.observations and options.observations.is_file():
        rows = json.loads(options.observations.read_text())
    else:
        sets = {f"eval_{path.name}": load_set(path) for path in options.directories}
        for name in options.questions:
            sets[f"questions_{name}"] = [(row["question"], set(row["wanted"])) for row in bench.questions(name)]
        with psycopg.connect(options.url, autocommit=True) as connection:
            rows = observe(connection, sets, options.most, options.foreign)
        if options.observations:
            options.observations.write_text(json.dumps(rows))
    names = sorted(rows[0]["features"])
    features = numpy.array([[row["features"][name] for name in names] for row in rows])
    sets = numpy.array([row["set"] for row in rows])
    sources = numpy.array([row["source"] for row in rows])
    about = numpy.array([row["about"] for row in rows])
    hit = numpy.array([row["hit"] for row in rows], dtype=float)
    shipped = numpy.array([row["grounded"] for row in rows])
    keep = options.keep or float(numpy.average(shipped[about], weights=even(sets[about])))
    every = numpy.ones(len(rows), bool)
    models = json.loads(DATA.read_text()) | {"model": options.model}
    groups = numpy.array([f"{row['about']} {row['set']}" for row in rows])
    for model, chosen, labels, used in (
            ("relevance", about, hit, tuple(names)), ("grounded", every, about.astype(float), GROUNDED),
            ("grounded_by_words", every, about.astype(float), BY_WORDS)):
        used = numpy.array([name in used for name in names])

        def fitted(places: numpy.ndarray) -> tuple[float, numpy.ndarray]:
            weights = numpy.ones(places.sum()) if model == "relevance" else even(groups[places])
            bias, slopes = fit(features[places][:, used], labels[places], weights)
            whole = numpy.zeros(len(names))
            whole[used] = slopes
            return bias, whole

        scores = numpy.zeros(len(rows))
        for left_out in numpy.unique(sets):
            bias, slopes = fitted(chosen & (sets != left_out) & (sources != left_out))
            asked = sets == left_out
            scores[asked] = 1 / (1 + numpy.exp(-(features[asked] @ slopes + bias)))
        bias, slopes = fitted(chosen)
        if model == "relevance" and not options.relevance:
            kept = numpy.array([models[model]["weights"].get(name, 0.0) for name in names])
            print(f"relevance, kept: area under the curve {area_under_curve((features @ kept)[chosen], labels[chosen]):.3f}; "
                  f"fitted again {area_under_curve(scores[chosen], labels[chosen]):.3f}")
            continue
        models[model] = {"bias": round(bias, 4), "weights": {
            name: round(float(slope), 4) for name, slope, one in zip(names, slopes, used) if one}}
        print(f"{model}: area under the curve {area_under_curve(scores[chosen], labels[chosen]):.3f}")
        if model != "relevance":
            order = numpy.argsort(scores[about])
            share = numpy.cumsum(even(sets[about])[order]) / about.sum()
            least = float(scores[about][order][numpy.searchsorted(share, 1 - keep)])
            print(f"  grounded from {least:.3f}; with it, and as shipped (of the questions that fitted that, too):")
            lines = [("answered", about), ("foreign", ~about), ("unanswerable", ~about & (sets == sources))]
            lines += [(f"answered by {name}", about & (sets == name)) for name in numpy.unique(sets)]
            lines += [(f"foreign in {name}", ~about & (sets == name)) for name in numpy.unique(sets)]
            lines += [("Ray asked of PostgreSQL",
                       (sets == "eval_postgres-docs") & (sources == "eval_ray-docs-pages"))]
            for label, places in lines:
                print(f"    {label:32} {interval(scores[places] >= least):32} {interval(shipped[places])}")
            models[f"least_{model}"] = round(least, 3)
    if options.write:
        DATA.write_text(json.dumps(models, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
