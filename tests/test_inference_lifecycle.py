"""The inference program starts with the first embedded text, and ends with the server."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest
from conftest import CREATE_EXTENSION, GUARD, Database, Site, halted, wait_until
from inference import (
    EMBED,
    answered,
    inference_server,
    programs,
    restart,
    status,
    supervisors,
    uses_vectors,
    waiting,
)
from psycopg.conninfo import make_conninfo


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with inference_server() as own:
        yield own


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


def test_the_first_embedding_starts_one_program_for_all_connections_of_all_databases(site, database):
    """Nothing is preloaded, and a hundred backends request the program at once."""
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


def test_restart_inference_gives_another_program(site, database, program):
    restarts = status(database)["restarts"]
    again = site.restart_inference()
    assert again != program
    assert programs(site) == [again]
    assert status(database)["restarts"] == restarts + 1


@pytest.mark.parametrize("name, value, former", [
    ("onnxruntime_path", "{}/libonnxruntime.so", ""),
    ("inference_program", "{}/docsearch-inference", ""),
    ("inference_memory_limit", "2GB", "4GB")])
def test_start_parameters_change_with_a_restart_of_the_program(site, database, program, name, value, former):
    libraries = site.instance.run("pg_config", "--pkglibdir").stdout.strip()
    same_directory = f"{libraries}/pg_docsearch/../pg_docsearch"
    site.configure(**{name: value.format(same_directory)})
    try:
        wait_until(lambda: status(database)["pid"] not in (None, program))
        assert uses_vectors(database)
    finally:
        site.configure(**{name: former})
