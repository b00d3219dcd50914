"""A writer cannot act as another role through the worker, or change documents of others through it."""

from collections.abc import Iterator

import pytest
from attacks import attach, attacked_server, error_of, evil_column, slugs, table
from background import WORKER, acting, settled
from conftest import Database, Site, page, wait_until

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
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


@pytest.fixture(scope="module")
def shadows(site: Site) -> None:
    """Functions and operators with names that statements of the worker use."""
    with acting(site.database, "wren") as role:
        role.execute("CREATE FUNCTION count_less(integer, bigint) RETURNS bool LANGUAGE sql"
                     " AS 'SELECT wren.spy(''operator'') IS NOT NULL'")
        role.execute(SHADOWS.format("wren"))


def test_settings_of_a_cast_end_with_it(database, shadows):
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
        # The worker continues, and finds its own functions.
        role.execute(f"INSERT INTO {name} VALUES (2, 'More', ROW('more'))")
        settled(database)
        assert slugs(database, name) == [f"{name}/1", f"{name}/2"]
        assert role.execute("SELECT DISTINCT what FROM seen").fetchall() == [("cast",)]
        assert database.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]


def test_the_worker_resolves_names_where_no_user_can_create_them(database, shadows):
    database.execute("ALTER DATABASE docs SET search_path = wren, pg_catalog")
    database.execute("GRANT CREATE ON SCHEMA public TO finch")
    with acting(database, "finch") as other:
        other.execute("SET search_path = pg_catalog")
        other.execute("""CREATE FUNCTION public.hashtextextended(text, int) RETURNS bigint LANGUAGE sql
                         AS 'SELECT length(finch.spy(''hash''))::bigint'""")
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
        assert database.execute("SELECT count(*) FROM finch.seen") == [(0,)]
    finally:
        database.execute("ALTER DATABASE docs RESET search_path")
        database.execute("DROP FUNCTION public.hashtextextended(text, int)")
        database.execute("REVOKE CREATE ON SCHEMA public FROM finch")


def test_a_table_that_changes_hands_is_not_read_as_its_new_owner(database):
    with acting(database, "wren") as role:
        name = evil_column(role, "PERFORM wren.spy('cast')")
        attach(role, name)
        settled(database)
        role.execute("TRUNCATE seen")
        database.execute(f"ALTER TABLE wren.{name} OWNER TO postgres")
        database.execute(f"INSERT INTO wren.{name} VALUES (2, 'New', ROW('new'))")
        wait_until(lambda: "had another owner" in (error_of(database, name) or ""))
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


def test_an_attached_table_respects_the_policies_of_its_attacher(database, policies):
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
        assert "from another source" in error_of(database, name)
        role.execute(f"DELETE FROM {name}")
        settled(database)
        assert bodies(policies) == before
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_a_dropped_table_takes_no_document_that_a_policy_keeps(database, policies):
    """Dropping the table deletes as the role that attached it, not as the owner of the tables."""
    before = bodies(policies)
    policies.execute("CREATE POLICY stays ON docsearch.document AS RESTRICTIVE FOR DELETE TO wren USING (title <> 'Stays')")
    try:
        with acting(policies, "wren") as role:
            name = table(role, "id text PRIMARY KEY, title text, body text")
            role.execute(f"INSERT INTO {name} SELECT n, CASE WHEN n % 50 = 0 THEN 'Stays' ELSE 'Goes' END, 'Text ' || n"
                         " FROM generate_series(1, 300) n")
            attach(role, name, project="guarded", slug_prefix="t/")
            settled(policies)
            assert len(bodies(policies)) == len(before) + 300
            # First by deleting its rows: the document stays.
            role.execute(f"DELETE FROM {name} WHERE id = '50'")
            settled(policies)
            assert "t/50" in bodies(policies)
            role.execute(f"DROP TABLE {name}")
            role.execute("SET docsearch.index_mode = 'deferred'")
            role.execute("SELECT docsearch.index_doc('open', 'wakes', 'Wakes', 'The worker.')")
        kept = {f"t/{n}": f"Text {n}" for n in range(50, 301, 50)}
        wait_until(lambda: bodies(policies) == {**before, **kept})
        problem = "SELECT detail FROM docsearch.check() WHERE problem = 'attached table unread' AND object LIKE %s"
        (detail,), = wait_until(lambda: policies.execute(f"{problem} AND detail LIKE '%%stay%%'", f"%{name}"))
        assert "policies keep 6 of its documents from role \"wren\"" in detail
    finally:
        policies.execute("DROP POLICY stays ON docsearch.document")
    # They are tried again.
    policies.execute("UPDATE docsearch.attached_table SET next_attempt = now() WHERE source_root LIKE %s", f"%{name}")
    policies.execute("SELECT docsearch.wait_for_index()")
    with acting(policies, "wren") as role:
        role.execute("SET docsearch.index_mode = 'deferred'")
        role.execute("SELECT docsearch.index_doc('open', 'wakes', 'Wakes', 'The worker again.')")
    wait_until(lambda: bodies(policies) == before)
    wait_until(lambda: policies.execute("SELECT FROM docsearch.attached_table WHERE source_root LIKE %s", f"%{name}") == [])


def test_documents_of_a_dropped_table_go_with_the_role_that_attached_it(database):
    """Otherwise no role could remove them."""
    database.execute("CREATE ROLE passing LOGIN")
    database.execute("CREATE SCHEMA passing AUTHORIZATION passing")
    database.execute("SELECT docsearch.grant_usage('passing', write => true)")
    with acting(database, "passing") as role:
        name = table(role)
        role.execute(f"INSERT INTO {name} VALUES (1, 'Gone soon', 'With its table.')")
        attach(role, name, project="open")
        settled(database)
    assert f"{name}/1" in slugs(database, "open")
    database.execute("DROP OWNED BY passing CASCADE")
    database.execute("DROP ROLE passing")
    with acting(database, "wren") as role:
        role.execute("SET docsearch.index_mode = 'deferred'")
        role.execute("SELECT docsearch.index_doc('open', 'wakes', 'Wakes', 'The worker.')")
    wait_until(lambda: f"{name}/1" not in slugs(database, "open"))


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
