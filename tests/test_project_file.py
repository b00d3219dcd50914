"""`docsearch.toml`: `docsearch init` writes it, `docsearch index` needs nothing else, and `--watch` keeps it fresh."""

import os
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from conftest import GUARD, Database
from test_folder import COMPLETE, FAILED, docsearch, slugs, write

pytestmark = pytest.mark.any_server("files are read by the program, and index_docs gets the same documents")


def wait_for(database: Database, project: str, expected: list[str]) -> None:
    deadline = time.monotonic() + GUARD
    while slugs(database, project) != expected:
        assert time.monotonic() < deadline, slugs(database, project)
        time.sleep(0.1)


def test_what_init_writes_is_all_that_index_needs(database, tmp_path):
    write(tmp_path, {"README.md": "# Kit\n", "docs/v1/a.md": "# A\n", "docs/v2/a.md": "# A\n", "docs/b.md": "# B\n",
                     "docs/tests/c.md": "# C\n"})
    done = docsearch("init", tmp_path, "--project", "started")
    assert done.returncode == COMPLETE, done.stderr
    text = (tmp_path / "docsearch.toml").read_text()
    again = docsearch("init", tmp_path, "--project", "other")
    assert again.returncode == FAILED and "HINT:" in again.stderr
    assert (tmp_path / "docsearch.toml").read_text() == text

    for _ in range(2):
        done = docsearch("index", "--config", tmp_path / "docsearch.toml", conninfo=database.conninfo)
        assert done.returncode == COMPLETE, done.stderr
        assert slugs(database, "started") == ["1/a", "2/a", "b"]
    assert database.execute("SELECT version FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
                            "WHERE p.name = 'started' ORDER BY d.slug") == [("1",), ("2",), (None,)]


def test_one_file_has_several_projects(database, tmp_path):
    write(tmp_path, {"app/a.md": "# A\n", "kit/b.md": "# B\n", "kit/old/c.md": "# C\n"})
    config = write(tmp_path, {"docsearch.toml": "[project.fileapp]\npaths = ['app']\n[project.filekit]\npaths = ['kit']\n"
                                                "exclude = ['old/']\nprefix = 'kit'\n"}) / "docsearch.toml"
    done = docsearch("index", "--config", config, "--project", "filekit", conninfo=database.conninfo)
    assert done.returncode == COMPLETE, done.stderr
    assert (slugs(database, "filekit"), slugs(database, "fileapp")) == (["kit/b"], [])
    done = docsearch("index", "--config", config, conninfo=database.conninfo)
    assert done.returncode == COMPLETE, done.stderr
    assert slugs(database, "fileapp") == ["a"]
    config.write_text("[project.fileapp]\npath = ['app']\n")
    done = docsearch("index", "--config", config, conninfo=database.conninfo)
    assert done.returncode == FAILED and "Did you mean paths?" in done.stderr


def test_a_folder_that_is_watched_stays_fresh(database, tmp_path):
    folder = write(tmp_path / "docs", {"a.md": "# A\n"})
    config = write(tmp_path, {"docsearch.toml": "project = 'fresh'\npaths = ['docs']\n"}) / "docsearch.toml"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    with subprocess.Popen([os.environ["DOCSEARCH_TEST_CLI"], "index", "--watch", "--config", str(config)],
                          env=environment | {"DOCSEARCH_URL": database.conninfo}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as program:
        try:
            wait_for(database, "fresh", ["a"])
            write(folder, {"new/b.md": "# B\n"})
            wait_for(database, "fresh", ["a", "new/b"])
            (folder / "a.md").unlink()
            wait_for(database, "fresh", ["new/b"])
            config.write_text("project = ")
            time.sleep(1)
            config.write_text("project = 'fresh'\npaths = ['docs']\nprefix = 'kit'\n")
            wait_for(database, "fresh", ["kit/new/b"])
            program.send_signal(signal.SIGINT)
            assert program.wait(GUARD) == COMPLETE
        finally:
            with suppress(ProcessLookupError):
                program.kill()
