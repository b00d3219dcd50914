"""Deferred work is done exactly once, whatever ends in the middle.

Workers, backends and the whole server are killed here, so these tests have a server of their own.
"""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from background import WAITING, WORKER, held_worker, indexed_half_way
from conftest import (
    CREATE_EXTENSION,
    Database,
    Site,
    holding,
    kept_waiting_by,
    own_server,
    page,
    wait_until,
)
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent

PAGES = 300


def many(prefix: str, mark: str = "first", count: int = PAGES) -> list[dict]:
    return [page(f"{prefix}/{number:03}", f"Page {number}, {mark}.\n\n## Part\n\nIts {mark} part, number {number}.")
            for number in range(count)]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("deferred") as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.execute("ALTER DATABASE docs SET docsearch.index_mode = 'deferred'")
        own.database.index("kit", page("warm", "The program is started and the model is loaded."))
        own.database.execute("SELECT docsearch.wait_for_index()")
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    yield site.database
    reachable(site.database)
    assert site.database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert_consistent(site.database)
    assert site.database.problems() == []


def reachable(database: Database) -> None:
    def look() -> bool:
        try:
            return database.execute("SELECT 1") == [(1,)]
        except psycopg.OperationalError:
            return False
    wait_until(look)


def crash(site: Site) -> None:
    """Ends all processes of the server at once, and starts it again."""
    assert site.instance.control("-m", "immediate", "-w", "stop")
    site.instance.start("docs")


def kill(database: Database, process: int) -> None:
    """Kills a process of the server, which ends all others and starts again."""
    with database.connect() as other:
        os.kill(process, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            wait_until(lambda: other.execute("SELECT pg_sleep(0.1)") is None)
    reachable(database)


def test_documents_are_found_by_words_before_their_vectors_are_there(database):
    with held_worker(database):
        database.index("kit", *many("words", "curious"))
        assert database.execute("SELECT count(*) FROM search_docs('curious', 'kit', max_results => 100)") == [(100,)]
        assert database.execute(WAITING) == [(PAGES,)]
        assert database.execute("SELECT docsearch.wait_for_index('100 ms')") == [(False,)]


def test_a_worker_that_is_terminated_loses_nothing(database):
    with indexed_half_way(database, "kit", many("terminated")) as worker:
        assert database.execute("SELECT pg_terminate_backend(%s)", worker) == [(True,)]
        wait_until(lambda: (worker,) not in database.execute(WORKER))
        assert 0 < database.execute(WAITING)[0][0] < PAGES


def test_workers_that_are_terminated_at_once_are_followed(database):
    """A commit while a worker runs starts none, and no other session does."""
    with held_worker(database):
        database.index("kit", *many("hurried"))
        seen = set()
        for _ in range(4):
            (worker,), = wait_until(lambda: [row for row in database.execute(WORKER) if row[0] not in seen])
            database.execute("SELECT pg_terminate_backend(%s)", worker)
            seen.add(worker)
    wait_until(lambda: database.execute(WAITING) == [(0,)])


def test_a_worker_that_is_killed_loses_nothing(database):
    with indexed_half_way(database, "kit", many("killed")) as worker:
        kill(database, worker)
    assert 0 < database.execute(WAITING)[0][0] < PAGES
    # A search is enough to continue the work.
    assert database.execute("SELECT count(*) FROM search_docs('page', 'kit')") == [(5,)]
    wait_until(lambda: database.execute(WAITING) == [(0,)])


def test_a_backend_that_is_killed_leaves_all_or_nothing(database):
    with database.connect(autocommit=False) as connection:
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("backend"))])
        kill(database, connection.info.backend_pid)
        connection.close()
    assert database.execute("SELECT FROM docsearch.document WHERE slug LIKE 'backend/%%'") == []


def test_a_killed_server_continues_its_work(site, database):
    with indexed_half_way(database, "kit", many("crash")):
        crash(site)
    assert 0 < database.execute(WAITING)[0][0] < PAGES


def test_eight_clients_and_the_worker_change_the_same_documents(database):
    def write(client: int) -> None:
        with database.connect() as connection:
            for turn in range(4):
                documents = many("shared", f"client {client} turn {turn}", 40)
                mode = "immediate" if turn % 2 else "deferred"
                connection.execute(f"SET docsearch.index_mode = '{mode}'")
                connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(documents)])
                connection.execute("SELECT docsearch.delete_doc('kit', %s)", [f"shared/{client:03}"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))


