"""`docsearch serve` in operation: counts, caching, request ids, logs, metrics and tokens that change."""

import http.client
import json
import os
import re
import subprocess
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import GUARD, Database, page, wait_until
from front import PROGRAM, SECRET, document, environment, private, running, serving
from psycopg import sql
from test_folder import docsearch
from test_http import MCP_HEADERS, SEARCH, bearer, get, request

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")


def test_counts_are_those_of_the_sql_functions(documented: Database, address: str) -> None:
    assert get(address, "/v1/count") == {"documents": 7}
    assert get(address, "/v1/count", q="paint", project="kit") == {"documents": 0}
    assert get(address, "/v1/count", q="pause paint", words="any")["documents"] > get(address, "/v1/count", q="pause paint")["documents"]
    found = get(address, "/v1/facets?q=pause&keys=category&keys=platform&project=kit&project=other")["facets"]
    rows = documented.execute("SELECT to_jsonb(f) FROM docsearch.facets('pause', '{category,platform}', projects => '{kit,other}') f")
    assert found == [row for row, in rows] and {entry["key"] for entry in found} == {"category", "platform"}
    narrowed = get(address, "/v1/facets", q="pause", keys="kind", filter='{"category": "guides"}', max_values=1)["facets"]
    assert [entry["value"] for entry in narrowed] == ["guide"]
    assert {entry["key"] for entry in get(address, "/v1/facets")["facets"]} == {"category", "kind", "project"}
    for path, hint in (("/v1/facets?words=some", "all or any"), ("/v1/facets?max_values=0", "1 to 1000"),
                       ("/v1/facets?colour=red", "/openapi.json"), ("/v1/count?filter=%7B", "object")):
        assert hint in get(address, path, 400)["error"]["hint"], path
    assert "Known projects" in get(address, "/v1/count", 404, project="kti")["error"]["hint"]


def test_facets_on_the_command_line(documented: Database) -> None:
    done = docsearch("search", "pause", "--facets", "category", "--facets", "kind", "-n", "1", conninfo=documented.conninfo)
    assert done.returncode == 0 and done.stdout.split()[:3] == ["key", "value", "documents"]
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["category", "kind"]
    assert docsearch("search", "zebra", "--facets", "category", conninfo=documented.conninfo).returncode == 1


def test_repeated_parameters_are_an_error_with_a_hint(address: str) -> None:
    for path in ("/v1/search?q=a&q=b", "/v1/search?q=a&query=b", "/v1/docs?limit=1&limit=2", "/v1/suggest?text=a&text=b",
                 "/v1/docs/kit/long?skip=1&skip=2", "/v1/count?q=a&%71=b", "/v1/facets?words=all&words=any"):
        status, sent, answer = request(address, path)
        assert (status, sent["content-type"]) == (400, "application/json") and answer["error"]["hint"], path
    # The page ignores what an address has too much of.
    for path in ("/?q=a&q=b", "/doc/kit/long?part=1&part=2", "/why/kit/long?q=a&q=b"):
        status, sent, _ = request(address, path)
        assert status == 200 and sent["content-type"].startswith("text/html"), path


CACHED = ("/v1/search?q=retry", "/v1/docs", "/v1/docs/kit/guides/retry", "/v1/suggest?text=ret", "/v1/count?q=pause",
          "/v1/facets?q=pause", "/openapi.json", "/", "/?q=retry", "/doc/kit/guides/retry")


def tag_of(address: str, path: str, **headers: str) -> str:
    status, sent, _ = request(address, path, headers=headers)
    assert status == 200, path
    return sent["etag"]


def test_s4_52_an_answer_that_the_client_has_is_not_sent_again(address: str) -> None:
    for path in CACHED:
        tag = tag_of(address, path)
        assert tag.startswith('W/"') and tag == tag_of(address, path)
        assert request(address, path, "HEAD", headers={"Accept-Encoding": "gzip"})[1]["etag"] == tag
        for method in ("GET", "HEAD"):
            status, sent, answer = request(address, path, method, headers={"If-None-Match": f'"other", {tag}'})
            assert (status, answer) == (304, {}) and sent["etag"] == tag, path
            assert sent["cache-control"] == "private, no-cache", path
        assert request(address, path, headers={"If-None-Match": '"other"'})[0] == 200
        _, sent, answer = request(address, path, "HEAD")
        assert sent["etag"] == tag and answer == {}, path
    varies = request(address, "/v1/docs")[1]
    assert varies["cache-control"] == "private, no-cache" and varies["vary"]
    for path in ("/v1/search", "/v1/docs/kit/none", "/doc/kit/none", "/nothing"):
        status, sent, _ = request(address, path, headers={"If-None-Match": "*"})
        assert status >= 400 and sent["cache-control"] == "no-store" and "etag" not in sent, path


