"""`docsearch index` into a database that embeds in the background: it reports waiting documents, or waits for them."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from background import WAITING, half_way, held_worker
from conftest import GUARD, Database, own_server, started, wait_until
from test_folder import COMPLETE, PARTIAL, docsearch, summary, write

INTERRUPTED = 130


def pages(folder: Path, count: int) -> Path:
    return write(folder, {f"{number:03}.md": f"# Page {number}\n\nText {number}.\n\n## Part\n\nMore of {number}.\n"
                          for number in range(count)})


@pytest.fixture(scope="module")
def database(new_database) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.migrate()")
    name, = database.execute("SELECT current_database()")[0]
    database.execute(f"ALTER DATABASE {name} SET docsearch.index_mode = 'deferred'")
    return database


def load(database: Database, folder: Path, project: str, *options: str) -> subprocess.CompletedProcess:
    return docsearch("index", folder, "--project", project, *options, conninfo=database.conninfo)


def waiting(database: Database, folder: Path, project: str) -> AbstractContextManager[subprocess.Popen]:
    """A load that waits for vectors."""
    command = [os.environ["DOCSEARCH_TEST_CLI"], "index", folder, "--project", project, "--wait", "--json"]
    return started(command, env={**os.environ, "DOCSEARCH_URL": database.conninfo}, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE)


def follow(process: subprocess.Popen, until: Callable[[dict], object]) -> list[dict]:
    """The events of a load, up to a certain one."""
    events = []
    while not events or not until(events[-1]):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        events.append(json.loads(line))
    return events


def test_waiting_documents_are_reported(database, tmp_path):
    with held_worker(database):
        done = load(database, pages(tmp_path, 200), "reported")
    assert (done.returncode, summary(done)) == (COMPLETE, {"added": 200})
    assert "200 documents with " in done.stderr and " chunks wait for their vectors" in done.stderr
    done = load(database, tmp_path, "reported", "--wait")
    assert (done.returncode, summary(done)) == (COMPLETE, {"unchanged": 200}) and "wait" not in done.stderr
    assert database.execute(WAITING) == [(0,)]
    assert "wait" not in load(database, tmp_path, "reported").stderr


def test_programs_follow_the_wait(database, tmp_path):
    with held_worker(database) as holder, waiting(database, pages(tmp_path, 300), "followed") as process:
        events = follow(process, lambda event: event["event"] == "waiting")
        with half_way(database, holder):
            events += follow(process, lambda event: event.get("rate"))
        events += follow(process, lambda event: event["event"] == "done")
        assert process.wait(GUARD) == COMPLETE
    waits = [event for event in events if event["event"] == "waiting"]
    left = [event["waiting"] for event in waits]
    assert left == sorted(left, reverse=True)
    assert all(event["waiting_chunks"] >= event["waiting"] for event in waits)
    assert (waits[0]["waiting"], waits[0]["rate"], waits[0]["seconds_left"]) == (300, None, None)
    assert any(event["rate"] and event["seconds_left"] for event in waits)
    assert {key: events[-1][key] for key in ("event", "added", "waiting", "waiting_chunks", "not_embedded")} == {
        "event": "done", "added": 300, "waiting": 0, "waiting_chunks": 0, "not_embedded": 0}


def test_a_wait_that_is_interrupted_loses_nothing(database, tmp_path):
    with held_worker(database), waiting(database, pages(tmp_path, 300), "impatient") as process:
        follow(process, lambda event: event["event"] == "waiting")
        process.send_signal(signal.SIGINT)
        output, problems = process.communicate(timeout=GUARD)
        assert process.returncode == INTERRUPTED, problems
        end = json.loads(output.splitlines()[-1])
        assert (end["added"], end["interrupted"]) == (300, True)
        assert database.execute(WAITING) == [(300,)]
    wait_until(lambda: database.execute(WAITING) == [(0,)])


def test_documents_that_cannot_be_embedded_are_reported_and_counted(tmp_path):
    with own_server("background_load", **{"docsearch.index_mode": "deferred"}) as site:
        database = site.database
        database.execute("SELECT docsearch.create_project('kit')")
        site.configure(inference_program="/nonexistent")
        wait_until(lambda: database.execute("SELECT state FROM docsearch.status()") == [("failed",)])
        assert load(database, pages(tmp_path, 3), "kit").returncode == COMPLETE
        # The state after many attempts.
        wait_until(lambda: database.execute("SELECT min(q.attempts) FROM docsearch.embedding_queue q")[0][0])
        database.execute("UPDATE docsearch.embedding_queue SET attempts = 4, next_attempt = now()")
        done = load(database, tmp_path, "kit", "--wait")
        assert done.returncode == PARTIAL
        assert "failed: 3 documents could not be embedded: " in done.stderr and "/nonexistent" in done.stderr
        assert database.execute("SELECT count(*) FROM search_docs('page', 'kit')") == [(3,)]
