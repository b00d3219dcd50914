"""Time limits of a role, a database or a session: they roll back users' statements as a whole, and do not affect
background work.
"""

from collections.abc import Iterator

import psycopg
import pytest
from background import WAITING, held_worker, indexed_half_way
from conftest import Database, held_document, kept_waiting_by, wait_until
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent
from test_deferred import many

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
    assert database.problems() == []


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
    """An open transaction writes one of the documents."""
    name = f"hasty_{where}"
    database.execute(f"CREATE ROLE {name} LOGIN")
    try:
        database.execute("SELECT docsearch.grant_usage(%s, write => true)", name)
        if where == "role":
            database.execute(f"ALTER ROLE {name} SET statement_timeout = '500ms'")
        with psycopg.connect(make_conninfo(database.conninfo, user=name), autocommit=True) as connection:
            if where == "session":
                connection.execute("SET statement_timeout = '500ms'")
            with (held_document(database, "kit", "slow/050"),
                  pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout")):
                connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("slow", count=100))])
        assert database.execute("SELECT FROM docsearch.document") == []
        assert {row[1] for row in database.index("kit", *many("slow", count=20))} == {"added"}
    finally:
        database.execute(f"DROP OWNED BY {name}")
        database.execute(f"DROP ROLE {name}")


def test_the_worker_has_no_limits(limited):
    """Rows that it cannot lock now are retried, which is not a failure."""
    with held_worker(limited) as holder:
        with limited.connect() as connection:
            connection.execute("SET docsearch.index_mode = 'deferred'")
            connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("background"))])
        for _ in range(2):
            wait_until(lambda: kept_waiting_by(limited, holder))
            wait_until(lambda: not kept_waiting_by(limited, holder))
        assert limited.execute("SELECT failed, last_error FROM docsearch.index_progress()") == [(0, None)]
    wait_until(lambda: limited.execute(WAITING) == [(0,)])


def test_attached_tables_have_no_limits(limited):
    limited.execute("CREATE TABLE note (id int PRIMARY KEY, title text, body text)")
    limited.execute("INSERT INTO note SELECT n, 'Note ' || n, 'About ' || n FROM generate_series(1, 600) n")
    limited.execute("SELECT docsearch.attach_table('note', project => 'kit')")
    wait_until(lambda: limited.execute("SELECT count(*) FROM docsearch.document") == [(600,)])
    wait_until(lambda: limited.execute(WAITING) == [(0,)])


def test_a_cancelled_worker_continues(database):
    with indexed_half_way(database, "kit", many("cancelled")) as worker:
        assert database.execute("SELECT pg_cancel_backend(%s)", worker) == [(True,)]
        statement = "SELECT last_error FROM docsearch.index_progress()"
        wait_until(lambda: "canceling" in (database.execute(statement)[0][0] or ""))
    wait_until(lambda: database.execute(WAITING) == [(0,)])
    assert database.execute("SELECT failed, last_error FROM docsearch.index_progress()") == [(0, None)]
