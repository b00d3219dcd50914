"""A writer cannot act as another role through the triggers of attached tables or the keys that they record."""

from collections.abc import Iterator
from contextlib import ExitStack

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
            # An administrator has attached the table of a role that may not write documents.
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


def test_the_trigger_privilege_does_not_run_code_as_others(database):
    with acting(database, "wren") as owner, acting(database, "finch") as other:
        name = table(owner)
        attach(owner, name)
        database.execute("GRANT USAGE ON SCHEMA docsearch TO finch")
        owner.execute(f"GRANT TRIGGER, INSERT ON {name} TO finch")
        argument = number_of(owner, name)
        other.execute("CREATE TEMP VIEW docsearch_new AS SELECT spy('view') AS id")
        other.execute(f"CREATE TRIGGER theirs AFTER INSERT ON wren.{name} FOR EACH STATEMENT"
                      f" EXECUTE FUNCTION docsearch.attached_changed('{argument}')")
        other.execute(f"INSERT INTO wren.{name} VALUES (1, 'Gull', 'A bird.')")
        assert other.execute("SELECT count(*) FROM seen").fetchone() == (0,)
        database.execute("REVOKE USAGE ON SCHEMA docsearch FROM finch")


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
        # Only the check of the domain ran, in its author's INSERT.
        assert role.execute("SELECT what FROM seen WHERE what = 'cast'").fetchall() == []
        wait_until(lambda: "cannot be the key" in (error_of(database, name) or ""))
        # Nothing is lost: when the column is restored, everything is read again.
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


def test_keys_do_not_depend_on_settings_of_the_session(database):
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


# Two values of each type that a session can format in several ways, and the ends of their slugs.
WRITTEN_IN_MANY_WAYS = {
    "date": (["2026-02-01", "0044-03-15 BC"], ["2026-02-01", "0044-03-15 BC"]),
    "timestamp": (["2026-02-01 03:04:05.678", "2026-12-11"], ["2026-02-01 03:04:05.678", "2026-12-11 00:00:00"]),
    "interval": (["1 year 2 mons -3 days 04:05:06.7", "-1 day"], ["1 year 2 mons -3 days +04:05:06.7", "-1 days"]),
    "real": (["0.1", "16777216"], ["0.1", "1.6777216e+07"]),
    "double precision": (["0.30000000000000004", "1e300"], ["0.30000000000000004", "1e+300"]),
    "bytea": ([r"\x00ff", r"\x6162"], [r"\x00ff", r"\x6162"]),
}
OTHER_FORMATS = [
    {"datestyle": "German", "intervalstyle": "iso_8601", "extra_float_digits": "-3", "bytea_output": "escape"},
    {"datestyle": "SQL, DMY", "intervalstyle": "sql_standard", "extra_float_digits": "0", "bytea_output": "escape"},
    {"datestyle": "Postgres, MDY", "intervalstyle": "postgres_verbose", "extra_float_digits": "3", "bytea_output": "hex"},
]


@pytest.mark.parametrize("type_name", WRITTEN_IN_MANY_WAYS)
def test_keys_of_every_type_are_written_alike_by_trigger_worker_and_check(database, type_name):
    values, ends = WRITTEN_IN_MANY_WAYS[type_name]

    def different() -> list[tuple]:
        return [connection.execute("SELECT object, detail FROM docsearch.check(deep => true) WHERE problem ~ 'attached'").fetchall()
                for connection in others]

    def use(formats: dict[str, str]) -> None:
        for setting, value in formats.items():
            role.execute(f"SET {setting} = '{value}'")

    with acting(database, "wren") as role, ExitStack() as stack:
        others = [stack.enter_context(database.connect(options=" ".join(
            f"-c {setting}={value.replace(' ', '')}" for setting, value in formats.items()))) for formats in OTHER_FORMATS]
        name = table(role, f"id {type_name} PRIMARY KEY, title text, body text")
        role.execute(f"INSERT INTO {name} VALUES ('{values[0]}', 'Gull', 'A bird.')")
        attach(role, name)
        settled(database)
        use(OTHER_FORMATS[0])
        role.execute("INSERT INTO {} VALUES (%s::text::{}, 'Tern', 'A bird.')".format(name, type_name), [values[1]])
        settled(database)
        assert slugs(database, name) == sorted(f"{name}/{end}" for end in ends)
        assert different() == [[]] * len(others)
        use(OTHER_FORMATS[1])
        role.execute(f"UPDATE {name} SET body = 'A bird of the coast.'")
        settled(database)
        assert slugs(database, name) == sorted(f"{name}/{end}" for end in ends)
        assert different() == [[]] * len(others)
        use(OTHER_FORMATS[2])
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
def test_reading_by_keys_of_every_type_reaches_the_end(database, type_name, keys, slug):
    """More rows than one step reads, so that the second step begins after the last key of the first."""
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
