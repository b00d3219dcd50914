"""`docsearch.suggest` while names are typed."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import Database

PROGRAM = os.environ["DOCSEARCH_TEST_CLI"]
EXAMPLES = Path(__file__).parents[1] / "examples" / "swiftui"
# A document with this name or definition of its own, and the reference of the page or section.
NAMES = """
    SELECT d.title, 'swiftui/' || d.slug FROM docsearch.document d
    UNION ALL
    SELECT f.name, 'swiftui/' || d.slug || CASE f.anchor WHEN '' THEN '' ELSE '#' || f.anchor END
    FROM docsearch.definition f JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.document_id
    WHERE lower(f.name) <> lower(d.title)
      AND (SELECT count(*) FROM docsearch.definition o WHERE o.project_id = f.project_id AND o.key = f.key) <= 3
    UNION ALL
    SELECT q.question, 'swiftui/' || d.slug || CASE q.anchor WHEN '' THEN '' ELSE '#' || q.anchor END
    FROM docsearch.question q JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id"""
# The place of each target after each letter of its name.
PLACES = """
    SELECT w.name, w.target, n.typed, s.place
    FROM unnest(%s::text[], %s::text[]) AS w(name, target),
         LATERAL (SELECT DISTINCT rtrim(left(w.name, n)) AS typed FROM generate_series(1, least(length(w.name), 40)) n) n,
         LATERAL (SELECT min(s.place) FROM docsearch.suggest(n.typed, 'swiftui', 100) WITH ORDINALITY
                      AS s(suggestion, kind, slug, score, target, title, section, highlights, place)
                  WHERE s.target = w.target AND s.suggestion = w.name) s(place)
    ORDER BY w.name, w.target, length(n.typed)"""
NAMES_TOGETHER = 50


@pytest.fixture(scope="module")
def swiftui(database: Database) -> Database:
    """A database with the example pages, without vectors."""
    subprocess.run([PROGRAM, "index", EXAMPLES, "--project", "swiftui", "--url", database.conninfo], check=False,
                   capture_output=True, env={**os.environ, "PGOPTIONS": "-c docsearch.index_mode=deferred"})
    return database


@pytest.mark.any_server("the library orders names, which are the same rows in every version")
def test_s0_23_a_further_letter_never_moves_the_target_down(swiftui: Database):
    names = swiftui.execute(NAMES)
    assert len(names) > 300
    fallen, found, at = [], 0, (None, None)
    for start in range(0, len(names), NAMES_TOGETHER):
        part = names[start:start + NAMES_TOGETHER]
        places = swiftui.execute(PLACES, [name for name, _ in part], [target for _, target in part])
        for name, target, typed, place in places:
            before = at[1] if at[0] == (name, target) else None
            if before is not None and (place is None or place > before):
                fallen.append((typed, target, before, place))
            at = ((name, target), place)
            found += place is not None
    assert fallen == []
    assert found > 3000


def test_answers_keep_their_suggestions(swiftui: Database):
    answer, = swiftui.execute("SELECT search_docs_json('navigatoinview', 'swiftui', max_results => 1, config => "
                              "'{\"confidence_high\": 1, \"confidence_medium\": 1, \"confidence_lead\": 0}')")[0]
    assert answer["suggestions"]
    assert all(set(suggestion) == {"suggestion", "kind", "slug", "score"} for suggestion in answer["suggestions"])
