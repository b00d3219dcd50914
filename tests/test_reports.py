"""Reports give what their definition says, for random logs. The definitions are plain SQL over `docsearch.query_log`."""

import random
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from conftest import Database, page
from logged_calls import random_log

TEXTS = [f"query {number}" for number in range(12)]
CALLS = "q.logged_at >= %(since)s AND (%(project)s::bigint IS NULL OR %(project)s = ANY (q.project_ids))"
SEARCHES = f"SELECT * FROM docsearch.query_log q WHERE {CALLS} AND q.kind = 'search'"
UNANSWERED = "(results = 0 OR confidence = 'low' OR coalesce(grade < 0.5, false))"
QUERIES = f"""
    WITH s AS ({SEARCHES} AND q.query_hash IS NOT NULL AND {{condition}})
    SELECT query_hash, count(*), count(DISTINCT session), avg((results = 0)::int)::float8, avg((confidence = 'low')::int)::float8,
           (SELECT p.name || '/' || d.slug FROM s l LEFT JOIN docsearch.document d ON d.project_id = l.found_projects[1] AND d.id = l.final_top
            LEFT JOIN docsearch.project p ON p.id = d.project_id
            WHERE l.query_hash = s.query_hash ORDER BY l.logged_at DESC LIMIT 1)
    FROM s GROUP BY query_hash ORDER BY 2 DESC, 1"""
# Pairs of a search and the next one of its session.
PAIRS = f"""
    SELECT a.*, b.query AS next_query, b.query_hash AS next_hash, b.confidence AS next_confidence, b.logged_at AS next_at
    FROM ({SEARCHES} AND q.query_hash IS NOT NULL) a
    CROSS JOIN LATERAL (SELECT * FROM ({SEARCHES} AND q.query_hash IS NOT NULL) n
                        WHERE n.session = a.session AND n.logged_at > a.logged_at ORDER BY n.logged_at LIMIT 1) b
    WHERE b.query_hash <> a.query_hash AND b.logged_at <= a.logged_at + interval '1 minute'"""
DEFINITIONS = {
    "top_queries": ("query_hash, searches, sessions, no_results, low_confidence, first_page", QUERIES.format(condition="true")),
    "unanswered_queries": ("query_hash, searches, sessions, no_results, low_confidence, first_page", QUERIES.format(condition=UNANSWERED)),
    "rephrased_queries": ("times, then_confident, then_opened", f"""
        SELECT count(*), avg((next_confidence <> 'low')::int)::float8,
               avg((EXISTS (SELECT FROM docsearch.query_log q WHERE {CALLS} AND q.kind = 'load' AND q.results > 0 AND q.session = p.session
                            AND q.logged_at BETWEEN next_at AND next_at + interval '2 minutes'))::int)::float8
        FROM ({PAIRS}) p GROUP BY query_hash, next_hash ORDER BY 1 DESC, query_hash, next_hash"""),
    "rephrase_rate": ("*", f"""
        SELECT count(*), (SELECT count(*) FROM ({PAIRS}) p), (SELECT count(*) FROM ({PAIRS}) p) / nullif(count(*), 0)::float8
        FROM ({SEARCHES} AND q.query_hash IS NOT NULL) s"""),
    "page_usage": ("project, slug, found, first, queries, opened, helped, did_not_help", f"""
        SELECT p.name, d.slug,
               (SELECT count(*) FROM ({SEARCHES}) s, unnest(s.found_projects, s.found_documents) u (project, id)
                WHERE u.project = d.project_id AND u.id = d.id) AS found,
               (SELECT count(*) FROM ({SEARCHES}) s WHERE s.found_projects[1] = d.project_id AND s.final_top = d.id) AS first,
               (SELECT count(DISTINCT s.query_hash) FROM ({SEARCHES}) s WHERE s.found_projects[1] = d.project_id AND s.final_top = d.id),
               (SELECT count(*) FROM docsearch.query_log q WHERE {CALLS} AND q.kind = 'load'
                                                            AND q.found_projects[1] = d.project_id AND q.found_documents[1] = d.id),
               (SELECT count(*) FROM docsearch.feedback f WHERE f.given_at >= %(since)s AND f.kind = 'helped'
                                                            AND f.project_id = d.project_id AND f.document_id = d.id),
               (SELECT count(*) FROM docsearch.feedback f WHERE f.given_at >= %(since)s AND f.kind = 'did_not_help'
                                                            AND f.project_id = d.project_id AND f.document_id = d.id)
        FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
        WHERE %(project)s::bigint IS NULL OR d.project_id = %(project)s ORDER BY first DESC, found DESC, p.name, d.slug"""),
    "search_latency": ("*", f"""
        SELECT class, source, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY total_ms),
               percentile_disc(0.95) WITHIN GROUP (ORDER BY total_ms), avg(embed_ms), avg(rank_ms), avg(present_ms),
               count(*) FILTER (WHERE 'vector_unavailable' = ANY (notices))
        FROM ({SEARCHES}) s GROUP BY class, source ORDER BY 3 DESC, 1, 2"""),
    "rule_effects": ("*", f"""
        SELECT class, count(*), count(*) FILTER (WHERE moved), avg(score_delta), count(*) FILTER (WHERE moved AND opened = original_top),
               count(*) FILTER (WHERE moved AND opened = final_top)
        FROM (SELECT *, original_top <> final_top AS moved,
                     (SELECT f.document_id FROM docsearch.feedback f WHERE f.call_id = s.id AND f.kind = 'click' ORDER BY f.id LIMIT 1) AS opened
              FROM ({SEARCHES} AND q.final_top IS NOT NULL) s) m
        GROUP BY class ORDER BY 2 DESC, 1"""),
    "refinement_stats": ("searches, refined, mean_iterations, improved, mean_gain", f"""
        SELECT count(*), count(*) FILTER (WHERE attempts > 1), avg(attempts - 1)::float8,
               (avg((grade_gain > 0)::int) FILTER (WHERE attempts > 1))::float8, avg(grade_gain) FILTER (WHERE attempts > 1)
        FROM ({SEARCHES} AND q.attempts IS NOT NULL) s"""),
    "client_usage": ("*", f"""
        SELECT source, client, count(DISTINCT session), count(*) FILTER (WHERE kind = 'search') AS searches,
               count(*) FILTER (WHERE kind = 'load' AND results > 0),
               avg((results = 0)::int) FILTER (WHERE kind = 'search')::float8, avg((confidence = 'low')::int) FILTER (WHERE kind = 'search')::float8,
               count(*) FILTER (WHERE kind = 'load' AND results = 0)
        FROM docsearch.query_log q WHERE {CALLS} GROUP BY source, client ORDER BY searches DESC, source, client"""),
    "dead_references": ("query_hash, times, sessions", f"""
        SELECT query_hash, count(*), count(DISTINCT session) FROM docsearch.query_log q
        WHERE {CALLS} AND q.kind = 'load' AND q.results = 0 AND q.query_hash IS NOT NULL GROUP BY query_hash ORDER BY 2 DESC, 1"""),
}
WITHOUT_LIMIT = ("rephrase_rate", "refinement_stats")


