"""Faults that inference survives: the program for the whole server is expendable.

Programs are killed, stopped and kept from starting here, so these tests have a server of their own.
"""

import os
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Event, Thread

import psycopg
import pytest
from conftest import (
    CREATE_EXTENSION,
    GUARD,
    Database,
    Site,
    event,
    halted,
    held_document,
    holding,
    kept_waiting_by,
    own_server,
    page,
    wait_until,
)
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent

PLAIN_ROLE = "docsearch_visitor"
EMBED = "SELECT docsearch.embed(%s)::text"
SEARCH = "SELECT similarity, notice FROM search_docs(%s, 'kit')"
INDEX = "SELECT slug, action, detail FROM docsearch.index_docs('kit', %s)"
SOCKET = "pgsql_tmp_docsearch/inference.sock"
BULK = [page(f"bulk/{number}", f"Page {number} of many. " + f"It has words, {number} of them. " * 10)
        for number in range(80)]
# Documents are written in the order of slugs, 64 at a time.
END_OF_FIRST_BATCH = sorted(document["slug"] for document in BULK)[63]
LOCK = "SELECT FROM docsearch.document d WHERE d.slug = %s FOR UPDATE"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("service", max_connections=120) as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", page("button", "A control that starts an action."),
                           page("slider", "A control for a number."))
        yield own


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


@pytest.fixture(scope="module")
def plain(database: Database) -> Database:
    """The same database, as a role with the right to search and no other."""
    database.execute(f"CREATE ROLE {PLAIN_ROLE} LOGIN")
    database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}')")
    return Database(make_conninfo(database.conninfo, user=PLAIN_ROLE))


@pytest.fixture
def unharmed(site: Site, database: Database) -> Iterator[None]:
    """The server goes on all the while: a connection that is open stays open."""
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


def status(database: Database) -> dict:
    with database.connect(row_factory=dict_row) as connection:
        return connection.execute("SELECT * FROM docsearch.status()").fetchone()


def answered(database: Database) -> dict:
    """What the program says of itself, once it says it."""
    def look() -> dict | None:
        seen = status(database)
        return seen if seen["queue_depth"] is not None else None
    return wait_until(look)


def embed(database: Database, text: str = "starts an action") -> str:
    return database.execute(EMBED, text)[0][0]


def running(database: Database) -> int:
    """The process of the program, which is there when this returns."""
    embed(database)
    return answered(database)["pid"]


@pytest.fixture
def program(database: Database) -> int:
    return running(database)


@pytest.fixture
def new_program(site: Site, program: int) -> int:
    """A program whose predecessors are forgiven: one that dies too often is not started at once."""
    return site.restart_inference()


@contextmanager
def waiting(database: Database, statement: str, argument: object, **options: object) -> Iterator[tuple[Future, int]]:
    """A statement that waits for a program that hangs: its rows to come, and its backend."""
    with database.connect(**options) as connection, ThreadPoolExecutor(1) as pool:
        rows = pool.submit(lambda: connection.execute(statement, [argument]).fetchall())
        backend = connection.info.backend_pid
        wait_until(lambda: rows.done() or event(database, backend) == "DocsearchInference")
        assert not rows.done()
        yield rows, backend


def uses_vectors(database: Database) -> bool:
    """Whether a search has vectors to go by."""
    rows = database.execute(SEARCH, "starts an action")
    assert rows
    return all(similarity is not None for similarity, _ in rows)


def assert_keywords_only(rows: list[tuple]) -> None:
    """A search answered with what the words alone give, and said so."""
    assert rows
    for similarity, notice in rows:
        assert similarity is None
        assert notice.startswith("vector_unavailable: ")


def assert_unavailable(database: Database, sqlstate: str = "55000") -> str:
    """Embedding fails and keyword search answers; the hint of the failure."""
    with pytest.raises(psycopg.Error) as refused:
        embed(database)
    assert refused.value.sqlstate == sqlstate
    assert refused.value.diag.message_hint
    assert_keywords_only(database.execute(SEARCH, "starts an action"))
    return refused.value.diag.message_hint


