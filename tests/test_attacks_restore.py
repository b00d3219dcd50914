"""A database whose schema docsearch belongs to an ordinary role, as in a managed service or after a restore. Whatever that
role has done to the schema, functions that a superuser calls run none of its code as a superuser, and leave nothing in
the session that would run later."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import psycopg
import pytest
from conftest import Database, Site, own_server, page
from psycopg.conninfo import make_conninfo

OWNER = "keeper"
NUMBERS = count()
# Records who runs it, and makes the owner a superuser if it can.
SPY = """
CREATE FUNCTION keeper.spy(what text) RETURNS bool LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO keeper.seen SELECT current_user, r.rolsuper, spy.what FROM pg_catalog.pg_roles r WHERE r.rolname = current_user;
        IF (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
            EXECUTE 'ALTER ROLE keeper SUPERUSER';
        END IF;
        RETURN true;
    END $$;
CREATE FUNCTION keeper.constant(what text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN PERFORM keeper.spy(what); RETURN true; END $$;
CREATE FUNCTION keeper.row_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM keeper.spy(TG_NAME); RETURN coalesce(NEW, OLD); END $$;
CREATE FUNCTION keeper.length(text) RETURNS int LANGUAGE sql AS 'SELECT pg_catalog.length($1 || keeper.spy(''path'')::text)';
"""
# Objects that code can leave in a session, so that it runs later as another role.
LEFT = {
    "a cursor": "EXECUTE 'DECLARE kept CURSOR WITH HOLD FOR SELECT keeper.spy(''cursor'')'",
    "a search_path": "PERFORM set_config('search_path', 'keeper, pg_catalog', false)",
    "a role": "EXECUTE 'SET ROLE keeper'",
    "a temporary table": "EXECUTE 'CREATE TEMP TABLE pg_class (a int)'",
    "a listener": "EXECUTE 'LISTEN docsearch'",
}
LEAVING = """CREATE FUNCTION keeper.leave(what text) RETURNS bool LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM keeper.spy(what);
        BEGIN {left}; EXCEPTION WHEN insufficient_privilege THEN NULL; WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; END;
        RETURN true;
    END $$"""
# Calls of a superuser who maintains a database, one transaction each.
CALLS = [
    "SELECT slug FROM search_docs('heron', 'kit')",
    "SELECT load_doc('heron', project => 'kit')",
    "SELECT slug FROM list_docs('kit')",
    "SELECT * FROM docsearch.suggest('her')",
    "SELECT * FROM docsearch.check()",
    "SELECT * FROM docsearch.repair()",
    "SELECT docsearch.migrate()",
    "SELECT docsearch.status()",
    "SELECT docsearch.index_progress()",
    "SELECT docsearch.grant_usage('pg_monitor')",
    "SELECT docsearch.revoke_usage('pg_monitor')",
    "SELECT docsearch.create_project('another')",
    "SELECT docsearch.configure_project('kit', '{}')",
    "SELECT docsearch.index_doc('kit', 'stork', 'Stork', 'Nests on a chimney.')",
    "SELECT docsearch.delete_doc('kit', 'stork')",
    "SELECT docsearch.delete_missing('kit', 'folder', '{}')",
    "SELECT docsearch.finish_load('kit')",
    "SELECT docsearch.merge_statistics('kit')",
    "SELECT docsearch.reset_rules()",
    "SELECT docsearch.verify_invariants('kit')",
    "INSERT INTO keeper.ringed VALUES (1, 'Tern', 'Flies from pole to pole.')",
    "SELECT docsearch.attach_table('public.plain', project => 'kit', public => true)",
    "SELECT docsearch.detach_table('public.plain')",
    "SELECT docsearch.drop_project('another')",
    "SELECT docsearch.drop_all(current_database()::text)",
]
# Statements in the session afterwards.
AFTERWARDS = ["SELECT length('a'::text), count(*) FROM pg_class", "FETCH ALL FROM kept"]


def replaced(table: str, function: str) -> str:
    """A view in the place of a table."""
    return (f"ALTER TABLE docsearch.{table} RENAME TO former_{table};"
            f" CREATE VIEW docsearch.{table} AS SELECT * FROM docsearch.former_{table} WHERE {function}('view {table}')")


PLANTED = {
    "a view of documents": replaced("document", "keeper.spy"),
    "a view of projects": replaced("project", "keeper.spy"),
    "a view of models": replaced("model", "keeper.spy"),
    "a view of rules": replaced("synonym", "keeper.spy"),
    "a view of versions": replaced("schema_version", "keeper.spy"),
    "a view of statistics": replaced("term_stat", "keeper.spy"),
    "a view in the place of a table that is gone": replaced("project", "keeper.spy") + "; DROP TABLE docsearch.chunk CASCADE",
    "a view of attached tables": replaced("attached_table", "keeper.spy"),
    "a view of sections": replaced("chunk", "keeper.spy"),
    "a cast of a column": """
        CREATE TYPE keeper.word AS (a text);
        CREATE FUNCTION keeper.to_text(keeper.word) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
            BEGIN PERFORM keeper.spy('cast'); RETURN ($1).a; END $$;
        CREATE FUNCTION keeper.to_word(text) RETURNS keeper.word LANGUAGE sql IMMUTABLE AS 'SELECT ROW($1)::keeper.word';
        CREATE CAST (keeper.word AS text) WITH FUNCTION keeper.to_text(keeper.word) AS IMPLICIT;
        CREATE CAST (text AS keeper.word) WITH FUNCTION keeper.to_word(text) AS IMPLICIT;
        ALTER TABLE docsearch.document DROP CONSTRAINT document_texts_bounded; DROP INDEX docsearch.document_source_root;
        ALTER TABLE docsearch.document ALTER COLUMN source_root TYPE keeper.word USING keeper.to_word(source_root)""",
    "conditions of indexes": """
        CREATE INDEX ON docsearch.project (id) WHERE keeper.constant('project');
        CREATE INDEX ON docsearch.document (id) WHERE keeper.constant('document');
        CREATE INDEX ON docsearch.chunk (document_id) WHERE keeper.constant('chunk');
        CREATE INDEX ON docsearch.schema_version (version) WHERE keeper.constant('version')""",
    "triggers": """
        CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON docsearch.project FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();
        CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON docsearch.document FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();
        CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON docsearch.chunk FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();
        CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON docsearch.synonym FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger()""",
    "deferred triggers": " ".join(
        f"CREATE CONSTRAINT TRIGGER late_{table} AFTER INSERT OR UPDATE OR DELETE ON docsearch.{table} DEFERRABLE INITIALLY DEFERRED"
        f" FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();"
        for table in ("project", "document", "chunk", "synonym", "term_stat", "document_name", "table_change")),
    "defaults and checks": """
        ALTER TABLE docsearch.project ALTER COLUMN created_at SET DEFAULT CASE WHEN keeper.spy('default') THEN now() END;
        ALTER TABLE docsearch.document ADD CHECK (keeper.spy('check ' || left(slug, 9)));
        ALTER TABLE docsearch.action ALTER COLUMN enabled SET DEFAULT keeper.spy('default of a rule')""",
    "rules": """
        CREATE RULE evil AS ON INSERT TO docsearch.project DO ALSO SELECT keeper.spy('rule');
        CREATE RULE evil AS ON INSERT TO docsearch.document DO ALSO SELECT keeper.spy('rule');
        CREATE RULE evil AS ON DELETE TO docsearch.synonym DO ALSO SELECT keeper.spy('rule')""",
    "policies": """
        ALTER TABLE docsearch.project ENABLE ROW LEVEL SECURITY; ALTER TABLE docsearch.project FORCE ROW LEVEL SECURITY;
        CREATE POLICY evil ON docsearch.project USING (keeper.spy('policy'));
        ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY; ALTER TABLE docsearch.document FORCE ROW LEVEL SECURITY;
        CREATE POLICY evil ON docsearch.document USING (keeper.spy('policy'))""",
    "tables of an older version": """
        CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON docsearch.document_name FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();
        CREATE TRIGGER evil BEFORE INSERT ON docsearch.schema_version FOR EACH ROW EXECUTE FUNCTION keeper.row_trigger();
        ALTER TABLE docsearch.query_word ALTER COLUMN enabled SET DEFAULT keeper.spy('default');
        DROP TABLE docsearch.news_name; DELETE FROM docsearch.query_word WHERE kind IN ('news', 'change');
        DELETE FROM docsearch.schema_version WHERE version > 9""",
}


# Refused, or not applied to superusers, so that only the worker may run it.
NOT_FOR_SUPERUSERS = {"deferred triggers", "policies"}


@dataclass
class Given:
    """The owner's database, with actions of the owner and of a superuser."""

    site: Site
    database: Database
    owner: Database

    def superuser(self, before: str = "SET client_min_messages = error", calls: list[str] = CALLS) -> dict[str, str | None]:
        """Makes all calls in one session, and returns their errors."""
        outcomes = {}
        with self.database.connect() as session:
            session.execute(before)
            for call in [each for call in calls for each in (call, *AFTERWARDS)]:
                try:
                    session.execute(call)
                    outcomes[call] = None
                except psycopg.Error as problem:
                    outcomes[call] = str(problem)
            outcomes["search_path"] = session.execute("SHOW search_path").fetchone()[0]
        return outcomes

    def seen(self) -> list[tuple]:
        return self.database.execute("SELECT DISTINCT who, super FROM keeper.seen")

    def assert_held(self) -> None:
        assert [row for row in self.seen() if row != (OWNER, False)] == []
        assert self.database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", OWNER) == [(False,)]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("restore") as own:
        own.database.execute(f"CREATE ROLE {OWNER} LOGIN")
        own.database.execute(f"ALTER SCHEMA docsearch OWNER TO {OWNER}")
        own.database.execute(f"CREATE SCHEMA {OWNER} AUTHORIZATION {OWNER}")
        own.database.execute("CREATE TABLE public.plain (id int PRIMARY KEY, title text, body text)")
        owner = Database(make_conninfo(own.database.conninfo, user=OWNER))
        owner.execute("CREATE TABLE keeper.seen (who text, super bool, what text)")
        owner.execute("GRANT ALL ON keeper.seen TO PUBLIC; GRANT USAGE ON SCHEMA keeper TO PUBLIC")
        owner.execute(SPY)
        owner.execute("SELECT docsearch.create_project('kit')")
        owner.execute("CREATE TABLE keeper.ringed (id int PRIMARY KEY, title text, body text)")
        owner.execute("SELECT docsearch.attach_table('keeper.ringed', project => 'kit', public => true)")
        owner.index("kit", page("heron", "Wades in shallow water."), page("grebe", "Builds a nest that floats."))
        assert owner.execute("SELECT docsearch.wait_for_index()") == [(True,)]
        yield own


@pytest.fixture
def given(site: Site) -> Iterator[Given]:
    """A copy of the first database, with CREATE DATABASE ... TEMPLATE."""
    name = f"given_{next(NUMBERS)}"
    server = Database(make_conninfo(site.database.conninfo, dbname="postgres"))
    server.execute(f"ALTER ROLE {OWNER} NOSUPERUSER")
    server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'docs'")
    server.execute(f"CREATE DATABASE {name} TEMPLATE docs")
    database = Database(make_conninfo(site.database.conninfo, dbname=name))
    yield Given(site, database, Database(make_conninfo(database.conninfo, user=OWNER)))
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    server.execute(f"ALTER ROLE {OWNER} NOSUPERUSER")





@pytest.mark.parametrize("planted", PLANTED)
def test_calls_of_a_superuser_run_code_of_the_schema_owner_as_that_owner(given: Given, planted: str):
    given.owner.execute(PLANTED[planted])
    given.owner.execute("TRUNCATE keeper.seen")
    given.superuser()
    assert given.seen() or planted in NOT_FOR_SUPERUSERS
    given.assert_held()


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("table", ["term_stat", "project"])
def test_code_of_the_schemas_owner_leaves_nothing_in_the_session(given: Given, table: str, left: str):
    given.owner.execute(LEAVING.format(left=LEFT[left]))
    given.owner.execute(replaced(table, "keeper.leave"))
    given.owner.execute("TRUNCATE keeper.seen")
    outcomes = given.superuser()
    assert given.seen()
    given.assert_held()
    assert outcomes["search_path"] == '"$user", public'
    assert "does not exist" in outcomes["FETCH ALL FROM kept"]


@pytest.mark.parametrize("table", ["term_stat", "project"])
def test_a_superuser_with_set_role_keeps_that_role(given: Given, table: str):
    given.owner.execute(LEAVING.format(left="EXECUTE 'RESET ROLE'; PERFORM keeper.spy('reset')"))
    given.owner.execute(replaced(table, "keeper.leave"))
    given.owner.execute("TRUNCATE keeper.seen")
    given.superuser(f"SET ROLE {OWNER}")
    assert given.seen()
    given.assert_held()


@pytest.mark.parametrize("planted", ["a view of projects", "a view in the place of a table that is gone", "triggers", "rules"])
def test_a_restored_dump_brings_no_code_that_runs_as_a_superuser(given: Given, tmp_path, planted: str):
    """None of this code runs during the restore; Postgres decides what does."""
    given.owner.execute(PLANTED[planted])
    dump = tmp_path / "dump.sql"
    given.database.run("pg_dump", f"--file={dump}")
    name = f"restored_{next(NUMBERS)}"
    given.database.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    restored = Database(make_conninfo(given.database.conninfo, dbname=name))
    restored.run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={dump}")
    restored.execute("TRUNCATE keeper.seen")
    copy = Given(given.site, restored, Database(make_conninfo(restored.conninfo, user=OWNER)))
    # A dump does not contain the owner of an extension's schema.
    copy.superuser(calls=CALLS[:-1])
    copy.assert_held()
    restored.execute(f"ALTER SCHEMA docsearch OWNER TO {OWNER}")
    copy.superuser()
    assert copy.seen()
    copy.assert_held()
    given.database.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_our_functions_are_found_whatever_else_is_in_the_schema(given: Given):
    """The owner of the schema may create functions that fit a call with fewer arguments better."""
    given.owner.execute("CREATE FUNCTION docsearch.check() RETURNS SETOF text LANGUAGE sql AS $$ SELECT keeper.spy('check')::text $$")
    given.owner.execute("CREATE FUNCTION docsearch.embed(unknown) RETURNS real[] LANGUAGE plpgsql"
                        " AS $$ BEGIN PERFORM keeper.spy('embed'); RETURN '{1}'; END $$"
                        .replace("unknown", "varchar"))
    given.owner.execute("TRUNCATE keeper.seen")
    assert given.database.problems() == []
    assert given.database.execute("SELECT docsearch.embed('heron'::text, NULL::text) IS NOT NULL") == [(True,)]
    assert given.seen() == []


def test_a_superuser_can_still_administer(given: Given):
    """As the owner of the schema, whose tables they stay."""
    database = given.database
    assert database.execute("SELECT docsearch.create_project('more') > 0") == [(True,)]
    assert database.index("more", page("ibis", "Wades, too."))[0][1] == "added"
    assert ("ibis",) in database.execute("SELECT slug FROM search_docs('ibis wades', 'more')")
    database.execute("DELETE FROM docsearch.chunk c USING docsearch.document d WHERE d.id = c.document_id AND d.slug = 'ibis'")
    assert ("chunks missing",) in database.execute("SELECT problem FROM docsearch.repair()")
    assert database.execute("SELECT docsearch.migrate()") == database.execute("SELECT max(version) FROM docsearch.schema_version")
    database.execute("SELECT docsearch.grant_usage('pg_monitor'); SELECT docsearch.reset_rules()")
    assert database.problems() == []
    owners = "SELECT DISTINCT pg_get_userbyid(relowner)::text FROM pg_class WHERE relnamespace = 'docsearch'::regnamespace"
    assert database.execute(owners) == [(OWNER,)]
    assert database.execute("SELECT docsearch.drop_project('more')") == [(1,)]
    database.execute("SELECT docsearch.drop_all(current_database()::text)")
    # All versions of the tables, from the first one.
    assert database.execute("SELECT docsearch.create_project('again') > 0") == [(True,)]
    assert database.execute(owners) == [(OWNER,)]
    database.execute("SELECT docsearch.drop_all(current_database()::text)")
    database.execute("DROP EXTENSION pg_docsearch")


def test_the_schemas_owner_gives_the_extension_nothing(given: Given):
    """The role that restores a dump creates the members with the extension."""
    for what in ("FUNCTION keeper.spy(text)", "TABLE keeper.seen", "TABLE docsearch.term_stat"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            given.owner.execute(f"ALTER EXTENSION pg_docsearch ADD {what}")
