"""Files, functions, tables and processes of different versions of the extension together."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path

import install
import psycopg
import pytest
import released
import server
import toolchain
from conftest import CREATE_EXTENSION, MAJOR, WORKER, Database, page, wait_until
from psycopg.conninfo import make_conninfo

OLD = "0.1.0"
pytestmark = pytest.mark.skipif(released.lacking(OLD) is not None, reason=str(released.lacking(OLD)))
UPDATE = "ALTER EXTENSION pg_docsearch UPDATE"
MIGRATE = "SELECT docsearch.migrate()"
SEARCH = "SELECT slug, similarity, notice FROM search_docs('where does the ferry leave')"
PAGES = [page("ferry", "It leaves from the old harbour at nine."), page("train", "Trains leave from the station.")]
# Hints of a function of an earlier version, and in a connection with an earlier library.
BEHIND = "ALTER EXTENSION pg_docsearch UPDATE"
RECONNECT = "Reconnect."
# The extension and its tables, as text.
CATALOG = {
    "functions": """
        SELECT pg_get_functiondef(p.oid), p.proacl::text, obj_description(p.oid, 'pg_proc'), d.deptype
        FROM pg_proc p LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                                            AND d.refclassid = 'pg_extension'::regclass
        WHERE p.pronamespace = 'docsearch'::regnamespace OR p.probin LIKE '%pg_docsearch%'""",
    "members": """
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
        FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass
        WHERE e.extname = 'pg_docsearch'""",
    "extension": "SELECT extversion, extrelocatable, extnamespace::regnamespace::text FROM pg_extension "
                 "WHERE extname = 'pg_docsearch'",
    "relations": """
        SELECT c.relname, c.relkind, c.relacl::text, c.reloptions::text, c.relrowsecurity, obj_description(c.oid, 'pg_class')
        FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace""",
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attacl::text,
               pg_get_expr(b.adbin, b.adrelid), col_description(c.oid, a.attnum)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
        LEFT JOIN pg_attrdef b ON b.adrelid = c.oid AND b.adnum = a.attnum
        WHERE c.relnamespace = 'docsearch'::regnamespace""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint')
        FROM pg_constraint WHERE connamespace = 'docsearch'::regnamespace""",
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'docsearch'",
    "triggers": "SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
                "WHERE c.relnamespace = 'docsearch'::regnamespace AND NOT t.tgisinternal",
    "schema": "SELECT nspacl::text, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'docsearch'",
    "text search": "SELECT c.cfgname, p.prsname, obj_description(c.oid, 'pg_ts_config') FROM pg_ts_config c "
                   "JOIN pg_ts_parser p ON p.oid = c.cfgparser WHERE c.cfgnamespace = 'docsearch'::regnamespace",
}


class Machine:
    """A server with PostgreSQL of its own, in which the files of the extension can be replaced."""

    def __init__(self, name: str):
        self.instance = server.throw_away(f"{name}-{WORKER}", MAJOR)
        self.instance.remove_data()
        shutil.rmtree(self.instance.home, ignore_errors=True)
        # With the folders beside it, which its programs may need.
        programs = Path(shutil.which("psql")).parent
        shared = next(parent for parent in programs.parents if parent.name == "postgres")
        shutil.copytree(shared, self.home / "postgres", symlinks=True)
        self.home.chmod(0o755)
        self.instance.bin = self.home / "postgres" / programs.relative_to(shared)
        self.installation = install.Installation.find(str(self.instance.bin / "pg_config"))
        self.new = self.home / "new"
        self.take_away(self.new)

    @property
    def home(self) -> Path:
        return self.instance.home

    def take_away(self, target: Path | None = None) -> None:
        """Removes the files of the extension, or moves them."""
        for part, place in (("share", self.installation.share), ("lib", self.installation.library)):
            for path in [*place.glob("pg_docsearch*"), *place.glob("extension/pg_docsearch*")]:
                if target is None:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                else:
                    moved = target / part / path.relative_to(place)
                    moved.parent.mkdir(parents=True, exist_ok=True)
                    path.rename(moved)

    def files(self, staged: Path) -> None:
        """Replaces the files as a package does: files that the new one lacks are removed."""
        self.take_away()
        install.copy(staged, self.installation)

    def old_files(self) -> None:
        self.files(released.staged(OLD, self.installation))

    def new_files(self) -> None:
        self.files(self.new)

    def database(self, name: str = "docs") -> Database:
        return Database(make_conninfo(self.instance.url(name)))

    def new_database(self, name: str, extension: bool = True) -> Database:
        self.instance.query(f'CREATE DATABASE "{name}"')
        database = self.database(name)
        if extension:
            database.execute(CREATE_EXTENSION)
        return database

    def crashes(self) -> list[str]:
        """Lines of the log about processes that were ended by a signal."""
        return [line for line in self.instance.log.read_text(errors="replace").splitlines()
                if "terminated by signal" in line or "was terminated" in line or "PANIC" in line]


