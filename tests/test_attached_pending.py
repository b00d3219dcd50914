"""Every change of an attached table is applied or still pending. `check` reports changes that are pending because of a
problem, and they are retried only after a pause. Once the problem is solved, the documents are those of the rows.

These tests observe the worker, so they have a server of their own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from background import acting, detach_all, settled
from conftest import Database, Site, own_server, wait_until

COLUMNS = "id int PRIMARY KEY, title text, body text, shown bool DEFAULT true, at timestamptz DEFAULT '2026-01-01'"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("pending") as own:
        own.database.execute("SELECT docsearch.create_project('open')")
        for role in ("wren", "lark"):
            own.database.execute(f"CREATE ROLE {role} LOGIN")
            own.database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
            own.database.execute(f"GRANT CREATE, USAGE ON SCHEMA {role} TO PUBLIC")
            own.database.execute("SELECT docsearch.grant_usage(%s, write => true)", role)
        own.database.execute("CREATE SCHEMA shared; GRANT USAGE, CREATE ON SCHEMA shared TO PUBLIC")
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    yield site.database
    detach_all(site.database)
    settled(site.database)
    assert site.database.problems() == []


@dataclass
class Table:
    database: Database
    name: str

    @property
    def short(self) -> str:
        return self.name.split(".")[-1]

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.database.execute(statement.replace("@short", self.short).replace("@", self.name))

    def documents(self) -> dict[str, str]:
        rows = self.database.execute("SELECT d.source_path, d.body FROM docsearch.document d WHERE d.source_root = %s",
                                     f"table:{self.name}")
        return dict(rows)

    def rows(self, column: str = "body") -> dict[str, str]:
        return dict(self.database.execute(f"SELECT id::text, coalesce({column}, '') FROM {self.name}"))

    def problems(self, deep: bool = False) -> list[tuple[str, str]]:
        call = "docsearch.check(deep => true)" if deep else "docsearch.check()"
        return self.database.execute(f"SELECT problem, detail FROM {call} WHERE object = %s", self.name)

    def pending(self) -> list[tuple]:
        return self.database.execute(
            "SELECT c.key, c.attempts, c.error FROM docsearch.table_change c JOIN docsearch.attached_table a ON a.id = c.attached_id"
            " WHERE a.source = %s::regclass ORDER BY c.key", self.name)

    def hurry(self) -> None:
        """Ends the pauses."""
        self.database.execute("UPDATE docsearch.attached_table SET next_attempt = now() WHERE source = %s::regclass", self.name)
        self.database.execute("UPDATE docsearch.table_change c SET next_attempt = now() FROM docsearch.attached_table a"
                              " WHERE a.id = c.attached_id AND c.attempts > 0 AND a.source = %s::regclass", self.name)
        self.database.execute("SELECT docsearch.index_progress()")
        self.database.execute("SELECT docsearch.wait_for_index('1 ms')")


@pytest.fixture
def table(database: Database) -> Callable[..., Table]:
    def create(schema: str = "wren", columns: str = COLUMNS, **given: str) -> Table:
        name = f"t{uuid4().hex[:10]}"
        with acting(database, "wren") as role:
            role.execute(f"CREATE TABLE {schema}.{name} ({columns})")
            role.execute(f"INSERT INTO {schema}.{name} (id, title, body)"
                         " VALUES (1, 'One', 'About puffins.'), (2, 'Two', 'About gannets.'), (3, 'Three', 'About terns.')")
            arguments = "".join(f", {key} => {value}" for key, value in given.items())
            role.execute(f"SELECT docsearch.attach_table('{schema}.{name}', project => 'open', public => true{arguments})")
        settled(database)
        made = Table(database, f"{schema}.{name}")
        assert len(made.documents()) == 3
        return made
    return create


# Statements that make a table unreadable, that undo it, and arguments for attaching the table.
UNREADABLE = {
    "column renamed": ("ALTER TABLE @ RENAME COLUMN title TO heading", "ALTER TABLE @ RENAME COLUMN heading TO title", {}),
    "column dropped": ("ALTER TABLE @ DROP COLUMN title", "ALTER TABLE @ ADD COLUMN title text", {}),
    "key of another type": ("ALTER TABLE @ ALTER COLUMN id TYPE int[] USING ARRAY[id]",
                            "ALTER TABLE @ ALTER COLUMN id TYPE int USING id[1]", {}),
    "column that is no time": ("ALTER TABLE @ ALTER COLUMN at DROP DEFAULT, ALTER COLUMN at TYPE int USING 0",
                               "ALTER TABLE @ ALTER COLUMN at TYPE timestamptz USING '2026-01-01'", {"published_at": "'at'"}),
    "owner may not read it": ("REVOKE SELECT ON @ FROM wren", "GRANT SELECT ON @ TO wren", {}),
    "owner may not use its schema": ("REVOKE USAGE ON SCHEMA shared FROM PUBLIC", "GRANT USAGE ON SCHEMA shared TO PUBLIC",
                                     {"schema": "shared"}),
    "another owner": ("ALTER TABLE @ OWNER TO lark", "ALTER TABLE @ OWNER TO wren", {}),
    "writer has no rights": ("SELECT docsearch.revoke_usage('wren')", "SELECT docsearch.grant_usage('wren', write => true)", {}),
    "writer may not delete": ("REVOKE DELETE ON docsearch.document FROM wren", "GRANT DELETE ON docsearch.document TO wren", {}),
    "column of the condition renamed": ("ALTER TABLE @ RENAME COLUMN shown TO visible",
                                        "ALTER TABLE @ RENAME COLUMN visible TO shown", {"rows_where": "'shown'"}),
    "triggers disabled": ("ALTER TABLE @ DISABLE TRIGGER USER", "ALTER TABLE @ ENABLE TRIGGER USER", {}),
    "one trigger disabled": ("ALTER TABLE @ DISABLE TRIGGER {trigger}delete", "ALTER TABLE @ ENABLE TRIGGER {trigger}delete", {}),
    "trigger replaced": (
        "CREATE OR REPLACE TRIGGER {trigger}delete AFTER DELETE ON @ REFERENCING OLD TABLE AS docsearch_old"
        " FOR EACH STATEMENT WHEN (current_user = 'no such role') EXECUTE FUNCTION docsearch.attached_changed('{number}')",
        "CREATE OR REPLACE TRIGGER {trigger}delete AFTER DELETE ON @ REFERENCING OLD TABLE AS docsearch_old"
        " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')", {}),
    "trigger for one column": (
        "CREATE OR REPLACE TRIGGER {trigger}update AFTER UPDATE OF id ON @"
        " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')",
        "CREATE OR REPLACE TRIGGER {trigger}update AFTER UPDATE ON @ REFERENCING OLD TABLE AS docsearch_old"
        " NEW TABLE AS docsearch_new FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')", {}),
    "trigger of another event": (
        "CREATE OR REPLACE TRIGGER {trigger}delete AFTER INSERT ON @ REFERENCING NEW TABLE AS docsearch_new"
        " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')",
        "CREATE OR REPLACE TRIGGER {trigger}delete AFTER DELETE ON @ REFERENCING OLD TABLE AS docsearch_old"
        " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')", {}),
}


@pytest.mark.parametrize("truncated", [False, True], ids=["rows", "truncated"])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_changes_of_a_table_that_cannot_be_read_wait(database, table, kind, truncated):
    broken, solved, given = UNREADABLE[kind]
    changed = table(**given)
    number = database.execute("SELECT id FROM docsearch.attached_table WHERE source = %s::regclass", changed.name)[0][0]
    broken, solved = (text.format(trigger=f"docsearch_{number}_", number=number) for text in (broken, solved))
    before = changed.documents()
    changed.run(broken)
    key = "ARRAY[{}]" if kind == "key of another type" else "{}"
    if truncated:
        changed.run("TRUNCATE @")
    else:
        changed.run(f"UPDATE @ SET body = 'About kestrels.' WHERE id = {key.format(1)}", f"DELETE FROM @ WHERE id = {key.format(2)}")
    changed.run(f"INSERT INTO @ (id, body) VALUES ({key.format(4)}, 'About auks.')")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(False,)]
    assert changed.documents() == before
    (problem, detail), = changed.problems()
    assert problem == "attached table unread" and detail
    # One attempt, and then a growing pause.
    assert database.execute("SELECT attempts BETWEEN 1 AND 3 FROM docsearch.attached_table WHERE id = %s", number) == [(True,)]
    changed.run(solved)
    changed.hurry()
    settled(database)
    assert changed.documents() == changed.rows()
    assert changed.pending() == [] and changed.problems(deep=True) == []


@pytest.mark.parametrize("ended", [False, True], ids=["goes on", "ended"])
def test_a_row_that_fails_waits_alone_and_is_tried_again(database, table, ended):
    """Here a function that the table's own code calls fails."""
    with acting(database, "wren") as role:
        role.execute("CREATE OR REPLACE FUNCTION wren.strict(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS"
                     " $$ BEGIN IF $1 LIKE '%bad%' THEN RAISE 'bad text'; END IF; RETURN $1; END $$")
        changed = table(rows_where="'wren.strict(body) IS NOT NULL'")
        changed.run("UPDATE @ SET body = 'bad' WHERE id = 1", "UPDATE @ SET body = 'About auks.' WHERE id = 2",
                    "INSERT INTO @ VALUES (4, 'Four', 'bad, too'), (5, 'Five', 'About grebes.')")
        settled(database)
        assert changed.documents() == {"1": "About puffins.", "2": "About auks.", "3": "About terns.", "5": "About grebes."}
        assert changed.pending() == [("1", 1, "bad text"), ("4", 1, "bad text")]
        (problem, detail), = changed.problems()
        assert problem == "attached table incomplete" and "bad text; other rows were left out, too" in detail
        pauses = database.execute("SELECT c.next_attempt - c.noted_at >= '4 s' FROM docsearch.table_change c WHERE c.attempts > 0")
        assert pauses == [(True,), (True,)]
        assert database.execute("SELECT unread FROM docsearch.index_progress('open')") == [(2,)]
        # Changes of other rows do not retry it.
        changed.run("UPDATE @ SET body = 'About rails.' WHERE id = 2")
        settled(database)
        assert [attempts for _, attempts, _ in changed.pending()] == [1, 1]
        # A change of this row does, and success ends the failure.
        changed.run("UPDATE @ SET body = 'still bad' WHERE id = 1", "UPDATE @ SET body = 'About skuas.' WHERE id = 4")
        settled(database)
        assert changed.pending() == [("1", 2, "bad text")]
        (problem, detail), = changed.problems()
        assert problem == "attached table incomplete" and detail == f"{changed.short}/1: bad text"
        if ended:
            database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'docsearch indexer'")
        role.execute("CREATE OR REPLACE FUNCTION wren.strict(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
        changed.hurry()
        wait_until(lambda: changed.pending() == [])
        assert changed.documents() == changed.rows() and changed.problems(deep=True) == []


def test_rows_that_fail_while_a_table_is_read_from_its_beginning_wait_as_well(database, table):
    changed = table(columns=COLUMNS.replace("at timestamptz DEFAULT '2026-01-01'", "at text"), published_at="'at'")
    with acting(database, "wren") as role:
        changed.run("ALTER TABLE @ DISABLE TRIGGER USER", "UPDATE @ SET at = 'never', body = 'New.' WHERE id = 2",
                    "ALTER TABLE @ ENABLE TRIGGER USER")
        role.execute(f"SELECT docsearch.read_table('{changed.name}')")
        settled(database)
        assert [(key, attempts) for key, attempts, _ in changed.pending()] == [("2", 1)]
        changed.run("UPDATE @ SET at = '2026-05-05' WHERE id = 2")
        settled(database)
        assert changed.pending() == [] and changed.documents() == changed.rows()


@pytest.mark.parametrize("command", ["INSERT", "UPDATE", "DELETE"])
def test_changes_that_policies_refuse_wait(database, table, command):
    changed = table()
    condition = {"INSERT": "WITH CHECK (title <> 'Four')", "UPDATE": "USING (title <> 'One')", "DELETE": "USING (title <> 'Two')"}
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute("CREATE POLICY everything ON docsearch.document USING (true)")
    database.execute(f"CREATE POLICY refused ON docsearch.document AS RESTRICTIVE FOR {command} TO wren {condition[command]}")
    try:
        changed.run("UPDATE @ SET body = 'About kestrels.' WHERE id = 1", "DELETE FROM @ WHERE id = 2",
                    "INSERT INTO @ VALUES (4, 'Four', 'About auks.')")
        settled(database)
        refused = {"INSERT": "4", "UPDATE": "1", "DELETE": "2"}[command]
        assert [(key, attempts) for key, attempts, _ in changed.pending()] == [(refused, 1)]
        (problem, detail), = changed.problems()
        assert problem == "attached table incomplete" and detail.startswith(f"{changed.short}/{refused}: ")
    finally:
        database.execute("DROP POLICY refused ON docsearch.document")
        database.execute("DROP POLICY everything ON docsearch.document")
        database.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
    changed.hurry()
    wait_until(lambda: changed.pending() == [])
    assert changed.documents() == changed.rows() and changed.problems(deep=True) == []


def test_rows_hidden_by_a_forced_policy_are_read_again_without_it(database, table):
    changed = table()
    changed.run("ALTER TABLE @ ENABLE ROW LEVEL SECURITY", "ALTER TABLE @ FORCE ROW LEVEL SECURITY",
                "CREATE POLICY hides ON @ USING (id <> 2)")
    settled(database)
    assert sorted(changed.documents()) == ["1", "3"]
    changed.run("UPDATE @ SET body = 'About kestrels.'", "DROP POLICY hides ON @", "CREATE POLICY shows ON @ USING (true)")
    settled(database)
    assert changed.documents() == changed.rows()
    assert database.execute("SELECT problem FROM docsearch.check(deep => true) WHERE problem = 'attached table differs'") == []


@pytest.mark.parametrize("change", ["ALTER TABLE @ RENAME TO @short_x", "ALTER TABLE @ SET SCHEMA lark"])
def test_a_renamed_table_stays_attached(database, table, change):
    changed = table()
    before = changed.name
    changed.run(change)
    changed.name = f"{before}_x" if "RENAME" in change else before.replace("wren", "lark")
    changed.run("UPDATE @ SET body = 'About kestrels.' WHERE id = 1", "DELETE FROM @ WHERE id = 2")
    settled(database)
    assert Table(database, before).documents() == changed.rows()


def test_a_session_that_skips_triggers_does_not_skip_ours(database, table):
    changed = table()
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(f"DELETE FROM {changed.name} WHERE id = 2")
    settled(database)
    assert changed.documents() == changed.rows()


def test_a_deep_check_finds_documents_that_differ_from_their_rows(database, table):
    changed = table()
    assert changed.problems(deep=True) == []
    root = f"table:{changed.name}"
    database.execute("DELETE FROM docsearch.document WHERE source_root = %s AND source_path = '1'", root)
    database.execute("UPDATE docsearch.document SET content_hash = 'x' WHERE source_root = %s AND source_path = '2'", root)
    database.execute("INSERT INTO docsearch.document (project_id, slug, title, body, content_hash, source_root, source_path)"
                     " SELECT id, %s, 'Nine', '', '', %s, '9' FROM docsearch.project WHERE name = 'open'", f"{changed.short}/9", root)
    assert [problem for problem, _ in changed.problems()] == []
    (problem, detail), = changed.problems(deep=True)
    slug = changed.short
    assert problem == "attached table differs"
    assert detail == (f"1 row without a document, such as {slug}/1; 1 document unlike the row, such as {slug}/2; "
                      f"1 document without a row, such as {slug}/9")
    (repair,), = database.execute("SELECT repair FROM docsearch.check(deep => true, project => 'open') WHERE object = %s", changed.name)
    database.execute(repair)
    settled(database)
    database.execute("SELECT docsearch.repair()")
    assert changed.problems(deep=True) == [] and changed.documents() == changed.rows()
    # The check compares what the reader sees; pending rows are reported elsewhere.
    with psycopg.connect(database.conninfo, autocommit=True, user="wren") as role, pytest.raises(psycopg.errors.InsufficientPrivilege):
        role.execute("SELECT * FROM docsearch.check(deep => true)")


def test_documents_of_a_table_that_is_not_attached_are_reported(database, table):
    changed = table()
    database.execute(f"SELECT docsearch.detach_table('{changed.name}', keep_documents => true)")
    # They are to stay.
    assert changed.problems() == []
    database.execute("UPDATE docsearch.project SET kept_sources = '{}'")
    (problem, detail), = changed.problems()
    assert problem == "table detached" and detail.startswith("3 documents in project \"open\", such as ")
    (repair,), = database.execute("SELECT repair FROM docsearch.check() WHERE object = %s", changed.name)
    database.execute(repair.split("delete the documents: ")[1])
    assert changed.problems() == [] and changed.documents() == {}


def test_documents_that_were_kept_are_taken_up_again(database, table):
    changed = table()
    database.execute(f"SELECT docsearch.detach_table('{changed.name}', keep_documents => true)")
    changed.run("DELETE FROM @ WHERE id = 3")
    with acting(database, "wren") as role:
        role.execute(f"SELECT docsearch.attach_table('{changed.name}', project => 'open', public => true)")
        settled(database)
        assert changed.documents() == changed.rows()
        role.execute(f"SELECT docsearch.detach_table('{changed.name}')")
    assert changed.documents() == {} and changed.problems() == []
    assert database.execute("SELECT kept_sources FROM docsearch.project WHERE name = 'open'") == [([],)]


# The writer's session.

def test_writers_keep_their_own_numbers(database, table):
    """Drivers ask for lastval() after an INSERT."""
    changed = table(columns="id serial PRIMARY KEY, title text, body text")
    changed.run("ALTER SEQUENCE wren.@short_id_seq RESTART 100")
    with acting(database, "wren") as role:
        for statement in (f"UPDATE {changed.name} SET body = 'x'", f"DELETE FROM {changed.name} WHERE id = 3", f"TRUNCATE {changed.name}"):
            role.execute(statement)
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                role.execute("SELECT lastval()")
        role.execute(f"INSERT INTO {changed.name} (title, body) VALUES ('New', 'New.')")
        assert role.execute("SELECT lastval()").fetchone() == (100,)
        role.execute(f"UPDATE {changed.name} SET body = 'y'")
        assert role.execute(f"SELECT lastval(), currval('{changed.name}_id_seq')").fetchone() == (100, 100)
    drawn = database.execute("SELECT count(*) FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.deptype IN ('a', 'i')"
                             " WHERE c.relkind = 'S' AND d.refobjid IN ('docsearch.table_change'::regclass, 'docsearch.view_row'::regclass)")
    assert drawn == [(0,)]


# Views.

def test_a_view_is_read_at_its_interval_and_when_its_tables_change(database):
    with acting(database, "wren") as role:
        role.execute("CREATE TABLE author (id int PRIMARY KEY, name text)")
        role.execute("INSERT INTO author VALUES (1, 'Ada')")
        role.execute("CREATE TABLE other (id int PRIMARY KEY, name text)")
        role.execute("INSERT INTO other VALUES (2, 'Bob')")
        role.execute("CREATE VIEW authors AS SELECT id, name AS title, name AS body FROM author UNION ALL SELECT id, name, name FROM other")
        role.execute("SELECT docsearch.attach_table('authors', project => 'open', public => true, every => '1 day', changes_in => '{author}')")
        settled(database)
        view = Table(database, "wren.authors")
        role.execute("UPDATE author SET name = 'Mary'")
        settled(database)
        assert view.documents() == {"1": "Mary", "2": "Bob"}
        role.execute("UPDATE other SET name = 'Jane'")
        settled(database)
        assert view.documents() == {"1": "Mary", "2": "Bob"}
        view.hurry()
        wait_until(lambda: view.documents() == {"1": "Mary", "2": "Jane"})
        settled(database)
        # Its triggers are checked like those of a table.
        number, = role.execute("SELECT substring(tgname FROM '[0-9]+') FROM pg_trigger WHERE tgrelid = 'author'::regclass").fetchone()
        trigger = f"TRIGGER docsearch_{number}_update AFTER UPDATE ON author FOR EACH STATEMENT"
        role.execute(f"CREATE OR REPLACE {trigger} WHEN (false) EXECUTE FUNCTION docsearch.attached_changed('{number}')")
        assert view.problems() == [("attached table silent", "triggers that record changes of wren.author are missing, disabled or changed")]
        role.execute("UPDATE author SET name = 'Grace'")
        role.execute(f"CREATE OR REPLACE {trigger} EXECUTE FUNCTION docsearch.attached_changed('{number}')")
        settled(database)
        assert view.documents() == {"1": "Grace", "2": "Jane"} and view.problems(deep=True) == []
        role.execute("SELECT docsearch.detach_table('authors')")
        role.execute("DROP VIEW authors; DROP TABLE author, other")
