"""Calls leave the caller's session unchanged, whatever code of a table runs in them: its locks, settings, prepared
statements, cursors and LISTEN channels.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from attacks import attacked_server
from background import acting
from conftest import GUARD, Database, Site, kept_waiting_by, wait_until

# Locks of one and of two keys, exclusive and shared, some held several times.
LOCKS = {"pg_advisory_lock(42)": 3, "pg_advisory_lock(43)": 1, "pg_advisory_lock_shared(43)": 2,
         "pg_advisory_lock_shared(44)": 1, "pg_advisory_lock(1, 2)": 2, "pg_advisory_lock_shared(1, 3)": 1}
OF_TRANSACTION = ["pg_advisory_xact_lock(42)", "pg_advisory_xact_lock_shared(7, 7)"]
# Actions of a table's code on them.
TAKEN = {
    "nothing": "",
    "the same once more": "PERFORM pg_advisory_lock(42), pg_advisory_lock_shared(43), pg_advisory_lock(1, 2)",
    "the same in another mode": "PERFORM pg_advisory_lock_shared(42), pg_advisory_lock(44), pg_advisory_lock(1, 3)",
    "others": "PERFORM pg_advisory_lock(99), pg_advisory_lock(99), pg_advisory_lock_shared(9, 9)",
    "for the transaction": "PERFORM pg_advisory_xact_lock(42), pg_advisory_xact_lock(98), pg_advisory_xact_lock_shared(7, 7)",
    "releases them": "PERFORM pg_advisory_unlock(42), pg_advisory_unlock(42), pg_advisory_unlock_shared(44)",
    "releases all": "PERFORM pg_advisory_unlock_all()",
    "releases all and takes others": "PERFORM pg_advisory_unlock_all(), pg_advisory_lock(43), pg_advisory_lock(97)",
    "within what fails": "BEGIN PERFORM pg_advisory_lock(96), pg_advisory_unlock_all(); RAISE 'caught'; EXCEPTION WHEN OTHERS"
                         " THEN PERFORM pg_advisory_lock(95); END",
}
HELD = """SELECT classid, objid, objsubid, mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
          AND granted ORDER BY 1, 2, 3, 4"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


def view_with(role: psycopg.Connection, code: str) -> str:
    """A view whose key runs code whenever it is read."""
    name = f"v{uuid4().hex[:10]}"
    role.execute(f"""CREATE FUNCTION f{name}(n int) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN {code}; RETURN n; END $$""".replace("BEGIN ;", "BEGIN"))
    role.execute(f"CREATE VIEW {name} AS SELECT f{name}(n) AS id, 'Page' AS title, 'Text.' AS body"
                 " FROM generate_series(1, 2) n")
    return name


def attach(role: psycopg.Connection, name: str, **arguments: str) -> None:
    given = "".join(f", {key} => '{value}'" for key, value in arguments.items())
    role.execute(f"SELECT docsearch.attach_table('{name}', project => 'open', public => true{given})")


def counts(role: psycopg.Connection) -> dict[str, int]:
    """How often the session holds each lock; afterwards it holds none."""
    held = dict.fromkeys(LOCKS, 0)
    for lock in LOCKS:
        release = lock.replace("lock", "unlock", 1)
        while role.execute(f"SELECT {release}").fetchone() == (True,):
            held[lock] += 1
    return held


@pytest.mark.parametrize("taken", TAKEN)
def test_advisory_locks_of_the_caller_stay_as_they_were(database, taken):
    with acting(database, "wren") as role:
        name = view_with(role, TAKEN[taken])
        for lock, times in LOCKS.items():
            for _ in range(times):
                role.execute(f"SELECT {lock}")
        with role.transaction():
            for lock in OF_TRANSACTION:
                role.execute(f"SELECT {lock}")
            before = role.execute(HELD).fetchall()
            attach(role, name)
            assert role.execute(HELD).fetchall() == before
        after = [row for row in before if row[1] != 7]
        assert role.execute(HELD).fetchall() == after
        assert counts(role) == LOCKS
        assert role.execute(HELD).fetchall() == []
        role.execute(f"SELECT docsearch.detach_table('{name}')")


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("where", ["statement", "savepoint"])
def test_advisory_locks_of_the_caller_stay_if_the_code_fails(database, taken, where):
    with acting(database, "wren") as role:
        name = view_with(role, f"{TAKEN[taken]}; RAISE 'no' USING ERRCODE = '22000'".lstrip("; "))
        for lock, times in LOCKS.items():
            for _ in range(times):
                role.execute(f"SELECT {lock}")
        before = role.execute(HELD).fetchall()
        if where == "savepoint":
            role.execute("BEGIN; SAVEPOINT before")
        with pytest.raises(psycopg.errors.DataException):
            attach(role, name)
        if where == "savepoint":
            role.execute("ROLLBACK TO before")
            assert role.execute(HELD).fetchall() == before
            role.execute("COMMIT")
        assert role.execute(HELD).fetchall() == before
        assert counts(role) == LOCKS


