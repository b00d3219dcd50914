"""Reading leaves no state in a connection: a pool may give it to another client after each transaction."""

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import server
from conftest import GUARD, Database, own_server, page, started, wait_until
from front import PROGRAM, environment, serving
from psycopg.conninfo import conninfo_to_dict, make_conninfo

pytestmark = pytest.mark.any_server("the program speaks the same protocol with each")
LEFT = ["default_transaction_read_only", "statement_timeout", "client_connection_check_interval", "role",
        "docsearch.log_source", "docsearch.log_client", "docsearch.log_session"]


@pytest.fixture(scope="module")
def documents(new_database) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("heron", "Wades in shallow water."), page("kingfisher", "Dives from a branch."))
    return database


def searches(address: str, count: int) -> list[str]:
    """The first results of `count` searches."""
    found = []
    for number in range(count):
        with urllib.request.urlopen(f"{address}/v1/search?query=dives+{number}", timeout=GUARD) as answer:
            found.append(json.load(answer)["results"][0]["slug"])
    return found


def test_nothing_is_prepared_and_every_setting_is_local():
    with own_server("logged", log_statement="all", log_line_prefix="%u ") as site:
        reader = f"reader_{uuid4().hex[:8]}"
        site.database.execute(f"CREATE ROLE {reader} LOGIN")
        site.database.execute("SELECT docsearch.create_project('kit'), docsearch.grant_usage(%s)", reader)
        site.database.index("kit", page("kingfisher", "Dives from a branch."))
        conninfo = make_conninfo(site.database.conninfo, user=reader)
        with serving(Database(conninfo), "--allow-anonymous") as address:
            assert searches(address, 3) == ["kingfisher"] * 3
        logged = re.findall(rf"^{reader} LOG:  (statement|execute [^:]*): (.*)$", site.instance.log.read_text(),
                            re.MULTILINE)
    kinds = {kind for kind, _ in logged}
    statements = [statement for kind, statement in logged if kind == "statement"]
    assert kinds == {"statement", "execute <unnamed>"}
    assert [statement for statement in statements if not statement.startswith(("BEGIN READ ONLY;", "COMMIT"))] == []
    assert [setting for statement in statements for setting in statement.split("; ")[1:]
            if not setting.startswith("SET LOCAL ")] == []


@contextmanager
def bouncer(database: Database, place: Path) -> Iterator[Database]:
    """PgBouncer by transactions with one connection to the server."""
    given = conninfo_to_dict(database.conninfo)
    socket = place / "socket"
    socket.mkdir()
    (place / "pgbouncer.ini").write_text(f"""
        [databases]
        {given["dbname"]} = host={given["host"]} port={given["port"]} user={given["user"]} pool_size=1
        [pgbouncer]
        unix_socket_dir = {socket}
        listen_port = 6432
        auth_type = any
        pool_mode = transaction
        ignore_startup_parameters = extra_float_digits,options
    """.replace("        ", ""))
    # Like PostgreSQL, it does not run as root.
    with started([*server.launcher(), "pgbouncer", "--quiet", place / "pgbouncer.ini"], stderr=subprocess.DEVNULL):
        through = Database(make_conninfo(database.conninfo, host=str(socket), port=6432))
        wait_until(lambda: (socket / ".s.PGSQL.6432").exists())
        yield through


@pytest.mark.skipif(not shutil.which("pgbouncer"), reason="needs PgBouncer")
def test_others_of_a_pool_find_a_connection_as_it_was(documents, tmp_path):
    with bouncer(documents, tmp_path) as pool:
        def left() -> list[str]:
            # A prepared statement would stay in the server's connection.
            with psycopg.connect(pool.conninfo, autocommit=True, prepare_threshold=None) as connection:
                # Loads the extension, which defines its settings.
                connection.execute("SELECT FROM search_docs('dives')")
                return [connection.execute(f"SHOW {name}").fetchone()[0] for name in LEFT]

        before = left()
        for _ in range(3):
            done = subprocess.run([PROGRAM, "search", "dives", "--url", pool.conninfo, "--format", "json"],
                                  capture_output=True, text=True, env=environment())
            assert done.returncode == 0, done.stderr
        with serving(pool, "--allow-anonymous", "--connections", "3") as address:
            assert searches(address, 5) == ["kingfisher"] * 5
            assert left() == before
        assert left() == before == ["off", "0", "0", "none", "sql", "", ""]