@contextmanager
def machine(name: str) -> Iterator[Machine]:
    own = Machine(name)
    try:
        yield own
    finally:
        own.instance.remove_data()
        shutil.rmtree(own.home, ignore_errors=True)


@pytest.fixture(scope="module")
def site() -> Iterator[Machine]:
    with machine("versions") as own:
        own.old_files()
        own.instance.configure()
        own.instance.start("docs")
        yield own
        assert own.crashes() == []


def filled(database: Database) -> Database:
    """A project with two pages, and a reader of it."""
    database.execute("SELECT docsearch.create_project('kit')")
    assert [row[1] for row in database.index("kit", *PAGES)] == ["added", "added"]
    return database


def answer(database: Database) -> list[tuple]:
    """The results of a search by words and meaning."""
    found = database.execute(SEARCH)
    assert found[0][0] == "ferry" and found[0][1] > 0.2, found
    return found


def outcome(connection: psycopg.Connection, statement: str) -> str:
    """`done`, or the hint of the statement's error, which must be a clear one."""
    try:
        connection.execute(statement)
    except psycopg.Error as problem:
        assert problem.sqlstate == "55000" and problem.diag.message_hint, problem
        return problem.diag.message_hint
    return "done"


def assert_only_the_analysis_is_old(database: Database):
    """Checks that only the analysis is out of date after an upgrade, and that `repair` repairs it."""
    problems = {problem for problem, *_ in database.problems()}
    assert problems <= {"out of date"}, problems
    database.execute("SELECT docsearch.repair()")
    assert database.problems() == []
    answer(database)


STEPS: dict[str, Callable[[Machine, Database], None]] = {
    "files": lambda site, database: site.new_files(),
    "update": lambda site, database: refused(database, UPDATE),
    "migrate": lambda site, database: refused(database, MIGRATE),
}


def refused(database: Database, statement: str) -> None:
    """Runs a statement that may be too early."""
    with database.connect() as connection:
        try:
            connection.execute(statement)
        except psycopg.Error as problem:
            assert problem.sqlstate in ("55000", "22023"), problem


@pytest.mark.parametrize("order", list(permutations(STEPS)), ids="-".join)
def test_every_order_of_upgrading_ends_well_and_never_crashes(site, order):
    site.old_files()
    database = filled(site.new_database(f"order_{'_'.join(order)}"))
    before = database.execute("SELECT slug, title, body FROM docsearch.document ORDER BY slug")
    with database.connect() as open_session, database.connect() as idle_session:
        open_session.execute(SEARCH)
        for step in order:
            STEPS[step](site, database)
            for connection in (open_session, idle_session):
                for statement in (SEARCH, "SELECT load_doc('ferry')", "SELECT docsearch.index_doc('kit', 'a', 'A', 'A')"):
                    said = outcome(connection, statement)
                    assert said == "done" or BEHIND in said or RECONNECT in said, said
    # Steps that were too early are repeated.
    database.execute(UPDATE)
    database.execute(MIGRATE)
    answer(database)
    assert_only_the_analysis_is_old(database)
    after = database.execute("SELECT slug, title, body FROM docsearch.document WHERE slug <> 'a' ORDER BY slug")
    assert after == before
    assert site.crashes() == []


def test_functions_of_the_earlier_version_raise_an_error_with_a_hint(site):
    site.old_files()
    database = filled(site.new_database("behind"))
    site.new_files()
    with database.connect() as connection:
        for statement in (SEARCH, "SELECT docsearch.status()", MIGRATE, "SELECT to_tsvector('docsearch.english', 'a')",
                          "UPDATE docsearch.project SET model_id = model_id"):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
                connection.execute(statement)
            assert BEHIND in caught.value.diag.message_hint, statement
        connection.execute(UPDATE)
        # The same session continues with the new version.
        assert connection.execute(SEARCH).fetchone()[0] == "ferry"


def test_a_session_with_the_earlier_library_has_to_reconnect(site):
    site.old_files()
    database = filled(site.new_database("reconnect"))
    with database.connect() as old:
        old.execute(SEARCH)
        site.new_files()
        # Its library is in memory, so nothing has changed for it yet.
        assert old.execute(SEARCH).fetchone()[0] == "ferry"
        database.execute(UPDATE)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has loaded another version") as caught:
            old.execute(SEARCH)
        assert RECONNECT in caught.value.diag.message_hint
        assert old.execute("SELECT count(*) FROM docsearch.document").fetchone() == (2,)
    answer(database)


def test_programs_of_two_versions_run_beside_each_other(site):
    site.old_files()
    old, new = filled(site.new_database("program_old")), site.new_database("program_new", extension=False)
    with old.connect() as session:
        before = session.execute("SELECT pid FROM docsearch.status()").fetchone()
        site.new_files()
        new.execute(CREATE_EXTENSION)
        filled(new)
        assert new.execute("SELECT pid FROM docsearch.status()")[0] != before
        assert session.execute("SELECT pid FROM docsearch.status()").fetchone() == before
        assert session.execute(SEARCH).fetchone()[1] > 0.2
        new.execute("SELECT docsearch.restart_inference()")
        wait_until(lambda: not Path(f"/proc/{before[0]}").exists())
    answer(new)


