"""Promises over real pages: the 79 of examples/swiftui."""

import json
import math
import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_folder import docsearch

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PAGES = EXAMPLES / "swiftui"
JUDGMENTS = EXAMPLES / "judgments" / "api-lookup"
SEED = 20251122
SPANS = 400
GREATEST_COMPACT = 2000
WIDE_SPREAD, LEAST_SHARE = 0.10, 0.8
LEAST_RIGHT, LEAST_RECIPROCAL_RANK = 0.909, 0.955
LEAST_SCORE, LEAST_LEAD = 0.85, 0.05


@pytest.fixture(scope="module")
def pages(database):
    done = docsearch("index", PAGES, "--project", "swiftui", conninfo=database.conninfo)
    assert done.returncode == 0, done.stderr
    return database


@dataclass
class Answer:
    """What a query with a judgment found."""

    query: str
    group: str
    scores: list[float]
    # Rank of the first right page.
    place: float


@pytest.fixture(scope="module")
def answers(pages) -> list[Answer]:
    queries = [json.loads(line) for line in (JUDGMENTS / "queries.jsonl").read_text().splitlines()]
    judgments = [line.split("\t") for line in (JUDGMENTS / "qrels.tsv").read_text().splitlines()[1:]]
    right = {(query, slug) for query, slug, grade in judgments if int(grade) > 0}
    found = []
    with pages.connect() as connection:
        for query in queries:
            rows = connection.execute("SELECT slug, score FROM search_docs(%s, max_results => 10)", [query["text"]])
            slugs, scores = zip(*rows, strict=True)
            places = [place for place, slug in enumerate(slugs, 1) if (query["_id"], slug) in right]
            found.append(Answer(query["text"], query["metadata"]["group"], list(scores), min(places, default=math.inf)))
    return found


def unique_spans(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Spans of 5 to 8 words that are in the chunks of only one document, with its slug.

    They are text that a reader can copy, without marks of links and headings.
    """
    chance = random.Random(SEED)
    chunks = [(slug, chunk) for slug, of_slug in texts.items() for chunk in of_slug]
    everything = {slug: "\n".join(of_slug) for slug, of_slug in texts.items()}
    spans = []
    while len(spans) < SPANS:
        slug, chunk = chance.choice(chunks)
        words = chunk.split(" ")
        length = chance.randint(5, 8)
        if len(words) < length:
            continue
        start = chance.randrange(len(words) - length + 1)
        span = " ".join(words[start:start + length])
        if len(re.findall(r"\w+", span)) < 5 or re.search(r"[][()#]", span):
            continue
        if sum(span in text for text in everything.values()) == 1:
            spans.append((slug, span))
    return spans


def test_s4_22_a_span_of_one_page_finds_it_among_the_first_two(pages):
    texts: dict[str, list[str]] = {}
    rows = pages.execute("""
        SELECT d.slug, regexp_replace(c.body, '\\s+', ' ', 'g')
        FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id
        WHERE c.chunk_no > 0""")
    for slug, body in rows:
        texts.setdefault(slug, []).append(body)
    with pages.connect() as connection:
        missed = []
        for slug, span in unique_spans(texts):
            found = connection.execute("SELECT slug FROM search_docs(%s, max_results => 2)", [span])
            if slug not in [row[0] for row in found]:
                missed.append((span, slug))
    assert len(missed) <= 0.03 * SPANS, missed


def test_s0_36_every_unique_name_in_every_form_finds_its_page_first(pages):
    rows = pages.execute("SELECT * FROM docsearch.verify_invariants('swiftui')")
    broken = [row for row in rows if row[1] is not None]
    assert broken == []
    totals = {form: (names, holding) for form, _, _, _, names, holding in rows}
    assert set(totals) == {"written", "lower", "split", "in_project", "slug", "reference", "link"}
    assert all(names == holding for names, holding in totals.values())
    assert totals["written"][0] > 70 and totals["slug"][0] > 0


def test_s4_3_five_compact_results_fit(pages):
    lengths = pages.execute("""
        SELECT max(length(search_docs_text(d.title || ' ' || left(d.summary, 100))))
        FROM docsearch.document d""")
    assert lengths[0][0] <= GREATEST_COMPACT


def test_s4_14_scores_separate_good_results_from_weak_ones(answers):
    narrow = [answer for answer in answers if answer.scores[0] - answer.scores[-1] < WIDE_SPREAD]
    assert len(narrow) <= (1 - LEAST_SHARE) * len(answers), narrow


def test_s0_31_the_right_page_comes_first_or_soon(answers):
    assert sum(answer.place == 1 for answer in answers) >= LEAST_RIGHT * len(answers)
    assert sum(1 / answer.place for answer in answers) >= LEAST_RECIPROCAL_RANK * len(answers)


def test_s0_32_names_are_found_first_without_exception(answers):
    asked_by_name = [answer for answer in answers if answer.group in ("exact", "in-framework", "ambiguous")]
    assert len(asked_by_name) > 50
    assert [answer for answer in asked_by_name if answer.place != 1] == []


def test_s4_15_a_title_gives_its_page_a_high_score(pages):
    rows = pages.execute("""
        SELECT d.title, r.scores[1], r.scores[2]
        FROM docsearch.document d, LATERAL (
            SELECT array_agg(score ORDER BY rank) AS scores FROM search_docs(d.title, max_results => 2)) r
        WHERE NOT EXISTS (
            SELECT FROM docsearch.document_name own JOIN docsearch.document_name other USING (project_id, key)
            WHERE own.document_id = d.id AND own.kind = 'title' AND other.document_id <> d.id)""")
    assert len(rows) > 70
    assert [row for row in rows if row[1] <= LEAST_SCORE or row[1] - row[2] < LEAST_LEAD] == []
