"""Faults that inference survives: the program for the whole server is expendable.

Programs are killed, stopped and kept from starting here, so these tests have a server of their own.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import psycopg
import pytest
from conftest import (
    INFERENCE,
    GUARD,
    Database,
    Site,
    event,
    halted,
    held_document,
    holding,
    kept_waiting_by,
    page,
    wait_until,
)
from inference import (
    EMBED,
    SEARCH,
    answered,
    assert_keywords_only,
    assert_unavailable,
    embed,
    inference_server,
    programs,
    restart,
    status,
    uses_vectors,
    waiting,
)
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from test_concurrency import assert_consistent

INDEX = "SELECT slug, action, detail FROM docsearch.index_docs('kit', %s)"
BULK = [page(f"bulk/{number}", f"Page {number} of many. " + f"It has words, {number} of them. " * 10)
        for number in range(80)]
# Documents are written in the order of slugs, 64 at a time.
END_OF_FIRST_BATCH = sorted(document["slug"] for document in BULK)[63]
LOCK = "SELECT FROM docsearch.document d WHERE d.slug = %s FOR UPDATE"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with inference_server() as own:
        yield own


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


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
            wait_until(lambda: event(database, backend) == INFERENCE)
            os.kill(new_program, signal.SIGKILL)
        assert {action for _, action, _ in rows.result()} == {"added"}
    assert status(database)["pid"] != new_program
    assert_consistent(database)


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["in order", "at once"])
def test_a_bulk_index_does_not_notice_that_the_program_was_replaced(database, new_program, end):
    """As an upgrade, a container or a memory limit does, in the middle of its work."""
    pages = [{**document, "slug": f"{end.name}/{document['slug']}", "body": f"{end.name} {document['body']}"}
             for document in BULK]
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(database.execute, INDEX, Jsonb(pages))
        wait_until(lambda: status(database)["queue_depth"])
        os.kill(new_program, end)
        assert {(action, detail) for _, action, detail in rows.result()} == {("added", None)}
    assert status(database)["pid"] != new_program
    assert_consistent(database)


@pytest.mark.usefixtures("unharmed")
def test_a_bulk_index_fails_cleanly_when_no_program_lives(site, database, new_program):
    """Every new program is killed: documents are complete or missing."""
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
    """Too little to start the program, to continue running, and to load the model."""
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
        """A search is cancelled, too, instead of continuing with keywords."""
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
def test_a_cancelled_answer_is_not_taken_for_another(database, program):
    alone = {text: embed(database, text) for text in ("red", "green")}
    passages = "SELECT docsearch.embed_passages(array_fill(%s::text, ARRAY[200]))"
    with ThreadPoolExecutor(1) as pool, database.connect(autocommit=False) as connection:
        backend = connection.info.backend_pid
        for given_up in ("a", "b", "c"):
            connection.execute("SAVEPOINT before")
            with halted(program):
                for statement in (passages, EMBED):
                    asking = pool.submit(connection.execute, statement, [given_up])
                    wait_until(lambda: event(database, backend) == INFERENCE)
                    database.execute("SELECT pg_cancel_backend(%s)", backend)
                    with pytest.raises(psycopg.errors.QueryCanceled):
                        asking.result(GUARD)
                    connection.execute("ROLLBACK TO before")
            for text, vector in alone.items():
                assert connection.execute(EMBED, [text]).fetchone() == (vector,)


@pytest.mark.usefixtures("unharmed")
def test_work_of_disconnected_clients_is_cancelled(database, program):
    """With client_connection_check_interval a backend notices that its client has disconnected."""
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
