"""Status, access and settings of the running inference program."""

import os
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from conftest import Database, Site, wait_until
from inference import EMBED, PLAIN_ROLE, RUN_DIRECTORY, SEARCH, answered, embed, inference_server, status, uses_vectors

SOCKET = f"{RUN_DIRECTORY}/inference.sock"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with inference_server() as own:
        yield own


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


def test_another_user_of_the_system_cannot_connect(site, program, monkeypatch):
    """A second name of the socket bypasses its directories, which are closed, too."""
    path = site.instance.data / SOCKET
    assert [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)] == [0o700, 0o600]
    with tempfile.TemporaryDirectory(dir=site.instance.home) as directory:
        monkeypatch.chdir(directory)
        os.link(path, "socket")
        Path(directory).chmod(0o755)
        assert connects("socket")
        if os.geteuid() == 0:
            os.seteuid(1234)
            try:
                assert not connects("socket")
            finally:
                os.seteuid(0)


def connects(path: str) -> bool:
    """Whether this process may connect to a socket."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except PermissionError:
            return False
        return True


def test_an_ordinary_role_neither_restarts_the_program_nor_reads_its_errors(database, plain, new_program):
    os.kill(new_program, signal.SIGKILL)
    assert uses_vectors(plain)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute("SELECT docsearch.restart_inference()")
    assert status(database)["last_error"]
    seen = answered(plain)
    assert (seen["state"], seen["last_error"]) == ("running", None)
    database.execute(f"GRANT pg_monitor TO {PLAIN_ROLE}")
    assert status(plain)["last_error"] == status(database)["last_error"]
    database.execute(f"REVOKE pg_monitor FROM {PLAIN_ROLE}")


def test_status_reports_the_work_of_the_program(database, new_program):
    digest = database.execute("SELECT digest FROM docsearch.model")[0][0]
    assert answered(database)["models"] == []
    assert (cache_hits(database), cache_hits(database)) == (1, 2)
    seen = answered(database)
    assert seen["models"] == [{"model": "all-MiniLM-L6-v2", "dimension": 384, "digest": digest}]
    assert (seen["requests"], seen["batches"], seen["cache_hits"], seen["queue_depth"]) == (4, 1, 3, 0)
    assert seen["resident_bytes"] > 10 << 20
    assert 0 < seen["p50_ms"] <= seen["p95_ms"]


def test_s0_20_an_identifier_is_embedded_once_for_all_its_forms(database, new_program):
    for query in ("UITableViewController", "a controller of tables"):
        before = answered(database)["requests"]
        assert database.execute(SEARCH, query)
        assert answered(database)["requests"] == before + 1


def test_a_backend_that_embeds_by_itself_gives_the_same_vectors(database, plain, program):
    texts = ["Button in SwiftUI", "", "@>", "long " * 5000]
    both = "SELECT docsearch.embed(%s)::text, docsearch.embed_passages(ARRAY[%s])::text"
    with database.connect() as connection:
        remote = [connection.execute(both, [text, text]).fetchone() for text in texts]
        connection.execute("SET docsearch.inference = 'in_process'")
        assert [connection.execute(both, [text, text]).fetchone() for text in texts] == remote
        assert connection.execute("SELECT state FROM docsearch.status()").fetchone() == ("in process",)
    with plain.connect() as connection:
        connection.execute(EMBED, ["text"])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SET docsearch.inference = 'in_process'")


def cache_hits(database: Database) -> int:
    """Cache hits of a query that is sent twice."""
    before = answered(database)["cache_hits"]
    embed(database, "twice")
    embed(database, "twice")
    return answered(database)["cache_hits"] - before


def embedding_threads(pid: int) -> int:
    """The threads of a program that embed."""
    names = [name.read_text().strip() for name in Path(f"/proc/{pid}/task").glob("*/comm")]
    return names.count("docsearch-embed")


def test_threads_and_cache_change_without_a_restart(site, database, new_program):
    def embed_passages() -> int:
        """Starts another thread if there are more passages than threads."""
        database.execute("SELECT docsearch.embed_passages(array_fill(repeat('word ', 100), ARRAY[100]))")
        return embedding_threads(new_program)

    site.configure(threads=1)
    try:
        assert wait_until(lambda: cache_hits(database)) and embed_passages() == 1
        site.configure(query_cache_size=0, threads=3)
        wait_until(lambda: cache_hits(database) == 0)
        wait_until(lambda: embed_passages() == 3)
    finally:
        site.configure(query_cache_size="16MB", threads=0)
    wait_until(lambda: cache_hits(database) == 2)
    assert answered(database)["pid"] == new_program
