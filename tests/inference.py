"""What the tests of the inference program share: a server, its processes, and what they say of themselves."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import toolchain
from conftest import INFERENCE, Database, Site, event, own_server, page, wait_until
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

PLAIN_ROLE = "docsearch_visitor"
# Below the data directory.
RUN_DIRECTORY = f"pg_stat_tmp/pg_docsearch-{toolchain.version().rpartition('.')[0]}"
EMBED = "SELECT docsearch.embed(%s)::text"
SEARCH = "SELECT similarity, notice FROM search_docs(%s, 'kit')"


@contextmanager
def inference_server() -> Iterator[Site]:
    with own_server("inference", max_connections=120) as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", page("button", "A control that starts an action."),
                           page("slider", "A control for a number."))
        yield own


@pytest.fixture(scope="module")
def plain(database: Database) -> Database:
    """The same database, as a role with the right to search and no other."""
    database.execute(f"CREATE ROLE {PLAIN_ROLE} LOGIN")
    database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}')")
    return Database(make_conninfo(database.conninfo, user=PLAIN_ROLE))


@pytest.fixture
def unharmed(site: Site, database: Database) -> Iterator[None]:
    """Checks that the server keeps running: an open connection stays open."""
    question = "SELECT pg_backend_pid(), pg_postmaster_start_time()"
    before = postmaster(site)
    with database.connect() as witness:
        answer = witness.execute(question).fetchone()
        yield
        assert witness.execute(question).fetchone() == answer
    assert postmaster(site) == before


def postmaster(site: Site) -> int:
    return int((site.instance.data / "postmaster.pid").read_text().splitlines()[0])


def processes(site: Site, name: str) -> list[int]:
    """The processes of a server whose command line has a name."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().decode(errors="replace")
            if name in command and (place / "cwd").readlink() == site.instance.data:
                found.append(int(place.name))
        except OSError:
            pass
    return found


def programs(site: Site) -> list[int]:
    return processes(site, "docsearch-inference")


def supervisors(site: Site) -> list[int]:
    return processes(site, "docsearch inference supervisor")


def restart(site: Site, mode: str, **settings: object) -> None:
    """Ends the server and starts it again."""
    instance = site.instance
    instance.settings.update({name: str(value) for name, value in settings.items()})
    instance.configure()
    if mode == "killed":
        pid = postmaster(site)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not processes(site, "postgres") and not Path(f"/proc/{pid}").exists())
        instance.start("docs")
    else:
        assert instance.control("-m", mode, "-w", "-l", str(instance.log), "restart")


def status(database: Database) -> dict:
    with database.connect(row_factory=dict_row) as connection:
        return connection.execute("SELECT * FROM docsearch.status()").fetchone()


def answered(database: Database) -> dict:
    """The status of the program, as soon as it answers."""
    def look() -> dict | None:
        seen = status(database)
        return seen if seen["queue_depth"] is not None else None
    return wait_until(look)


def embed(database: Database, text: str = "starts an action") -> str:
    return database.execute(EMBED, text)[0][0]


def running(database: Database) -> int:
    """Starts the program if necessary, and returns its process."""
    embed(database)
    return answered(database)["pid"]


@pytest.fixture
def program(database: Database) -> int:
    return running(database)


@pytest.fixture
def new_program(site: Site, program: int) -> int:
    """A program without recent crashes: one that ends too often is not restarted at once."""
    return site.restart_inference()


@contextmanager
def waiting(database: Database, statement: str, argument: object, **options: object) -> Iterator[tuple[Future, int]]:
    """Starts a statement that waits for a hanging program. Yields its future rows and its backend."""
    with database.connect(**options) as connection, ThreadPoolExecutor(1) as pool:
        rows = pool.submit(lambda: connection.execute(statement, [argument]).fetchall())
        backend = connection.info.backend_pid
        wait_until(lambda: rows.done() or event(database, backend) == INFERENCE)
        assert not rows.done()
        yield rows, backend


def uses_vectors(database: Database) -> bool:
    """Whether a search uses vectors."""
    rows = database.execute(SEARCH, "starts an action")
    assert rows
    return all(similarity is not None for similarity, _ in rows)


def assert_keywords_only(rows: list[tuple]) -> None:
    """Checks that a search has used keywords only, with a notice."""
    assert rows
    for similarity, notice in rows:
        assert similarity is None
        assert notice.startswith("vector_unavailable: ")


def assert_unavailable(database: Database, sqlstate: str = "55000") -> str:
    """Checks that embedding fails and keyword search works. Returns the hint of the failure."""
    with pytest.raises(psycopg.Error) as refused:
        embed(database)
    assert refused.value.sqlstate == sqlstate
    assert refused.value.diag.message_hint
    assert_keywords_only(database.execute(SEARCH, "starts an action"))
    return refused.value.diag.message_hint
