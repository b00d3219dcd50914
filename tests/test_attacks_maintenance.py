"""Code that Postgres runs later or as another role: at the end of a transaction, and while it maintains tables.

Before PostgreSQL 18, deferred triggers run as the current user at the end of the transaction. In all versions, code of
an index runs as the owner of its table. From 17 on it runs with a pinned search path, also for roles with MAINTAIN.
"""

from collections.abc import Iterator

import psycopg
import pytest
from attacks import attach, attacked_server, error_of, evil_column, slugs, table
from background import acting, settled
from conftest import MAJOR, Database, Site, page, wait_until

# Deferred checks and triggers of a table that code of an attached table writes to.
LATE = {
    "trigger": "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON {name} DEFERRABLE INITIALLY DEFERRED"
               " FOR EACH ROW EXECUTE FUNCTION late()",
    "foreign key": "CREATE TABLE {name}_to (id bigint PRIMARY KEY CHECK (spy('key') IS NOT NULL)); ALTER TABLE {name}"
                   " ADD FOREIGN KEY (id) REFERENCES {name}_to DEFERRABLE INITIALLY DEFERRED",
    "unique key": "ALTER TABLE {name} ADD UNIQUE (title) DEFERRABLE INITIALLY DEFERRED;"
                  " CREATE UNIQUE INDEX ON {name} ((spied(title)))",
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


@pytest.mark.parametrize("late", LATE)
def test_deferred_code_of_a_table_does_not_run_as_the_worker(database, late):
    with acting(database, "wren") as role:
        role.execute("CREATE OR REPLACE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS"
                     " 'BEGIN PERFORM wren.spy(''late''); RETURN NULL; END'")
        role.execute("CREATE OR REPLACE FUNCTION spied(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS"
                     " 'BEGIN PERFORM wren.spy(''index''); RETURN t; END'")
        written = table(role)
        role.execute(LATE[late].format(name=written))
        name = evil_column(role, f"""
            PERFORM wren.spy('cast');
            BEGIN
                SET CONSTRAINTS ALL DEFERRED;
                INSERT INTO wren.{written} SELECT 1, 'Late', 'x' FROM generate_series(1, CASE '{late}' WHEN 'unique key' THEN 2 ELSE 1 END);
            EXCEPTION WHEN OTHERS THEN PERFORM wren.spy('refused');
            END""")
        attach(role, name)
        settled(database)
        seen = {what for what, in role.execute("SELECT what FROM seen").fetchall()}
        assert "cast" in seen and "late" not in seen
        # The worker continues.
        role.execute(f"INSERT INTO {name} VALUES (2, 'More', ROW('more'))")
        wait_until(lambda: f"{name}/2" in slugs(database, name) or error_of(database, name))


def test_deferred_triggers_of_documents_run_as_the_writer(database):
    """The worker writes as the role that attached the table, and is another role when the transaction ends."""
    database.execute("CREATE FUNCTION public.who() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                     " INSERT INTO wren.seen SELECT current_user, r.rolsuper, 'document' FROM pg_roles r"
                     " WHERE r.rolname = current_user; RETURN NULL; END $$")
    database.execute("CREATE CONSTRAINT TRIGGER late AFTER INSERT ON docsearch.document DEFERRABLE INITIALLY DEFERRED"
                     " FOR EACH ROW EXECUTE FUNCTION public.who()")
    try:
        with acting(database, "wren") as role:
            name = table(role)
            attach(role, name, project="open")
            role.execute(f"INSERT INTO {name} VALUES (1, 'Gull', 'A bird.')")
            wait_until(lambda: "deferred trigger" in (error_of(database, name) or ""))
            role.execute("SELECT docsearch.index_doc('open', 'tern', 'Tern', 'Another bird.')")
            assert role.execute("SELECT DISTINCT who FROM seen").fetchall() == [("wren",)]
            role.execute(f"SELECT docsearch.detach_table('{name}')")
    finally:
        database.execute("DROP FUNCTION public.who() CASCADE")


@pytest.fixture
def maintainer(database) -> Iterator[psycopg.Connection]:
    """A role that may maintain tables of others, and tables with code."""
    with acting(database, "wren") as role:
        role.execute("CREATE OR REPLACE FUNCTION spied(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS"
                     " 'BEGIN PERFORM wren.spy(''index''); RETURN t; END'")
        role.execute("CREATE TABLE kept (id bigint PRIMARY KEY, title text, body text)")
        role.execute("CREATE INDEX spied ON kept (wren.spied(title))")
        role.execute("CREATE MATERIALIZED VIEW kept_view AS SELECT id, wren.spied(title) AS title FROM kept")
        attach(role, "kept")
        role.execute("GRANT MAINTAIN ON kept, kept_view TO finch")
    with acting(database, "finch") as maintainer:
        yield maintainer
    with acting(database, "wren") as role:
        role.execute("SELECT docsearch.detach_table('kept')")
        role.execute("DROP TABLE kept CASCADE")


@pytest.mark.skipif(MAJOR < 17, reason="PostgreSQL 16 has no right to MAINTAIN")
@pytest.mark.parametrize("statement", [
    "REINDEX TABLE wren.kept", "CLUSTER wren.kept USING spied", "ANALYZE wren.kept", "VACUUM wren.kept",
    "REFRESH MATERIALIZED VIEW wren.kept_view"])
def test_maintenance_of_an_attached_table_runs_its_code_as_its_owner(database, maintainer, statement):
    """The documents stay."""
    with acting(database, "wren") as role:
        role.execute("INSERT INTO kept VALUES (1, 'Gull', 'A bird.'), (2, 'Tern', 'Another.')")
        settled(database)
        role.execute("TRUNCATE seen")
    maintainer.execute(statement)
    settled(database)
    assert slugs(database, "kept") == ["kept/1", "kept/2"]


@pytest.mark.skipif(MAJOR < 17, reason="PostgreSQL 16 has no right to MAINTAIN")
def test_maintenance_of_our_tables_changes_no_answer_and_shows_nothing(database):
    database.execute("GRANT pg_maintain TO finch; GRANT USAGE ON SCHEMA docsearch TO finch")
    database.execute("CREATE INDEX of_words ON docsearch.document USING gin (to_tsvector('docsearch.english', body))")
    database.execute("CREATE INDEX of_title ON docsearch.document (docsearch.split_identifier(title))")
    database.index("open", page("petrel", "Walks on water, says `PetrelColony`."))
    found = database.execute("SELECT slug, score FROM search_docs('petrel colony')")
    tables = [name for name, in database.execute(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'")]
    with acting(database, "finch") as maintainer:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            maintainer.execute("SELECT count(*) FROM docsearch.document")
        for name in tables:
            maintainer.execute(f"REINDEX TABLE {name}")
            maintainer.execute(f"VACUUM (FULL, ANALYZE) {name}")
        maintainer.execute("CLUSTER docsearch.document USING document_pkey")
    assert database.execute("SELECT slug, score FROM search_docs('petrel colony')") == found
    assert database.problems() == []
    database.execute("DROP INDEX docsearch.of_words, docsearch.of_title")
    database.execute("REVOKE pg_maintain FROM finch; REVOKE USAGE ON SCHEMA docsearch FROM finch")


@pytest.mark.skipif(MAJOR < 17, reason="PostgreSQL 16 has no right to MAINTAIN")
def test_revoking_includes_the_privilege_to_maintain(database):
    maintains = "SELECT has_table_privilege('finch', 'docsearch.document', 'MAINTAIN')"
    database.execute("GRANT MAINTAIN ON docsearch.document TO finch")
    assert database.execute(maintains) == [(True,)]
    database.execute("SELECT docsearch.revoke_usage('finch')")
    assert database.execute(maintains) == [(False,)]
