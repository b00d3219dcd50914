"""`docsearch serve`: the JSON API and access to it."""

import contextlib
import http.client
import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest
from conftest import GUARD, Database, wait_until
from front import (
    PATIENT,
    PROGRAM,
    SEARCH_INSTEAD,
    SLOW,
    document,
    environment,
    private,
    serving,
    wait_for_slow,
)
from psycopg import sql
from test_folder import docsearch

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

WEB, TEAM = "web-0123456789abcdef", "team-0123456789abcdef"
MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
SEARCH = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "search_docs", "arguments": {"query": "the pause of the retry that nobody may see"}}})


@pytest.fixture(scope="module")
def web_role(documented: Database) -> Iterator[str]:
    """A role that does not see internal documents."""
    name = f"web_{uuid4().hex[:8]}"
    role = sql.Identifier(name)
    with documented.connect() as connection:
        connection.execute(sql.SQL("CREATE ROLE {}").format(role))
        connection.execute("SELECT docsearch.grant_usage(%s)", (name,))
        connection.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY visible ON docsearch.document FOR SELECT USING (category <> 'internal')")
    yield name
    with documented.connect() as connection:
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))


def request(address: str, path: str, method: str = "GET", body: str | bytes | Iterator[bytes] | None = None,
            headers: dict[str, str] | None = None, **query: object) -> tuple[int, dict, dict]:
    """Status, headers and JSON of a response."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=GUARD)
    try:
        connection.request(method, f"{path}?{urlencode(query)}" if query else path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    try:
        parsed = json.loads(content) if content else {}
    except ValueError:
        parsed = {"text": content.decode()}
    return answer.status, dict(answer.headers), parsed


def get(address: str, path: str, status: int = 200, **query: object) -> dict:
    found, _, answer = request(address, path, **query)
    assert found == status, answer
    return answer


def answer_to(address: str, *sent: str | bytes) -> bytes:
    """The response to raw bytes, sent in these pieces, until the server has read the end."""
    with socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=GUARD) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = b""
        # The server may close or reset the connection early. Its earlier response is readable anyway.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for piece in sent:
                client.sendall(piece.encode() if isinstance(piece, str) else piece)
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(65536):
                answer += part
        return answer


def statuses(address: str, *sent: str | bytes) -> list[int]:
    """The statuses of all responses to raw bytes."""
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer_to(address, *sent))]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_the_api_answers_as_the_sql_functions(documented: Database, address: str) -> None:
    found = get(address, "/v1/search", q="retry", project="kit", filter='{"platform": "linux"}', max_results=3)
    expected = documented.execute(
        "SELECT search_docs_json('retry', project => 'kit', filter => '{\"platform\": \"linux\"}', max_results => 3)")
    assert [result["slug"] for result in found["results"]] == ["guides/retry"]
    assert found["results"] == expected[0][0]["results"] and set(found) == set(expected[0][0])
    assert len(get(address, "/v1/search", query="pause", offset=1)["results"]) == 5
    listed = get(address, "/v1/docs", project="kit", limit=2, sort_by="title")
    assert [entry["slug"] for entry in listed["documents"]] == ["api/session/close", "guides/install"]
    assert listed["total"] == 6 and listed["next_offset"] == 2
    loaded = get(address, "/v1/docs/kit/api/session/close")
    assert loaded == documented.execute("SELECT load_doc_json('kit/api/session/close')")[0][0]
    assert loaded["content"] == documented.execute("SELECT load_doc('kit/api/session/close')")[0][0]
    assert set(loaded) == set(get(address, "/openapi.json")["components"]["schemas"]["Document"]["properties"])
    assert "**Category:**" not in get(address, "/v1/docs/kit/guides/retry", section="backoff",
                                      include_metadata="false")["content"]


def test_failures_have_a_status_a_message_and_a_hint(address: str) -> None:
    for path, query, status, hint in (
            ("/v1/docs/kit/guides/retri", {}, 404, "Did you mean kit/guides/retry"),
            ("/v1/search", {"q": "x", "project": "kti"}, 404, "Known projects"),
            ("/v1/search", {"q": "x", "max_results": 100000}, 400, "1000"),
            ("/v1/search", {"q": ""}, 400, ""), ("/v1/search", {}, 400, ""),
            ("/v1/search", {"q": "x", "colour": "red"}, 400, ""),
            ("/v1/search", {"q": "x", "filter": "{"}, 400, ""),
            ("/v1/docs", {"limit": 0}, 400, "1 to 1000"), ("/v1/docs", {"sort_by": "size"}, 400, "Sort by"),
            ("/v2/search", {}, 404, "/openapi.json")):
        error = get(address, path, status, **query)["error"]
        assert error["message"] and hint in error.get("hint", ""), error


def test_the_description_is_one_that_we_index(address: str, tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(get(address, "/openapi.json")))
    done = docsearch("index", file, "--project", "api", "--dry-run")
    paths = {json.loads(line)["metadata"].get("path") for line in done.stdout.splitlines()}
    assert paths == {None, "/v1/search", "/v1/docs", "/v1/docs/{project}/{slug}", "/v1/suggest",
                     "/v1/count", "/v1/facets", "/v1/feedback", "/v1/gap-reports", "/1/indexes/*/queries",
                     "/healthz"}
    described = get(address, "/openapi.json")["paths"]["/v1/search"]["get"]["parameters"]
    names = [parameter.get("name", parameter.get("$ref", "").rsplit("/", 1)[-1]) for parameter in described]
    for name in names:
        values = {"query": "retry", "filter": "{}", "dedup": "none", "project": "kit", "category": "guides"}
        get(address, "/v1/search", **{"query": "retry", name: values.get(name, 1 if name != "max_tokens" else 100)})


def test_every_request_sees_what_its_role_may_see(documented: Database, web_role: str, tmp_path: Path) -> None:
    tokens = private(tmp_path / "tokens", f"# ours\n{TEAM}\n{WEB} {web_role}\n")
    with serving(documented, "--token-file", tokens, "--rate", "0") as address:
        for token, sees in ((TEAM, True), (WEB, False)):
            _, _, found = request(address, "/v1/search", headers=bearer(token), q="secret")
            assert ("secret" in {result["slug"] for result in found["results"]}) is sees
            status, _, _ = request(address, "/v1/docs/kit/secret", headers=bearer(token))
            assert status == (200 if sees else 404)
            _, _, answer = request(address, "/mcp", "POST", SEARCH, {**MCP_HEADERS, **bearer(token)})
            assert ("kit/secret" in answer["result"]["content"][0]["text"]) is sees
    with serving(documented, "--role", web_role) as address:
        assert get(address, "/v1/docs", project="kit")["total"] == 5
    # A token without a role, such as a revoked one, does not give access to all.
    with serving(documented, "--token-file", tokens, "--allow-anonymous", "--role", web_role) as address:
        assert get(address, "/v1/docs", project="kit")["total"] == 5
        assert request(address, "/v1/docs", headers={"Authorization": "Basic bWU6cHc="})[0] == 200
        for headers in (bearer(TEAM[:-1]), bearer(""), {"Authorization": "Bearer"}, {"Authorization": "bearer nobody"}):
            status, sent, answer = request(address, "/v1/docs", headers=headers)
            assert status == 401 and sent["www-authenticate"] == "Bearer", answer
            assert request(address, "/mcp", "POST", SEARCH, {**MCP_HEADERS, **headers})[0] == 401
        head = "GET /v1/docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        for times, status in ((1, b" 200 "), (2, b" 401 ")):
            sent = f"Authorization: Bearer {TEAM}\r\n" * times
            assert status in answer_to(address, f"{head}{sent}\r\n").splitlines()[0]


def test_without_a_valid_token_there_is_no_information(documented: Database, tmp_path: Path) -> None:
    with serving(documented, "--rate", "0", variables={"DOCSEARCH_TOKEN": TEAM}) as address:
        for headers in ({}, bearer(WEB), bearer(""), bearer(TEAM[:-1]), {"Authorization": f"Basic {TEAM}"}):
            for path in ("/v1/search?q=retry", "/v1/docs", "/openapi.json", "/nothing"):
                status, sent, answer = request(address, path, headers=headers)
                assert status == 401 and sent["www-authenticate"] == "Bearer" and "retry" not in str(answer)
            assert request(address, "/mcp", "POST", SEARCH, {**MCP_HEADERS, **headers})[0] == 401
        assert request(address, "/v1/docs", headers=bearer(TEAM))[0] == 200
        wait_until(lambda: request(address, "/healthz")[2] == {"status": "ok"})
    refused = subprocess.run([PROGRAM, "serve", "0.0.0.0:0", "--url", documented.conninfo], env=environment(),
                             capture_output=True, text=True, timeout=GUARD)
    assert refused.returncode == 2 and "--token-file" in refused.stderr
    readable = tmp_path / "tokens"
    readable.write_text(TEAM)
    readable.chmod(0o644)
    done = docsearch("serve", "0", "--token-file", readable, conninfo=documented.conninfo)
    assert done.returncode == 2 and "chmod 0600" in done.stderr


def test_other_hosts_and_pages_are_refused(address: str) -> None:
    for headers in ({"Host": "evil.test"}, {"Host": "127.0.0.1.evil.test"}, {"Host": "evil@localhost"},
                    {"Host": "localhost."}, {"Host": "[localhost]"}, {"Origin": "https://evil.test"},
                    {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        for path in ("/v1/docs", "/healthz", "/nothing"):
            assert request(address, path, headers=headers)[0] == 403, (path, headers)
        assert request(address, "/mcp", "POST", SEARCH, {**MCP_HEADERS, **headers})[0] == 403, headers
    for head in ("GET /v1/docs HTTP/1.1\r\nHost: localhost\r\nHost: evil.test", "GET /v1/docs HTTP/1.1",
                 "GET /v1/docs HTTP/1.1\r\nHost: evil.test\r\nHost: localhost",
                 "GET http://evil.test/v1/docs HTTP/1.1\r\nHost: localhost",
                 "GET http://localhost/v1/docs HTTP/1.1\r\nHost: evil.test"):
        assert b" 403 " in answer_to(address, f"{head}\r\nConnection: close\r\n\r\n").splitlines()[0], head
    for site in ("same-origin", "none"):
        assert request(address, "/v1/docs", headers={"Sec-Fetch-Site": site})[0] == 200
    allowed = {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:6274"}
    assert request(address, "/v1/docs", headers=allowed)[0] == 200
    status, sent, _ = request(address, "/v1/docs", headers={"Origin": "http://localhost:6274"})
    assert status == 200 and sent["access-control-allow-origin"] == "http://localhost:6274"
    assert "access-control-allow-origin" not in request(address, "/v1/docs")[1]


def test_no_answer_is_taken_for_something_else(address: str) -> None:
    for path, method, headers, expected in (
            ("/v1/docs", "GET", {}, 200), ("/healthz", "GET", {}, 200), ("/openapi.json", "GET", {}, 200),
            ("/mcp", "POST", {}, 406), ("/v1/docs?limit=0", "GET", {}, 400), ("/v1/docs", "POST", {}, 405),
            ("/nothing", "GET", {}, 404), ("/v1/docs", "GET", {"Host": "evil.test"}, 403),
            ("/v1/docs", "GET", bearer("nobody"), 401), ("/v1/docs", "OPTIONS", {"Origin": "http://localhost"}, 204)):
        status, sent, _ = request(address, path, method, headers=headers)
        assert (status, sent.get("x-content-type-options")) == (expected, "nosniff"), (path, method, headers)


def test_hostile_bodies_are_answered_and_forgotten(address: str) -> None:
    huge = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "' + b"x" * 2_000_000 + b'"}'
    pieces = iter([huge[start:start + 65536] for start in range(0, len(huge), 65536)])
    for body, statuses in ((huge, {413}), (pieces, {413}), ("{", {400, 415, 422}), ("", {400, 415, 422}),
                           ("[]", {400, 415, 422}), ("[" * 100_000, {400, 413, 415, 422}),
                           (b"\xff\xfe", {400, 415, 422}), ('{"jsonrpc": "2.0", "id": 1}', {400, 415, 422})):
        try:
            status, _, _ = request(address, "/mcp", "POST", body, MCP_HEADERS)
        except (BrokenPipeError, ConnectionResetError):
            # The server has answered and closed before everything was sent.
            assert 413 in statuses
        else:
            assert status in statuses, status
    for method in ("GET", "DELETE", "PUT"):
        assert request(address, "/mcp", method, headers=MCP_HEADERS)[0] == 405
    # All errors are objects of the same form.
    for path, method in (("/v1/search", "POST"), ("/v1/docs", "PUT"), ("/v1/docs/kit/guides/retry", "DELETE"), ("/openapi.json", "POST")):
        status, sent, body = request(address, path, method, "{}")
        assert status == 405 and "GET" in sent["allow"], (path, method)
        assert set(body["error"]) == {"message", "hint"}, body
    assert get(address, "/v1/search?" + urlencode({"q": "retry'; DROP TABLE docsearch.document; --"}))["results"]


GET = "GET /v1/docs HTTP/1.1\r\nHost: localhost\r\n"
POST = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
       "Accept: application/json, text/event-stream\r\n"
CHUNKED = f"{POST}Transfer-Encoding: chunked\r\n\r\n"
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
PING_CHUNK = f"{len(PING):x}\r\n{PING}\r\n"
LAST = f"{GET}Connection: close\r\n\r\n"
# Heads that are ambiguous or invalid. The client gets an error or no response, and the text after the head is not a
# request.
AMBIGUOUS = {
    "bare LF ends the request line": LAST.replace("\r\n", "\n", 1),
    "bare LF ends a field": f"{GET}A: b\n\r\n",
    "bare LF ends the head": f"{GET}\n",
    "bare LFs": LAST.replace("\r\n", "\n"),
    "bare LF before the request": f"\n{LAST}",
    "bare CR": f"{GET}A: b\rC: d\r\n\r\n",
    "CR before CRLF": f"{GET}A: b\r\r\n\r\n",
    "folded field": f"{GET}A: b\r\n c\r\n\r\n",
    "blank before the colon": f"{GET}A : b\r\n\r\n",
    "blank before the colon of a length": f"{POST}Content-Length : {len(PING)}\r\n\r\n{PING}",
    "no colon": f"{GET}A\r\n\r\n",
    "no name": f"{GET}: b\r\n\r\n",
    "NUL in a value": f"{GET}A: b\0c\r\n\r\n",
    "NUL in a name": f"{GET}A\0: b\r\n\r\n",
    "NUL in the target": LAST.replace("/v1", "/\0v1"),
    "equal lengths": f"{POST}{f'Content-Length: {len(PING)}' + chr(13) + chr(10)}Content-Length: {len(PING)}\r\n\r\n{PING}",
    "other lengths": f"{POST}Content-Length: 0\r\nContent-Length: {len(PING)}\r\n\r\n{PING}",
    **{f"length {length!r}": f"{POST}Content-Length: {length}\r\n\r\n{PING}"
       for length in ("+5", "-5", "0x5", "5,5", "5, 5", "5 5", "", "5.0", "9" * 30, "0" * 400 + "5", "\u0665")},
    "length and chunks": f"{POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n{PING_CHUNK}0\r\n\r\n",
    "chunks and length": f"{POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n{PING_CHUNK}0\r\n\r\n",
    **{f"coding {coding!r}": f"{POST}Transfer-Encoding: {coding}\r\n\r\n{PING_CHUNK}0\r\n\r\n"
       for coding in ("identity", "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "xchunked", "", "\x0bchunked")},
    "chunks twice": f"{POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{PING_CHUNK}0\r\n\r\n",
    "chunks of HTTP/1.0": CHUNKED.replace("HTTP/1.1", "HTTP/1.0") + f"{PING_CHUNK}0\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/3.0": LAST.replace("HTTP/1.1", "HTTP/3.0"),
    "no version": "GET /v1/docs\r\n\r\n", "two blanks": LAST.replace(" /v1/docs ", "  /v1/docs "),
    "blank in the target": LAST.replace("/v1/docs", "/v1/ docs"),
    "long request line": LAST.replace("/v1/docs", "/v1/docs?category=" + "x" * 100_000),
    "long method": "G" * 100_000 + " / HTTP/1.1\r\n\r\n",
    "long field": f"{GET}A: {'x' * 100_000}\r\n\r\n", "many fields": GET + "A: b\r\n" * 1_000 + "\r\n",
}
# Invalid bodies: a client error, whatever the head requests.
BROKEN = {
    "size overflows": "f" * 20 + "\r\nx\r\n0\r\n\r\n", "size of zeros overflows": "1" + "0" * 16 + "\r\nx",
    "long extension": "1;" + "x" * 1_000_000 + "\r\na\r\n0\r\n\r\n",
    "many extensions": "1;x=y\r\na\r\n" * 20_000 + "0\r\n\r\n",
    "LF in an extension": "1;x\n\r\na\r\n0\r\n\r\n",
    "LF behind a size": "1\na\r\n0\r\n\r\n", "LF behind a chunk": "1\r\na\n0\r\n\r\n",
    "size with a sign": "+1\r\na\r\n0\r\n\r\n", "size with 0x": "0x1\r\na\r\n0\r\n\r\n", "no size": "\r\na\r\n0\r\n\r\n",
    "no hexadecimal digit": "g\r\na\r\n0\r\n\r\n", "chunk longer than its size": "1\r\nabc\r\n0\r\n\r\n",
    "many trailers": f"{PING_CHUNK}0\r\n" + "A: b\r\n" * 10_000 + "\r\n",
    "long trailer": f"{PING_CHUNK}0\r\nA: {'x' * 1_000_000}\r\n\r\n",
    "NUL in a trailer": f"{PING_CHUNK}0\r\nA: b\0\r\n\r\n",
}


@pytest.mark.parametrize("head", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_head_that_can_be_read_in_two_ways_is_no_request(address: str, head: str) -> None:
    # The rest is a smuggled request.
    half = len(head) // 2
    for sent in ((head + LAST,), (head[:half], head[half:], LAST), tuple(head[at:at + 1] for at in range(len(head)))):
        if len(sent) > 2_000:
            continue
        found = statuses(address, *sent)
        assert len(found) <= 1 and all(400 <= status < 500 for status in found), found
        # After a valid request on the same connection.
        found = statuses(address, f"{GET}\r\n", *sent)
        assert found[:1] == [200] and len(found) <= 2 and all(400 <= status < 500 for status in found[1:]), found


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_an_invalid_body_is_a_client_error(address: str, body: str) -> None:
    for head in (CHUNKED, CHUNKED.replace("POST /mcp", "GET /v1/docs"), CHUNKED.replace("POST /mcp", "GET /healthz"),
                 CHUNKED.replace("POST /mcp", "POST /nothing")):
        found = statuses(address, f"{head}{body}{LAST}")
        assert len(found) <= 1 and set(found) <= {400, 413}, found


def test_a_body_has_the_length_that_it_says(address: str) -> None:
    whole = f"{POST}Content-Length: {len(PING)}\r\n\r\n{PING}"
    assert statuses(address, f"\r\n{whole}{whole}{LAST}") == [200, 200, 200]
    assert statuses(address, *f"{whole}{LAST}") == [200, 200]
    # A body may contain text that is not a head.
    odd = "\n\n\r\r\n\0GET / HTTP/1.1\n\n"
    assert statuses(address, f"{POST}Content-Length: {len(odd)}\r\n\r\n{odd}{LAST}")[1:] == [200]
    # Chunks are read, and the connection closes after them.
    halves = f"5\r\n{PING[:5]}\r\n{len(PING) - 5:x}; a=b\r\n{PING[5:]}\r\n0\r\nA: b\r\n\r\n"
    assert statuses(address, f"{CHUNKED}{halves}{LAST}") == [200]
    # A shorter body than announced is no request.
    with socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=GUARD) as client:
        client.sendall(f"{POST}Content-Length: 500\r\n\r\n{PING}".encode())
        client.shutdown(socket.SHUT_WR)
        assert b" 200 " not in client.recv(65536)


def test_only_going_on_can_be_expected(address: str) -> None:
    last = LAST.replace("\r\n\r\n", "\r\nExpect: {}\r\n\r\n")
    for expected in ("200-ok", "100-continue, x", "", "x" * 1_000):
        assert statuses(address, last.format(expected)) == [417]
    assert statuses(address, last.format("100-continue")) == [200]
    body = f"{POST}Expect: 100-Continue\r\nConnection: close\r\nContent-Length: {len(PING)}\r\n\r\n{PING}"
    assert statuses(address, body) == [100, 200]
    # HTTP/1.0 keeps a connection alive on request, and needs a Host header, too.
    kept = "GET /v1/docs HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
    assert statuses(address, f"{kept}{LAST}") == [200, 200]
    assert statuses(address, "GET /v1/docs HTTP/1.0\r\n\r\n") == [403]


def test_too_many_requests_have_to_wait(documented: Database) -> None:
    for path in ("/openapi.json", "/healthz"):
        with serving(documented, "--rate", "1") as address:
            # Sent at once: far more than one a second.
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
            answers = answer_to(address, f"{head}\r\n" * 200 + f"{head}Connection: close\r\n\r\n")
            statuses = re.findall(rb"HTTP/1.1 (\d+)", answers)
            assert len(statuses) == 201 and set(statuses) == {b"200", b"429"} and statuses[0] == b"200", statuses
            wait_until(lambda address=address, path=path: request(address, path)[0] == 200)


def test_slow_clients_are_disconnected(documented: Database) -> None:
    with serving(documented, "--client-timeout", "1") as address:
        port = urlsplit(address).port
        clients = [socket.create_connection(("127.0.0.1", port), timeout=GUARD) for _ in range(3)]
        clients[1].sendall(b"GET /v1/docs HTTP/1.1\r\nHost: localhost\r\n")
        clients[2].sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for client in clients:
            # Until the server closes the connection.
            while client.recv(65536):
                pass
            client.close()
        assert get(address, "/v1/docs")["total"] == 7


def test_idle_connections_make_room(documented: Database) -> None:
    with serving(documented, "--max-connections", "3", "--rate", "0") as address:
        port = urlsplit(address).port
        silent = [socket.create_connection(("127.0.0.1", port), timeout=GUARD) for _ in range(6)]
        for client in silent:
            client.sendall(b"GET /v1/docs HTTP/1.1\r\nHost: localhost\r\n")
        for _ in range(5):
            assert get(address, "/v1/docs")["total"] == 7
        for client in silent[:4]:
            assert client.recv(65536) == b""
        for client in silent:
            client.close()


def test_requests_of_disconnected_clients_are_cancelled(new_database: Callable[..., Database]) -> None:
    database = document(new_database())
    database.execute(SLOW)
    with serving(database, *PATIENT) as address:
        clients = [socket.create_connection(("127.0.0.1", urlsplit(address).port)) for _ in range(2)]
        for client in clients:
            client.sendall(b"GET /v1/search?q=retry HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_for_slow(database, 2)
        clients[0].close()
        wait_for_slow(database, 1)
    # The server ends at once, not after a day.
    assert b"503" in clients[1].recv(100)
    wait_for_slow(database, 0)


def test_health_is_that_of_the_database(documented: Database) -> None:
    away = Database("host=/nowhere dbname=docs user=me")
    with serving(away) as address:
        assert get(address, "/healthz", 503)["error"]["message"]
        status, sent, answer = request(address, "/v1/search", q="x")
        assert status == 503 and sent["retry-after"] == "1" and "cannot connect" in answer["error"]["message"]
    with serving(documented) as address:
        wait_until(lambda: request(address, "/healthz")[2] == {"status": "ok"})


def test_internal_errors_stay_in_the_servers_log(new_database: Callable[..., Database]) -> None:
    def everything(address: str) -> Iterator[tuple[int, str]]:
        for path in ("/v1/search?q=retry", "/v1/docs", "/v1/docs/kit/guides/retry", "/healthz"):
            status, _, answer = request(address, path)
            yield status, json.dumps(answer)
        for message in (SEARCH, SEARCH.replace("search_docs", "load_doc").replace("query", "slug"),
                        SEARCH.replace("search_docs", "list_docs").replace("query", "project"),
                        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}),
                        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
                                    "params": {"uri": "docsearch://kit/guides/retry"}})):
            _, _, answer = request(address, "/mcp", "POST", message, MCP_HEADERS)
            assert "error" in answer or answer["result"]["isError"], answer
            yield 503, json.dumps(answer)

    log = []
    for place in ("host=/nowhere dbname=inner_docs user=inner_me", "host=127.0.0.1 port=1 dbname=inner_docs user=inner_me"):
        with serving(Database(place), log=log) as address:
            for status, answer in everything(address):
                assert status == 503 and "inner" not in answer and "nowhere" not in answer, answer
                assert not re.search(r"127\.0\.0\.1|port|No such file|refused|HINT:  Set", answer), answer
    assert "inner_docs" in log[0] and "/nowhere" in log[0] and "port 1" in log[1]

    database = document(new_database())
    database.execute(SEARCH_INSTEAD.format("""
        RAISE EXCEPTION 'could not open file "/inner/%"', query
            USING ERRCODE = split_part(query, ' ', 1), DETAIL = 'inner', HINT = 'inner';"""))
    with serving(database, log=log) as address:
        for code, status in (("58P01", 500), ("XX000", 500), ("42883", 500), ("53100", 503), ("55P03", 503), ("55000", 500)):
            found, _, answer = request(address, "/v1/search", q=f"{code} x")
            assert found == status and answer["error"]["sqlstate"] == code and "inner" not in str(answer), answer
            _, _, answer = request(address, "/mcp", "POST", SEARCH.replace("the pause", code), MCP_HEADERS)
            assert answer["result"]["isError"] and "inner" not in str(answer), answer
        # Errors of the request are reported.
        assert "inner" in get(address, "/v1/search", 400, q="22023 x")["error"]["message"]
    assert 'could not open file "/inner/58P01 x"' in log[2] and "DETAIL:  inner" in log[2]