def test_a_condition_of_rows_takes_no_lock_away(database):
    with acting(database, "wren") as role:
        name = f"t{uuid4().hex[:10]}"
        role.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, title text, body text)")
        role.execute("SELECT pg_advisory_lock(42), pg_advisory_lock(43)")
        before = role.execute(HELD).fetchall()
        attach(role, name, rows_where="id > 0")
        assert role.execute(HELD).fetchall() == before
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_no_session_gets_a_lock_that_the_code_of_a_table_releases(database):
    with acting(database, "wren") as role, acting(database, "rook") as other, ThreadPoolExecutor(1) as pool:
        name = view_with(role, "PERFORM pg_advisory_unlock_all(), pg_advisory_xact_lock(77)")
        role.execute("SELECT pg_advisory_lock(42)")
        other.execute("SELECT pg_advisory_lock(77)")
        attaching = pool.submit(attach, role, name)
        wait_until(lambda: role.info.backend_pid in kept_waiting_by(database, other))
        assert other.execute("SELECT pg_try_advisory_lock(42)").fetchone() == (False,)
        other.execute("SELECT pg_advisory_unlock(77)")
        attaching.result(GUARD)
        assert other.execute("SELECT pg_try_advisory_lock(42), pg_try_advisory_lock(77)").fetchone() == (False, True)
        assert role.execute("SELECT pg_advisory_unlock(42), pg_advisory_unlock(42)").fetchone() == (True, False)
        other.execute("SELECT pg_advisory_unlock_all()")
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_the_worker_keeps_no_lock_of_code_that_fails(database):
    with acting(database, "wren") as role:
        name = view_with(role, "IF pg_backend_pid()::text <> coalesce(current_setting('wren.attaching', true), '') THEN"
                               " PERFORM pg_advisory_lock(66); RAISE 'no'; END IF")
        role.execute("SELECT set_config('wren.attaching', pg_backend_pid()::text, false)")
        attach(role, name)
        wait_until(lambda: database.execute("SELECT FROM docsearch.attached_table WHERE source::text LIKE %s"
                                            " AND error IS NOT NULL AND NOT reading", f"%{name}"))
        assert database.execute("SELECT FROM pg_locks WHERE locktype = 'advisory'") == []
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_the_rest_of_the_session_does_not_change(database):
    state = {
        "settings": "SELECT name, setting, source FROM pg_settings WHERE name !~ '[.]' ORDER BY 1",
        "prepared": "SELECT name, statement FROM pg_prepared_statements WHERE from_sql ORDER BY 1",
        "cursors": "SELECT name, is_holdable FROM pg_cursors WHERE name = 'kept'",
        "channels": "SELECT pg_listening_channels()",
        "temporary": "SELECT count(*) FROM kept_rows",
        "roles": "SELECT current_user, session_user, pg_my_temp_schema()::regnamespace::text",
    }
    code = """PERFORM set_config('work_mem', '9MB', false), set_config('search_path', 'elsewhere', false);
              PERFORM set_config('client_min_messages', 'error', false)"""
    with acting(database, "wren") as role:
        name = view_with(role, code)
        role.execute("SET work_mem = '7MB'; SET client_min_messages = 'log'; PREPARE kept AS SELECT 1; LISTEN kept;"
                     " CREATE TEMP TABLE kept_rows AS SELECT 1; SET datestyle = 'German, DMY'")
        role.execute("BEGIN; DECLARE kept CURSOR FOR SELECT generate_series(1, 3); SET LOCAL lock_timeout = '77s'")
        before = {what: role.execute(ask).fetchall() for what, ask in state.items()}
        calls = [
            f"SELECT docsearch.attach_table('{name}', project => 'open', public => true)",
            "SELECT docsearch.index_doc('open', 'of-the-session', 'Of the session', 'Some text.')",
            "SELECT * FROM public.search_docs('text')",
            "SELECT public.load_doc('of-the-session')",
            "SELECT docsearch.delete_doc('open', 'of-the-session')",
            "SELECT * FROM docsearch.index_progress()",
            f"SELECT docsearch.read_table('{name}')",
            f"SELECT docsearch.detach_table('{name}')",
        ]
        for call in calls:
            role.execute(call)
            after = {what: role.execute(ask).fetchall() for what, ask in state.items()}
            assert (call, after) == (call, before)
        assert role.execute("FETCH ALL FROM kept").fetchall() == [(1,), (2,), (3,)]
        role.execute("ROLLBACK")
