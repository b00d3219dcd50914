"""A role, column, condition or path in a table can be trusted only as far as the weakest role that may write the table. A
writer of docsearch.attached_table cannot make the worker act as another role, or read what its owner has not attached.

`keeper`, an ordinary role, owns the tables of one database; in the other a superuser owns them. `etl` may write all data
everywhere, and nothing else.
"""

import json
from collections.abc import Iterator

import psycopg
import pytest
from attacks import DOCUMENTS, attach, attacked_server, error_of, number_of, prepare, refuses, spied, table, unchanged
from background import acting, settled
from conftest import Database, Site, wait_until
from psycopg import sql
from psycopg.conninfo import make_conninfo

DUE = "loading = true, loaded_to = NULL, attempts = 0, next_attempt = now()"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        for role in ("keeper", "etl"):
            own.database.execute(f"CREATE ROLE {role} LOGIN")
        own.database.execute("GRANT pg_write_all_data TO etl")
        prepare(own.database, "etl", write=True)
        own.database.execute("CREATE SCHEMA safe")
        own.database.execute("CREATE TABLE safe.conf (id bigint PRIMARY KEY, title text, body text)")
        own.database.execute("INSERT INTO safe.conf VALUES (1, 'Key', 'of a superuser')")
        own.database.execute("SELECT docsearch.create_project('other')")
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    yield from spied(site.database, "etl", "wren")


@pytest.fixture(scope="module")
def tables_of_keeper(site: Site) -> Database:
    site.instance.query("CREATE DATABASE managed")
    database = Database(make_conninfo(site.database.conninfo, dbname="managed"))
    database.execute("CREATE EXTENSION pg_docsearch CASCADE")
    database.execute("ALTER SCHEMA docsearch OWNER TO keeper")
    database.execute("GRANT EXECUTE ON FUNCTION docsearch.check(text) TO keeper")
    prepare(database, "keeper")
    with acting(database, "keeper") as keeper:
        keeper.execute("SELECT docsearch.create_project('open')")
        keeper.execute("SELECT docsearch.create_project('other')")
    for role in ("wren", "rook"):
        prepare(database, role, write=True)
    database.execute("CREATE SCHEMA safe")
    database.execute("CREATE TABLE safe.conf (id bigint PRIMARY KEY, title text, body text)")
    database.execute("INSERT INTO safe.conf VALUES (1, 'Key', 'of a superuser')")
    return database


@pytest.fixture
def managed(tables_of_keeper: Database) -> Iterator[Database]:
    yield from spied(tables_of_keeper, "keeper", "wren")
    tables_of_keeper.execute("REVOKE wren FROM keeper")


def forge(role: psycopg.Connection, source: str, number: int, condition: str, reads_as: str, writes_as: str) -> None:
    """Forges a row and matching triggers, which the privileges to write data and TRIGGER on a table allow."""
    role.execute("INSERT INTO docsearch.attached_table (id, project_id, source, source_root, slug_prefix, key_column, title_column,"
                 " body_column, reads_as, writes_as, access, rows_where)"
                 f" SELECT {number}, p.id, '{source}', 'table:{source}', 'conf/', 'id', 'title', 'body', '{reads_as}', '{writes_as}',"
                 " 'public', %s FROM docsearch.project p WHERE p.name = 'open'", [condition])
    for event, rows in (("INSERT", "REFERENCING NEW TABLE AS docsearch_new"),
                        ("UPDATE", "REFERENCING OLD TABLE AS docsearch_old NEW TABLE AS docsearch_new"),
                        ("DELETE", "REFERENCING OLD TABLE AS docsearch_old"), ("TRUNCATE", "")):
        given = sql.SQL(", {}").format(condition) if event == "INSERT" else sql.SQL("")
        role.execute(sql.SQL(f"CREATE TRIGGER docsearch_{number}_{event.lower()} AFTER {event} ON {source} {rows}"
                             " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed({}{})").format(str(number), given))


def comment_on(role: psycopg.Connection, source: str, number: int, text: str) -> None:
    role.execute(sql.SQL(f"COMMENT ON TRIGGER docsearch_{number}_insert ON {source} IS {{}}").format(text))


def comment_of(database: Database, number: str) -> str:
    return database.execute("SELECT obj_description(oid, 'pg_trigger') FROM pg_trigger WHERE tgname = %s",
                            f"docsearch_{number}_insert")[0][0]


def tamper(role: psycopg.Connection, name: str, values: str) -> None:
    role.execute(f"UPDATE docsearch.attached_table SET {values}, {DUE} WHERE source::text LIKE '%{name}'")


