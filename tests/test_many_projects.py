"""A database has room for some thousands of locks, and may have more projects: no call locks each of them."""

import psycopg
import pytest

from conftest import Database

FEW, MANY = 60, 120
LOCKS = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
EVERY = "FROM (SELECT name FROM docsearch.project ORDER BY name LIMIT :number) p"
CALLS = [
    f"SELECT docsearch.finish_load(name) {EVERY}",
    f"SELECT docsearch.configure_project(name, '{{}}') {EVERY}",
    f"SELECT docsearch.index_doc(name, 'a', 'A', 'Changed.') {EVERY}",
    f"SELECT docsearch.drop_project(name) {EVERY}",
    "DELETE FROM docsearch.document WHERE project_id IN (SELECT id FROM docsearch.project ORDER BY name LIMIT :number)",
]
WHOLE = ["SELECT docsearch.repair()", "SELECT docsearch.check()", "TRUNCATE docsearch.document CASCADE",
         "SELECT * FROM search_docs('zebra')", "SELECT * FROM list_docs()", "SELECT docsearch.status()"]


@pytest.fixture(scope="module")
def loaded(database: Database) -> Database:
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT docsearch.create_project('p' || n) FROM generate_series(100, %s) n", [99 + MANY])
        connection.execute("SELECT docsearch.index_docs(name, jsonb_build_array(jsonb_build_object("
                           "'slug', 'a', 'title', 'A', 'body', 'About a zebra.'))) FROM docsearch.project")
    return database


def locks(connection: psycopg.Connection, statement: str) -> int:
    """The locks that a transaction holds after a statement, which is undone."""
    with connection.transaction(force_rollback=True):
        connection.execute(statement)
        count, = connection.execute(LOCKS).fetchone()
    return count


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.split("(")[0])
def test_locks_of_a_call_for_each_project_are_limited(loaded: Database, call: str):
    with loaded.connect() as connection:
        few, many = (locks(connection, call.replace(":number", str(number))) for number in (FEW, MANY))
    assert many <= few + 1


@pytest.mark.parametrize("call", WHOLE)
def test_locks_of_a_call_for_all_projects_do_not_depend_on_their_number(loaded: Database, call: str):
    with loaded.connect() as connection:
        assert locks(connection, call) < MANY


def test_many_merges_of_one_project_keep_others_free(loaded: Database):
    with loaded.connect() as connection, connection.transaction(force_rollback=True):
        for _ in range(MANY):
            connection.execute("SELECT docsearch.merge_statistics('p100')")
        locked = connection.execute(f"{LOCKS} AND locktype = 'object' AND mode = 'ExclusiveLock'").fetchone()
    assert locked == (1,)


def test_the_end_of_all_loads_analyzes_each_table_once(loaded: Database):
    analyses = "SELECT analyze_count FROM pg_stat_all_tables WHERE relid = 'docsearch.chunk'::regclass"
    (before,), = loaded.execute(analyses)
    with loaded.connect() as connection:
        locks(connection, "SELECT docsearch.finish_load(name) FROM docsearch.project")
    (after,), = loaded.execute(analyses)
    assert after <= before + 1


def test_a_load_of_all_projects_ends_with_all_words_packed(loaded: Database):
    with loaded.connect() as connection, connection.transaction(force_rollback=True):
        connection.execute("SELECT docsearch.finish_load(name) FROM docsearch.project")
        assert connection.execute("SELECT count(*) FROM docsearch.posting_pending").fetchone() == (0,)