def test_work_after_a_rolled_back_savepoint_is_not_lost(database):
    with database.connect(autocommit=False) as connection:
        for slug in ("savepoint/gone", "savepoint/kept"):
            connection.execute("SAVEPOINT before")
            connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb([page(slug, "A page.")])])
            if slug.endswith("gone"):
                # A worker starts for it and ends.
                wait_until(lambda: database.execute(WORKER))
                connection.execute("ROLLBACK TO before")
                wait_until(lambda: not database.execute(WORKER))
        connection.commit()
    wait_until(lambda: database.execute(WAITING) == [(0,)])


def test_a_database_is_dropped_while_its_worker_is_idle(site):
    site.instance.query("CREATE DATABASE brief")
    brief = Database(make_conninfo(site.database.conninfo, dbname="brief"))
    brief.execute(CREATE_EXTENSION)
    brief.execute("SELECT docsearch.create_project('kit')")
    with brief.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb([page("a", "A page.")])])
        connection.execute("SELECT docsearch.wait_for_index()")

    def drop() -> bool:
        """Postgres gives other sessions five seconds to disconnect."""
        try:
            site.database.execute("DROP DATABASE brief")
        except psycopg.errors.ObjectInUse:
            return False
        return True

    wait_until(drop)


def test_a_model_that_fails_is_tried_again_and_reported(site, database):
    site.configure(inference_program="/nonexistent")
    wait_until(lambda: database.execute("SELECT state FROM docsearch.status()") == [("failed",)])
    database.index("kit", page("failing", "A page that waits."))
    statement = "SELECT waiting + failed, last_error FROM docsearch.index_progress('kit') WHERE last_error IS NOT NULL"
    [(without, error)] = wait_until(lambda: database.execute(statement))
    assert without == 1 and "/nonexistent" in error
    assert database.execute("SELECT slug FROM search_docs('waits', 'kit') WHERE rank = 1") == [("failing",)]
    wait_until(lambda: database.execute("SELECT FROM docsearch.embedding_queue q WHERE q.attempts > 1"))
    site.configure(inference_program="")
    wait_until(lambda: database.execute("SELECT state FROM docsearch.status()") == [("running",)])
    # After many attempts the next one would be late.
    database.execute("UPDATE docsearch.embedding_queue SET attempts = 0, next_attempt = now()")


@pytest.fixture(scope="module")
def owner(site: Site) -> Database:
    site.database.execute("CREATE ROLE author LOGIN")
    site.database.execute("GRANT CREATE ON SCHEMA public TO author")
    site.database.execute("SELECT docsearch.grant_usage('author', write => true)")
    site.database.execute("CREATE ROLE writer LOGIN")
    owner = Database(make_conninfo(site.database.conninfo, user="author"))
    owner.execute("CREATE TABLE note (id bigserial PRIMARY KEY, title text, body text)")
    owner.execute("GRANT ALL ON note, note_id_seq TO writer")
    owner.execute("INSERT INTO note (title, body) SELECT 'Note ' || n, 'About ' || n FROM generate_series(1, 1000) n")
    assert owner.execute("SELECT docsearch.attach_table('note', project => 'kit')") == [("kit",)]
    return owner