@pytest.fixture(scope="module")
def logged(database: Database) -> Iterator[psycopg.Connection]:
    for project in ("kiln", "wheel", "glaze"):
        database.execute("SELECT docsearch.create_project(%s)", project)
        database.index(project, *(page(f"{project}/{number}", f"# Page {number}\n\nClay of {project}.") for number in range(4)))
    with database.connect() as connection:
        yield connection


@pytest.mark.parametrize("seed", range(4))
def test_reports_are_those_of_their_definition(logged: psycopg.Connection, seed: int):
    random_log(logged, seed, 400, TEXTS)
    generator = random.Random(seed)
    now, = logged.execute("SELECT now()").fetchone()
    for report, (columns, definition) in DEFINITIONS.items():
        for project in (None, "kiln", "wheel"):
            since = now - timedelta(hours=generator.choice([1, 30, 40, 47, 24 * 20]))
            limit = generator.choice([1, 3, 10_000])
            number = logged.execute("SELECT id FROM docsearch.project WHERE name = %s", [project]).fetchone()
            expected = logged.execute(definition, {"since": since, "project": number and number[0]}).fetchall()
            given = {"since": since, "project": project, "max_rows": limit}
            arguments = "since => %(since)s, project => %(project)s" + ("" if report in WITHOUT_LIMIT else ", max_rows => %(max_rows)s::int")
            rows = logged.execute(f"SELECT {columns} FROM docsearch.{report}({arguments})", given).fetchall()
            assert rounded(rows) == rounded(expected[:limit]), (report, given)


def rounded(rows: list[tuple]) -> list[tuple]:
    """Means of `real` and `float8` differ in their last digits."""
    return [tuple(round(value, 4) if isinstance(value, float) else value for value in row) for row in rows]


@pytest.mark.parametrize("seed", range(2))
def test_rarely_found_pages_come_first(logged: psycopg.Connection, seed: int):
    random_log(logged, seed, 200, TEXTS)
    often = logged.execute("SELECT slug, first, found FROM docsearch.page_usage()").fetchall()
    rare = logged.execute("SELECT slug, first, found FROM docsearch.page_usage(rare => true)").fetchall()
    assert sorted(often) == sorted(rare)
    assert [row[1:] for row in rare] == sorted(row[1:] for row in often)