def test_s4_52_a_tag_changes_with_what_its_sender_may_read(new_database: Callable[..., Database], tmp_path: Path) -> None:
    database = document(new_database())
    role = f"web_{os.getpid()}_{id(database) % 10_000}"
    name = sql.Identifier(role)
    with database.connect() as connection:
        connection.execute(sql.SQL("CREATE ROLE {}").format(name))
        connection.execute("SELECT docsearch.grant_usage(%s)", (role,))
        connection.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY visible ON docsearch.document FOR SELECT USING (category <> 'internal')")
    ours, theirs = "ours-0123456789abcdef", "web-0123456789abcdef"
    tokens = private(tmp_path / "tokens", f"{ours}\n{theirs} {role}\n")
    paths = ("/v1/search?q=secret+pause", "/v1/docs?project=kit", "/v1/count?q=pause", "/v1/facets?project=kit&keys=category")
    try:
        with serving(database, "--token-file", tokens, "--rate", "0") as address:
            def tags(token: str) -> list[str]:
                return [tag_of(address, path, **bearer(token)) for path in paths]

            before, seen = tags(ours), tags(theirs)
            assert all(own != other for own, other in zip(before, seen, strict=True))
            # A page that one role does not see changes no answer for it.
            database.index("kit", SECRET, page("secret/pause", "# Pause\n\nA secret pause.", category="internal"))
            assert tags(theirs) == seen
            assert all(new != old for new, old in zip(tags(ours), before, strict=True))
            database.index("kit", page("guides/pause", "# Pause\n\nA pause that is no secret.", category="guides"))
            assert all(new != old for new, old in zip(tags(theirs), seen, strict=True))
            # Each search that is logged has a token of its own.
            assert len({tag_of(address, paths[0], **bearer(ours)) for _ in range(2)}) == 1
    finally:
        with database.connect() as connection:
            connection.execute(sql.SQL("DROP OWNED BY {}").format(name))
            connection.execute(sql.SQL("DROP ROLE {}").format(name))


def test_s4_56_tokens_change_while_the_server_runs(documented: Database, tmp_path: Path) -> None:
    first, second, third = (f"{name}-0123456789abcdef" for name in ("first", "second", "third"))
    tokens, log = private(tmp_path / "tokens", f"{first}\n{second}\n"), []
    with running(documented, "--token-file", tokens, "--rate", "0", log=log) as (address, process):
        def valid() -> list[bool]:
            return [request(address, "/v1/docs", headers=bearer(token))[0] == 200 for token in (first, second, third)]

        assert valid() == [True, True, False]
        start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "assistant", "version": "1"}}}
        status, sent, _ = request(address, "/mcp", "POST", json.dumps(start), {**MCP_HEADERS, **bearer(second)})
        session = {**MCP_HEADERS, **bearer(second), "Mcp-Session-Id": sent["mcp-session-id"]}
        assert status == 200 and request(address, "/mcp", "POST", SEARCH, session)[0] == 200
        # A new file, and nothing else: the server looks at it.
        private(tmp_path / "new", f"{first}\n{third}\n").rename(tokens)
        wait_until(lambda: valid() == [True, False, True])
        assert request(address, "/mcp", "POST", SEARCH, session)[0] == 401
        assert "valid tokens: 2" in process.stderr.readline()
        # What cannot be read changes nothing, and is reported.
        for text, mode, reason in (("short\n", 0o600, "fewer than 16 characters"), (f"{second}\n", 0o644, "chmod 0600"),
                                   ("", 0o600, "no token")):
            tokens.write_text(text)
            tokens.chmod(mode)
            process.send_signal(signal.SIGHUP)
            lines = iter(process.stderr.readline, "")
            assert any(reason in line for line in lines) and any("stay valid" in line for line in lines)
            assert valid() == [True, False, True]
        tokens.unlink()
        private(tokens, f"{second}\n")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: valid() == [False, True, False])
    assert "valid tokens: 1" in log[0] and "0123456789abcdef" not in log[0], log[0]


