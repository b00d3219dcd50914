#!/usr/bin/env python3
"""Measures the log of queries: what it costs a search, how long its reports take, and whether missing topics are found.

Works in a database of its own, which it creates and drops. Searches with and without the log run in turns, with new texts so
that their embeddings are not cached. The log is then filled with calls whose queries, sessions and pages are distributed as a
few of each are frequent, and a role that was granted the reports reads them. Twenty phrasings of one missing topic at a time are
planted among five thousand other queries, of which a fifth have no good answer, and then all topics at once.
"""

import argparse
import random
import statistics
import subprocess
import threading
import time
from pathlib import Path

import psycopg
from intervals import mean_interval
from planted_topics import PHRASINGS, TOPICS, phrasings
from psycopg import conninfo

DATABASE = "docsearch_bench_log"
PROJECT = "swiftui"
READER = "docsearch_bench_log_reader"
PAGES = Path(__file__).resolve().parent.parent / "examples" / "swiftui"
CLIENTS = 8
SEARCHES = 60
ROUNDS = 20
REPORTS = [
    "top_queries", "unanswered_queries", "rephrased_queries", "page_usage", "dead_references", "search_latency", "rule_effects",
    "transformation_effects", "client_usage", "refinement_stats", "rephrase_rate", "drift", "documentation_gaps",
    "question_candidates"]
WORDS = ["button", "list", "grid", "toggle", "picker", "stack", "frame", "padding", "gesture", "animation", "sheet", "alert", "menu",
         "toolbar", "table", "text", "image", "label", "link", "form", "state", "binding", "scene", "window", "color", "shape"]


def fill(connection: psycopg.Connection, calls: int) -> None:
    """Logged calls: frequent queries are squares of a random number, so that a few are asked often."""
    connection.execute(
        """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, class, results,
                                            found_projects, found_documents, found_anchors, scores, original_top, final_top,
                                            score_delta, confidence, attempts, best_attempt, grade_gain,
                                            embed_ms, rank_ms, boost_ms, present_ms, total_ms)
           SELECT md5(n::text), now() - (n * 2592000.0 / %(calls)s) * interval '1 second', CASE WHEN n %% 5 = 0 THEN 'load' ELSE 'search' END,
                  md5('reader ' || n / 6), current_user, (ARRAY['sql', 'http', 'mcp', 'page'])[1 + n %% 4], 'some words of query ' || q,
                  left(md5(q::text), 16), ARRAY[p.id], (ARRAY['words', 'question', 'identifier'])[1 + n %% 3], 10,
                  ARRAY[p.id], ARRAY[d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7, d + 8, d + 9],
                  array_fill('a-section'::text, '{10}'), '{.9,.5,.4,.3,.2,.2,.2,.1,.1,.1}', d + n %% 2, d, .2,
                  CASE WHEN n %% 4 = 0 THEN 'low' ELSE 'high' END, 1 + n %% 2, 1, n %% 3 * .1, 2.25, 3.5, .5, 1.25, 4 + random() * 6
           FROM (SELECT n, (power(random(), 4) * 100000)::int AS q, 1 + (power(random(), 2) * 70)::int AS d
                 FROM generate_series(1, %(calls)s) n) g, docsearch.project p WHERE p.name = %(project)s""",
        {"calls": calls, "project": PROJECT})
    connection.execute(
        """INSERT INTO docsearch.feedback (call_id, role, kind, project_id, document_id)
           SELECT id, 'app', 'click', found_projects[1], found_documents[1 + results % 3]
           FROM docsearch.query_log WHERE kind = 'search' AND random() < 0.05""")
    connection.execute("VACUUM ANALYZE docsearch.query_log, docsearch.feedback")


def plant(connection: psycopg.Connection, topics: list[str]) -> None:
    """Phrasings of missing topics, none with a result, among five thousand other queries, of which every fifth has no good answer."""
    generator = random.Random(7)
    others = {" ".join(generator.sample(WORDS, generator.randint(2, 4))): None for _ in range(6000)}
    planted = [query for topic in topics for query in phrasings(topic)]
    connection.execute("TRUNCATE docsearch.query_log, docsearch.feedback")
    for queries, is_other in ((list(others)[:5000], True), (planted, False)):
        connection.execute(
            """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, results, confidence)
               SELECT md5(q), now(), 'search', md5(n::text), current_user, 'page', q, left(md5(q), 16), ARRAY[p.id],
                      CASE WHEN t.is_answered THEN 5 ELSE 0 END, CASE WHEN t.is_answered THEN 'high' ELSE 'low' END
               FROM (SELECT q, n, %s AND n %% 5 > 0 AS is_answered FROM unnest(%s::text[]) WITH ORDINALITY u (q, n)) t, docsearch.project p
               WHERE p.name = %s""", [is_other, queries, PROJECT])