class TestAttachedTable:
    """Users' tables, whose writers have no privileges here."""

    def test_an_ordinary_owner_attaches_and_a_writer_without_rights_changes(self, site, database, owner):
        writer = Database(make_conninfo(site.database.conninfo, user="writer"))
        writer.execute("INSERT INTO note (title, body) VALUES ('Fresh', 'Something unheard of')")
        writer.execute("UPDATE note SET body = 'Nothing to see' WHERE id <= 10")
        writer.execute("DELETE FROM note WHERE id > 990 AND id <= 1000")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("SELECT docsearch.detach_table('note')")
        owner.execute("SELECT docsearch.wait_for_index()")
        rows = owner.execute("SELECT count(*), count(*) FILTER (WHERE d.body = t.body) FROM docsearch.document d "
                             "FULL JOIN note t ON d.slug = 'note/' || t.id WHERE d.slug LIKE 'note/%%' OR t.id IS NOT NULL")
        assert rows == [(991, 991)]

    def test_a_change_is_found_by_words_before_its_vector_is_there(self, database, owner):
        with held_worker(database):
            owner.execute("UPDATE note SET body = 'A zeppelin over the lake' WHERE id = 5")
            wait_until(lambda: owner.execute("SELECT slug FROM search_docs('zeppelin', 'kit') WHERE rank = 1")
                       == [("note/5",)])
            assert database.execute(WAITING) == [(1,)]

    def test_nothing_is_lost_when_the_server_is_killed(self, site, database, owner):
        unread = "SELECT count(*) FROM docsearch.table_change"
        lock = "SELECT FROM docsearch.document d WHERE d.slug = 'note/450' FOR UPDATE"
        with holding(database, lock) as holder:
            with owner.connect(autocommit=False) as connection:
                for condition in ("id <= 300", "id BETWEEN 301 AND 600"):
                    connection.execute(f"UPDATE note SET body = body || ' again' WHERE {condition}")
            # It reads them in parts, and stops at the one with this document.
            wait_until(lambda: kept_waiting_by(database, holder))
            assert 0 < database.execute(unread)[0][0] < 600
            crash(site)
        assert 0 < database.execute(unread)[0][0] < 600
        owner.execute("SELECT docsearch.wait_for_index()")
        differing = owner.execute("SELECT t.id FROM note t LEFT JOIN docsearch.document d ON d.slug = 'note/' || t.id "
                                  "WHERE d.body IS DISTINCT FROM t.body")
        assert differing == []

    def test_a_trigger_of_another_table_notes_nothing(self, database, owner):
        owner.execute("CREATE TABLE other (id bigint)")
        owner.execute("CREATE TRIGGER t AFTER INSERT ON other REFERENCING NEW TABLE AS docsearch_new "
                      "FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('1')")
        owner.execute("INSERT INTO other VALUES (1)")
        assert database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)]

    def test_a_dropped_column_is_reported_and_does_not_stop_others(self, database, owner):
        owner.execute("ALTER TABLE note RENAME COLUMN body TO text")
        owner.execute("INSERT INTO note (title, text) VALUES ('More', 'Text')")
        statement = "SELECT error FROM docsearch.attached_table WHERE error LIKE '%%body%%'"
        wait_until(lambda: database.execute(statement))
        database.index("kit", page("beside", "Another page."))
        assert database.execute("SELECT docsearch.wait_for_index()") == [(False,)]
        assert database.execute(WAITING) == [(0,)]
        owner.execute("ALTER TABLE note RENAME COLUMN text TO body")
        database.execute("UPDATE docsearch.attached_table SET next_attempt = now()")
        # The row is still pending.
        owner.execute("SELECT docsearch.wait_for_index()")
        assert database.execute("SELECT title FROM docsearch.document WHERE title = 'More' AND body = 'Text'") == [("More",)]


LONG = [page("turn/long", "".join(f"## Part {number}\n\n{f'Words of part {number}. ' * 20}\n\n" for number in range(400)))]


@pytest.mark.parametrize("first, project", [(many("turn"), "small"), (LONG, "kit")], ids=["another project", "a long document"])
def test_nothing_waits_until_all_that_came_before_has_its_vectors(database, first, project):
    """Projects take turns, and a document that is embedded in parts goes to the end of its project."""
    database.execute("SELECT docsearch.create_project('small')")
    database.execute("CREATE TABLE public.turn (id bigserial, project bigint, document bigint)")
    database.execute("""CREATE FUNCTION public.note_turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.turn (project, document) VALUES (OLD.project_id, OLD.document_id); RETURN NULL; END $$""")
    database.execute("CREATE TRIGGER note_turn AFTER DELETE ON docsearch.embedding_queue"
                     " FOR EACH ROW EXECUTE FUNCTION public.note_turn()")
    try:
        with held_worker(database) as holder:
            database.index("kit", *first)
            wait_until(lambda: kept_waiting_by(database, holder))
            database.index(project, page("late", "Came later."))
        wait_until(lambda: database.execute(WAITING) == [(0,)])
        ended = [slug for slug, in database.execute(
            "SELECT d.slug FROM public.turn t JOIN docsearch.document d ON (d.project_id, d.id) = (t.project, t.document)"
            " ORDER BY t.id")]
        assert "late" in ended and ended[-1] != "late"
    finally:
        database.execute("DROP TRIGGER note_turn ON docsearch.embedding_queue")
        database.execute("DROP FUNCTION public.note_turn()")
        database.execute("DROP TABLE public.turn")
        database.execute("SELECT docsearch.drop_project('small')")
        database.execute("SELECT docsearch.delete_doc('kit', 'late')")
