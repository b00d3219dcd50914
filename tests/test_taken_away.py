"""Removing something while the worker is in the middle of a step succeeds, leaves nothing behind, and affects nothing
else.

The worker waits for a document that another transaction writes, or is interrupted at any point of its work.
"""

import random
import threading
from collections.abc import Callable, Iterator

import pytest
from background import WAITING, WORKER, acting, held_worker
from conftest import GUARD, Database, held_document, holding, kept_waiting_by, page, wait_until

ROWS = 30
SETTLED = "SELECT docsearch.wait_for_index(make_interval(secs => %s))"
# Documents of detached tables, vectors and other rows without a document, queue entries without a target.
LEFT = """
    SELECT 'document', d.slug FROM docsearch.document d WHERE d.source_root LIKE 'table:%%' AND NOT EXISTS (
        SELECT FROM docsearch.attached_table a WHERE (a.project_id, a.source_root) = (d.project_id, d.source_root))
    UNION ALL SELECT 'change', c.key FROM docsearch.table_change c WHERE NOT EXISTS (
        SELECT FROM docsearch.attached_table a WHERE a.id = c.attached_id)
    UNION ALL SELECT 'trigger', t.tgname FROM pg_trigger t WHERE t.tgfoid = 'docsearch.attached_changed'::regproc
        AND NOT EXISTS (SELECT FROM docsearch.attached_table a WHERE t.tgname LIKE 'docsearch\\_' || a.id || '\\_%%')"""

TAKERS = {
    "detach_table": "SELECT docsearch.detach_table('note')",
    "detach_table in its project": "SELECT docsearch.detach_table('note', 'kit')",
    "drop_project": "SELECT docsearch.drop_project('kit')",
    "DROP TABLE": "DROP TABLE note",
    "TRUNCATE": "TRUNCATE note",
    "DELETE": "DELETE FROM note",
    "delete_missing": "SELECT count(*) FROM docsearch.delete_missing('kit', 'table:public.note', '{}')",
    "delete_doc": "SELECT docsearch.delete_doc('kit', 'note/' || n) FROM generate_series(1, 30) n",
    "revoke_usage": "SELECT docsearch.revoke_usage('taker_writer')",
    "DROP COLUMN": "ALTER TABLE note DROP COLUMN body",
    "set_model": "SELECT docsearch.set_model('kit', 'all-MiniLM-L6-v2')",
    "drop_all": "SELECT docsearch.drop_all(confirm => current_database())",
}


@pytest.fixture
def database(new_database) -> Iterator[Database]:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("beside", "Another page."))
    database.execute("CREATE TABLE note (id int PRIMARY KEY, title text, body text)")
    database.execute(f"INSERT INTO note SELECT n, 'Note ' || n, 'About number ' || n FROM generate_series(1, {ROWS}) n")
    if not database.execute("SELECT FROM pg_roles WHERE rolname = 'taker_writer'"):
        database.execute("CREATE ROLE taker_writer LOGIN")
    database.execute("SELECT docsearch.grant_usage('taker_writer', write => true)")
    database.execute("ALTER TABLE note OWNER TO taker_writer")
    yield database
    database.execute("DROP OWNED BY taker_writer CASCADE")


@pytest.fixture(scope="module", autouse=True)
def roles(new_database) -> Iterator[None]:
    yield
    new_database(extension=False).execute("DROP ROLE IF EXISTS taker_writer")


def attach(database: Database) -> None:
    with acting(database, "taker_writer") as owner:
        owner.execute("SELECT docsearch.attach_table('public.note', project => 'kit', public => true)")


def settle(database: Database, taken: str) -> None:
    """Waits until the worker has nothing left to do, and checks what is left."""
    if taken == "drop_all":
        wait_until(lambda: not database.execute(WORKER))
        database.execute("DROP EXTENSION pg_docsearch")
        assert database.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'docsearch'") == [(0,)]
        return
    # Ends the pauses after failures in between.
    database.execute("UPDATE docsearch.attached_table SET next_attempt = now(), attempts = 0")
    is_read = database.execute(SETTLED, GUARD) == [(True,)]
    assert is_read == (taken not in ("revoke_usage", "DROP COLUMN"))
    wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.table_change c WHERE NOT EXISTS (SELECT FROM"
                                        " docsearch.attached_table a WHERE a.id = c.attached_id)") == [(0,)])
    # Triggers of a table whose project was dropped stay without effect: they belong to the owner of the table.
    stays = {"trigger"} if taken == "drop_project" else set()
    assert [row for row in database.execute(LEFT) if row[0] not in stays] == []
    problems = [row for row in database.problems() if row[0] != "attached table unread" or is_read]
    assert problems == []
    if taken not in ("revoke_usage", "DROP COLUMN", "delete_missing", "delete_doc"):
        deep = "SELECT problem, detail FROM docsearch.check(deep => true) WHERE problem LIKE 'attached%%'"
        assert database.execute(deep) == []
    others = [slug for slug, in database.execute("SELECT slug FROM docsearch.document WHERE source_root IS NULL")]
    assert others == ([] if taken == "drop_project" else ["beside"])


