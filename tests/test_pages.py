"""Promises over real pages: the 79 of examples/swiftui."""

import random
import re
from pathlib import Path

import pytest
from test_folder import docsearch

PAGES = Path(__file__).resolve().parent.parent / "examples" / "swiftui"
SEED = 20251122
SPANS = 400
GREATEST_COMPACT = 2000


@pytest.fixture(scope="module")
def pages(database):
    done = docsearch("index", PAGES, "--project", "swiftui", conninfo=database.conninfo)
    assert done.returncode == 0, done.stderr
    return database


def unique_spans(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Spans of 5 to 8 words that stand in the chunks of one document only, with its slug.

    They are what a reader can copy: the marks of links and headings are no part of them.
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


def test_s4_22_a_span_that_one_page_has_brings_it_into_the_first_two(pages):
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


def test_s0_36_every_unique_name_in_every_form_brings_its_page_first(pages):
    rows = pages.execute("SELECT * FROM docsearch.verify_invariants('swiftui')")
    broken = [row for row in rows if row[1] is not None]
    assert broken == []
    totals = {form: (names, holding) for form, _, _, _, names, holding in rows}
    assert set(totals) == {"written", "lower", "split", "in_project"}
    assert all(names == holding > 70 for names, holding in totals.values())


def test_s4_3_five_compact_results_fit(pages):
    lengths = pages.execute("""
        SELECT max(length(search_docs_text(d.title || ' ' || left(d.summary, 100))))
        FROM docsearch.document d""")
    assert lengths[0][0] <= GREATEST_COMPACT
