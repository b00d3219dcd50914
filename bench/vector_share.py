#!/usr/bin/env python3
"""Tests whether another share of the vector score would rank better, for all queries or for each query.

Needs a database in which `make eval-all` and `make bench-questions` have indexed their sets. Each query is searched once.
The steps of its results (explain_search) give the score with any other share, so the results can be ranked again for each
share without a search. The tables have, for each set and group: the product; one share for all queries; the best share of
each query, which needs the right answer and is an upper bound; and a share predicted from features of the query and its two
rankings, by a ridge regression fitted on the other sets. The script changes nothing in the database.
"""

import argparse
import csv
import json
import math
import sys
from pathlib import Path

import numpy
import psycopg

QUESTIONS = Path(__file__).resolve().parent / "questions"
UNANSWERABLE = "unanswerable"
DEPTH, PLACES = 50, 10
SHARES = numpy.linspace(0, 1, 11)
# crates/docsearch-core/src/ranking/score.rs
SOFT_CAP, CAP = 0.9, 0.93
GREATEST_BOOST = 1.0
# The regression predicts the gain of a share greater by this against one smaller by this.
STEP = 0.25
PENALTY = 30.0
FACTORS = (2.0, 5.0, 10.0)
BOUNDS = (-0.3, 0.4)
SAMPLES = 2000


def load_set(data: Path) -> list[dict]:
    """Returns the queries of a data set with their right answers: its training queries if it has any."""
    kind = ".train" if (data / "queries.train.jsonl").is_file() else ""
    right: dict[str, dict[str, float]] = {}
    for line in (data / f"qrels{kind}.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")
        if float(score) > 0:
            right.setdefault(query, {})[document] = float(score)
    lines = map(json.loads, (data / f"queries{kind}.jsonl").read_text().splitlines())
    return [{"set": data.name, "group": f"{data.name} {(line.get('metadata') or {}).get('group', '')}".strip(),
             "project": f"eval_{data.name}", "text": line["text"], "right": right[line["_id"]], "any": False}
            for line in lines if line["_id"] in right]


def load_questions(name: str) -> list[dict]:
    """Returns the answerable questions of a set. Each of the pages listed is right."""
    with (QUESTIONS / f"{name}.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    return [{"set": f"questions {name}", "group": f"questions {row['group']}", "project": f"questions_{name}",
             "text": row["question"], "right": dict.fromkeys(row["pages"].split(" | "), 1.0), "any": True}
            for row in rows if row["group"] != UNANSWERABLE]


def parse_steps(steps: list[dict]) -> dict:
    """Reduces the steps of a score to what does not depend on the share: both scores, and the effect of the rules."""
    found = {"dense": 0.0, "lexical": 0.0, "share": 0.0, "boosts": 0.0, "before": 1.0, "lift": 0.0, "after": 1.0,
             "name": 0.0}
    for step in steps:
        worth = step["raw"] * step["weight"]
        kept = step["after"] / step["before"] if step["before"] > 0 else 1.0
        match step["step"], step["rule"]:
            case "base", "dense":
                found |= {"dense": step["raw"], "share": step["weight"]}
            case "base", "lexical":
                found["lexical"] = step["raw"]
            case "boost", _:
                found["boosts"] = min(found["boosts"] + worth, GREATEST_BOOST)
            case "penalty", "news" | "list":
                found["after"] *= kept
            case "penalty", _:
                found["before"] *= kept
            case "name", "exact_name":
                found["name"] = worth
            case "name" | "phrase", rule if rule != "ceiling":
                found["lift"] = 1 - (1 - found["lift"]) * (1 - worth)
    return found


def search(connection: psycopg.Connection, query: dict) -> dict:
    """Searches for a query. Its questions are not searched separately (question_share), since each has steps of its own."""
    answer = connection.execute("SELECT search_docs_json(%s, %s, max_results => %s, config => %s)",
                                [query["text"], query["project"], DEPTH, json.dumps({"question_share": 0})]).fetchone()[0]
    found = [{"slug": result["slug"], "score": result["score"], **parse_steps(result["breakdown"])}
             for result in answer["results"] if not result["additional_chunk"]]
    understood = answer["understood"]
    return {**query, "found": found, "class": understood["class"], "words": len(understood["text"].split()),
            "terms": len(understood["terms"])}


