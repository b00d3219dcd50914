"""A hot standby searches with a program of its own."""

import os
import signal

import psycopg
import pytest
import server
from conftest import Database, own_server, page, wait_until
from psycopg.conninfo import make_conninfo

SEARCH = "SELECT slug, similarity, notice FROM search_docs('starts an action')"


def test_a_hot_standby_searches_as_its_primary_does():
    with own_server("primary") as primary:
        primary.database.execute("SELECT docsearch.create_project('kit')")
        primary.database.index("kit", page("button", "A control that starts an action."))
        found = primary.database.execute(SEARCH)
        assert found[0][1] > 0
        assert (primary.instance.data / "pgsql_tmp_docsearch").is_dir()

        standby = server.throw_away("standby")
        standby.bin = primary.instance.bin
        # No query is given up for what the primary has removed.
        standby.settings["max_standby_streaming_delay"] = "-1"
        standby.remove_data()
        standby.home.mkdir(parents=True, exist_ok=True)
        standby.own(standby.data)
        copied = primary.instance.run("pg_basebackup", "--dbname", primary.instance.url("docs"), "--pgdata",
                                      str(standby.data), "--checkpoint=fast", "--no-sync", "--write-recovery-conf")
        assert copied.returncode == 0, copied.stdout
        assert not (standby.data / "pgsql_tmp_docsearch").exists()
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
