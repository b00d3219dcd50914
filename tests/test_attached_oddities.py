"""Odd states of attached tables and their writers: locks that stay, old snapshots, changed keys and columns, different
owners. Nothing is lost, and no session waits for another.

These tests observe the worker, so they have a server of their own.
"""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from background import acting, detach_all, settled
from conftest import Database, Site, own_server, page, wait_until
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROLES = ("wren", "lark")
BLOCKED = "SELECT FROM pg_stat_activity WHERE backend_type = 'docsearch indexer' AND wait_event_type = 'Lock'"
SPY = """CREATE FUNCTION {role}.spy(what text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO {role}.seen VALUES (current_user, spy.what);
        RETURN what;
    END $$"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("oddities", **{"docsearch.attached_read_timeout": "10min"}) as own:
        own.database.execute("SELECT docsearch.create_project('open')")
        for role in ROLES:
            own.database.execute(f"CREATE ROLE {role} LOGIN")
            own.database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
            own.database.execute("SELECT docsearch.grant_usage(%s, write => true)", role)
            prepare(own.database, role)
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    """Checks afterwards that code ran only as its author, and detaches everything."""
    yield site.database
    detach_all(site.database)
    for role in ROLES:
        assert site.database.execute(f"SELECT DISTINCT who, what FROM {role}.seen WHERE who <> '{role}'") == []


def prepare(database: Database, role: str) -> None:
    """Creates the table in which the code of a role records who runs it."""
    with acting(database, role) as connection:
        connection.execute("CREATE TABLE seen (who text, what text)")
        connection.execute("GRANT ALL ON seen TO PUBLIC")
        connection.execute(SPY.format(role=role))


def attached(role: psycopg.Connection, columns: str = "id bigint PRIMARY KEY, title text, body text",
             project: str = "open") -> str:
    """A table that is attached to a project."""
    name = f"t{uuid4().hex[:10]}"
    role.execute(f"CREATE TABLE {name} ({columns})")
    role.execute(f"SELECT docsearch.attach_table('{name}', project => '{project}', public => true)")
    return name


def body_of(database: Database, slug: str) -> str | None:
    found = database.execute("SELECT d.body FROM docsearch.document d WHERE d.slug = %s", slug)
    return found[0][0] if found else None


def error_of(database: Database, name: str) -> str:
    rows = database.execute("SELECT a.error FROM docsearch.attached_table a WHERE a.source::text LIKE %s", f"%{name}")
    return (rows[0][0] if rows else None) or ""


def note_change(database: Database, name: str, key: str) -> None:
    """Records a change of a row, whatever is locked."""
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("INSERT INTO docsearch.table_change (attached_id, key) SELECT a.id, %s"
                           " FROM docsearch.attached_table a WHERE a.source::text LIKE %s", [key, f"%{name}"])


# No session waits for a lock of another.

def test_detaching_a_table_blocks_no_other(database):
    with acting(database, "lark") as slow, acting(database, "wren") as role:
        held, name = attached(slow), attached(role)
        settled(database)
        with slow.transaction():
            slow.execute(f"SELECT docsearch.detach_table('{held}')")
            note_change(database, held, "1")
            role.execute(f"INSERT INTO {name} VALUES (1, 'Free', 'Read meanwhile.')")
            wait_until(lambda: body_of(database, f"{name}/1"))


LOCKS = {
    "documents": "SELECT FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id"
                 " WHERE p.name = %s FOR UPDATE OF d",
    "project": "SELECT FROM docsearch.project WHERE name = %s FOR UPDATE",
    "drop": "SELECT docsearch.drop_project(%s)",
}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_of_one_writer_keep_no_table_of_others_waiting(database, lock):
    kept = f"kept-{uuid4().hex[:8]}"
    with acting(database, "lark") as slow, acting(database, "wren") as role:
        database.execute("SELECT docsearch.create_project(%s)", kept)
        name = attached(role)
        held = attached(role, project=kept)
        role.execute(f"INSERT INTO {held} VALUES (1, 'Held', 'Before.')")
        settled(database)
        slow.execute("BEGIN")
        slow.execute(LOCKS[lock], [kept])
        note_change(database, held, "2")
        note_change(database, held, "1")
        role.execute("SET lock_timeout = '10s'")
        role.execute(f"UPDATE {held} SET body = 'After.'")
        role.execute(f"INSERT INTO {held} VALUES (2, 'New', 'New.')")
        if lock != "drop":
            wait_until(lambda: database.execute(BLOCKED) or "lock" in error_of(database, held))
        role.execute(f"INSERT INTO {name} VALUES (1, 'Free', 'Read meanwhile.')")
        wait_until(lambda: body_of(database, f"{name}/1"))
        slow.execute("ROLLBACK")
        # The blocked change is not lost.
        database.execute("UPDATE docsearch.attached_table SET next_attempt = now(), attempts = 0")
        settled(database)
        assert (body_of(database, f"{held}/1"), body_of(database, f"{held}/2")) == ("After.", "New.")
        role.execute(f"SELECT docsearch.detach_table('{held}')")
        database.execute("SELECT docsearch.drop_project(%s)", kept)


def test_changes_of_a_project_that_is_dropped_meanwhile_go_with_it(database):
    with acting(database, "lark") as slow, acting(database, "wren") as role:
        database.execute("SELECT docsearch.create_project('doomed')")
        role.execute("CREATE TABLE doomed (id bigint PRIMARY KEY, title text, body text)")
        role.execute("SELECT docsearch.attach_table('doomed', project => 'doomed', public => true)")
        settled(database)
        slow.execute("BEGIN")
        slow.execute("SELECT docsearch.drop_project('doomed')")
        role.execute("SET lock_timeout = '10s'")
        role.execute("INSERT INTO doomed VALUES (1, 'Late', 'Never read.')")
        slow.execute("COMMIT")
        # Wakes the worker.
        attached(role)
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)])
        role.execute("INSERT INTO doomed VALUES (2, 'Later', 'Nor this.')")
        assert database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)]
        role.execute("DROP TABLE doomed")


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_of_one_writer_keep_no_vectors_of_others_waiting(database, lock):
    """The first documents in the queue are more than the worker takes at once."""
    kept = f"kept-{uuid4().hex[:8]}"
    with acting(database, "lark") as slow, acting(database, "wren") as role:
        database.execute("SELECT docsearch.create_project(%s)", kept)
        database.index(kept, *[page(f"kept/{number}", f"Page {number}.") for number in range(70)])
        slow.execute("BEGIN")
        slow.execute(LOCKS[lock], [kept])
        with database.connect() as superuser:
            superuser.execute("SET session_replication_role = replica")
            superuser.execute("INSERT INTO docsearch.embedding_queue (project_id, document_id, next_attempt)"
                              " SELECT d.project_id, d.id, now() - interval '1 hour' FROM docsearch.document d"
                              " JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s", [kept])
        slug = f"free-{uuid4().hex[:8]}"
        role.execute("SET docsearch.index_mode = 'deferred'")
        role.execute(f"SELECT docsearch.index_doc('open', '{slug}', 'Free', 'Embedded meanwhile.')")
        wait_until(lambda: database.execute(
            "SELECT count(*) FROM docsearch.embedding_queue q JOIN docsearch.document d"
            " ON d.project_id = q.project_id AND d.id = q.document_id WHERE d.slug = %s", slug) == [(0,)])
        slow.execute("ROLLBACK")
        settled(database)
        database.execute("SELECT docsearch.drop_project(%s)", kept)


# Nothing is lost.

@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_that_saw_the_table_before_it_was_attached_loses_nothing(database, level):
    with acting(database, "wren") as role, acting(database, "wren") as early:
        name = f"t{uuid4().hex[:10]}"
        role.execute(f"CREATE TABLE {name} (id bigint PRIMARY KEY, title text, body text)")
        early.execute(f"BEGIN ISOLATION LEVEL {level}")
        early.execute("SELECT count(*) FROM pg_class")
        role.execute(f"SELECT docsearch.attach_table('{name}', project => 'open', public => true)")
        settled(database)
        early.execute(f"INSERT INTO {name} VALUES (1, 'Early', 'Began before.')")
        early.execute("COMMIT")
        settled(database)
        assert body_of(database, f"{name}/1") == "Began before."


def test_a_key_that_is_not_stored_any_more_is_reported_and_nothing_is_lost(database):
    if database.execute("SELECT current_setting('server_version_num')::int < 180000") == [(True,)]:
        pytest.skip("columns that are not stored came with PostgreSQL 18")
    with acting(database, "wren") as role:
        name = attached(role)
        settled(database)
        role.execute(f"ALTER TABLE {name} DROP COLUMN id, ADD COLUMN n bigint,"
                     " ADD COLUMN id bigint GENERATED ALWAYS AS (n) VIRTUAL")
        role.execute(f"INSERT INTO {name} (n, title, body) VALUES (5, 'Five', 'Not noted by its key.')")
        wait_until(lambda: "cannot be the key" in error_of(database, name))
        role.execute(f"ALTER TABLE {name} DROP COLUMN id; ALTER TABLE {name} RENAME COLUMN n TO id")
        database.execute("UPDATE docsearch.attached_table SET next_attempt = now(), attempts = 0")
        settled(database)
        assert body_of(database, f"{name}/5") == "Not noted by its key."


def test_keys_of_any_length_fail_no_statement(database):
    with acting(database, "wren") as role:
        name = attached(role, "id text PRIMARY KEY, title text, body text")
        # Too long for an index.
        role.execute(f"ALTER TABLE {name} DROP CONSTRAINT {name}_pkey")
        settled(database)
        role.execute(f"INSERT INTO {name} SELECT repeat('x', 1000000) || n, 'Long', 'Too long.' FROM generate_series(1, 1100) n")
        role.execute(f"INSERT INTO {name} VALUES ('short', 'Short', 'Of a length that a slug can have.')")
        role.execute(f"INSERT INTO {name} VALUES (repeat('x', 3000), 'Longer', 'Longer than a slug.')")
        settled(database)
        assert body_of(database, f"{name}/short")
        assert "slug" in error_of(database, name)


# Owners.

def test_the_owner_of_the_schema_gets_no_privileges_of_the_owner_of_its_tables(site):
    """A superuser has created the tables, and then given away the schema without the tables."""
    site.instance.query("CREATE DATABASE handed_over")
    database = Database(make_conninfo(site.database.conninfo, dbname="handed_over"))
    database.execute("CREATE EXTENSION pg_docsearch CASCADE")
    database.execute("SELECT docsearch.create_project('open')")
    database.execute("CREATE SCHEMA lark AUTHORIZATION lark")
    prepare(database, "lark")
    database.execute("ALTER SCHEMA docsearch OWNER TO lark")
    with acting(database, "lark") as role:
        role.execute("DROP TABLE docsearch.attached_table CASCADE")
        role.execute("CREATE TABLE bait (id bigint)")
        role.execute("CREATE VIEW docsearch.attached_table AS"
                     " SELECT 1 AS id, 'lark.bait'::regclass AS source, lark.spy('view') AS key_column")
        role.execute("CREATE TRIGGER own AFTER INSERT ON bait FOR EACH STATEMENT"
                     " EXECUTE FUNCTION docsearch.attached_changed('1')")
        notices = []
        role.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        # Writers of the table see no warning, since they cannot change it.
        role.execute("INSERT INTO bait VALUES (1)")
        assert notices == ["schema docsearch and its tables belong to different roles"]
        assert role.execute("SELECT who FROM seen WHERE who <> 'lark'").fetchall() == []


def test_deferred_work_of_a_table_does_not_run_as_another_role(database):
    with acting(database, "wren") as role:
        role.execute("""
            CREATE TABLE later (a int);
            CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM wren.spy('deferred'); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER later AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION later();
            CREATE TYPE odd AS (a text);
            CREATE FUNCTION odd_text(v odd) RETURNS text LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO wren.later VALUES (1); RETURN v.a; END $$;
            CREATE CAST (odd AS text) WITH FUNCTION odd_text(odd)""")
        name = attached(role, "id bigint PRIMARY KEY, title text, body odd")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Odd', ROW('odd'))")
        wait_until(lambda: error_of(database, name))
        assert "deferred trigger" in error_of(database, name)


# Tables of every kind.

def test_every_way_to_change_rows_is_recorded(database):
    with acting(database, "wren") as role:
        role.execute("CREATE TABLE parent (id bigint PRIMARY KEY)")
        name = attached(role, "id bigint PRIMARY KEY REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, title text, body text")
        role.execute("INSERT INTO parent SELECT generate_series(1, 20)")
        with role.cursor().copy(f"COPY {name} FROM STDIN") as copy:
            copy.write_row((1, "Copied", "Copied."))
        role.execute(f"INSERT INTO {name} VALUES (1, 'Upsert', 'Upserted.'), (2, 'Two', 'Two.')"
                     " ON CONFLICT (id) DO UPDATE SET body = excluded.body")
        role.execute(f"MERGE INTO {name} t USING (VALUES (2), (3)) v(id) ON t.id = v.id"
                     " WHEN MATCHED THEN UPDATE SET body = 'Merged.'"
                     " WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'New', 'Merged in.')")
        with role.transaction():
            role.execute("SAVEPOINT a")
            role.execute(f"INSERT INTO {name} VALUES (4, 'Four', 'Rolled back.')")
            role.execute("ROLLBACK TO a")
            role.execute("SAVEPOINT b")
            role.execute(f"INSERT INTO {name} VALUES (5, 'Five', 'Kept.')")
            role.execute("RELEASE b")
        settled(database)
        assert [body_of(database, f"{name}/{n}") for n in range(1, 6)] == ["Upserted.", "Merged.", "Merged in.", None, "Kept."]
        role.execute("DELETE FROM parent WHERE id = 1")
        role.execute("UPDATE parent SET id = 30 WHERE id = 2")
        settled(database)
        assert [body_of(database, f"{name}/{n}") for n in (1, 2, 30)] == [None, None, "Merged."]
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        role.execute(f"DROP TABLE parent, {name}")


def test_partitions_with_another_order_of_columns_are_read_right(database):
    with acting(database, "wren") as role:
        role.execute("""
            CREATE TABLE parts (id bigint PRIMARY KEY, title text, body text) PARTITION BY RANGE (id);
            CREATE TABLE parts_low (gone int, body text, title text, id bigint NOT NULL);
            ALTER TABLE parts_low DROP COLUMN gone;
            ALTER TABLE parts ATTACH PARTITION parts_low FOR VALUES FROM (0) TO (10);
            CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (10) TO (20);
            SELECT docsearch.attach_table('parts', project => 'open', public => true)""")
        role.execute("INSERT INTO parts VALUES (1, 'Low', 'Low.'), (11, 'High', 'High.')")
        settled(database)
        assert (body_of(database, "parts/1"), body_of(database, "parts/11")) == ("Low.", "High.")
        role.execute("UPDATE parts SET id = 12 WHERE id = 1")
        settled(database)
        assert (body_of(database, "parts/1"), body_of(database, "parts/12")) == (None, "Low.")
        role.execute("SELECT docsearch.detach_table('parts')")
        role.execute("DROP TABLE parts")


@pytest.mark.parametrize("odd", ['a"b', "a%s%I$1", "new\nline", "é" * 31, "select", "a'b\\c"])
def test_names_of_every_kind(database, odd):
    with acting(database, "wren") as role:
        names = sql.Identifier
        role.execute(sql.SQL("CREATE TABLE {} ({} bigint PRIMARY KEY, {} text, body text)").format(
            names(odd), names(odd), names(odd + "2" if len(odd) < 30 else "x")))
        title = odd + "2" if len(odd) < 30 else "x"
        role.execute("SELECT docsearch.attach_table(quote_ident(%s)::regclass, key => %s, title => %s, metadata => %s,"
                     " project => 'open', slug_prefix => 'odd/', public => true)", [odd, odd, title, odd])
        role.execute(sql.SQL("INSERT INTO {} VALUES (1, 'Odd', 'Of an odd name.')").format(names(odd)))
        settled(database)
        assert body_of(database, "odd/1") == "Of an odd name.", error_of(database, "%")
        role.execute("SELECT docsearch.detach_table(quote_ident(%s)::regclass)", [odd])
        assert body_of(database, "odd/1") is None
        role.execute(sql.SQL("DROP TABLE {}").format(names(odd)))


def test_rows_that_are_large_together_are_read_in_parts(database):
    """The worker keeps at most the size of two documents in memory."""
    with acting(database, "wren") as role:
        name = attached(role)
        with role.transaction():
            role.execute(f"INSERT INTO {name} SELECT n, repeat('long title ', 2500000), 'Text.' FROM generate_series(1, 5) n")
            role.execute(f"INSERT INTO {name} VALUES (6, 'Huge', repeat('words ', 15000000)), (7, 'Small', 'Fits.')")
        settled(database)
        assert body_of(database, f"{name}/7") == "Fits."
        assert body_of(database, f"{name}/1") is None and body_of(database, f"{name}/6") is None
        assert database.execute("SELECT step_rows < 256, error LIKE %s FROM docsearch.attached_table WHERE source::text LIKE %s",
                                f"{name}/%", f"%{name}") == [(True, True)]