def column(query: dict, name: str) -> numpy.ndarray:
    """Returns one number of each result."""
    return numpy.array([one[name] for one in query["found"]])


def scores(query: dict, share: float) -> numpy.ndarray:
    """Computes the scores with this share of the vector score, by the formula of score.rs."""
    base = numpy.clip(share * column(query, "dense") + (1 - share) * column(query, "lexical"), 0, 1)
    score = (1 - (1 - base) ** (1 + column(query, "boosts"))) * column(query, "before")
    score = (1 - (1 - score) * (1 - column(query, "lift"))) * column(query, "after")
    pressed = SOFT_CAP + (score - SOFT_CAP) * (CAP - SOFT_CAP) / (1 - SOFT_CAP)
    score = numpy.where(score > SOFT_CAP, pressed, score)
    return 1 - (1 - score) * (1 - column(query, "name"))


def evaluate(query: dict, ranked: numpy.ndarray) -> tuple[float, float]:
    """Returns whether the first result is right, and nDCG@10; for questions nDCG counts the first right page only."""
    order = numpy.argsort(-ranked, kind="stable")[:PLACES]
    gains = [query["right"].get(query["found"][place]["slug"], 0.0) for place in order]
    first = float(bool(gains) and gains[0] > 0)
    if query["any"]:
        places = [place for place, gain in enumerate(gains) if gain > 0]
        return first, 1 / math.log2(places[0] + 2) if places else 0.0
    discounted = lambda values: sum(value / math.log2(place + 2) for place, value in enumerate(values))
    return first, discounted(gains) / discounted(sorted(query["right"].values(), reverse=True)[:PLACES])


def features(query: dict) -> list[float]:
    """Computes what a search knows about a query before it mixes the two scores."""
    if len(query["found"]) < 2:
        return [0.0] * len(FEATURES)
    dense, lexical = column(query, "dense"), column(query, "lexical")
    by_dense, by_lexical = numpy.argsort(-dense), numpy.argsort(-lexical)
    lead = lambda values, order: values[order[0]] - values[order[1:5]].mean()
    relative = lambda values, place: values[place] / max(values.max(), 1e-6)
    return [dense.max(), lexical.max(), lead(dense, by_dense), lead(lexical, by_lexical),
            relative(dense, by_lexical[0]), relative(lexical, by_dense[0]),
            len(set(by_dense[:5]) & set(by_lexical[:5])) / 5, min(query["words"], 30), min(query["terms"], 15),
            float(query["class"] == "question")]


FEATURES = ("greatest vector score", "greatest keyword score", "lead of the first by vectors", "lead of the first by keywords",
            "vector score of the first by keywords", "keyword score of the first by vectors", "results in the first five of both",
            "words", "terms", "question")


def interval(differences: numpy.ndarray) -> str:
    """Formats a mean difference with its paired bootstrap interval of 95 %."""
    drawn = numpy.random.default_rng(1).integers(0, len(differences), (SAMPLES, len(differences)))
    low, high = numpy.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return f"{differences.mean():+.3f} [{low:+.3f}, {high:+.3f}]{'*' if low > 0 or high < 0 else ' '}"


def predict(matrix: numpy.ndarray, gains: numpy.ndarray, sets: numpy.ndarray) -> numpy.ndarray:
    """Predicts the gain of a greater share for each set from the other sets. Each set has the same weight."""
    result = numpy.zeros(len(gains))
    for name in numpy.unique(sets):
        train = sets != name
        weights = numpy.array([1 / (sets == other).sum() for other in sets[train]])
        weights /= weights.mean()
        mean, scale = matrix[train].mean(axis=0), matrix[train].std(axis=0) + 1e-9
        design = lambda rows: numpy.hstack([numpy.ones((rows.sum(), 1)), (matrix[rows] - mean) / scale])
        penalty = PENALTY * numpy.eye(matrix.shape[1] + 1)
        penalty[0, 0] = 0
        left = design(train).T @ (design(train) * weights[:, None]) + penalty
        result[~train] = design(~train) @ numpy.linalg.solve(left, design(train).T @ (gains[train] * weights))
    return result


