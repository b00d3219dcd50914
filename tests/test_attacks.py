"""Whoever may write becomes nobody else by it, and keeps nobody else from working.

Each test is an attack by a role that is no superuser. Code of the attacker notes who it ran as: never anybody
but the attacker, whatever it was attached to. The worker is looked at, so these tests have a server of their own.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from background import acting, settled
from conftest import Database, Site, own_server, page, wait_until
from psycopg import sql

WORKER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'docsearch indexer' AND datname = current_database()"
ROLES = ("wren", "rook", "nobody_special")
# Notes who runs it; whoever can, makes its author a superuser.
SPY = """CREATE FUNCTION {schema}.spy(what text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO {schema}.seen (who, super, what)
        SELECT current_user, r.rolsuper, spy.what FROM pg_catalog.pg_roles r WHERE r.rolname = current_user;
        IF (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
            EXECUTE 'ALTER ROLE {role} SUPERUSER';
        END IF;
        RETURN what;
    END $$"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("attacks", **{"docsearch.attached_read_timeout": "10min"}) as own:
        own.database.execute("SELECT docsearch.create_project('open')")
        own.database.index("open", page("welcome", "Welcome to the harbour."))
        for role in ROLES:
            own.database.execute(f"CREATE ROLE {role} LOGIN")
            own.database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        own.database.execute("SELECT docsearch.grant_usage('wren', write => true)")
        own.database.execute("SELECT docsearch.grant_usage('rook')")
        for role in ROLES:
            with acting(own.database, role) as attacker:
                attacker.execute("CREATE TABLE seen (who text, super bool, what text, at timestamptz DEFAULT now())")
                attacker.execute("GRANT ALL ON seen TO PUBLIC")
                attacker.execute(f"GRANT USAGE ON SCHEMA {role} TO PUBLIC")
                attacker.execute(SPY.format(schema=role, role=role))
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    """Afterwards nobody has become more than he was, and no code ran as anybody but its author."""
    yield site.database
    site.database.execute("SELECT docsearch.detach_table(a.source) FROM docsearch.attached_table a"
                          " JOIN pg_class c ON c.oid = a.source")
    site.database.execute("SELECT docsearch.wait_for_index()")
    for role in ROLES:
        assert site.database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", role) == [(False,)]
        others = f"SELECT DISTINCT who, what FROM {role}.seen WHERE who <> '{role}'"
        assert site.database.execute(others) == []
        site.database.execute(f"TRUNCATE {role}.seen")


def table(role: psycopg.Connection, columns: str = "id bigint PRIMARY KEY, title text, body text") -> str:
    name = f"t{uuid4().hex[:10]}"
    role.execute(f"CREATE TABLE {name} ({columns})")
    return name


def attach(role: psycopg.Connection, name: str, **arguments: str) -> None:
    given = ", ".join(f"{key} => '{value}'" for key, value in arguments.items())
    role.execute(f"SELECT docsearch.attach_table('{name}'{', ' if given else ''}{given})")


def number_of(owner: psycopg.Connection, name: str) -> str:
    """The argument of the triggers of an attached table."""
    arguments = "SELECT tgargs FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'docsearch%%' LIMIT 1"
    return owner.execute(arguments, [name]).fetchone()[0].rstrip(b"\0").decode()


def slugs(database: Database, project: str) -> list[str]:
    return [slug for slug, in database.execute(
        "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id"
        " WHERE p.name = %s ORDER BY d.slug", project)]


def error_of(database: Database, name: str) -> str | None:
    rows = database.execute("SELECT a.error FROM docsearch.attached_table a WHERE a.source::text LIKE %s", f"%{name}")
    return rows[0][0] if rows else None


# The trigger of attached tables.

@pytest.mark.parametrize("owner", ["wren", "rook"])
def test_a_trigger_of_ones_own_evaluates_no_view_in_place_of_the_changed_rows(database, owner):
    with acting(database, owner) as role:
        name = table(role)
        if owner == "wren":
            attach(role, name)
        else:
            # An administrator has attached the table of somebody who may not write documents.
            database.execute(f"SELECT docsearch.attach_table('{owner}.{name}')")
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


# The worker.

def evil_column(role: psycopg.Connection, body: str) -> str:
    """A table with a column whose cast to text runs `body`."""
    mark = uuid4().hex[:8]
    role.execute(f"CREATE TYPE c{mark} AS (a text)")
    role.execute(f"CREATE FUNCTION f{mark}(v c{mark}) RETURNS text LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN v.a; END $$")
    role.execute(f"CREATE CAST (c{mark} AS text) WITH FUNCTION f{mark}(c{mark})")
    name = table(role, f"id bigint PRIMARY KEY, title text, body c{mark}")
    role.execute(f"INSERT INTO {name} VALUES (1, 'Cast', ROW('hello'))")
    return name


SHADOWS = """
CREATE FUNCTION {0}.pg_try_advisory_lock(bigint) RETURNS bool LANGUAGE sql AS 'SELECT {0}.spy(''lock'') IS NULL';
CREATE FUNCTION {0}.hashtextextended(text, int) RETURNS bigint LANGUAGE sql AS 'SELECT length({0}.spy(''hash''))::bigint';
CREATE FUNCTION {0}.now() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM {0}.spy(''now''); RETURN pg_catalog.now(); END';
CREATE FUNCTION {0}.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql
    AS 'BEGIN PERFORM {0}.spy(''clock''); RETURN pg_catalog.clock_timestamp(); END';
CREATE FUNCTION {0}.count_as(bigint, integer) RETURNS bool LANGUAGE sql AS 'SELECT {0}.spy(''operator'') IS NOT NULL';
CREATE OPERATOR {0}.= (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = {0}.count_as);
CREATE OPERATOR {0}.< (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = {0}.count_less);
"""


@pytest.fixture(scope="module")
def shadows(site: Site) -> None:
    """Functions and operators with names that statements of the worker use."""
    with acting(site.database, "wren") as role:
        role.execute("CREATE FUNCTION count_less(integer, bigint) RETURNS bool LANGUAGE sql"
                     " AS 'SELECT wren.spy(''operator'') IS NOT NULL'")
        role.execute(SHADOWS.format("wren"))


def test_what_a_cast_sets_does_not_outlast_it(database, shadows):
    with acting(database, "wren") as role:
        name = evil_column(role, """
            PERFORM spy('cast');
            PERFORM set_config('search_path', 'wren, pg_catalog', false);
            PERFORM set_config('datestyle', 'German', false);
            PERFORM pg_advisory_lock(4711)""".replace("spy(", "wren.spy("))
        attach(role, name)
        settled(database)
        assert role.execute("SELECT who FROM seen WHERE what = 'cast'").fetchall() == [("wren",)]
        assert role.execute("SELECT DISTINCT what FROM seen").fetchall() == [("cast",)]
        assert slugs(database, name) == [f"{name}/1"]
        # The worker goes on, and finds its own functions.
        role.execute(f"INSERT INTO {name} VALUES (2, 'More', ROW('more'))")
        settled(database)
        assert slugs(database, name) == [f"{name}/1", f"{name}/2"]
        assert role.execute("SELECT DISTINCT what FROM seen").fetchall() == [("cast",)]
        assert database.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]


def test_the_worker_looks_for_names_where_no_user_can_put_them(database, shadows):
    database.execute("ALTER DATABASE docs SET search_path = wren, pg_catalog")
    database.execute("GRANT CREATE ON SCHEMA public TO nobody_special")
    with acting(database, "nobody_special") as other:
        other.execute("SET search_path = pg_catalog")
        other.execute("""CREATE FUNCTION public.hashtextextended(text, int) RETURNS bigint LANGUAGE sql
                         AS 'SELECT length(nobody_special.spy(''hash''))::bigint'""")
    try:
        for worker in database.execute(WORKER):
            database.execute("SELECT pg_terminate_backend(%s)", *worker)
        wait_until(lambda: not database.execute(WORKER))
        with acting(database, "wren") as role:
            role.execute("SET search_path = pg_catalog")
            role.execute("SET docsearch.index_mode = 'deferred'")
            role.execute("SELECT docsearch.index_doc('open', 'later', 'Later', 'Embedded by the worker.')")
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.embedding_queue") == [(0,)])
        assert database.execute("SELECT count(*) FROM wren.seen") == [(0,)]
        assert database.execute("SELECT count(*) FROM nobody_special.seen") == [(0,)]
    finally:
        database.execute("ALTER DATABASE docs RESET search_path")
        database.execute("DROP FUNCTION public.hashtextextended(text, int)")
        database.execute("REVOKE CREATE ON SCHEMA public FROM nobody_special")


def test_a_table_that_changes_hands_is_not_read_as_its_new_owner(database):
    with acting(database, "wren") as role:
        name = evil_column(role, "PERFORM wren.spy('cast')")
        attach(role, name)
        settled(database)
        role.execute("TRUNCATE seen")
        database.execute(f"ALTER TABLE wren.{name} OWNER TO postgres")
        database.execute(f"INSERT INTO wren.{name} VALUES (2, 'New', ROW('new'))")
        wait_until(lambda: "belonged to somebody else" in (error_of(database, name) or ""))
        assert role.execute("SELECT count(*) FROM seen").fetchone() == (0,)
        database.execute(f"ALTER TABLE wren.{name} OWNER TO wren")


def test_code_of_a_table_cannot_leave_its_role(database):
    with acting(database, "wren") as role:
        for escape in ("SET ROLE postgres", "RESET SESSION AUTHORIZATION", "SET SESSION AUTHORIZATION postgres",
                       "CREATE TEMP TABLE own (a int)", "LISTEN docsearch", "RESET ROLE",
                       "DECLARE kept CURSOR WITH HOLD FOR SELECT wren.spy('cursor')"):
            name = evil_column(role, f"""
                BEGIN EXECUTE $e$ {escape} $e$; PERFORM wren.spy('escaped'); EXCEPTION WHEN OTHERS THEN
                PERFORM wren.spy('held'); END""")
            attach(role, name)
            settled(database)
            done = [what for what, in role.execute("SELECT what FROM seen").fetchall()]
            assert (escape, done) == (escape, ["held"])
            role.execute("TRUNCATE seen")
            role.execute(f"SELECT docsearch.detach_table('{name}')")


# Documents of others.

@pytest.fixture
def policies(site: Site) -> Iterator[Database]:
    """Documents in the category vault are hidden from wren, who may not write any either."""
    database = site.database
    database.execute("SELECT docsearch.create_project('guarded')")
    database.index("guarded", page("vault/pay", "What everybody earns.", category="vault"),
                   page("vault/plan", "What comes next.", category="vault"),
                   page("free/team", "Of another team.", category="free", source_root="team"))
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute("CREATE POLICY no_vault ON docsearch.document TO wren USING (category IS DISTINCT FROM 'vault')"
                     " WITH CHECK (category IS DISTINCT FROM 'vault')")
    database.execute("CREATE POLICY all_of_it ON docsearch.document TO rook USING (true)")
    yield database
    database.execute("DROP POLICY no_vault ON docsearch.document")
    database.execute("DROP POLICY all_of_it ON docsearch.document")
    database.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
    database.execute("SELECT docsearch.drop_project('guarded')")


def bodies(database: Database) -> dict[str, str]:
    return dict(database.execute(
        "SELECT d.slug, d.body FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id"
        " WHERE p.name = 'guarded'"))


def test_an_attached_table_writes_within_the_policies_of_who_attached_it(database, policies):
    before = bodies(policies)
    with acting(database, "wren") as role:
        name = table(role, "id text PRIMARY KEY, title text, body text, category text")
        role.execute(f"INSERT INTO {name} VALUES ('pay', 'Mine now', 'Overwritten.', 'free'),"
                     f" ('new', 'New', 'Made in the vault.', 'vault'), ('fine', 'Fine', 'Allowed.', 'free')")
        attach(role, name, category="category", project="guarded", slug_prefix="vault/")
        settled(database)
        assert bodies(policies) == {**before, "vault/fine": "Allowed."}
        assert error_of(database, name)
        role.execute(f"INSERT INTO {name} VALUES ('plan', 'x', 'y', 'free')")
        role.execute(f"DELETE FROM {name} WHERE id IN ('plan', 'pay', 'fine')")
        settled(database)
        assert bodies(policies) == before
        role.execute(f"TRUNCATE {name}")
        settled(database)
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        assert bodies(policies) == before


def test_an_attached_table_changes_documents_of_its_own_only(database, policies):
    before = bodies(policies)
    with acting(database, "wren") as role:
        name = table(role, "id text PRIMARY KEY, title text, body text")
        role.execute(f"INSERT INTO {name} VALUES ('team', 'Taken over', 'Not theirs any more.')")
        attach(role, name, project="guarded", slug_prefix="free/")
        settled(database)
        assert bodies(policies) == before
        assert "comes from elsewhere" in error_of(database, name)
        role.execute(f"DELETE FROM {name}")
        settled(database)
        assert bodies(policies) == before
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_rights_that_are_taken_back_end_the_writing(database):
    with acting(database, "wren") as role:
        name = table(role)
        attach(role, name, project="open")
        settled(database)
        database.execute("REVOKE INSERT ON docsearch.document FROM wren")
        role.execute(f"INSERT INTO {name} VALUES (1, 'Late', 'Too late.')")
        wait_until(lambda: "permission denied" in (error_of(database, name) or ""))
        database.execute("GRANT INSERT ON docsearch.document TO wren")
        assert f"{name}/1" not in slugs(database, "open")
        role.execute(f"SELECT docsearch.detach_table('{name}')")


# Nobody keeps others from working.

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