def report_planted(connection: psycopg.Connection, topics: list[str]) -> list[tuple[int, int, int]]:
    """For each planted topic: the place of the gap with the most of its phrasings, how many these are, and how many others it has."""
    plant(connection, topics)
    rows = connection.execute(
        "SELECT queries, searches FROM docsearch.documentation_gaps(project => %s, max_rows => 100)", [PROJECT]).fetchall()
    # A gap shows five of its queries; they say which topic it is of.
    places = []
    for topic in topics:
        own = set(phrasings(topic))
        of_topic = [(searches, place) for place, (queries, searches) in enumerate(rows, 1) if len(own & set(queries)) * 2 > len(queries)]
        searches, place = max(of_topic, default=(0, 0))
        places.append((place, min(searches, len(own)), max(searches - len(own), 0)))
    return places


def searches(url: str, log: str) -> list[float]:
    """Milliseconds of searches by several clients at once."""
    times: list[float] = []

    def client(number: int) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET docsearch.log_queries = {log}")
            connection.execute("SELECT FROM search_docs('warm up', %s)", [PROJECT])
            for search in range(SEARCHES):
                text = f"{random.choice(WORDS)} {random.choice(WORDS)} {number} {search} {time.time_ns() % 100000}"
                begun = time.perf_counter()
                connection.execute("SELECT slug FROM search_docs(%s, %s)", [text, PROJECT]).fetchall()
                times.append((time.perf_counter() - begun) * 1000)

    clients = [threading.Thread(target=client, args=[number]) for number in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return times


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="a server of which this may create a database")
    parser.add_argument("--calls", type=int, default=1_000_000, help="logged calls that reports read")
    parser.add_argument("--program", required=True, help="the command-line program")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {DATABASE}")
        url = conninfo.make_conninfo(options.url, dbname=DATABASE)
        try:
            measure(url, options)
        finally:
            server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def measure(url: str, options: argparse.Namespace) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_docsearch CASCADE")
        subprocess.run([options.program, "index", str(PAGES), "--project", PROJECT, "--url", url], check=True, capture_output=True)
        p50, p95 = {"off": [], "text": []}, {"off": [], "text": []}
        for turn in range(ROUNDS):
            # Each is first in every other round, so that a change of the machine's speed favours neither.
            for log in list(p95)[:: 1 if turn % 2 else -1]:
                times = searches(url, log)
                p50[log].append(statistics.median(times))
                p95[log].append(percentile(times, 0.95))
        for name, by_log in (("p50", p50), ("p95", p95)):
            off, on = (statistics.median(by_log[log]) for log in ("off", "text"))
            changes = [on / off - 1 for off, on in zip(by_log["off"], by_log["text"])]
            low, high = mean_interval(changes)
            print(f"search, {CLIENTS} clients, {name}: {off:.1f} ms without the log, {on:.1f} with it "
                  f"({statistics.fmean(changes):+.1%}, interval {low:+.1%} to {high:+.1%})")
        time.sleep(4)
        stored, = connection.execute("SELECT count(*) FROM docsearch.query_log").fetchone()
        print(f"stored {stored} of {ROUNDS * CLIENTS * (SEARCHES + 1)} calls")
        connection.execute("TRUNCATE docsearch.query_log")
        fill(connection, options.calls)
        connection.execute(f"DROP ROLE IF EXISTS {READER}")
        connection.execute(f"CREATE ROLE {READER}")
        connection.execute("SELECT docsearch.grant_reports(%s)", [READER])
        connection.execute(f"SET ROLE {READER}")
        for report in REPORTS:
            times = []
            for _ in range(5):
                begun = time.perf_counter()
                connection.execute(f"SELECT * FROM docsearch.{report}(project => %s)", [PROJECT]).fetchall()
                times.append(time.perf_counter() - begun)
            print(f"{report}, {options.calls} calls: {times[0]:.2f} s at first, {min(times):.2f} to {max(times):.2f} s")
        connection.execute("RESET ROLE")
        begun = time.perf_counter()
        judged, = connection.execute("SELECT count(*) FROM docsearch.judge_from_clicks('clicks', %s)", [PROJECT]).fetchone()
        print(f"judge_from_clicks, {options.calls} calls: {judged} rows, {time.perf_counter() - begun:.2f} s")
        connection.execute(f"DROP OWNED BY {READER}")
        connection.execute(f"DROP ROLE {READER}")
        for topic in TOPICS:
            begun = time.perf_counter()
            (place, found, others), = report_planted(connection, [topic])
            seconds = time.perf_counter() - begun
            print(f"planted {topic}: place {place}, {found} of {PHRASINGS} phrasings, {others} others, {seconds:.2f} s")
        together = report_planted(connection, list(TOPICS))
        first = sum(0 < place <= len(TOPICS) for place, _, _ in together)
        whole = sum(found == PHRASINGS and others == 0 for _, found, others in together)
        print(f"all {len(TOPICS)} topics at once: {first} at the first {len(TOPICS)} places, {whole} whole and pure: {together}")


if __name__ == "__main__":
    main()