def take(database: Database, statement: str) -> Callable[[], None]:
    """Runs a statement in a thread. The returned function waits for its success."""
    failures = []

    def run() -> None:
        try:
            database.execute(statement)
        except Exception as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()

    def join() -> None:
        thread.join(GUARD)
        assert not thread.is_alive() and failures == []
    return join


@pytest.mark.parametrize("taken", TAKERS)
def test_while_the_worker_is_in_the_middle_of_writing(database, taken):
    """It has read the rows, and waits for a document in the middle, within its lock timeout."""
    with held_document(database, "kit", "note/20") as holder:
        attach(database)
        wait_until(lambda: kept_waiting_by(database, holder))
        join = take(database, TAKERS[taken])
        # The removal waits for the worker or goes first. The worker continues within a second.
        wait_until(lambda: not any(pid in kept_waiting_by(database, holder) for pid, in database.execute(WORKER)))
        holder.rollback()
    join()
    settle(database, taken)


@pytest.mark.parametrize("taken", ["detach_table", "drop_project", "DROP TABLE", "drop_all", "set_model"])
def test_while_the_worker_is_about_to_store_vectors(database, taken):
    with held_worker(database) as holder:
        attach(database)
        wait_until(lambda: database.execute(WAITING) == [(ROWS,)] and kept_waiting_by(database, holder))
        join = take(database, TAKERS[taken])
        wait_until(lambda: not any(pid in kept_waiting_by(database, holder) for pid, in database.execute(WORKER)))
        holder.rollback()
    join()
    settle(database, taken)


@pytest.mark.parametrize("taken", ["detach_table", "drop_project", "DROP TABLE"])
def test_at_any_point_of_its_work(database, taken):
    """The removal starts at a certain number of documents or waiting vectors."""
    chance = random.Random(taken)
    for _ in range(8):
        if not database.execute("SELECT FROM docsearch.project WHERE name = 'kit'"):
            database.execute("SELECT docsearch.create_project('kit')")
            database.index("kit", page("beside", "Another page."))
        database.execute("CREATE TABLE IF NOT EXISTS note (id int PRIMARY KEY, title text, body text)")
        database.execute("ALTER TABLE note OWNER TO taker_writer")
        database.execute(f"INSERT INTO note SELECT n, 'Note', 'Text ' || n FROM generate_series(1, {ROWS}) n ON CONFLICT DO NOTHING")
        attach(database)
        number = chance.choice([0, 1, ROWS])
        waiting = chance.choice([0, ROWS])
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.document WHERE source_root IS NOT NULL")[0][0] >= number)
        wait_until(lambda: number < ROWS or database.execute(WAITING)[0][0] <= waiting)
        database.execute(TAKERS[taken])
        settle(database, taken)
        database.execute("DROP TABLE IF EXISTS note")


def test_drop_all_and_detach_table_wait_for_each_other(database):
    """Neither fails with a deadlock: both take locks in the same order."""
    attach(database)
    database.execute(SETTLED, GUARD)
    with holding(database, "SELECT FROM docsearch.document WHERE slug = 'note/1' FOR UPDATE") as holder:
        detached = take(database, TAKERS["detach_table"])
        wait_until(lambda: kept_waiting_by(database, holder))
        removed = take(database, TAKERS["drop_all"])
        wait_until(lambda: database.execute("SELECT FROM pg_stat_activity WHERE query LIKE %s AND wait_event_type = 'Lock'",
                                            "%drop_all(confirm%"))
        holder.rollback()
    detached()
    removed()
    settle(database, "drop_all")


def test_a_writer_of_the_table_and_a_detachment_do_not_deadlock(database):
    attach(database)
    database.execute(SETTLED, GUARD)
    with acting(database, "taker_writer") as writer:
        writer.execute("SET search_path TO public")
        writer.execute("BEGIN")
        writer.execute("UPDATE note SET body = 'Changed.' WHERE id = 1")
        detached = take(database, TAKERS["detach_table"])
        wait_until(lambda: kept_waiting_by(database, writer))
        writer.execute("SELECT docsearch.read_table('note')")
        writer.execute("SELECT docsearch.index_doc('kit', 'beside', 'Beside', 'Written meanwhile.')")
        writer.execute("COMMIT")
    detached()
    settle(database, "detach_table")
