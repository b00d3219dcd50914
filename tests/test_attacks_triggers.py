"""Whoever may write becomes nobody else by the triggers of attached tables, nor by the keys that they note."""

from collections.abc import Iterator

import psycopg
import pytest
from attacks import attach, attacked_server, error_of, number_of, slugs, table
from background import acting, settled
from conftest import Database, Site, wait_until


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


@pytest.mark.parametrize("owner", ["wren", "rook"])
def test_a_trigger_of_ones_own_evaluates_no_view_in_place_of_the_changed_rows(database, owner):
    with acting(database, owner) as role:
        name = table(role)
        if owner == "wren":
            attach(role, name)
        else:
            # An administrator has attached the table of somebody who may not write documents.
            database.execute(f"SELECT docsearch.attach_table('{owner}.{name}', public => true)")
        argument = number_of(role, name)
        for view in ("docsearch_new", "docsearch_old"):
            role.execute(f"CREATE TEMP VIEW {view} AS SELECT spy('view') AS id")
        for event in ("INSERT", "UPDATE", "DELETE"):
            role.execute(f"CREATE TRIGGER mine_{event} AFTER {event} ON {name} FOR EACH STATEMENT"
                         f" EXECUTE FUNCTION docsearch.attached_changed('{argument}')")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Gull', 'A bird.')")
        role.execute(f"UPDATE {name} SET title = 'Tern'")
        role.execute(f"DELETE FROM {name}")
        assert role.execute("SELECT count(*) FROM seen").fetchone() == (0,)


def test_a_right_to_make_triggers_is_no_right_to_run_code_as_others(database):
    with acting(database, "wren") as owner, acting(database, "nobody_special") as other:
        name = table(owner)
        attach(owner, name)
        database.execute("GRANT USAGE ON SCHEMA docsearch TO nobody_special")
        owner.execute(f"GRANT TRIGGER, INSERT ON {name} TO nobody_special")
        argument = number_of(owner, name)
        other.execute("CREATE TEMP VIEW docsearch_new AS SELECT spy('view') AS id")
        other.execute(f"CREATE TRIGGER theirs AFTER INSERT ON wren.{name} FOR EACH STATEMENT"
                      f" EXECUTE FUNCTION docsearch.attached_changed('{argument}')")
        other.execute(f"INSERT INTO wren.{name} VALUES (1, 'Gull', 'A bird.')")
        assert other.execute("SELECT count(*) FROM seen").fetchone() == (0,)
        database.execute("REVOKE USAGE ON SCHEMA docsearch FROM nobody_special")


@pytest.mark.parametrize("change", [
    "ALTER TABLE {name} ALTER COLUMN id TYPE wren.evil_key USING ROW(id)::wren.evil_key",
    "ALTER TABLE {name} DROP COLUMN id; ALTER TABLE {name} ADD COLUMN id wren.evil_key",
    "ALTER TABLE {name} DROP CONSTRAINT {name}_pkey, ALTER COLUMN id DROP NOT NULL;"
    " ALTER TABLE {name} RENAME COLUMN id TO former; ALTER TABLE {name} ADD COLUMN id wren.evil_key",
    "ALTER TABLE {name} DROP CONSTRAINT {name}_pkey, ALTER COLUMN id DROP NOT NULL;"
    " ALTER TABLE {name} RENAME COLUMN id TO former; ALTER TABLE {name} ADD COLUMN id wren.evil_domain",
])
def test_a_key_column_that_changes_its_type_runs_no_cast(database, change):
    with acting(database, "wren") as role:
        role.execute("""DO $$ BEGIN
            CREATE TYPE evil_key AS (a bigint);
            CREATE FUNCTION evil_text(evil_key) RETURNS text LANGUAGE sql AS 'SELECT wren.spy(''cast'')';
            CREATE CAST (evil_key AS text) WITH FUNCTION evil_text(evil_key);
            CREATE FUNCTION evil_check(text) RETURNS bool LANGUAGE sql AS 'SELECT wren.spy(''domain'') IS NOT NULL';
            CREATE DOMAIN evil_domain AS text CHECK (evil_check(VALUE));
            EXCEPTION WHEN duplicate_object THEN NULL; END $$""")
        name = table(role)
        attach(role, name)
        role.execute(f"INSERT INTO {name} VALUES (1, 'Gull', 'A bird.')")
        settled(database)
        role.execute(change.format(name=name))
        key = "'x'" if change.endswith("evil_domain") else "ROW(2)"
        role.execute("TRUNCATE seen")
        role.execute(f"INSERT INTO {name} (id, title, body) VALUES ({key}, 'Tern', 'Another.')")
        # What ran was the check of the domain, in the INSERT of its author.
        assert role.execute("SELECT what FROM seen WHERE what = 'cast'").fetchall() == []
        wait_until(lambda: "cannot be the key" in (error_of(database, name) or ""))
        # Nothing is lost: when the column is as it was, everything is read again.
        role.execute(f"ALTER TABLE {name} DROP COLUMN id; ALTER TABLE {name} ADD COLUMN id bigint;"
                     f" UPDATE {name} SET id = 7 WHERE title = 'Tern'; DELETE FROM {name} WHERE id IS NULL")
        database.execute("UPDATE docsearch.attached_table SET next_attempt = now(), attempts = 0")
        settled(database)
        assert f"{name}/7" in slugs(database, name)
        assert f"{name}/1" not in slugs(database, name)


