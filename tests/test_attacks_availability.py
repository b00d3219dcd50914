"""Whoever may write keeps nobody else from working."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from attacks import attach, attacked_server, error_of, evil_column, slugs, table
from background import WORKER, acting, settled
from conftest import Database, Site, wait_until


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


@pytest.mark.parametrize("name", ["worker.running", "worker.leaving", "model", "schema_version", "term_stat"])
def test_a_lock_that_anybody_can_take_stops_nothing(database, name):
    with acting(database, "nobody_special") as other, acting(database, "wren") as role:
        other.execute(f"SELECT pg_advisory_lock(hashtextextended('docsearch.{name}', n)) FROM generate_series(0, 50) n")
        mine = table(role)
        attach(role, mine, project="open")
        role.execute(f"INSERT INTO {mine} VALUES (1, 'Free', 'Nobody waits.')")
        role.execute("SELECT docsearch.merge_statistics('open')")
        settled(database)
        assert f"{mine}/1" in slugs(database, "open")
        role.execute(f"SELECT docsearch.detach_table('{mine}')")


def test_writers_do_not_wait_for_a_worker_that_stands_still(database):
    with acting(database, "wren") as role:
        name = table(role)
        attach(role, name, project="open")
        settled(database)
        with database.connect(autocommit=False) as holder:
            # The worker comes no further than this lock.
            holder.execute("LOCK TABLE docsearch.attached_table, docsearch.embedding_queue IN ACCESS EXCLUSIVE MODE")
            holder.rollback()
            holder.execute("LOCK TABLE docsearch.embedding_queue IN ACCESS EXCLUSIVE MODE")
            role.execute(f"INSERT INTO {name} VALUES (1, 'First', 'Written.')")
            wait_until(lambda: database.execute(
                "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'docsearch indexer' AND wait_event_type = 'Lock'"))
            role.execute(f"INSERT INTO {name} VALUES (2, 'Second', 'Written as well.')")
            holder.rollback()
        settled(database)
        assert {f"{name}/1", f"{name}/2"} <= set(slugs(database, "open"))
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_a_transaction_that_stays_open_keeps_no_other_from_being_indexed(database):
    with acting(database, "wren") as role, acting(database, "wren") as other:
        name, theirs = table(role), table(other)
        attach(role, name, project="open")
        attach(other, theirs, project="open")
        settled(database)
        wait_until(lambda: not database.execute(WORKER))
        with role.transaction():
            role.execute(f"INSERT INTO {name} VALUES (1, 'Open', 'Not committed yet.')")
            other.execute(f"INSERT INTO {theirs} VALUES (1, 'Done', 'Committed.')")
            wait_until(lambda: f"{theirs}/1" in slugs(database, "open"))
        wait_until(lambda: f"{name}/1" in slugs(database, "open"))
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        other.execute(f"SELECT docsearch.detach_table('{theirs}')")


def test_a_row_that_cannot_be_read_does_not_lose_the_others(database):
    deep = "[" * 200 + "]" * 200
    with acting(database, "wren") as role:
        name = table(role, "id int PRIMARY KEY, title text, body text, more jsonb, at text")
        role.execute(f"INSERT INTO {name} SELECT n, 'Page ' || n, 'Text.', '{{}}', '2026-01-0' || n FROM generate_series(1, 5) n")
        role.execute(f"UPDATE {name} SET at = 'the other day' WHERE id = 2")
        role.execute(f"UPDATE {name} SET more = %s::jsonb WHERE id = 4", [f'{{"deep": {deep}}}'])
        attach(role, name, metadata="more", published_at="at", project="open")
        settled(database)
        assert [slug for slug in slugs(database, "open") if slug.startswith(name)] == [f"{name}/1", f"{name}/3", f"{name}/5"]
        assert f"{name}/" in error_of(database, name)
        # What was indexed stays when its row cannot be read any more, and comes again when it can.
        role.execute(f"UPDATE {name} SET at = 'never' WHERE id = 3")
        role.execute(f"UPDATE {name} SET at = '2026-03-01' WHERE id = 2")
        settled(database)
        assert [slug for slug in slugs(database, "open") if slug.startswith(name)] == [f"{name}/{n}" for n in (1, 2, 3, 5)]
        role.execute(f"SELECT docsearch.detach_table('{name}')")


@pytest.mark.parametrize("body", [
    "PERFORM pg_sleep(600)",
    "LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP",
], ids=["slow", "endless"])
def test_slow_code_of_one_table_does_not_hold_up_the_others(site, database, body):
    site.configure(attached_read_timeout="5s")
    with acting(database, "wren") as role:
        slow, quick = evil_column(role, body), table(role)
        attach(role, slow, project="open", slug_prefix=f"{slow}/")
        attach(role, quick, project="open")
        wait_until(lambda: database.execute("SELECT attempts > 0 FROM docsearch.attached_table WHERE source::text LIKE %s",
                                            f"%{slow}") == [(True,)])
        role.execute(f"INSERT INTO {quick} VALUES (1, 'Quick', 'Comes through.')")
        wait_until(lambda: f"{quick}/1" in slugs(database, "open"))
        with role.transaction():
            role.execute("SET LOCAL docsearch.index_mode = 'deferred'")
            role.execute(f"SELECT docsearch.index_doc('open', '{slow}-beside', 'Beside', 'Embedded meanwhile.')")
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.embedding_queue") == [(0,)])
        for name in (slow, quick):
            role.execute(f"SELECT docsearch.detach_table('{name}')")
    site.configure(attached_read_timeout="10min")


def test_a_dropped_table_leaves_nothing(database):
    with acting(database, "wren") as role:
        name, other = table(role), table(role)
        for each in (name, other):
            role.execute(f"INSERT INTO {each} VALUES (1, 'Gone soon', 'With its table.')")
            attach(role, each, project="open")
        settled(database)
        role.execute(f"DROP TABLE {name}")
        role.execute(f"INSERT INTO {other} VALUES (2, 'Wakes', 'The worker.')")
        wait_until(lambda: f"{name}/1" not in slugs(database, "open"))
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.attached_table a"
                                            " WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = a.source)") == [(0,)])
        role.execute(f"SELECT docsearch.detach_table('{other}')")


def test_many_writers_at_once_leave_nothing_behind(database):
    """Workers come and go meanwhile: what is committed while one ends is not forgotten."""
    with acting(database, "wren") as role:
        name = table(role)
        attach(role, name, project="open")

    def write(part: int) -> None:
        with acting(database, "wren") as writer:
            for number in range(40):
                writer.execute(f"INSERT INTO {name} VALUES ({part * 1000 + number}, 'Page', 'Text {number}.')")
                if part == 0 and number % 15 == 0:
                    for worker in database.execute(WORKER):
                        database.execute("SELECT pg_terminate_backend(%s)", *worker)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with acting(database, "wren") as role:
        role.execute(f"INSERT INTO {name} VALUES (-1, 'Last', 'Nothing comes after it.')")
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)])
        assert len([slug for slug in slugs(database, "open") if slug.startswith(f"{name}/")]) == 161
        role.execute(f"SELECT docsearch.detach_table('{name}')")
