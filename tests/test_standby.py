"""A hot standby searches with a program of its own."""

import os
import shutil
import signal
from pathlib import Path

import psycopg
import pytest
import server
from conftest import MAJOR, WORKER, Database, own_server, page, wait_until
from inference import RUN_DIRECTORY
from psycopg.conninfo import make_conninfo

SEARCH = "SELECT slug, similarity, notice FROM search_docs('starts an action')"

# Settings that pg_rewind needs.
REWINDABLE = {"wal_log_hints": "on", "full_page_writes": "on"}


def test_a_hot_standby_searches_as_its_primary_does():
    with own_server("primary") as primary:
        primary.database.execute("SELECT docsearch.create_project('kit')")
        primary.database.index("kit", page("button", "A control that starts an action."))
        found = primary.database.execute(SEARCH)
        assert found[0][1] > 0
        assert (primary.instance.data / RUN_DIRECTORY).is_dir()

        standby = server.throw_away(f"standby-{WORKER}", MAJOR)
        standby.bin = primary.instance.bin
        # No query is cancelled because of rows that the primary has removed.
        standby.settings["max_standby_streaming_delay"] = "-1"
        standby.remove_data()
        standby.home.mkdir(parents=True, exist_ok=True)
        standby.own(standby.data)
        copied = primary.instance.run("pg_basebackup", "--dbname", primary.instance.url("docs"), "--pgdata",
                                      str(standby.data), "--checkpoint=fast", "--no-sync", "--write-recovery-conf")
        assert copied.returncode == 0, copied.stdout
        assert not (standby.data / RUN_DIRECTORY).exists()
        standby.configure()
        try:
            standby.start("docs")
            copy = Database(make_conninfo(standby.url("docs")))
            assert copy.execute("SELECT pg_is_in_recovery()") == [(True,)]
            assert copy.execute(SEARCH) == found
            process = "SELECT pid FROM docsearch.status()"
            assert copy.execute(process) != primary.database.execute(process)
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                copy.index("kit", page("slider", "A control for a number."))

            primary.database.index("kit", page("slider", "A control for a number."))
            wait_until(lambda: len(copy.execute(SEARCH)) == 2)
            os.kill(copy.execute(process)[0][0], signal.SIGKILL)
            assert all(similarity for _, similarity, _ in copy.execute(SEARCH))
        finally:
            standby.remove_data()


def copied_from(primary: server.Server, name: str) -> server.Server:
    """A standby of a running server, not started."""
    standby = server.throw_away(f"{name}-{WORKER}", MAJOR)
    standby.bin = primary.bin
    standby.settings.update(REWINDABLE)
    standby.remove_data()
    standby.home.mkdir(parents=True, exist_ok=True)
    standby.own(standby.data)
    copied = primary.run("pg_basebackup", "--dbname", primary.url("docs"), "--pgdata", str(standby.data),
                         "--checkpoint=fast", "--no-sync", "--write-recovery-conf")
    assert copied.returncode == 0, copied.stdout
    standby.configure()
    return standby


def test_calls_of_a_standby_are_stored_on_its_primary():
    with own_server("logging") as primary:
        database = primary.database
        database.execute("SELECT docsearch.create_project('kit')")
        database.index("kit", page("button", "A control that starts an action."))
        standby = copied_from(primary.instance, "logged")
        try:
            standby.start("docs")
            copy = Database(make_conninfo(standby.url("docs"), options="-c docsearch.log_queries=text"))
            take = "SELECT line FROM docsearch.take_logged_queries() AS line"
            assert copy.execute(take) == []
            copy.execute(SEARCH)
            copy.execute("SELECT load_doc('kit/button')")
            lines = [line for line, in copy.execute(take)]
            assert len(lines) == 2
            # What is called meanwhile is for the next time.
            copy.execute(SEARCH)
            assert [line for line, in copy.execute(take)] == lines

            store = "SELECT docsearch.store_logged_queries(%s)"
            assert database.execute(store, [*lines, "no line", None]) == [(2,)]
            assert database.execute(store, lines) == [(0,)]
            logged = database.execute("SELECT kind, query, results FROM docsearch.query_log ORDER BY logged_at")
            assert logged == [("search", "starts an action", 1), ("load", None, 1)]
            copy.execute("SELECT docsearch.discard_taken_queries()")
            assert len(copy.execute(take)) == 1

            for function in ("take_logged_queries", "discard_taken_queries"):
                with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                    database.execute(f"SELECT docsearch.{function}()")
            database.execute("CREATE ROLE reader")
            database.execute("SELECT docsearch.grant_reports('reader')")
            reader = Database(make_conninfo(database.conninfo, options="-c role=reader"))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(store, lines)
        finally:
            standby.remove_data()


@pytest.mark.skipif(not (Path(shutil.which("psql")).parent / "pg_rewind").exists(), reason="this PostgreSQL has no pg_rewind")
def test_a_former_primary_is_rewound_while_inference_runs_on_the_new_one():
    """Runtime files of a server's processes are neither copied nor in the way."""
    with own_server("rewound", wal_keep_size="1GB", **REWINDABLE) as former:
        former.database.execute("SELECT docsearch.create_project('kit')")
        former.database.index("kit", page("button", "A control that starts an action."))
        successor = copied_from(former.instance, "successor")
        try:
            successor.start("docs")
            new = Database(make_conninfo(successor.url("docs")))
            new.execute("SELECT pg_promote()")
            wait_until(lambda: new.execute("SELECT NOT pg_is_in_recovery()") == [(True,)])
            former.database.execute("CREATE TABLE only_there ()")
            new.execute("CHECKPOINT")
            new.index("kit", page("switch", "A control that turns something on."))
            assert (successor.data / RUN_DIRECTORY / "inference.sock").is_socket()
            former.instance.stop()
            rewound = former.instance.run("pg_rewind", "--target-pgdata", str(former.instance.data), "--no-sync",
                                          "--source-server", successor.url("docs"), "--write-recovery-conf")
            assert rewound.returncode == 0, rewound.stdout
            # The settings are those of the source, except the socket.
            former.instance.configure()
            former.instance.start("docs")
            assert former.database.execute("SELECT pg_is_in_recovery(), to_regclass('only_there')") == [(True, None)]
            rows = wait_until(lambda: former.database.execute(SEARCH))
            assert rows[0][0] == "button" and rows[0][1] > 0
        finally:
            successor.remove_data()
