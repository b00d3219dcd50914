"""`docsearch index` into a database that embeds in the background: what waits is told, and can be waited for."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import Database, own_server, wait_until
from test_deferred import WAITING
from test_folder import COMPLETE, PARTIAL, docsearch, summary, write

INTERRUPTED = 130


def pages(folder: Path, count: int) -> Path:
    return write(folder, {f"{number:03}.md": f"# Page {number}\n\nText {number}.\n\n## Part\n\nMore of {number}.\n"
                          for number in range(count)})


@pytest.fixture(scope="module")
def database(new_database) -> Database:
    database = new_database()
    name, = database.execute("SELECT current_database()")[0]
    database.execute(f"ALTER DATABASE {name} SET docsearch.index_mode = 'deferred'")
    return database


def load(database: Database, folder: Path, project: str, *options: str) -> subprocess.CompletedProcess:
    return docsearch("index", folder, "--project", project, *options, conninfo=database.conninfo)


def test_what_waits_is_told(database, tmp_path):
    done = load(database, pages(tmp_path, 200), "told")
    assert (done.returncode, summary(done)) == (COMPLETE, {"added": 200})
    assert "documents with " in done.stderr and " chunks wait for their vectors" in done.stderr
    done = load(database, tmp_path, "told", "--wait")
    assert (done.returncode, summary(done), done.stderr) == (COMPLETE, {"unchanged": 200}, "")
    assert database.execute(WAITING) == [(0,)]
    assert load(database, tmp_path, "told").stderr == ""


def test_programs_follow_the_wait(database, tmp_path):
    done = load(database, pages(tmp_path, 300), "followed", "--wait", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    waits = [event for event in events if event["event"] == "waiting"]
    assert done.returncode == COMPLETE and waits
    left = [event["waiting"] for event in waits]
    assert left == sorted(left, reverse=True)
    assert all(event["waiting_chunks"] >= event["waiting"] for event in waits)
    assert any(event["rate"] and event["seconds_left"] for event in waits)
    assert {key: events[-1][key] for key in ("event", "added", "waiting", "waiting_chunks", "not_embedded")} == {
        "event": "done", "added": 300, "waiting": 0, "waiting_chunks": 0, "not_embedded": 0}


def test_a_wait_that_is_interrupted_loses_nothing(database, tmp_path):
    command = [os.environ["DOCSEARCH_TEST_CLI"], "index", str(pages(tmp_path, 600)), "--project", "impatient", "--wait",
               "--json"]
    process = subprocess.Popen(command, env={**os.environ, "DOCSEARCH_URL": database.conninfo}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while json.loads(process.stdout.readline())["event"] != "waiting":
        pass
    process.send_signal(signal.SIGINT)
    output, problems = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED, problems
    end = json.loads(output.splitlines()[-1])
    assert (end["added"], end["interrupted"]) == (600, True)
    wait_until(lambda: database.execute(WAITING) == [(0,)], 60)


def test_documents_that_cannot_be_embedded_are_told_and_counted(tmp_path):
    with own_server("background_load", **{"docsearch.index_mode": "deferred"}) as site:
        database = site.database
        database.execute("SELECT docsearch.create_project('kit')")
        site.configure(inference_program="/nonexistent")
        wait_until(lambda: database.execute("SELECT state FROM docsearch.status()") == [("failed",)])
        assert load(database, pages(tmp_path, 3), "kit").returncode == COMPLETE
        # As after many attempts.
        wait_until(lambda: database.execute("SELECT min(q.attempts) FROM docsearch.embedding_queue q")[0][0], 30)
        database.execute("UPDATE docsearch.embedding_queue SET attempts = 4, next_attempt = now()")
        done = load(database, tmp_path, "kit", "--wait")
        assert done.returncode == PARTIAL
        assert "failed: 3 documents could not be embedded: " in done.stderr and "/nonexistent" in done.stderr
        assert database.execute("SELECT count(*) FROM search_docs('page', 'kit')") == [(3,)]
