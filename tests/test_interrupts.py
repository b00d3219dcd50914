"""For any text, a cancel, a timeout and the end of a session act at once, and resources grow only with the size of the
text.

Time is processor time, which other programs on the machine do not affect.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from conftest import Database, page, wait_until

# Openings in Markdown, and texts of many small parts.
RUNS = ["[", "![a](", "*a_", "`a ", "1. ", "- a\n", "> ", ">", "# a\n", "|a|b|\n", "<a ", "a\n\n", "a ", "    - a\n", "[a]: b\n", "a\n=\n",
        "```\na\n", "&lt;\\", "<!-- a\n\n", "aB.", "A0", "漢字", "[a](b) *c* `d`\n\n- e\n> f\n", "| a | b |\n|---|---|\n| `c` | d |\n\n# e\n"]
BYTES = 30_000_000
# Maximum seconds of work after a cancel, and megabytes besides the text.
LATE = 2.5
MEMORY = 1_200


@dataclass
class Backend:
    """A session, and the resources of its process since its creation."""

    connection: psycopg.Connection
    pid: int = field(init=False)
    begun: float = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.pid = self.connection.info.backend_pid

    def worked(self) -> float:
        """Seconds of work."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> int:
        """Megabytes, at most so far."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


@pytest.fixture(scope="module")
def library(new_database) -> Iterator[Database]:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("long", "Short so far."))
    yield database


def backend(database: Database, timeout: str = "0") -> Backend:
    connection = database.connect()
    connection.execute(f"SET statement_timeout = '{timeout}'")
    connection.execute("SET docsearch.index_mode = deferred")
    return Backend(connection)


def text(run: str) -> str:
    """SQL of a long text."""
    return f"repeat($run${run}$run$, {BYTES // len(run.encode())})"


@pytest.mark.parametrize("run", RUNS)
def test_a_timeout_ends_the_indexing_of_any_text(library, run):
    """The statement has one second, in which it hardly begins. A fast one may finish."""
    session = backend(library, timeout="1s")
    before = session.worked()
    try:
        session.connection.execute(f"SELECT docsearch.index_doc('kit', 'any', 'Any', {text(run)})")
    except psycopg.errors.QueryCanceled:
        assert session.worked() - before < 1 + LATE
    assert session.peak() < MEMORY
    # The session works as before.
    session.connection.execute("SELECT docsearch.index_doc('kit', 'any', 'Any', '# Heading' || chr(10) || '- item')")
    session.connection.close()


@pytest.mark.parametrize("run", ["[", "# a\n", "- a\n", "a "])
def test_a_timeout_ends_the_loading_of_any_document(library, run):
    library.execute(f"UPDATE docsearch.document SET body = {text(run)} WHERE slug = 'long'")
    for call in ("load_doc('long')", "load_doc('long', section => 'nowhere')", "load_doc_json('long')", "load_docs('{long}', max_tokens => 1000)"):
        session = backend(library, timeout="1s")
        before = session.worked()
        try:
            session.connection.execute(f"SELECT count(x) FROM {call} x")
        except (psycopg.errors.QueryCanceled, psycopg.errors.UndefinedObject):
            pass
        assert session.worked() - before < 1 + LATE, call
        assert session.peak() < MEMORY
        session.connection.close()


@pytest.mark.parametrize("run", ["aB.", "漢字", "A0", "a_", "a "])
@pytest.mark.parametrize("call", ["to_tsvector('docsearch.english', {})", "(SELECT count(*) FROM ts_parse('docsearch.code_parser', {}))"])
def test_a_timeout_ends_the_text_search_parser(library, run, call):
    session = backend(library, timeout="1s")
    before = session.worked()
    try:
        session.connection.execute(f"SELECT {call.format(text(run))}")
    except (psycopg.errors.QueryCanceled, psycopg.errors.ProgramLimitExceeded):
        pass
    assert session.worked() - before < 1 + LATE
    session.connection.close()


@pytest.mark.parametrize(("signal", "error"), [("pg_cancel_backend", "57014"), ("pg_terminate_backend", "57P01")])
@pytest.mark.parametrize("run", ["[", "- a\n"])
def test_work_ends_when_it_is_cancelled(library, run, signal, error):
    """In the middle of its work: the process has worked for a second before."""
    session = backend(library)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(session.connection.execute, f"SELECT docsearch.index_doc('kit', 'any', 'Any', {text(run)})")
        start = session.worked()
        wait_until(lambda: done.done() or session.worked() > start + 1)
        begun = session.worked()
        assert library.execute(f"SELECT {signal}(%s)", session.pid) == [(True,)]
        with pytest.raises(psycopg.Error) as raised:
            done.result()
    assert raised.value.sqlstate == error
    if signal == "pg_cancel_backend":
        assert session.worked() - begun < LATE
    session.connection.close()
