"""Databases for the client-side tests, on the server of DOCSEARCH_TEST_URL, and servers of
a test's own for what concerns a whole server. Each process that runs tests has a server of its own."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import known_fault
import psycopg
import pytest
import server
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

# Modules that several test files share, with fixtures.
pytest_plugins = ["attacks", "front", "inference"]

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SERVER = os.environ["DOCSEARCH_TEST_URL"].split()[WORKER]
# The version of PostgreSQL that is tested.
MAJOR = int(os.environ["DOCSEARCH_TEST_PG"])
# The wait event of a backend that waits for the inference program; Postgres 16 has no custom wait events.
INFERENCE = "DocsearchInference" if MAJOR > 16 else "Extension"
CREATE_EXTENSION = "CREATE EXTENSION pg_docsearch CASCADE"
# Seconds after which a hanging test fails. It measures nothing: tests wait for the state that they expect.
GUARD = 300
T = TypeVar("T")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "any_server(reason): runs with one version of PostgreSQL, as another cannot "
                                       "make it fail")


@dataclass
class Database:
    """A database of a test; `conninfo` is its connection string."""

    conninfo: str

    def connect(self, **keywords) -> psycopg.Connection:
        """A new connection, which commits each statement by default."""
        return psycopg.connect(self.conninfo, **{"autocommit": True, **keywords})

    def execute(self, statement: str, *arguments: object) -> list[tuple]:
        """Runs one statement on a connection of its own, and returns its rows."""
        with self.connect() as connection:
            cursor = connection.execute(statement, arguments or None)
            # Rows may have no columns: SELECT FROM.
            return cursor.fetchall() if cursor.pgresult.status == psycopg.pq.ExecStatus.TUPLES_OK else []

    def run(self, program: str, *arguments: object, **keywords) -> subprocess.CompletedProcess:
        """Runs a client program on this database, which must succeed."""
        command = [program, f"--dbname={self.conninfo}", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, **keywords)
        assert done.returncode == 0, done.stderr
        return done

    def known_faults(self) -> set[tuple[str, str]]:
        """The known faults of this server and its pgvector, each with the product."""
        with self.connect() as connection:
            number, = connection.execute("SELECT current_setting('server_version_num')::int").fetchone()
            vectors = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector' UNION "
                                         "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
            here = {known_fault.POSTGRESQL: f"{number // 10000}.{number % 10000}",
                    known_fault.PGVECTOR: min((version for version, in vectors), key=lambda version: (known_fault.read(version), version))}
        return {(fault.fault, f"{product} {version}")
                for product, version in here.items() for fault in known_fault.faults(product, version)}

    def problems(self, project: str | None = None) -> list[tuple]:
        """The rows of docsearch.check() besides those faults, each of which must be among them."""
        found = self.execute("SELECT problem, object, detail FROM docsearch.check(%s)", project)
        expected = self.known_faults()
        assert expected <= {row[:2] for row in found}, found
        return [row for row in found if row[:2] not in expected]

    def index(self, project: str, *documents: dict) -> list[tuple]:
        """Indexes documents, and returns the rows of index_docs."""
        return self.execute("SELECT * FROM docsearch.index_docs(%s, %s)", project, Jsonb(documents))


def page(slug: str, body: str, **more: object) -> dict:
    """A document whose title is the last segment of its slug."""
    return {"slug": slug, "title": slug.rsplit("/", 1)[-1].title(), "body": body, **more}


def wait_until(look: Callable[[], T]) -> T:
    """Calls `look` until its result is true, and returns it."""
    end = time.monotonic() + GUARD
    while not (seen := look()):
        assert time.monotonic() < end, f"waited {GUARD} s in vain"
        time.sleep(0.02)
    return seen


@contextmanager
def holding(database: Database, statement: str, *arguments: object) -> Iterator[psycopg.Connection]:
    """Keeps the locks and writes of a statement in an open transaction, until the returned connection is
    closed, which rolls it back."""
    with closing(database.connect(autocommit=False)) as holder:
        holder.execute(statement, arguments or None)
        yield holder


def held_document(database: Database, project: str, slug: str) -> AbstractContextManager[psycopg.Connection]:
    """An open transaction writes a document, so that indexing one with this slug waits."""
    return holding(database, "INSERT INTO docsearch.document (project_id, slug, title, body, content_hash) "
                   "SELECT p.id, %s, '', '', '' FROM docsearch.project p WHERE p.name = %s", slug, project)


def kept_waiting_by(database: Database, holder: psycopg.Connection) -> list[int]:
    """The processes that wait for locks of a connection."""
    rows = database.execute("SELECT a.pid FROM pg_stat_activity a WHERE %s = ANY (pg_blocking_pids(a.pid))",
                            holder.info.backend_pid)
    return [pid for pid, in rows]


def event(database: Database, backend: int) -> str | None:
    """The wait event of a backend; INFERENCE is an answer of the inference program."""
    rows = database.execute("SELECT wait_event FROM pg_stat_activity WHERE pid = %s", backend)
    return rows[0][0] if rows else None


@contextmanager
def started(command: list, **keywords) -> Iterator[subprocess.Popen]:
    """A program that is killed afterwards, if it has not ended."""
    with subprocess.Popen(list(map(str, command)), text=True, **keywords) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def halted(pid: int) -> Iterator[None]:
    """Stops a program for a while, unless it is killed."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@dataclass
class Site:
    """A server of a test's own, and a database on it with the extension."""

    instance: server.Server
    database: Database

    def configure(self, **settings: object) -> None:
        """Changes settings of docsearch, and returns when new connections have them."""
        names = {f"docsearch.{name}": str(value) for name, value in settings.items()}
        self.instance.settings.update(names)
        self.instance.configure()
        self.instance.query("SELECT pg_reload_conf()")
        for name, value in names.items():
            wait_until(lambda: self.instance.query(f"SELECT current_setting('{name}', true)") == value)

    def restart_inference(self) -> int:
        """Restarts the inference program with the current settings, and returns its process."""
        return self.database.execute("SELECT docsearch.restart_inference()")[0][0]


@contextmanager
def own_server(name: str, **settings: object) -> Iterator[Site]:
    """Starts a server with the programs and the extension of the shared server."""
    instance = server.throw_away(f"{name}-{WORKER}", MAJOR)
    instance.bin = Path(shutil.which("psql")).parent
    instance.remove_data()
    shutil.rmtree(instance.home, ignore_errors=True)
    instance.home.mkdir(parents=True)
    instance.home.chmod(0o755)
    instance.settings.update({key: str(value) for key, value in settings.items()})
    instance.configure()
    try:
        instance.start("docs")
        database = Database(make_conninfo(instance.url("docs")))
        database.execute(CREATE_EXTENSION)
        yield Site(instance, database)
    finally:
        instance.remove_data()


@pytest.fixture(scope="session", autouse=True)
def cache_of_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Gives the tested programs a cache folder that is not the user's."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def new_database() -> Iterator[Callable[..., Database]]:
    """Makes databases, by default with the extension, and drops them after the module."""
    made: list[str] = []

    def create(extension: bool = True) -> Database:
        name = f"test_{uuid4().hex[:12]}"
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        made.append(name)
        database = Database(make_conninfo(SERVER, dbname=name))
        if extension:
            database.execute(CREATE_EXTENSION)
        return database

    yield create
    with psycopg.connect(SERVER, autocommit=True) as connection:
        for name in made:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def database(new_database: Callable[..., Database]) -> Database:
    """A database with the extension, shared by the tests of a module."""
    return new_database()
