#!/usr/bin/env python3
"""Measures the log of queries: what it costs a search, how long its reports take, and whether a gap is found.

Works in a database of its own, which it creates and drops. Searches with and without the log run in turns, with new texts so
that their embeddings are not cached. The log is then filled with calls whose queries, sessions and pages are distributed as a
few of each are frequent. Twenty phrasings of one missing topic are planted among five thousand other queries without an answer.
"""

import argparse
import random
import statistics
import subprocess
import threading
import time
from pathlib import Path

import psycopg
from psycopg import conninfo

DATABASE = "docsearch_bench_log"
PROJECT = "swiftui"
PAGES = Path(__file__).resolve().parent.parent / "examples" / "swiftui"
CLIENTS = 8
SEARCHES = 60
ROUNDS = 3
REPORTS = [
    "top_queries", "unanswered_queries", "rephrased_queries", "page_usage", "search_latency", "rule_effects", "refinement_stats",
    "rephrase_rate", "documentation_gaps"]
WORDS = ["button", "list", "grid", "toggle", "picker", "stack", "frame", "padding", "gesture", "animation", "sheet", "alert", "menu",
         "toolbar", "table", "text", "image", "label", "link", "form", "state", "binding", "scene", "window", "color", "shape"]
TOPIC = [
    "connect to a bluetooth printer", "print over bluetooth", "bluetooth printing", "how do I pair a printer?", "printer pairing",
    "send a page to a bluetooth printer", "wireless printing setup", "can it print via bluetooth?", "print with a paired device",
    "bluetooth printer not found", "add a bluetooth printer", "printing from the phone over bluetooth", "set up a wireless printer",
    "which bluetooth printers work?", "print a receipt on a bluetooth printer", "bluetooth print job", "pair and print",
    "printing on a portable bluetooth printer", "choose a bluetooth printer", "bluetooth printer driver"]


def fill(connection: psycopg.Connection, calls: int) -> None:
    """Logged calls: frequent queries are squares of a random number, so that a few are asked often."""
    connection.execute(
        """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, class, results,
                                            found_projects, found_documents, found_anchors, scores, original_top, final_top,
                                            score_delta, confidence, attempts, best_attempt, grade_gain, milliseconds, total_ms)
           SELECT md5(n::text), now() - (n * 2592000.0 / %(calls)s) * interval '1 second', CASE WHEN n %% 5 = 0 THEN 'load' ELSE 'search' END,
                  'reader ' || n / 6, current_user, (ARRAY['sql', 'http', 'mcp', 'page'])[1 + n %% 4], 'query ' || q, md5(q::text),
                  ARRAY[p.id], (ARRAY['words', 'question', 'identifier'])[1 + n %% 3], 5,
                  array_fill(p.id, '{5}'), ARRAY[d, d + 1, d + 2, d + 3, d + 4], array_fill(''::text, '{5}'), '{.9,.5,.4,.3,.2}', d + n %% 2, d, .2,
                  CASE WHEN n %% 4 = 0 THEN 'low' ELSE 'high' END, 1 + n %% 2, 1, n %% 3 * .1,
                  '{"embed_ms": 2, "rank_ms": 3, "present_ms": 1}', 4 + random() * 6
           FROM (SELECT n, (power(random(), 4) * 100000)::int AS q, 1 + (power(random(), 2) * 70)::int AS d
                 FROM generate_series(1, %(calls)s) n) g, docsearch.project p WHERE p.name = %(project)s""",
        {"calls": calls, "project": PROJECT})
    connection.execute("ANALYZE docsearch.query_log")


def plant(connection: psycopg.Connection) -> None:
    """The phrasings of the missing topic among five thousand others, each asked once without an answer."""
    random.seed(7)
    others = {" ".join(random.sample(WORDS, random.randint(2, 4))) for _ in range(6000)}
    queries = list(others)[:5000] + TOPIC
    connection.execute("TRUNCATE docsearch.query_log")
    connection.execute(
        """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids, results, confidence)
           SELECT 'p' || n, now(), 'search', 's' || n, current_user, 'page', q, md5(q), ARRAY[p.id],
                  0, CASE WHEN n > 4000 THEN 'low' ELSE 'high' END
           FROM unnest(%s::text[]) WITH ORDINALITY t (q, n), docsearch.project p WHERE p.name = %s""", [queries, PROJECT])
    connection.execute("UPDATE docsearch.query_log SET results = 5 WHERE confidence = 'high'")


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
        for _ in range(ROUNDS):
            for log in p95:
                times = searches(url, log)
                p50[log].append(statistics.median(times))
                p95[log].append(percentile(times, 0.95))
        for name, by_log in (("p50", p50), ("p95", p95)):
            off, on = (statistics.median(by_log[log]) for log in ("off", "text"))
            print(f"search, {CLIENTS} clients, {name}: {off:.1f} ms without the log, {on:.1f} with it ({on / off - 1:+.1%})")
        time.sleep(4)
        stored, = connection.execute("SELECT count(*) FROM docsearch.query_log").fetchone()
        print(f"stored {stored} of {ROUNDS * CLIENTS * (SEARCHES + 1)} calls")
        connection.execute("TRUNCATE docsearch.query_log")
        fill(connection, options.calls)
        for report in REPORTS:
            times = []
            for _ in range(3):
                begun = time.perf_counter()
                connection.execute(f"SELECT * FROM docsearch.{report}(project => %s)", [PROJECT]).fetchall()
                times.append(time.perf_counter() - begun)
            print(f"{report}, {options.calls} calls: {statistics.median(times):.2f} s")
        plant(connection)
        begun = time.perf_counter()
        gaps = connection.execute("SELECT topic, searches, queries FROM docsearch.documentation_gaps(project => %s)", [PROJECT]).fetchall()
        seconds = time.perf_counter() - begun
        place = next((number for number, (topic, _, _) in enumerate(gaps, 1) if topic in TOPIC), None)
        topics = sum(topic in TOPIC for topic, _, _ in gaps)
        found = gaps[place - 1] if place else None
        print(f"planted gap: place {place}, {topics} clusters of it, {found and found[1]} of {len(TOPIC)} phrasings, {seconds:.2f} s")
        print(f"first: {gaps[0][0]!r}, {gaps[0][1]} searches")


if __name__ == "__main__":
    main()
