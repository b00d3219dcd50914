"""A full disk gives a clear error and no partial changes, and work continues once there is space.

The disk is a small file system in memory, which only root can mount.
"""

import errno
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import toolchain
from background import WAITING, WORKER
from conftest import CREATE_EXTENSION, Database, Site, own_server, page, wait_until
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent
from test_deferred import many, reachable
from test_models import DEFAULT, SMALL, model_of, write_small

LAST_ERROR = "SELECT last_error FROM docsearch.index_progress('kit')"


@contextmanager
def small_disk(site: Site, megabytes: int) -> Iterator[Path]:
    """A file system of its own for the server."""
    place = site.instance.home / "disk"
    site.instance.own(place)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    try:
        if (done := subprocess.run(mount, capture_output=True, text=True)).returncode != 0:
            pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    except FileNotFoundError:
        pytest.skip("there is no mount program")
    try:
        site.instance.own(place)
        yield place
    finally:
        site.instance.stop()
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Fills the disk to the last block."""
    ballast = disk / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError as error:
        assert error.errno == errno.ENOSPC
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def full_at_commit(database: Database, disk: Path, statement: str, *arguments: object) -> Iterator[None]:
    """Leaves work for the worker, which then finds a full disk."""
    with database.connect(autocommit=False) as connection:
        connection.execute(statement, arguments or None)
        with full(disk):
            connection.commit()
            yield


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(toolchain.model(), models / DEFAULT)
    write_small(models / DEFAULT, models / SMALL)
    for path in [*models.parents[:3], models, *models.rglob("*")]:
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    with own_server("full", **{"docsearch.model_directory": models}) as own, small_disk(own, 64) as disk:
        place = disk / "tables"
        own.instance.own(place)
        own.instance.query(f"CREATE TABLESPACE small LOCATION '{place}'")
        own.instance.query("CREATE DATABASE small TABLESPACE small")
        own.database = Database(make_conninfo(own.database.conninfo, dbname="small"))
        own.database.execute(CREATE_EXTENSION)
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.execute("ALTER DATABASE small SET docsearch.index_mode = 'deferred'")
        own.database.index("kit", page("warm", "The program is started and the model is loaded."))
        own.database.execute("SELECT docsearch.wait_for_index()")
        yield own, disk


@pytest.fixture
def disk(site: tuple[Site, Path]) -> Path:
    return site[1]


@pytest.fixture
def database(site: tuple[Site, Path]) -> Iterator[Database]:
    database = site[0].database
    yield database
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert database.execute("SELECT failed, last_error FROM docsearch.index_progress()") == [(0, None)]
    assert database.problems() == []


def wait_for_failure(database: Database) -> None:
    wait_until(lambda: "No space left" in (database.execute(LAST_ERROR)[0][0] or ""))
    assert database.execute(WORKER)


def test_indexing_ends_with_an_error_and_leaves_nothing(database, disk):
    with database.connect() as connection, full(disk):
        connection.execute("SET docsearch.index_mode = 'immediate'")
        with pytest.raises(psycopg.errors.DiskFull) as caught:
            connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(many("now", count=60))])
        assert caught.value.diag.message_hint == "Check free disk space."
        assert connection.execute("SELECT slug FROM docsearch.document").fetchall() == [("warm",)]
        assert connection.execute("SELECT slug FROM search_docs('program', 'kit')").fetchall() == [("warm",)]
    assert {row[1] for row in database.index("kit", *many("now", count=60))} == {"added"}


def test_documents_wait_for_space_without_being_given_up(database, disk):
    with full_at_commit(database, disk, "SELECT docsearch.index_docs('kit', %s)", Jsonb(many("later", "belated", 150))):
        wait_for_failure(database)
        waiting, failed = database.execute("SELECT waiting, failed FROM docsearch.index_progress('kit')")[0]
        assert waiting > 0 and failed == 0
        assert database.execute("SELECT count(*) FROM search_docs('belated', 'kit')") == [(5,)]
    # No call is needed.
    wait_until(lambda: database.execute(WAITING) == [(0,)])
    assert_consistent(database)


def test_rows_of_an_attached_table_are_not_lost(database, disk):
    database.execute("CREATE TABLE note (id int PRIMARY KEY, title text, body text)")
    database.execute("INSERT INTO note SELECT n, 'Note ' || n, 'About ' || n FROM generate_series(1, 500) n")
    with full_at_commit(database, disk, "SELECT docsearch.attach_table('note', project => 'kit')"):
        wait_for_failure(database)
    wait_until(lambda: database.execute("SELECT loading FROM docsearch.attached_table") == [(False,)])
    with full_at_commit(database, disk, "UPDATE note SET body = 'Changed ' || id WHERE id % 2 = 0"):
        wait_for_failure(database)
    database.execute("SELECT docsearch.wait_for_index()")
    differing = database.execute("SELECT t.id FROM note t LEFT JOIN docsearch.document d ON d.slug = 'note/' || t.id "
                                 "WHERE d.body IS DISTINCT FROM t.body")
    assert differing == []


def test_another_model_waits_for_space_while_the_old_one_serves(database, disk):
    with full_at_commit(database, disk, "SELECT docsearch.set_model('kit', %s)", SMALL):
        wait_for_failure(database)
        assert model_of(database) == DEFAULT
        assert database.execute("SELECT slug FROM search_docs('program', 'kit') LIMIT 1") == [("warm",)]
    wait_until(lambda: model_of(database) == SMALL)
    wait_until(lambda: database.execute("SELECT to_regclass('docsearch.vector_1')") == [(None,)])


def test_a_server_recovers_after_its_whole_disk_was_full():
    with own_server("full_server", max_wal_size="64MB", min_wal_size="32MB") as site, small_disk(site, 256) as disk:
        database = site.database
        database.execute("SELECT docsearch.create_project('kit')")
        site.instance.stop()
        data = site.instance.data
        subprocess.run(["cp", "-a", str(data), str(disk / "data")], check=True)
        shutil.rmtree(data)
        data.symlink_to(disk / "data")
        try:
            site.instance.start("docs")
            database.execute("ALTER DATABASE docs SET docsearch.index_mode = 'deferred'")
            database.index("kit", *many("server"))
            with full(disk):
                # Without space for its log the server shuts down, and then even this is refused.
                with pytest.raises(psycopg.OperationalError):
                    for turn in range(1000):
                        database.index("kit", *many(f"turn{turn}"))
                site.instance.control("-m", "immediate", "-w", "stop")
            site.instance.start("docs")
            reachable(database)
            assert database.execute("SELECT count(*) FROM docsearch.document WHERE slug LIKE 'server/%%'") == [(300,)]
            assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
            assert_consistent(database)
            assert database.problems() == []
        finally:
            site.instance.stop()
            data.unlink()
