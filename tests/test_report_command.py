"""`docsearch report`: reports of the log of queries for a terminal, Markdown, CSV and JSON."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Database, page
from test_command_line import FAILED, FOUND, NOTHING, ask

pytestmark = pytest.mark.any_server("what the program prints is made of rows that the SQL files hold in each version")

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "reports.md"
HOSTILE = "=HYPERLINK(\"http://x\") | <b>*a*\x1b[2J\u202e\n[kit/a]"


def log(database: Database, query: str | None, times: int = 1, *, confidence: str = "high", ago: str = "1 hour",
        session: str = "s", query_hash: str | None = None) -> None:
    """Writes calls as the worker stores them."""
    database.execute(
        """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, query_hash, project_ids,
                                            class, results, found_projects, found_documents, confidence, total_ms, final_top)
           SELECT gen_random_uuid()::text, now() - %s::interval + n * interval '1 second', 'search', %s, current_user, 'sql',
                  %s, coalesce(%s, md5(%s)), ARRAY[p.id], 'question', 1, ARRAY[p.id], ARRAY[d.id], %s, 4.5, d.id
           FROM generate_series(1, %s) n, docsearch.project p JOIN docsearch.document d ON d.project_id = p.id LIMIT %s""",
        ago, session, query, query_hash, query, confidence, times, times)


@pytest.fixture
def logged(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("retry", "A request that times out is sent again."))
    return database


def test_the_reports_are_those_of_the_reference(logged: Database) -> None:
    listed = [line.split(":")[0] for line in ask(logged, "report", "--list").splitlines()]
    signatures = re.findall(r"```sql signature\ndocsearch\.(\w+)\(since timestamptz = NULL, project text = NULL",
                            REFERENCE.read_text())
    assert listed == sorted(signatures)
    log(logged, "retry")
    shown = json.loads(ask(logged, "report", *listed, "--format", "json"))
    assert set(shown) == set(listed) and shown["top_queries"] and shown["rephrase_rate"]


def test_without_calls_it_says_how_to_log_them(logged: Database) -> None:
    said = ask(logged, "report", status=NOTHING)
    assert "docsearch.log_queries is off" in said and "SET docsearch.log_queries = 'text'" in said
    name = logged.execute("SELECT quote_ident(current_database())")[0][0]
    assert f"ALTER DATABASE {name} " in said
    logged.execute(f"ALTER DATABASE {name} SET docsearch.log_queries = 'text'")
    assert "Use an earlier --since" in ask(logged, "report", "--since", "1h", status=NOTHING)
    log(logged, "retry", ago="2 days")
    assert "no calls are logged since 1h" in ask(logged, "report", "--since", "1h", status=NOTHING)
    assert "top_queries" in ask(logged, "report", "top_queries", "--since", "3d")


def test_gap_reports_are_shown_without_calls(logged: Database) -> None:
    logged.execute("SELECT docsearch.report_gap('kit/retry', 'missing', 'It does not say how often.')")
    assert "It does not say how often." in ask(logged, "report")


def test_an_overview_names_what_to_do(logged: Database) -> None:
    log(logged, "how do I cancel?", 3, confidence="low")
    log(logged, "retry", 9)
    shown = ask(logged, "report")
    titles = [line.split(":")[0] for line in shown.splitlines() if re.match(r"[a-z_]+: ", line)]
    assert titles == ["rephrase_rate", "search_latency", "unanswered_queries", "documentation_gaps", "rephrased_queries",
                      "dead_references"]
    assert "how do I cancel?" in shown and "Write what is missing" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert set(json.loads(ask(logged, "report", "--format", "json"))) == set(titles)


def test_every_format_has_the_rows_of_the_function(logged: Database, tmp_path: Path) -> None:
    log(logged, "retry", 5)
    log(logged, "cancel", 2, confidence="low")
    log(logged, None, query_hash="0123456789abcdef")
    rows = [row for row, in logged.execute("SELECT to_jsonb(r) FROM docsearch.top_queries() r")]
    assert json.loads(ask(logged, "report", "top-queries", "--format", "json")) == {"top_queries": rows}
    table = list(csv.DictReader(io.StringIO(ask(logged, "report", "top_queries", "--format", "csv"))))
    assert [(row["query"], row["searches"]) for row in table] == [("retry", "5"), ("cancel", "2"), ("", "1")]
    target = tmp_path / "report.md"
    assert ask(logged, "report", "top_queries", "unanswered_queries", "--format", "markdown", "--output", target) == ""
    text = target.read_text()
    assert text.startswith("## top\\_queries\n") and "\n## unanswered\\_queries\n" in text
    assert "| \\#0123456789ab | 1 |" in text
    assert len(json.loads(ask(logged, "report", "top_queries", "-n", 1, "--format", "json"))["top_queries"]) == 1
    shown = ask(logged, "report", "top_queries", "--project", "kit", "--readers", "people")
    assert re.search(r"^retry +5 +1 ", shown, re.MULTILINE), shown


def test_queries_of_readers_cannot_harm(logged: Database) -> None:
    log(logged, HOSTILE)
    shown = ask(logged, "report", "top_queries")
    assert "\x1b" not in shown and "\u202e" not in shown
    cell, = (row["query"] for row in csv.DictReader(
        io.StringIO(ask(logged, "report", "top_queries", "--format", "csv"), newline="")))
    assert cell == "'" + HOSTILE
    markdown = ask(logged, "report", "top_queries", "--format", "markdown")
    assert "\\[kit/a\\]" in markdown and "\\<b\\>\\*a\\*" in markdown and "\x1b" not in markdown
    assert json.loads(ask(logged, "report", "top_queries", "--format", "json"))["top_queries"][0]["query"] == HOSTILE


def test_further_arguments_and_mistakes(logged: Database) -> None:
    log(logged, "retry")
    assert "retry" in ask(logged, "report", "page_usage", "--set", "rare=true")
    assert "the reports are empty" in ask(logged, "report", "top_queries", "--readers", "assistants", status=NOTHING)
    assert "--list lists them" in ask(logged, "report", "queries", status=FAILED)
    assert 'has no argument "rare"' in ask(logged, "report", "top_queries", "--set", "rare=true", status=FAILED)
    assert "Name one report" in ask(logged, "report", "--format", "csv", status=FAILED)
    for since in ("soon", "7q", "2026-13-01"):
        assert "a span such as 12h, 7d or 4w" in ask(logged, "report", "--since", since, status=FAILED), since
    for since in ("7d", "12h", "4w", "90min", "2026-01-31", "2026-01-31 12:30+00", "yesterday"):
        ask(logged, "report", "top_queries", "--since", since)
    assert 'project "kti" does not exist' in ask(logged, "report", "--project", "kti", status=FAILED)


def test_the_error_for_a_role_without_the_right_names_the_grant(logged: Database) -> None:
    logged.execute("CREATE ROLE report_reader LOGIN")
    try:
        logged.execute("SELECT docsearch.grant_usage('report_reader')")
        reader = Database(logged.conninfo + " user=report_reader")
        assert "docsearch.grant_reports(" in ask(reader, "report", status=FAILED)
        logged.execute("SELECT docsearch.grant_reports('report_reader')")
        log(logged, "retry")
        assert "retry" in ask(reader, "report", "top_queries")
    finally:
        logged.execute("DROP OWNED BY report_reader; DROP ROLE report_reader")