# Roles.

@pytest.mark.parametrize("column", ["writes_as", "reads_as"])
@pytest.mark.parametrize("other", ["postgres", "wren"])
def test_the_owner_of_the_tables_cannot_make_the_worker_act_as_another_role(managed, column, other):
    with acting(managed, "keeper") as keeper:
        name = table(keeper)
        attach(keeper, name, project="open")
        settled(managed)
        keeper.execute("CREATE OR REPLACE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS"
                       " $$ BEGIN PERFORM keeper.spy('document'); RETURN NEW; END $$")
        keeper.execute("CREATE TRIGGER evil BEFORE INSERT OR UPDATE ON docsearch.document FOR EACH ROW EXECUTE FUNCTION trg()")
        tamper(keeper, name, f"{column} = '{other}'")
        # As owner of the table and the schema, this role can make both comments.
        number = int(number_of(keeper, name))
        text = comment_of(managed, str(number))
        preface, agreement = text.split("\n")
        forged = json.loads(agreement)
        forged[column] = other
        forged["numbers"][column] = managed.execute("SELECT oid FROM pg_roles WHERE rolname = %s", other)[0][0]
        for comment in (text, f"{preface}\n{json.dumps(forged)}"):
            comment_on(keeper, name, number, comment)
            keeper.execute(sql.SQL(f"COMMENT ON DOMAIN docsearch.attached_{number} IS {{}}").format(comment))
            with unchanged(managed):
                keeper.execute(f"INSERT INTO {name} VALUES ((SELECT count(*) FROM {name}), 'T', 'b')")
                managed.execute("UPDATE docsearch.attached_table SET attempts = 0, next_attempt = now(), error = NULL")
                refuses(managed, name, "")
                wait_until(lambda: error_of(managed, name))