def catalog(database: Database) -> dict[str, list[tuple]]:
    return {name: sorted(map(repr, database.execute(query))) for name, query in CATALOG.items()}


def test_an_upgrade_ends_in_the_catalog_of_an_installation(site):
    site.old_files()
    upgraded = filled(site.new_database("upgraded"))
    site.new_files()
    upgraded.execute(UPDATE)
    upgraded.execute(MIGRATE)
    installed = filled(site.new_database("installed"))
    found, expected = catalog(upgraded), catalog(installed)
    for name in CATALOG:
        assert found[name] == expected[name], name


def test_grants_and_attached_tables_survive(site):
    site.old_files()
    database = site.new_database("grants")
    database.execute("CREATE ROLE versions_reader")
    try:
        database.execute("CREATE TABLE article (id int PRIMARY KEY, title text, body text)")
        database.execute("INSERT INTO article VALUES (1, 'Ferry', 'It leaves from the old harbour.')")
        database.execute("SELECT docsearch.attach_table('article')")
        database.execute("SELECT docsearch.wait_for_index()")
        database.execute("SELECT docsearch.grant_usage('versions_reader')")
        database.execute("GRANT EXECUTE ON FUNCTION docsearch.check(text) TO versions_reader")
        site.new_files()
        database.execute(UPDATE)
        database.execute(MIGRATE)
        database.execute("INSERT INTO article VALUES (2, 'Train', 'From the station.')")
        database.execute("SELECT docsearch.wait_for_index()")
        with database.connect() as connection:
            connection.execute("SET ROLE versions_reader")
            assert connection.execute(SEARCH).fetchone()[0] == "article/1"
            assert connection.execute("SELECT count(*) FROM search_docs('train station')").fetchone()[0] >= 1
        assert database.execute("SELECT has_function_privilege('versions_reader', 'docsearch.check(text)', 'execute')") == [(True,)]
    finally:
        database.execute("DROP OWNED BY versions_reader")
        database.execute("DROP ROLE versions_reader")


def test_a_dump_of_the_earlier_version_is_restored_into_this_one(site, tmp_path):
    site.old_files()
    old = filled(site.new_database("dump_old"))
    found = answer(old)
    dump = tmp_path / "old.dump"
    old.run("pg_dump", "--format=custom", f"--file={dump}")
    site.new_files()
    new = site.new_database("dump_new", extension=False)
    new.run("pg_restore", "--exit-on-error", dump)
    new.execute(MIGRATE)
    assert answer(new) == found
    assert new.execute("SELECT extversion FROM pg_extension WHERE extname = 'pg_docsearch'") == [(toolchain.version(),)]
    assert_only_the_analysis_is_old(new)


def test_former_settings_are_named_after_an_upgrade(site):
    site.old_files()
    database = filled(site.new_database("settings"))
    database.execute("ALTER DATABASE settings SET docsearch.max_boost = '1.5'")
    site.new_files()
    database.execute(UPDATE)
    database.execute(MIGRATE)
    notices: list[str] = []
    with database.connect() as connection:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        for _ in range(2):
            assert connection.execute(SEARCH).fetchone()[0] == "ferry"
    assert notices == ["docsearch.max_boost is no longer a setting and has no effect"]


def test_a_missing_function_is_found(site):
    site.new_files()
    database = filled(site.new_database("missing"))
    database.execute("ALTER EXTENSION pg_docsearch DROP FUNCTION docsearch.suggest(text, text, bigint, text[])")
    database.execute("DROP FUNCTION docsearch.suggest(text, text, bigint, text[])")
    problems = [row[:2] for row in database.problems()]
    assert problems == [("function missing", "docsearch.suggest(text, text, bigint, text[]) record")]


def test_a_standby_of_another_version_reports_it_and_continues(site):
    """Its catalog is that of the primary, and its files are its own."""
    with machine("versions_standby") as standby:
        standby.old_files()
        site.old_files()
        database = filled(site.new_database("standby"))
        standby.instance.own(standby.instance.data)
        copied = site.instance.run("pg_basebackup", "--dbname", site.instance.url("docs"), "--pgdata",
                                   str(standby.instance.data), "--checkpoint=fast", "--no-sync", "--write-recovery-conf")
        assert copied.returncode == 0, copied.stdout
        standby.instance.configure()
        standby.instance.start("docs")
        copy = standby.database("standby")
        answer(copy)

        standby.new_files()
        with copy.connect() as connection:
            assert BEHIND in outcome(connection, SEARCH)
        standby.old_files()
        site.new_files()
        database.execute(UPDATE)
        lsn = database.execute("SELECT pg_current_wal_lsn()")[0][0]
        wait_until(lambda: copy.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", lsn) == [(True,)])
        with pytest.raises(psycopg.errors.UndefinedFile, match="pg_docsearch-"):
            copy.execute(SEARCH)
        standby.new_files()
        answer(copy)
        assert standby.crashes() == []
