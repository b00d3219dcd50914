"""Random logs of queries, for tests of the reports."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
from psycopg.types.json import Jsonb

INSERT = """INSERT INTO docsearch.query_log
                (id, logged_at, kind, session, source, role, query, query_hash, project_ids, class, results, found_projects, found_documents,
                 found_anchors, scores, original_top, final_top, score_delta, confidence, grade, attempts, best_attempt, grade_gain, notices,
                 embed_ms, rank_ms, present_ms, total_ms)
            SELECT r.* FROM jsonb_to_recordset(%s) AS r (
                 id text, logged_at timestamptz, kind text, session text, source text, role text, query text, query_hash text,
                 project_ids bigint[], class text, results int, found_projects bigint[], found_documents bigint[], found_anchors text[],
                 scores real[], original_top bigint, final_top bigint, score_delta real, confidence text, grade real, attempts int,
                 best_attempt int, grade_gain real, notices text[], embed_ms real, rank_ms real, present_ms real, total_ms real)"""


@dataclass
class Corpus:
    """Pages by project: ids of `docsearch.project` and `docsearch.document`."""

    pages: dict[int, list[int]]

    @classmethod
    def of(cls, connection: psycopg.Connection) -> "Corpus":
        pages: dict[int, list[int]] = {project: [] for project, in connection.execute("SELECT id FROM docsearch.project ORDER BY id")}
        for project, page in connection.execute("SELECT project_id, id FROM docsearch.document ORDER BY project_id, slug"):
            pages[project].append(page)
        return cls(pages)


def random_call(generator: random.Random, corpus: Corpus, number: int, at: datetime, texts: list[str]) -> dict:
    """A search or a load; a few sessions, and few texts, so that calls belong together."""
    projects = generator.sample(sorted(corpus.pages), generator.choice([1, 1, 1, 2, len(corpus.pages)]))
    pages = [(project, page) for project in projects for page in corpus.pages[project]]
    text = generator.randrange(len(texts))
    kept = generator.choice(["text", "text", "text", "hash", "none"])
    call = {
        "id": f"call {number}", "logged_at": at.isoformat(), "session": f"reader {generator.randrange(6)}", "role": "app",
        "source": generator.choice(["sql", "http", "mcp", "page"]), "query": texts[text] if kept == "text" else None,
        "query_hash": None if kept == "none" else f"{text:016x}", "project_ids": projects, "found_anchors": [], "scores": [], "notices": [],
        "total_ms": round(generator.uniform(1, 50), 1)}
    if generator.random() < 0.05:
        nowhere = f"kiln/lost/{text}"
        return call | {"kind": "load", "query": nowhere if kept == "text" else None, "query_hash": None if kept == "none" else nowhere,
                       "results": 0, "found_projects": [], "found_documents": []}
    if generator.random() < 0.25 and pages:
        project, page = generator.choice(pages)
        return call | {"kind": "load", "query": None, "query_hash": None, "results": 1, "project_ids": [project],
                       "found_projects": [project], "found_documents": [page]}
    found = generator.sample(pages, min(len(pages), generator.choice([0, 1, 3, 10])))
    graded = generator.choice([None, round(generator.random(), 2)])
    attempts = generator.choice([None, 1, 2, 3])
    first = found[0][1] if found else None
    return call | {
        "kind": "search", "class": generator.choice(["words", "question", "identifier", None]), "results": len(found),
        "found_projects": [project for project, _ in found], "found_documents": [page for _, page in found],
        "found_anchors": ["" for _ in found], "scores": sorted((round(generator.random(), 2) for _ in found), reverse=True),
        "original_top": generator.choice([page for _, page in found]) if found else None, "final_top": first,
        "score_delta": round(generator.random(), 2) if found else None,
        "confidence": generator.choice(["low", "medium", "high"]), "grade": graded, "attempts": attempts,
        "best_attempt": attempts and generator.randint(1, attempts), "grade_gain": attempts and round(generator.uniform(0, 0.5), 2),
        "notices": generator.choice([[], [], ["vector_unavailable"]]),
        "embed_ms": generator.choice([None, 1.5]), "rank_ms": 2.5, "present_ms": 0.5}


def random_log(connection: psycopg.Connection, seed: int, calls: int, texts: list[str]) -> None:
    """Replaces the log by random calls of the last days, and some feedback to them."""
    generator = random.Random(seed)
    corpus = Corpus.of(connection)
    now, = connection.execute("SELECT now()").fetchone()
    at = now - timedelta(days=2)
    rows = []
    for number in range(calls):
        at += timedelta(seconds=generator.choice([1, 5, 20, 40, 90, 300]), microseconds=number)
        rows.append(random_call(generator, corpus, number, at, texts))
    connection.execute("TRUNCATE docsearch.query_log, docsearch.feedback, docsearch.gap_report")
    connection.execute(INSERT, [Jsonb(rows)])
    for row in rows:
        if row["kind"] == "search" and row["found_documents"] and generator.random() < 0.4:
            place = generator.randrange(len(row["found_documents"]))
            connection.execute(
                """INSERT INTO docsearch.feedback (call_id, role, kind, project_id, document_id, given_at) VALUES (%s, 'app', %s, %s, %s, %s)
                   ON CONFLICT DO NOTHING""",
                [row["id"], generator.choice(["click", "click", "helped", "did_not_help"]), row["found_projects"][place],
                 row["found_documents"][place], row["logged_at"]])
    for project, pages in corpus.pages.items():
        for page in generator.sample(pages, min(2, len(pages))):
            connection.execute(
                """INSERT INTO docsearch.gap_report (role, project_id, document_id, slug, category, report, goal)
                   VALUES ('app', %s, %s, %s, 'missing', %s, %s) ON CONFLICT DO NOTHING""",
                [project, page, f"page {page}", f"Page {page} lacks something.", generator.choice([None, generator.choice(texts)])])
    connection.execute("ANALYZE docsearch.query_log")
