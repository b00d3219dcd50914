"""Limits of time that a role, a database or a session sets: they end statements of people, whole, and
not the work in the background.
"""

import time
from collections.abc import Iterator

import psycopg
import pytest
from conftest import Database, wait_until
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent
from test_deferred import WAITING, WORKER, many

LIMITS = {"statement_timeout": "500ms", "lock_timeout": "500ms", "transaction_timeout": "1s",
          "default_transaction_read_only": "on", "default_transaction_isolation": "serializable"}
UNLIMITED = {**dict.fromkeys(LIMITS, "0"), "default_transaction_read_only": "off",
             "default_transaction_isolation": r"read\ committed"}


@pytest.fixture
def database(new_database) -> Iterator[Database]:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    yield database
    assert_consistent(database)
    assert database.execute("SELECT problem, object, detail FROM docsearch.check()") == []


@pytest.fixture
def limited(database: Database) -> Iterator[Database]:
    """The database with limits, through connections that have none."""
    known = {row[0] for row in database.execute("SELECT name FROM pg_settings")} & LIMITS.keys()
    options = " ".join(f"-c {setting}={UNLIMITED[setting]}" for setting in known)
    unlimited = Database(make_conninfo(database.conninfo, options=options))
    name, = unlimited.execute("SELECT current_database()")[0]
    for setting in known:
        unlimited.execute(f"ALTER DATABASE {name} SET {setting} = '{LIMITS[setting]}'")
    yield unlimited
    unlimited.execute(f"ALTER DATABASE {name} RESET ALL")


@pytest.mark.parametrize("where", ["session", "role"])
def test_indexing_that_takes_too_long_leaves_nothing(database, where):
    name = f"hasty_{where}"
    database.execute(f"CREATE ROLE {name} LOGIN")
    try:
        database.execute("SELECT docsearch.grant_usage(%s, write => true)", name)
        if where == "role":
            database.execute(f"ALTER ROLE {name} SET statement_timeout = '500ms'")
        with psycopg.connect(make_conninfo(database.conninfo, user=name), autocommit=True) as connection:
            if where == "session":
                connection.execute("SET statement_timeout = '500ms'")
            with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
                connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("slow", count=1000))])
        assert database.execute("SELECT FROM docsearch.document") == []
        assert {row[1] for row in database.index("kit", *many("slow", count=20))} == {"added"}
    finally:
        database.execute(f"DROP OWNED BY {name}")
        database.execute(f"DROP ROLE {name}")


def test_the_worker_has_no_limits(limited):
    with limited.connect(autocommit=False) as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("background"))])
        worker = wait_until(lambda: limited.execute(WORKER))
        time.sleep(1.5)
        connection.commit()
    assert limited.execute(WORKER) == worker
    wait_until(lambda: limited.execute(WAITING) == [(0,)], 60)


def test_attached_tables_have_no_limits(limited):
    limited.execute("CREATE TABLE note (id int PRIMARY KEY, title text, body text)")
    limited.execute("INSERT INTO note SELECT n, 'Note ' || n, 'About ' || n FROM generate_series(1, 600) n")
    limited.execute("SELECT docsearch.attach_table('note', project => 'kit')")
    wait_until(lambda: limited.execute("SELECT count(*) FROM docsearch.document") == [(600,)], 60)
    wait_until(lambda: limited.execute(WAITING) == [(0,)], 60)


def test_a_worker_that_is_cancelled_goes_on(database):
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("cancelled"))])
    worker = wait_until(lambda: database.execute(WORKER))
    assert database.execute("SELECT pg_cancel_backend(%s)", worker[0][0]) == [(True,)]
    wait_until(lambda: "canceling" in (database.execute("SELECT last_error FROM docsearch.index_progress()")[0][0] or ""))
    wait_until(lambda: database.execute(WAITING) == [(0,)], 60)
    assert database.execute("SELECT failed, last_error FROM docsearch.index_progress()") == [(0, None)]
