"""Each call of a front end has its own source, client and session in the log of queries, although readers share connections."""

import contextlib
import itertools
import json
import random
import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from conftest import Database, page, wait_until
from front import PROGRAM, environment, serving
from test_http import MCP_HEADERS, get, request
from test_mcp import Pipe
from test_pools import bouncer

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")
NEW = "2026-07-28"
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def logged(new_database: Callable[..., Database]) -> Database:
    """A database that logs calls with their queries."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("heron", "Wades in shallow water."), page("kingfisher", "Dives from a branch."))
    name, = database.execute("SELECT current_database()")[0]
    database.execute(f"ALTER DATABASE {name} SET docsearch.log_queries = 'text'")
    return database


@dataclass(frozen=True)
class Reader:
    """A reader who searches; `session` is None if the reader names none."""

    source: str
    client: str | None
    session: str | None
    number: int

    def query(self, turn: int) -> str:
        return f"reader {self.number} turn {turn}"

    def headers(self) -> dict[str, str]:
        session = {"Docsearch-Session": self.session} if self.session else {}
        match self.source:
            case "page":
                return {**BROWSER, **session}
            case "http":
                return {"User-Agent": self.client or "(nothing)", **session}
        return {**MCP_HEADERS, "MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call", "Mcp-Name": "search_docs", **session}

    def ask(self, address: str, turn: int) -> None:
        query = self.query(turn)
        if self.source != "mcp":
            status, _, answer = request(address, "/v1/search", headers=self.headers(), q=query, max_results=1)
        else:
            name, version = self.client.split("/")
            meta = {"io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": name, "version": version}}
            status, _, answer = request(address, "/mcp", "POST", json.dumps({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "search_docs", "arguments": {"query": query, "max_results": 1}, "_meta": meta}}), self.headers())
        assert status == 200 and "error" not in answer, answer

    def leave(self, address: str, turn: int) -> None:
        """Asks, and disconnects before the answer."""
        sent = "".join(f"{name}: {value}\r\n" for name, value in self.headers().items())
        target = "/v1/search?" + urlencode({"q": self.query(turn)})
        with socket.create_connection(("127.0.0.1", urlsplit(address).port)) as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n{sent}\r\n".encode())


READERS = [
    *(Reader("http", f"robot-{number}/1.{number}", f"http-{number}", number) for number in range(4)),
    Reader("http", None, None, 4),
    Reader("http", "nameless/1", None, 5),
    *(Reader("page", None, f"page-{number}", number) for number in range(6, 9)),
    Reader("page", None, None, 9),
    *(Reader("mcp", f"assistant-{number}/2.{number}", f"mcp-{number}", number) for number in range(10, 13)),
    Reader("mcp", "loner/1", None, 13),
]


def rows(database: Database, pattern: str) -> list[tuple]:
    """Query, source, client and session of logged searches."""
    return database.execute("SELECT query, source, client, session FROM docsearch.query_log WHERE query LIKE %s "
                            "ORDER BY logged_at", pattern)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("through", ["directly", "PgBouncer"])
def test_s3_32_whatever_the_order_each_row_has_the_origin_of_its_call(logged: Database, tmp_path: Path, through: str, seed: int) -> None:
    if through == "PgBouncer" and not shutil.which("pgbouncer"):
        pytest.skip("needs PgBouncer")
    choice = random.Random(seed)
    turns = [(reader, turn) for reader in READERS for turn in range(4)]
    choice.shuffle(turns)
    leaving = {turn for turn in range(len(turns)) if choice.random() < 0.1}
    logged.execute("TRUNCATE docsearch.query_log")
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(bouncer(logged, tmp_path)) if through == "PgBouncer" else logged
        address = stack.enter_context(serving(database, "--rate", "0", "--connections", choice.choice(("1", "2", "4"))))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: (Reader.leave if number in leaving and turns[number][0].source != "mcp" else Reader.ask)(
                turns[number][0], address, turns[number][1]), range(len(turns))))
    asked = {reader.query(turn): reader for number, (reader, turn) in enumerate(turns)}
    answered = {reader.query(turn) for number, (reader, turn) in enumerate(turns)
                if number not in leaving or reader.source == "mcp"}
    # Some of those who have left were answered, too.
    wait_until(lambda: answered <= {query for query, *_ in rows(logged, "reader %")})
    found = rows(logged, "reader %")
    for query, source, client, session in found:
        reader = asked[query]
        assert (source, client or None) == (reader.source, reader.client), query
        assert session == (reader.session or session), query
    # Who names no session has another one in each call.
    nameless = [session for query, _, _, session in found if asked[query].session is None]
    assert len(set(nameless)) == len(nameless) and all(re.fullmatch("[0-9a-f]{32}", session) for session in nameless)


def test_nothing_is_left_in_a_connection(logged: Database, tmp_path: Path) -> None:
    if not shutil.which("pgbouncer"):
        pytest.skip("needs PgBouncer")
    logged.execute("TRUNCATE docsearch.query_log")
    with bouncer(logged, tmp_path) as pool, serving(pool) as address:
        for number in range(3):
            READERS[0].ask(address, number)
            # The only connection of the pool.
            with pool.connect(prepare_threshold=None) as connection:
                connection.execute(f"SELECT search_docs_text('by hand {number}')")
    wait_until(lambda: len(rows(logged, "by hand %")) == 3)
    by_hand = rows(logged, "by hand %")
    assert {(source, client or None) for _, source, client, _ in by_hand} == {("sql", None)}
    assert READERS[0].session not in {session for *_, session in by_hand}


def test_an_assistant_has_one_session_and_its_name(logged: Database) -> None:
    logged.execute("TRUNCATE docsearch.query_log")
    pipe = Pipe(logged)
    for number in (1, 2):
        pipe.ask({"id": number, "method": "tools/call", "params": {"name": "search_docs", "arguments": {"query": f"pipe {number}"}}})
    assert pipe.close() == 0
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "Visual Assistant \u2728", "version": "3"}}}
    with serving(logged) as address:
        sessions = []
        for client in (1, 2):
            status, sent, _ = request(address, "/mcp", "POST", json.dumps(begin), MCP_HEADERS)
            assert status == 200
            sessions.append(sent["mcp-session-id"])
            for number in (1, 2):
                status, _, answer = request(address, "/mcp", "POST", json.dumps({
                    "jsonrpc": "2.0", "id": number, "method": "tools/call",
                    "params": {"name": "search_docs", "arguments": {"query": f"http {client}"}}}),
                    {**MCP_HEADERS, "MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": sessions[-1]})
                assert status == 200 and not answer["result"]["isError"]
        assert len(set(sessions)) == 2
        # Ids of other servers and earlier ones are no error.
        for other in ("1868a90c-0000", "x" * 500, "a~b~c", "~"):
            status, _, answer = request(address, "/mcp", "POST", json.dumps({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_docs", "arguments": {"query": "other"}}}),
                {**MCP_HEADERS, "Mcp-Session-Id": other})
            assert status == 200 and not answer["result"]["isError"]
    wait_until(lambda: len(rows(logged, "%")) == 10)
    assert {(source, client) for _, source, client, _ in rows(logged, "pipe %")} == {("mcp", "tests/1")}
    assert len({session for *_, session in rows(logged, "pipe %")}) == 1
    for client, session in enumerate(sessions, 1):
        assert {row[1:] for row in rows(logged, f"http {client}")} == {("mcp", "Visual Assistant ?/3", session.split("~")[0])}


def test_the_command_line_says_so(logged: Database) -> None:
    logged.execute("TRUNCATE docsearch.query_log")
    for number in (1, 2):
        subprocess.run([PROGRAM, "search", f"typed {number}", "--url", logged.conninfo], env=environment(), check=True,
                       stdout=subprocess.DEVNULL)
    wait_until(lambda: len(rows(logged, "typed %")) == 2)
    found = rows(logged, "typed %")
    assert [(source, client or None) for _, source, client, _ in found] == [("cli", None)] * 2
    assert len({session for *_, session in found}) == 2


def test_a_session_is_random_text_and_nothing_else(logged: Database) -> None:
    with serving(logged) as address:
        for sent in ("", "a b", "x" * 101, "caf\xe9"):
            status, _, answer = request(address, "/v1/docs", headers={"Docsearch-Session": sent})
            assert status == 400 and "1 to 100" in answer["error"]["hint"], sent
        assert get(address, "/v1/docs")["total"] == 2
        headers = request(address, "/v1/docs", "OPTIONS", headers={"Origin": "http://localhost"})[1]
        assert "docsearch-session" in headers["access-control-allow-headers"]


def test_an_extension_without_these_settings_is_used_without_them(logged: Database) -> None:
    """Names of settings that the extension does not know are reserved once it is loaded. Before, they are placeholders."""
    source = (Path(__file__).parent.parent / "crates/docsearch-cli/src/library/log_origin.rs").read_text()
    statement = re.search(r'const STATEMENT: &str = "\\\n(.*?)";', source, re.S)[1]
    statement = re.sub(r"\$\d", "%s", statement.replace("docsearch.log_", "docsearch.never_"))
    for is_loaded, count in itertools.product((True, False), (1, 2)):
        with logged.connect() as connection:
            if is_loaded:
                connection.execute("SELECT search_docs_text('heron')")
            for _ in range(count):
                with connection.transaction():
                    connection.execute(statement, ("mcp", "session", None))
                    assert connection.execute("SELECT slug FROM search_docs('heron', max_results => 1)").fetchone() == ("heron",)
