"""What the tests of the front ends share: documents, a slow database, and programs that serve."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import GUARD, Database, page, wait_until

PROGRAM = os.environ["DOCSEARCH_TEST_CLI"]
LONG = "\n\n".join(f"## Part {number}\n\n" + "Every pause doubles. " * 40 for number in range(20))
PAGES = [
    page("guides/retry", "# Retry\n\nA request that times out is sent again, up to three times.\n\n"
         "## Backoff\n\nThe pause doubles with every attempt.", category="guides", kind="guide",
         metadata={"platform": "linux"}, source_urls=["https://kit.test/retry"]),
    page("guides/install", "# Install\n\nRun the installer and restart.", category="guides"),
    page("api/session", "# Session\n\nOpens a connection to the server.", category="api"),
    page("api/session/close", "# close\n\nCloses the connection and frees it.", category="api"),
    page("long", f"# Long\n\n{LONG}", category="api"),
]
SECRET = page("secret", "# Secret\n\nThe pause of the retry that nobody may see.", category="internal")
# What the front ends search with does this instead.
SEARCH_INSTEAD = """
    CREATE OR REPLACE FUNCTION docsearch.search_answer(query text, project text = NULL, category text = NULL,
        filter docsearch.json_argument = NULL, max_results bigint = NULL, min_score float8 = NULL, dedup text = NULL,
        config docsearch.json_argument = NULL, format text = NULL, max_chars bigint = 20000, max_tokens bigint = NULL,
        also text[] = NULL, projects text[] = NULL)
        RETURNS TABLE (content text, results int, confidence text, notices text[], search_token text, highlights jsonb)
        LANGUAGE plpgsql AS
        $$ BEGIN {} END $$"""
SLOW = SEARCH_INSTEAD.format("PERFORM pg_sleep(86400);")
# For those who are to wait for them.
PATIENT = ("--timeout", "3600")


def document(database: Database) -> Database:
    """Gives a database two projects."""
    for project in ("kit", "other"):
        database.execute("SELECT docsearch.create_project(%s)", project)
    database.index("kit", *PAGES, SECRET)
    database.index("other", page("guides/paint", "# Paint\n\nLet the paint dry before the second coat."))
    return database


def environment(**variables: str) -> dict[str, str]:
    """The environment without what would redirect the program."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("PG") and key not in ("PAGER", "NO_COLOR", "LESS")}
    return {**kept, **variables}


def slow_statements(database: Database) -> int:
    """How many slow searches run in the database."""
    return database.execute("""
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
        AND query LIKE 'SELECT %%search_answer%%' AND pid <> pg_backend_pid()""")[0][0]


@contextmanager
def running(database: Database, *arguments: object, command: str = "serve", variables: dict[str, str] | None = None,
            log: list[str] | None = None) -> Iterator[tuple[str, subprocess.Popen]]:
    """Serves over HTTP at a free port; gives the address and the process. What the program logs is in `log` at the end."""
    where = ["mcp", "--http", "0"] if command == "mcp" else ["serve", "0"]
    process = subprocess.Popen([PROGRAM, *where, "--url", database.conninfo, *map(str, arguments)],
                               env=environment(**(variables or {})), stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r"at (http://\S+)", line)
        assert found, line + process.stderr.read()
        yield found[1], process
    finally:
        process.terminate()
        code = process.wait(GUARD)
        said = process.stderr.read()
        assert code == 0, said
        if log is not None:
            log.append(said)


@contextmanager
def serving(database: Database, *arguments: object, command: str = "serve",
            variables: dict[str, str] | None = None, log: list[str] | None = None) -> Iterator[str]:
    """The address of a program that is `running`."""
    with running(database, *arguments, command=command, variables=variables, log=log) as (address, _):
        yield address


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    return document(new_database())


@pytest.fixture(scope="module")
def address(documented: Database) -> Iterator[str]:
    """The address of `docsearch serve` over the database."""
    with serving(documented, "--rate", "0") as address:
        yield address


def wait_for_slow(database: Database, count: int) -> None:
    """Waits until this number of slow searches run."""
    wait_until(lambda: slow_statements(database) == count)


def private(path: Path, text: str) -> Path:
    """A file that only its owner may read."""
    path.write_text(text)
    path.chmod(0o600)
    return path