def test_the_first_embedding_starts_one_program_for_all_connections_of_all_databases(site, database):
    """Nothing is preloaded, and a hundred backends ask for the program at once."""
    assert database.execute("SHOW shared_preload_libraries") == [("",)]
    restart(site, "fast")
    assert status(database)["state"] == "not started"
    assert programs(site) == supervisors(site) == []

    site.instance.query("CREATE DATABASE other")
    other = Database(make_conninfo(database.conninfo, dbname="other"))
    other.execute(CREATE_EXTENSION)
    barrier = Barrier(100)

    def ask(number: int) -> tuple[str, str]:
        text = f"text {number % 4}"
        with (database, other)[number % 2].connect() as connection:
            barrier.wait(GUARD)
            return text, connection.execute(EMBED, [text]).fetchone()[0]

    with ThreadPoolExecutor(100) as pool:
        answers = set(pool.map(ask, range(100)))
    assert len(answers) == len({text for text, _ in answers}) == 4
    wait_until(lambda: len(supervisors(site)) == 1)
    assert programs(site) == [status(database)["pid"]] == [status(other)["pid"]]


@pytest.mark.usefixtures("unharmed")
def test_a_program_that_is_killed_while_idle_is_there_again(site, database, new_program):
    with database.connect() as connection:
        vector, = connection.execute(EMBED, ["text"]).fetchone()
        before = status(database)["restarts"]
        os.kill(new_program, signal.SIGKILL)
        assert connection.execute(EMBED, ["text"]).fetchone() == (vector,)
    after = answered(database)
    assert (after["state"], after["restarts"]) == ("running", before + 1)
    assert "signal: 9" in after["last_error"]
    assert programs(site) == [after["pid"]] != [new_program]


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize("statement", [EMBED, SEARCH], ids=["embed", "search_docs"])
def test_a_query_that_waits_when_the_program_is_killed_is_answered(database, new_program, statement):
    answer = database.execute(statement, "starts an action")
    with halted(new_program), waiting(database, statement, "starts an action") as (rows, _):
        os.kill(new_program, signal.SIGKILL)
        assert rows.result() == answer


@pytest.mark.usefixtures("unharmed")
def test_a_bulk_index_survives_the_death_of_the_program(database, new_program):
    with ThreadPoolExecutor(1) as pool, held_document(database, "kit", END_OF_FIRST_BATCH) as holder:
        rows = pool.submit(database.execute, INDEX, Jsonb(BULK))
        backend, = wait_until(lambda: kept_waiting_by(database, holder))
        with halted(new_program):
            holder.close()
            wait_until(lambda: event(database, backend) == "DocsearchInference")
            os.kill(new_program, signal.SIGKILL)
        assert {action for _, action, _ in rows.result()} == {"added"}
    assert status(database)["pid"] != new_program
    assert_consistent(database)


@pytest.mark.usefixtures("unharmed")
def test_a_bulk_index_fails_cleanly_when_no_program_lives(site, database, new_program):
    """Every program is killed that shows up: documents are whole or not there."""
    over = Event()

    def kill_all() -> None:
        while not over.is_set():
            for pid in programs(site):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            over.wait(0.02)

    changed = [{**document, "body": document["body"] + " More."} for document in BULK]
    killer = Thread(target=kill_all)
    with ThreadPoolExecutor(1) as pool, holding(database, LOCK, END_OF_FIRST_BATCH) as holder:
        rows = pool.submit(database.execute, INDEX, Jsonb(changed))
        wait_until(lambda: kept_waiting_by(database, holder))
        killer.start()
        try:
            holder.close()
            problem = rows.exception(GUARD)
        finally:
            over.set()
            killer.join()
    if problem is None:
        assert all(action == "changed" or detail for _, action, detail in rows.result())
    else:
        assert isinstance(problem, psycopg.Error) and problem.sqlstate == "55000" and problem.diag.message_hint
    assert_consistent(database)
    site.restart_inference()
    assert uses_vectors(database)


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize("path", ["/nonexistent/docsearch-inference", "/etc/passwd", "/bin/false"])
def test_s3_25_a_program_that_cannot_start_leaves_keyword_search(site, database, path):
    site.configure(inference_program=path)
    try:
        wait_until(lambda: status(database)["state"] == "failed")
        assert_unavailable(database)
    finally:
        site.configure(inference_program="")
    wait_until(lambda: uses_vectors(database))