def test_s4_57_requests_have_ids_and_a_log_without_queries(documented: Database, tmp_path: Path) -> None:
    token, log = "logged-0123456789abcdef", []
    tokens = private(tmp_path / "tokens", f"# ours\n{token}\n")
    sent = [("/v1/search?q=retry+words", "GET", {"X-Request-Id": "order-66"}, 200), ("/?q=retry+words", "GET", {}, 200),
            ("/nothing?q=retry+words", "GET", {"X-Request-Id": "a b"}, 404), ("/v1/docs", "PUT", {}, 405),
            ("/healthz", "GET", {"X-Request-Id": "x" * 200}, 200), ("/v1/docs", "GET", {"Host": "evil.test"}, 403),
            ("/1/indexes/*/queries", "POST", {}, 400)]
    with serving(documented, "--token-file", tokens, "--rate", "0", "--access-log", "json", log=log) as address:
        answers = [request(address, path, method, headers={**bearer(token), **headers}) for path, method, headers, _ in sent]
        assert request(address, "/v1/docs")[0] == 401
    assert [status for status, *_ in answers] == [status for *_, status in sent]
    ids = [headers["x-request-id"] for _, headers, _ in answers]
    assert ids[0] == "order-66" and len(set(ids)) == len(ids) and all(re.fullmatch(r"[\w.-]{1,128}", name) for name in ids)
    entries = [json.loads(line) for line in log[0].splitlines() if line.startswith("{")]
    assert [entry["id"] for entry in entries[:-1]] == ids and entries[-1]["status"] == 401
    for entry, (path, method, _, status) in zip(entries, sent, strict=False):
        assert (entry["path"], entry["method"], entry["status"]) == (path.split("?")[0], method, status)
        assert entry["address"] == "127.0.0.1" and entry["milliseconds"] >= 0
    assert entries[len(sent) - 1]["token"] == entries[0]["token"] == "line 2" and entries[0]["role"] is None and entries[0]["bytes"] > 100
    assert token not in log[0] and "words" not in log[0]
    with serving(documented, "--access-log", "text", log=log) as address:
        get(address, "/v1/docs")
    assert re.search(r"^\S+Z 127\.0\.0\.1 GET /v1/docs 200 \d+ [\d.]+ms id=\w+$", log[1], re.MULTILINE), log[1]


def test_s4_57_a_log_that_is_not_read_delays_nothing(documented: Database) -> None:
    arguments = [PROGRAM, "serve", "0", "--url", documented.conninfo, "--access-log", "json", "--rate", "0"]
    for closes in (True, False):
        process = subprocess.Popen(arguments, env=environment(), stderr=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://\S+", process.stderr.readline())[0]
            if closes:
                process.stderr.close()
            # More than a pipe and the lines that wait have room for, if it stays open.
            client = http.client.HTTPConnection(urlsplit(address).netloc, timeout=GUARD)
            for _ in range(10 if closes else 2_000):
                client.request("GET", "/nothing/" + "x" * 800)
                answer = client.getresponse()
                answer.read()
                assert answer.status == 404
            client.close()
        finally:
            process.terminate()
            assert process.wait(GUARD) == 0
            process.stderr.close()


def test_s4_57_metrics_count_requests_and_searches(documented: Database) -> None:
    with running(documented, "--rate", "0", "--metrics-address", "0") as (address, process):
        at = re.search(r"/metrics at (http://\S+)", process.stderr.readline())[1]

        def metrics() -> str:
            status, sent, answer = request(at, "/metrics")
            assert status == 200 and sent["content-type"].startswith("text/plain; version=0.0.4"), answer
            return answer["text"]

        for path in ("/v1/search?q=retry", "/?q=retry", "/v1/search?q=zzzzzz&min_score=1", "/v1/search?q=x&project=nosuch", "/secret/path"):
            request(address, path)
        request(address, "/mcp", "POST", SEARCH, MCP_HEADERS)
        # A busy machine may need longer than the scrape waits.
        wait_until(lambda: "docsearch_inference_state" in metrics())
        found = metrics()
        for line in (r'docsearch_http_requests_total{route="/v1/search",status="200"} 2',
                     r'docsearch_http_requests_total{route="/v1/search",status="404"} 1',
                     r'docsearch_http_requests_total{route="other",status="404"} 1',
                     r'docsearch_search_duration_seconds_count{source="http"} 3', "docsearch_database_up 1.0",
                     "docsearch_http_requests_in_progress 0", "docsearch_index_failed_documents 0.0"):
            assert line in found.splitlines(), found
        assert re.search(r'docsearch_searches_total{source="page",outcome="\w+",class="\w+"} 1', found)
        assert re.search(r'docsearch_searches_total{source="mcp",outcome="\w+",class="unknown"} 1', found)
        assert 'outcome="error"' in found and "docsearch_index_oldest_waiting_seconds" in found
        assert "docsearch_inference_state{state=" in found
        # Nothing of a reader or a document is a label.
        assert not re.search("kit|guides|zzzz|secret|nosuch", found)
        # It is at its own address alone, and for this machine.
        assert request(address, "/metrics")[0] == 404 and request(at, "/v1/docs")[0] == 404
        assert request(at, "/metrics", headers={"Host": "evil.test"})[0] == 403
        assert request(at, "/metrics", headers={"Origin": "https://evil.test"})[0] == 403
        busy = docsearch("serve", "0", "--metrics-address", urlsplit(at).netloc, conninfo=documented.conninfo)
        assert busy.returncode == 2 and "cannot listen at" in busy.stderr
    with running(Database("host=/nowhere dbname=docs user=me"), "--metrics-address", "0") as (_, process):
        at = re.search(r"/metrics at (http://\S+)", process.stderr.readline())[1]
        found = metrics()
        assert "docsearch_database_up 0" in found and "docsearch_index" not in found