def test_a_superuser_cannot_attach_where_others_could_use_the_name(managed):
    with acting(managed, "keeper") as keeper:
        name = table(keeper)
        for statement in (f"SELECT docsearch.attach_table('keeper.{name}', project => 'open', public => true)",
                          "SELECT docsearch.attach_table('safe.conf', project => 'open', public => true)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match='may not act as role "postgres"') as refused:
                managed.execute(statement)
            assert "superuser" in refused.value.diag.message_hint
        assert managed.execute("SELECT count(*) FROM docsearch.attached_table") == [(0,)]


def test_a_table_is_read_while_the_owner_of_the_tables_may_act_as_its_owner(managed):
    with acting(managed, "wren") as role:
        name = table(role)
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
            attach(role, name, project="open")
        assert "GRANT wren TO keeper" in refused.value.diag.message_hint
        managed.execute("GRANT wren TO keeper WITH SET FALSE")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            attach(role, name, project="open")
        managed.execute("GRANT wren TO keeper WITH SET TRUE, INHERIT FALSE")
        attach(role, name, project="open")
        role.execute(f"INSERT INTO {name} VALUES (1, 'First', 'Read.')")
        settled(managed)
        managed.execute("REVOKE wren FROM keeper")
        with unchanged(managed):
            role.execute(f"INSERT INTO {name} VALUES (2, 'Second', 'Waits.')")
            refuses(managed, name, "GRANT wren TO keeper")
        managed.execute("GRANT wren TO keeper")
        managed.execute("UPDATE docsearch.attached_table SET attempts = 0, next_attempt = now()")
        settled(managed)
        assert managed.execute("SELECT slug FROM docsearch.document ORDER BY 1") == [(f"{name}/1",), (f"{name}/2",)]


@pytest.mark.parametrize(("owner", "given"), [("keeper", "managed"), ("etl", "database")])
@pytest.mark.parametrize("writes_as", ["postgres", "self"])
def test_a_right_to_make_triggers_attaches_no_table(request, owner, given, writes_as):
    database = request.getfixturevalue(given)
    database.execute(f"GRANT USAGE ON SCHEMA safe TO {owner}")
    database.execute(f"GRANT TRIGGER ON safe.conf TO {owner}")
    with acting(database, owner) as role:
        role.execute("CREATE OR REPLACE FUNCTION cond(text) RETURNS bool LANGUAGE sql AS $$ SELECT %s.spy('condition') <> '' $$" % owner)
        forge(role, "safe.conf", 99, f"{owner}.cond(t.title)", "postgres", writes_as.replace("self", owner))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            comment_on(role, "safe.conf", 99, "mine")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            role.execute("INSERT INTO pg_description SELECT oid, 'pg_trigger'::regclass, 0, 'mine' FROM pg_trigger"
                         " WHERE tgname = 'docsearch_99_insert'")
    with unchanged(database):
        refuses(database, "safe.conf", "has not confirmed")
        # Nor does an old comment of the owner for another purpose.
        database.execute("COMMENT ON TRIGGER docsearch_99_insert ON safe.conf IS 'notes changes'")
        database.execute("UPDATE docsearch.attached_table SET attempts = 0, next_attempt = now(), error = NULL")
        refuses(database, "safe.conf", "has not confirmed")
    for event in ("insert", "update", "delete", "truncate"):
        database.execute(f"DROP TRIGGER IF EXISTS docsearch_99_{event} ON safe.conf")


# Columns.

# Values for a column, of the same kind. A condition and a role must exist.
FORGED = {
    "id": "4711", "project_id": "(SELECT p.id FROM docsearch.project p WHERE p.name = 'other')", "source": "'{other}'",
    "source_root": "'table:elsewhere'", "slug_prefix": "'elsewhere/'", "key_column": "'badge'", "title_column": "'salary'",
    "body_column": "'salary'", "category_column": "'salary'", "metadata_columns": "'{{salary}}'", "published_at_column": "'born'",
    "changed_at_column": "'salary'", "rows_where": "'true'", "access": "'readers'", "poll_every": "'1 second'",
    "questions_column": "'asked'", "reads_as": "'{role}'", "writes_as": "'{role}'",
}
# Columns that the worker writes: which attached rows are read next, and when.
NOTES = {
    "loading": "true", "loaded_to": "'1'", "error": "'x'", "next_attempt": "now()", "attached_at": "now()", "attempts": "3",
    "step_rows": "2147483647", "reading": "true", "shape": "'x'", "rests_until": "now()",
}


def test_every_column_is_agreed_on_or_of_no_consequence(database):
    columns = database.execute("SELECT attname FROM pg_attribute WHERE attrelid = 'docsearch.attached_table'::regclass"
                               " AND attnum > 0 AND NOT attisdropped")
    assert {column for column, in columns} == {*FORGED, *NOTES}


def people(role: psycopg.Connection) -> str:
    name = table(role, "id bigint PRIMARY KEY, badge bigint UNIQUE, name text, bio text, salary text, secret bool, born timestamptz,"
                       " asked text[] DEFAULT '{how rich is she}'")
    role.execute(f"INSERT INTO {name} VALUES (1, 7, 'Alice', 'likes tea', '90000', false, now()),"
                 f" (2, 8, 'Bob', 'likes jam', '80000', true, now())")
    return name


@pytest.mark.parametrize("column", [*FORGED, *NOTES])
@pytest.mark.parametrize(("attacker", "given"), [("keeper", "managed"), ("etl", "database")])
def test_no_column_has_more_read_than_the_owner_attached(request, attacker, given, column):
    database = request.getfixturevalue(given)
    if given == "managed":
        database.execute("GRANT wren TO keeper")
    with acting(database, "wren") as role, acting(database, attacker) as other:
        name, second = people(role), people(role)
        role.execute(f"SELECT docsearch.attach_table('{name}', title => 'name', body => 'bio', rows_where => 'NOT secret',"
                     " project => 'open', public => true)")
        settled(database)
        before = database.execute(DOCUMENTS)
        assert [row[1:4] for row in before if row[1].startswith(name)] == [(f"{name}/1", "Alice", "likes tea")]
        was, = database.execute(f"SELECT {column}::text FROM docsearch.attached_table WHERE source = 'wren.{name}'::regclass")[0]
        forged = {**FORGED, **NOTES}[column].format(other=f"wren.{second}", role=attacker)
        # UPDATE shows no row without SELECT, which pg_write_all_data does not include.
        other.execute(f"UPDATE docsearch.attached_table SET {column} = {forged}")
        if column not in ("loading", "loaded_to", "attempts", "next_attempt"):
            other.execute(f"UPDATE docsearch.attached_table SET {DUE}")
        role.execute(f"INSERT INTO {name} VALUES (3, 9, 'Carol', 'likes bread', '70000', false, now())")
        if column in FORGED:
            database.execute("SELECT docsearch.wait_for_index('50 ms')")
            wait_until(lambda: database.execute("SELECT error FROM docsearch.attached_table WHERE error IS NOT NULL"))
            assert database.execute(DOCUMENTS) == before
            problems = database.execute("SELECT problem FROM docsearch.check() WHERE problem LIKE 'attached%'")
            assert problems == [("attached table unread",)]
            database.execute(f"UPDATE docsearch.attached_table SET {column} = %s, {DUE}", was)
        # Changes from the meantime are not lost.
        if column == "attempts":
            database.execute("UPDATE docsearch.attached_table SET attempts = 0, next_attempt = now()")
        settled(database)
        expected = [*(row[1:4] for row in before), (f"{name}/3", "Carol", "likes bread")]
        assert sorted(row[1:4] for row in database.execute(DOCUMENTS)) == sorted(expected)


def test_a_column_that_is_agreed_on_cannot_be_left_out(database):
    with acting(database, "wren") as role, acting(database, "etl") as other:
        name = people(role)
        attach(role, name, title="name", body="bio", questions="asked", project="open")
        settled(database)
        with unchanged(database):
            other.execute("UPDATE docsearch.attached_table SET questions_column = NULL")
            role.execute(f"UPDATE {name} SET name = 'Carol' WHERE id = 1")
            refuses(database, name, "questions_column")


def test_an_attachment_is_stored_as_the_caller_requested(managed):
    """The owner of the table of attached tables may have triggers on it."""
    managed.execute("GRANT wren TO keeper")
    with acting(managed, "keeper") as keeper, acting(managed, "wren") as role:
        keeper.execute("CREATE OR REPLACE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS"
                       " $$ BEGIN NEW.body_column = 'salary'; NEW.rows_where = NULL; RETURN NEW; END $$")
        keeper.execute("CREATE TRIGGER swap BEFORE INSERT ON docsearch.attached_table FOR EACH ROW EXECUTE FUNCTION swap()")
        try:
            name = people(role)
            with unchanged(managed):
                role.execute(f"SELECT docsearch.attach_table('{name}', title => 'name', body => 'bio', project => 'open', public => true)")
                refuses(managed, name, "body_column")
        finally:
            keeper.execute("DROP TRIGGER swap ON docsearch.attached_table")


# The writer of documents.

@pytest.fixture
def vault(database: Database) -> Iterator[Database]:
    """Neither wren nor etl may write into the category vault."""
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute("CREATE POLICY no_vault ON docsearch.document TO wren, etl USING (true)"
                     " WITH CHECK (category IS DISTINCT FROM 'vault')")
    yield database
    database.execute("DROP POLICY no_vault ON docsearch.document")
    database.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize("both", [False, True])
def test_the_owner_of_a_table_cannot_choose_the_writer_of_its_documents(vault, both):
    """The owner may write all data, so the row and the comment on the trigger agree."""
    with acting(vault, "etl") as role:
        name = table(role, "id bigint PRIMARY KEY, title text, body text, category text")
        attach(role, name, category="category", project="open")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Mine', 'Open.', 'open')")
        settled(vault)
        with unchanged(vault):
            role.execute("UPDATE docsearch.attached_table SET writes_as = 'postgres'")
            if both:
                number = number_of(role, name)
                preface, agreement = comment_of(vault, number).split("\n")
                forged = json.loads(agreement)
                forged["writes_as"] = "postgres"
                forged["numbers"]["writes_as"] = vault.execute("SELECT 'postgres'::regrole::oid")[0][0]
                comment_on(role, name, int(number), f"{preface}\n{json.dumps(forged)}")
            role.execute(f"INSERT INTO {name} VALUES (2, 'Vault', 'Smuggled.', 'vault')")
            refuses(vault, name, "writes_as")


def test_detach_table_ends_the_agreement_of_the_owner(database):
    with acting(database, "wren") as role, acting(database, "etl") as etl:
        name = table(role)
        role.execute(f"GRANT TRIGGER ON {name} TO etl")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Mine', 'Detached since.')")
        attach(role, name, project="open")
        settled(database)
        number = int(number_of(role, name))
        text = comment_of(database, str(number))
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        with unchanged(database):
            forge(etl, f"wren.{name}", number, "true", "wren", "wren")
            # Even if the owner creates the triggers again with their old comments.
            comment_on(role, name, number, text)
            database.execute("UPDATE docsearch.attached_table SET rows_where = NULL, slug_prefix = %s", f"{name}/")
            role.execute(f"CREATE OR REPLACE TRIGGER docsearch_{number}_insert AFTER INSERT ON {name} REFERENCING NEW TABLE AS n"
                         f" FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('{number}')")
            refuses(database, name, "has no record")


def test_a_comment_is_valid_for_its_number_and_project_only(database):
    with acting(database, "wren") as role, acting(database, "etl") as etl:
        name = table(role)
        role.execute(f"GRANT TRIGGER ON {name} TO etl")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Mine', 'In one project.')")
        attach(role, name, project="open")
        settled(database)
        text = comment_of(database, number_of(role, name))
        with unchanged(database):
            etl.execute("INSERT INTO docsearch.attached_table (id, project_id, source, source_root, slug_prefix, key_column,"
                        f" title_column, body_column, reads_as, writes_as, access) SELECT 98, p.id, 'wren.{name}', 'table:wren.{name}',"
                        f" '{name}/', 'id', 'title', 'body', 'wren', 'wren', 'public' FROM docsearch.project p WHERE p.name = 'other'")
            former, latter = "OLD TABLE AS docsearch_old", "NEW TABLE AS docsearch_new"
            for event, seen in (("INSERT", f"REFERENCING {latter}"), ("UPDATE", f"REFERENCING {former} {latter}"),
                                ("DELETE", f"REFERENCING {former}"), ("TRUNCATE", "")):
                etl.execute(f"CREATE TRIGGER docsearch_98_{event.lower()} AFTER {event} ON wren.{name} {seen}"
                            " FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('98')")
            comment_on(role, name, 98, text)
            database.execute("SELECT docsearch.wait_for_index('50 ms')")
            wait_until(lambda: "id, project_id" in (database.execute(
                "SELECT coalesce(error, '') FROM docsearch.attached_table WHERE id = 98")[0][0]))
        database.execute("DELETE FROM docsearch.attached_table WHERE id = 98")


def test_a_row_of_a_table_that_never_was_removes_no_documents(database):
    """The worker removes documents of a dropped table as the owner of the tables."""
    database.execute("INSERT INTO docsearch.document (project_id, slug, title, body, content_hash, source_root)"
                     " SELECT id, 'team/plan', 'Plan', 'Of a team.', '', 'team' FROM docsearch.project WHERE name = 'open'")
    with acting(database, "etl") as etl, unchanged(database):
        etl.execute("INSERT INTO docsearch.attached_table (id, project_id, source, source_root, slug_prefix, key_column, body_column,"
                    " reads_as, writes_as) SELECT 97, p.id, 4294967290::oid::regclass, 'team', '', 'id', 'body', 'etl', 'etl'"
                    " FROM docsearch.project p WHERE p.name = 'open'")
        database.execute("SELECT docsearch.wait_for_index('50 ms')")
        wait_until(lambda: database.execute("SELECT error FROM docsearch.attached_table WHERE id = 97 AND error IS NOT NULL"))
    database.execute("DELETE FROM docsearch.document WHERE slug = 'team/plan'")


def test_a_forged_watch_has_a_view_read_again_and_nothing_else(database):
    with acting(database, "wren") as role, acting(database, "etl") as etl:
        role.execute("CREATE TABLE birds (id bigint PRIMARY KEY, title text, body text)")
        role.execute("CREATE VIEW shown AS SELECT * FROM birds")
        watched = table(role)
        role.execute("SELECT docsearch.attach_table('shown', project => 'open', public => true, every => NULL,"
                     f" changes_in => '{{{watched}}}')")
        settled(database)
        own = table(etl)
        number = int(number_of(role, "shown"))
        etl.execute(f"INSERT INTO docsearch.watched_table VALUES ({number}, 'etl.{own}')")
        etl.execute(f"CREATE TRIGGER watch AFTER INSERT ON {own} FOR EACH STATEMENT"
                    f" EXECUTE FUNCTION docsearch.attached_changed('{number}')")
        role.execute("INSERT INTO birds VALUES (1, 'Heron', 'Wades.')")
        etl.execute(f"INSERT INTO {own} VALUES (1, 'Not', 'of the view.')")
        settled(database)
        found = database.execute("SELECT slug FROM docsearch.document WHERE source_root LIKE 'table:%'")
        assert found == [("shown/1",)]
        role.execute("SELECT docsearch.detach_table('shown')")
        role.execute("DROP TABLE birds CASCADE")


def test_the_owner_of_the_schema_can_detach_tables_of_others(managed):
    managed.execute("GRANT wren TO keeper WITH INHERIT FALSE")
    with acting(managed, "wren") as role, acting(managed, "keeper") as keeper:
        name = table(role)
        role.execute(f"INSERT INTO {name} VALUES (1, 'One', 'Read.')")
        attach(role, name, project="open")
        settled(managed)
        assert keeper.execute(f"SELECT docsearch.detach_table('wren.{name}')").fetchone() == (1,)
        assert managed.execute("SELECT count(*) FROM docsearch.attached_table") == [(0,)]