def test_s3_25_a_server_without_a_free_worker_leaves_keyword_search(site, database):
    restart(site, "fast", max_worker_processes=0)
    try:
        assert "max_worker_processes" in assert_unavailable(database)
    finally:
        restart(site, "fast", max_worker_processes=8)
    assert uses_vectors(database)


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize("limit, sqlstate", [("1MB", "55000"), ("10MB", "55000"), ("40MB", "53200")])
def test_s3_25_too_little_memory_leaves_keyword_search(site, database, limit, sqlstate):
    """Too little for the program to start, to go on once it works, and to load the model."""
    former = status(database)["pid"]
    site.configure(inference_memory_limit=limit)
    try:
        wait_until(lambda: former not in programs(site))
        for _ in range(3):
            assert_unavailable(database, sqlstate)
    finally:
        site.configure(inference_memory_limit="4GB")
    wait_until(lambda: uses_vectors(database))


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize("statement, argument", [
    (EMBED, "never asked"), (SEARCH, "never asked"), (INDEX, Jsonb([page("new", "A new page.")]))],
    ids=["embed", "search_docs", "index_docs"])
class TestHanging:
    """The program hangs while a backend waits for it."""

    @pytest.mark.parametrize("function", ["pg_cancel_backend", "pg_terminate_backend"])
    def test_an_administrator_ends_the_wait(self, database, program, statement, argument, function):
        with halted(program), waiting(database, statement, argument) as (rows, backend):
            database.execute(f"SELECT {function}(%s)", backend)
            problem = rows.exception(GUARD)
            assert problem.sqlstate == {"pg_cancel_backend": "57014", "pg_terminate_backend": "57P01"}[function]
        assert status(database)["pid"] == program

    def test_a_statement_timeout_ends_the_wait(self, database, program, statement, argument):
        """A search is cancelled like all else, instead of going on with keywords."""
        with halted(program), database.connect(options="-c statement_timeout=100ms") as connection:
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute(statement, [argument])

    def test_s4_26_inference_timeout_ends_the_wait(self, database, program, statement, argument):
        with halted(program), database.connect() as connection:
            connection.execute("LOAD 'pg_docsearch'")
            connection.execute("SET docsearch.inference_timeout = '200ms'")
            if statement == SEARCH:
                assert_keywords_only(connection.execute(SEARCH, ["starts something"]).fetchall())
                return
            with pytest.raises(psycopg.errors.ExternalRoutineException) as refused:
                connection.execute(statement, [argument])
            assert "docsearch.inference_timeout" in refused.value.diag.message_hint
        assert database.execute("SELECT FROM docsearch.document WHERE slug = 'new'") == []


@pytest.mark.usefixtures("unharmed")
def test_an_administrator_sees_a_program_that_hangs_and_replaces_it(site, database, program):
    with halted(program):
        assert status(database)["state"] == "not responding"
        assert site.restart_inference() != program
    assert uses_vectors(database)


@pytest.mark.usefixtures("unharmed")
def test_an_answer_that_was_given_up_is_not_taken_for_another(database, program):
    alone = {text: embed(database, text) for text in ("red", "green")}
    passages = "SELECT docsearch.embed_passages(array_fill(%s::text, ARRAY[200]))"
    with ThreadPoolExecutor(1) as pool, database.connect(autocommit=False) as connection:
        backend = connection.info.backend_pid
        for given_up in ("a", "b", "c"):
            connection.execute("SAVEPOINT before")
            with halted(program):
                for statement in (passages, EMBED):
                    asking = pool.submit(connection.execute, statement, [given_up])
                    wait_until(lambda: event(database, backend) == "DocsearchInference")
                    database.execute("SELECT pg_cancel_backend(%s)", backend)
                    with pytest.raises(psycopg.errors.QueryCanceled):
                        asking.result(GUARD)
                    connection.execute("ROLLBACK TO before")
            for text, vector in alone.items():
                assert connection.execute(EMBED, [text]).fetchone() == (vector,)