def test_a_trigger_for_rows_or_of_another_table_notes_nothing(database):
    with acting(database, "wren") as role:
        name, other = table(role), table(role)
        attach(role, name)
        settled(database)
        argument = number_of(role, name)
        role.execute(f"CREATE TRIGGER stray AFTER INSERT ON {other} REFERENCING NEW TABLE AS n FOR EACH STATEMENT"
                     f" EXECUTE FUNCTION docsearch.attached_changed('{argument}')")
        role.execute(f"INSERT INTO {other} VALUES (5, 'Stray', 'Of another table.')")
        assert database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)]
        role.execute(f"CREATE TRIGGER each_row AFTER UPDATE ON {other} FOR EACH ROW"
                     f" EXECUTE FUNCTION docsearch.attached_changed('{argument}')")
        with pytest.raises(psycopg.errors.TriggerProtocolViolated, match="for statements"):
            role.execute(f"UPDATE {other} SET title = 'x'")


def test_keys_are_the_same_whatever_a_session_sets(database):
    with acting(database, "wren") as role:
        name = table(role, "id timestamptz PRIMARY KEY, title text, body text")
        attach(role, name)
        role.execute("SET datestyle = 'German'; SET timezone = 'Asia/Tokyo'")
        role.execute(f"INSERT INTO {name} VALUES ('2026-02-01 03:04:05.678+00', 'Gull', 'A bird.')")
        settled(database)
        assert len(slugs(database, name)) == 1
        role.execute("SET datestyle = 'SQL, DMY'; SET timezone = 'America/Lima'")
        role.execute(f"DELETE FROM {name}")
        settled(database)
        assert slugs(database, name) == []


@pytest.mark.parametrize(("type_name", "keys", "slug"), [
    ("char(8)", "lpad(n::text, 6, 'k')", "kkkkk1"),
    ("bit(12)", "n::bit(12)", "000000000001"),
    ("numeric(8,2)", "n::numeric", "1.00"),
    ("bool", "n > 1", "false"),
    ("inet", "'10.0.0.0'::inet + n", "10.0.0.1/32"),
])
def test_keys_of_every_type_come_to_an_end(database, type_name, keys, slug):
    """More rows than a step has, so that the second begins behind the last key of the first."""
    count = 2 if type_name == "bool" else 300
    with acting(database, "wren") as role:
        name = table(role, f"id {type_name} PRIMARY KEY, title text, body text")
        role.execute(f"INSERT INTO {name} SELECT {keys}, 'Page ' || n, 'Text.' FROM generate_series(1, {count}) n")
        attach(role, name)
        settled(database)
        found = slugs(database, name)
        assert (len(found), f"{name}/{slug}" in found) == (count, True)
        role.execute(f"DELETE FROM {name}")
        settled(database)
        assert slugs(database, name) == []