def report(queries: list[dict]) -> None:
    """Prints the tables."""
    own_scores = [evaluate(query, column(query, "score")) for query in queries]
    product_first, product = numpy.array(own_scores).T
    grid = numpy.array([[evaluate(query, scores(query, share)) for query in queries] for share in SHARES])
    first, gain = grid[..., 0], grid[..., 1]
    own = numpy.array([query["found"][0]["share"] if query["found"] else 0.5 for query in queries])
    at = lambda table, shares: numpy.array([numpy.interp(share, SHARES, table[:, place])
                                            for place, share in enumerate(shares)])
    again = numpy.array([evaluate(query, scores(query, share)) for query, share in zip(queries, own)])[:, 1]
    print(f"the formula here and the product differ for {int((abs(again - product) > 1e-6).sum())} of {len(queries)} queries")
    groups = {name: numpy.array([query["group"] == name for query in queries])
              for name in dict.fromkeys(query["group"] for query in queries)}
    print(f"\n{'first right':30}{'':>5}{'product':>9}" + "".join(f"{share:>6.1f}" for share in SHARES) + f"{'best':>7}")
    for name, of in groups.items():
        print(f"{name:30}{of.sum():5}{product_first[of].mean():9.3f}"
              + "".join(f"{value:6.3f}" for value in first[:, of].mean(axis=1)) + f"{first[:, of].max(axis=0).mean():7.3f}")
    print(f"\n{'nDCG@10, against the product':30}{'':>5}{'product':>9}{'vectors alone':>27}{'keywords alone':>27}")
    for name, of in groups.items():
        print(f"{name:30}{of.sum():5}{product[of].mean():9.3f}{interval((gain[-1] - product)[of]):>27}"
              f"{interval((gain[0] - product)[of]):>27}")
    matrix, sets = numpy.array([features(query) for query in queries]), numpy.array([query["set"] for query in queries])
    gains = at(gain, numpy.minimum(own + STEP, 1)) - at(gain, numpy.maximum(own - STEP, 0))
    print(f"\n{'correlation with the gain':42}" + "".join(f"{name[-12:]:>14}" for name in dict.fromkeys(sets)))
    for place, label in enumerate(FEATURES):
        line = ""
        for name in dict.fromkeys(sets):
            of = sets == name
            varies = matrix[of, place].std() > 0 and gains[of].std() > 0
            line += f"{numpy.corrcoef(matrix[of, place], gains[of])[0, 1]:14.2f}" if varies else f"{'-':>14}"
        print(f"{label:42}{line}")
    predicted = predict(matrix, gains, sets)
    print(f"\npredicted and true gain correlate by {numpy.corrcoef(predicted, gains)[0, 1]:.3f}, sets that were not fitted")
    print(f"{'nDCG@10, predicted share, factor':35}" + "".join(f"{factor:>27}" for factor in FACTORS))
    tried = [at(gain, numpy.clip(own + numpy.clip(factor * predicted, *BOUNDS), 0, 1)) - at(gain, own) for factor in FACTORS]
    for name, of in groups.items():
        print(f"{name:30}{of.sum():5}" + "".join(f"{interval(one[of]):>27}" for one in tried))


def main() -> None:
    sources = json.loads((QUESTIONS / "sources.json").read_text())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, help="data sets in BEIR layout, indexed as eval_NAME")
    parser.add_argument("--sets", nargs="*", choices=sources, default=list(sources), help="sets of questions (default: all)")
    parser.add_argument("--url", help="libpq URL of the database")
    parser.add_argument("--observations", type=Path, help="file for the results: read if it exists, written otherwise")
    options = parser.parse_args()
    if options.observations and options.observations.is_file():
        queries = json.loads(options.observations.read_text())
    else:
        asked = [query for data in options.directories for query in load_set(data)]
        asked += [query for name in options.sets for query in load_questions(name)]
        if not options.url:
            parser.error("--url is needed to search")
        with psycopg.connect(options.url, autocommit=True) as connection:
            queries = [search(connection, query) for query in asked]
        print(f"{len(queries)} queries", file=sys.stderr)
        if options.observations:
            options.observations.write_text(json.dumps(queries))
    report(queries)


if __name__ == "__main__":
    main()