@pytest.mark.usefixtures("unharmed")
def test_clients_that_vanish_leave_no_work_behind(database, program):
    """With client_connection_check_interval a backend notices that its client has gone."""
    check = {"options": "-c client_connection_check_interval=100ms"}
    command = ["psql", make_conninfo(database.conninfo, application_name="vanishing", **check), "-Xqc"]
    asks = ["SELECT docsearch.embed('a query')",
            "SELECT docsearch.embed_passages(array_fill(repeat('word ', 200), ARRAY[5000]))"]
    clients = [subprocess.Popen([*command, ask], stdout=subprocess.DEVNULL) for ask in asks * 5]
    backends = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vanishing'"
    wait_until(lambda: answered(database)["queue_depth"] > 100)
    with halted(program):
        for client in clients:
            client.kill()
            client.wait()
        wait_until(lambda: database.execute(backends) == [(0,)])
    wait_until(lambda: status(database)["queue_depth"] == 0)
    assert uses_vectors(database)
    assert answered(database)["pid"] == program


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


@pytest.mark.parametrize("mode", ["fast", "immediate", "killed"])
def test_the_program_ends_with_the_server_and_leaves_nothing_in_the_way(site, database, program, mode):
    restart(site, mode)
    wait_until(lambda: program not in programs(site))
    assert uses_vectors(database)
    assert programs(site) == [status(database)["pid"]]


@pytest.mark.parametrize("mode", ["fast", "immediate", "killed"])
def test_a_server_ends_while_a_query_waits_for_a_program_that_hangs(site, database, program, mode):
    with halted(program), waiting(database, EMBED, "text") as (rows, _):
        restart(site, mode)
        assert isinstance(rows.exception(GUARD), psycopg.OperationalError)
        wait_until(lambda: program not in programs(site))
    assert uses_vectors(database)


def test_the_program_is_back_after_the_crash_of_a_backend(site, database, program):
    with database.connect() as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
    wait_until(lambda: program not in programs(site))
    wait_until(lambda: accepts(database))
    assert uses_vectors(database)
    wait_until(lambda: len(supervisors(site)) == 1)
    assert programs(site) == [status(database)["pid"]]


def accepts(database: Database) -> bool:
    try:
        return bool(database.execute("SELECT true"))
    except psycopg.OperationalError:
        return False


def test_a_preloaded_library_brings_the_program_with_the_server(site, database):
    restart(site, "fast", shared_preload_libraries="pg_docsearch")
    try:
        former, = wait_until(lambda: programs(site))
        assert uses_vectors(database)
        assert answered(database)["pid"] == former
        restart(site, "immediate")
        wait_until(lambda: programs(site) not in ([], [former]))
    finally:
        restart(site, "fast", shared_preload_libraries="")
    assert programs(site) == []


def test_another_user_of_the_system_cannot_connect(site, program, monkeypatch):
    """A second name of the socket leads around the directories, which are closed, too."""
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


def test_status_says_what_the_program_does(database, new_program):
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


def test_restart_inference_gives_another_program(site, database, program):
    restarts = status(database)["restarts"]
    again = site.restart_inference()
    assert again != program
    assert programs(site) == [again]
    assert status(database)["restarts"] == restarts + 1


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
    """Hits of a query that is asked twice."""
    before = answered(database)["cache_hits"]
    embed(database, "twice")
    embed(database, "twice")
    return answered(database)["cache_hits"] - before


def lanes(pid: int) -> int:
    """The threads of a program that embed."""
    names = [name.read_text().strip() for name in Path(f"/proc/{pid}/task").glob("*/comm")]
    return names.count("docsearch-lane")


def test_threads_and_cache_change_without_a_restart(site, database, new_program):
    def embed_passages() -> int:
        """Lanes start when there is more to do than those that are there are at."""
        database.execute("SELECT docsearch.embed_passages(array_fill(repeat('word ', 100), ARRAY[100]))")
        return lanes(new_program)

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


@pytest.mark.parametrize("name, value, former", [
    ("onnxruntime_path", "{}/libonnxruntime.so", ""),
    ("inference_program", "{}/docsearch-inference", ""),
    ("inference_memory_limit", "2GB", "4GB")])
def test_what_a_program_is_started_with_changes_with_another_program(site, database, program, name, value, former):
    same_directory = site.instance.bin.parent / "lib/pg_docsearch/../pg_docsearch"
    site.configure(**{name: value.format(same_directory)})
    try:
        wait_until(lambda: status(database)["pid"] not in (None, program))
        assert uses_vectors(database)
    finally:
        site.configure(**{name: former})
