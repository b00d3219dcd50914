"""`docsearch mcp` with clients of both generations of the protocol, over both transports."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from conftest import GUARD, Database, wait_until
from front import (
    PATIENT,
    PROGRAM,
    SLOW,
    document,
    environment,
    serving,
    slow_statements,
    wait_for_slow,
)
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ResourceTemplateReference

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

NODE = os.environ.get("DOCSEARCH_TEST_NODE")
CLIENT = Path(__file__).parent / "node" / "client.mjs"
needs_node = pytest.mark.skipif(not NODE, reason="Node.js 20 is not installed")
# The revisions that the two generations agree on with us.
VERSIONS = {"legacy": r"2025-\d\d-\d\d", "auto": "2026-07-28"}


@pytest.fixture(scope="module")
def address(documented: Database) -> Iterator[str]:
    with serving(documented, "--rate", "0", command="mcp") as address:
        yield f"{address}/mcp"


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, documented: Database, address: str) -> StdioServerParameters | str:
    """What a client connects to."""
    return address if request.param == "http" else program(documented)


@pytest.fixture(params=VERSIONS)
def mode(request: pytest.FixtureRequest) -> str:
    """The generation of a client."""
    return request.param


def program(database: Database, *arguments: str, **variables: str) -> StdioServerParameters:
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--url", database.conninfo, *arguments],
                                 env=environment(**variables))


def run(work: Coroutine) -> object:
    return asyncio.run(asyncio.wait_for(work, GUARD))


@asynccontextmanager
async def connected(server: StdioServerParameters | str, mode: str) -> AsyncIterator[Client]:
    async with Client(server, mode=mode, read_timeout_seconds=GUARD) as client:
        yield client


async def text(client: Client, tool: str, **arguments: object) -> str:
    """The text of a successful answer."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    assert len(result.content) == 1
    return result.content[0].text


def test_s3_1_three_tools_answer_as_the_sql_functions(documented: Database, server: StdioServerParameters | str,
                                                      mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            assert re.fullmatch(VERSIONS[mode], client.protocol_version), client.protocol_version
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"search_docs", "load_doc", "list_docs", "report_gap"}
            for tool in tools.values():
                hints = tool.annotations
                assert hints.read_only_hint is (tool.name != "report_gap")
                assert hints.idempotent_hint and hints.open_world_hint is False
            found = await text(client, "search_docs", query="retry in kit")
            assert found == documented.execute("SELECT search_docs_text('retry in kit', max_tokens => 2000)")[0][0]
            reference = re.search(r"\[(.*)\]", found)[1]
            loaded = await text(client, "load_doc", slug=reference)
            assert loaded == documented.execute("SELECT load_doc(%s, max_tokens => 6000)", reference)[0][0]
            listed = await text(client, "list_docs")
            assert listed.splitlines() == ["2 projects", "kit: 6 documents (api, guides, internal)",
                                           "other: 1 document"]
            assert "[kit/guides/retry] Retry (guide): " in await text(client, "list_docs", project="kit")

    run(work())


def test_s4_1_every_result_that_was_asked_for_is_in_the_reply(server: StdioServerParameters | str, mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            found = await text(client, "search_docs", query="the pause of a retry")
            assert len(re.findall(r"^\d\. ", found, re.M)) == 5
            for line in re.findall(r"^\d\. .*\n.*", found, re.M):
                assert re.fullmatch(r"\d\. .+ \[(kit|other)/.+\]\n   [01]\.\d\d (high|medium|low).* \d+ tokens to load.*",
                                    line)

    run(work())


def test_structured_answers_are_in_the_text_too(server: StdioServerParameters | str, mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            for tool, arguments in (("search_docs", {"query": "retry"}), ("list_docs", {}),
                                    ("list_docs", {"project": "kit"})):
                result = await client.call_tool(tool, {**arguments, "format": "json"})
                assert json.loads(result.content[0].text) == result.structured_content
                compact = await client.call_tool(tool, arguments)
                assert compact.structured_content is None

    run(work())


def test_mistakes_are_understood_or_explained(server: StdioServerParameters | str, mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            right = await text(client, "search_docs", query="retry", max_results=2, project="kit")
            assert right == await text(client, "search_docs", q="retry", top_k="2", library="kit", filter="{}")
            assert await text(client, "load_doc", id="[kit/guides/retry]") == await text(
                client, "load_doc", uri="docsearch://kit/guides/retry")
            for tool, arguments, hint in (
                    ("load_doc", {"slug": "kit/guides/retri"}, "Did you mean kit/guides/retry"),
                    ("load_doc", {"slug": "kit/guides/retry", "section": "Bakoff"}, "Its sections: retry, backoff"),
                    ("search_docs", {"query": "retry", "project": "kti"}, "Known projects: kit, other"),
                    ("search_docs", {"query": " "}, "query must not be missing"),
                    ("search_docs", {"query": "retry", "colour": "red"}, "search_docs takes query, project"),
                    ("search_docs", {"query": "retry", "max_results": 100000}, "1000"),
                    ("list_docs", {"sort_by": "size"}, "Sort by title, category or date")):
                result = await client.call_tool(tool, arguments)
                assert result.is_error and hint in result.content[0].text, result.content[0].text
            with pytest.raises(MCPError):
                await client.call_tool("delete_doc", {"slug": "kit/guides/retry"})

    run(work())


def test_s4_32_budgets_hold(server: StdioServerParameters | str, mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            assert len(await text(client, "search_docs", query="pause", max_tokens=100)) <= 400
            whole = await text(client, "load_doc", slug="kit/long", max_tokens=10**9)
            cut = await text(client, "load_doc", slug="kit/long", max_tokens=600)
            assert len(cut) <= 2400 < len(whole) and "left out" in cut
            part = await text(client, "list_docs", project="kit", max_tokens=60)
            assert len(part) <= 300
            following = int(re.search(r"note: \d more, offset (\d)$", part)[1])
            rest = await text(client, "list_docs", project="kit", offset=following)
            everything = await text(client, "list_docs", project="kit")
            assert part.splitlines()[1:-1] + rest.splitlines()[1:] == everything.splitlines()[1:]

    run(work())


def test_documents_are_resources(server: StdioServerParameters | str, mode: str) -> None:
    async def work() -> None:
        async with connected(server, mode) as client:
            template = (await client.list_resource_templates()).resource_templates[0].uri_template
            assert template == "docsearch://{project}/{+slug}"
            listed = (await client.list_resources()).resources
            assert len(listed) == 7 and "docsearch://kit/api/session/close" in {str(entry.uri) for entry in listed}
            contents = (await client.read_resource("docsearch://kit/api/session%2Fclose")).contents[0]
            assert contents.mime_type == "text/markdown" and contents.text.startswith("# Close\n")
            with pytest.raises(MCPError, match="Did you mean kit/guides/retry"):
                await client.read_resource("docsearch://kit/guides/retri")
            reference = ResourceTemplateReference(type="ref/resource", uri=template)
            projects = await client.complete(reference, {"name": "project", "value": "k"})
            assert projects.completion.values == ["kit"]
            slugs = await client.complete(reference, {"name": "slug", "value": "guides/"},
                                          context_arguments={"project": "kit"})
            assert slugs.completion.values == ["guides/retry", "guides/install"]

    run(work())


def test_resources_come_in_pages(new_database: Callable[..., Database]) -> None:
    database = new_database()
    database.execute("SELECT docsearch.create_project('many')")
    database.index("many", *({"slug": f"page-{number:03}", "title": f"Page {number:03}", "body": ""}
                             for number in range(150)))

    async def work() -> None:
        async with connected(program(database), "auto") as client:
            first = await client.list_resources()
            second = await client.list_resources(cursor=first.next_cursor)
            assert [len(first.resources), len(second.resources), second.next_cursor] == [100, 50, None]
            with pytest.raises(MCPError, match="cursor"):
                await client.list_resources(cursor="nonsense")

    run(work())


def test_chatgpt_has_tools_of_its_own(documented: Database, mode: str) -> None:
    async def work() -> None:
        async with connected(program(documented, "--chatgpt"), mode) as client:
            assert {"search", "fetch"} <= {tool.name for tool in (await client.list_tools()).tools}
            found = json.loads(await text(client, "search", query="retry"))["results"]
            assert found[0]["id"] == "kit/guides/retry" and found[0]["url"] == "https://kit.test/retry"
            assert all(set(entry) >= {"id", "title", "url"} for entry in found)
            fetched = json.loads(await text(client, "fetch", id=found[0]["id"]))
            assert fetched["title"] == "Retry" and fetched["url"] == "https://kit.test/retry"
            assert "The pause doubles" in fetched["text"]
            known, = documented.execute("SELECT load_doc_json('kit/guides/retry')")[0]
            assert fetched["metadata"]["updated_at"] == known["updated_at"] and fetched["metadata"]["kind"] == "guide"

    run(work())


def test_s3_35_eight_clients_at_once(documented: Database, address: str, mode: str) -> None:
    async def client(number: int, server: StdioServerParameters | str) -> None:
        async with connected(server, mode) as client:
            for _ in range(5):
                found = await text(client, "search_docs", query="retry in kit", max_results=number % 4 + 1)
                assert found.count("tokens to load") == number % 4 + 1
                assert (await text(client, "load_doc", slug="kit/guides/retry")).startswith("# Retry")

    async def work() -> None:
        await asyncio.gather(*(client(number, address) for number in range(8)),
                             *(client(number, program(documented)) for number in range(8)))

    run(work())


class Pipe:
    """A server that receives raw lines."""

    def __init__(self, database: Database, **variables: str):
        self.process = subprocess.Popen([PROGRAM, "mcp", *PATIENT, "--url", database.conninfo], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment(**variables))
        self.ask({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}})
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def ask(self, message: dict) -> dict:
        self.send(message)
        return json.loads(self.process.stdout.readline())

    def search(self, number: int) -> None:
        self.send({"id": number, "method": "tools/call",
                   "params": {"name": "search_docs", "arguments": {"query": "retry"}}})

    def close(self) -> int:
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(GUARD)


@pytest.fixture(scope="module")
def slow(new_database: Callable[..., Database]) -> Database:
    """A database whose searches take a day."""
    database = document(new_database())
    database.execute(SLOW)
    return database


def test_a_cancelled_request_cancels_its_statement_and_no_other(slow: Database) -> None:
    pipe = Pipe(slow)
    pipe.search(1)
    pipe.search(2)
    wait_for_slow(slow, 2)
    pipe.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    wait_for_slow(slow, 1)
    answer = pipe.ask({"id": 3, "method": "tools/call", "params": {"name": "load_doc", "arguments": {"slug": "long"}}})
    assert answer["id"] == 3 and "Every pause doubles" in answer["result"]["content"][0]["text"]
    assert slow_statements(slow) == 1
    pipe.send({"method": "notifications/cancelled", "params": {"requestId": 2}})
    wait_for_slow(slow, 0)
    assert pipe.close() == 0


def test_a_closed_input_ends_the_program_and_its_statements(slow: Database) -> None:
    pipe = Pipe(slow)
    pipe.search(1)
    wait_for_slow(slow, 1)
    assert pipe.close() == 0
    wait_for_slow(slow, 0)


def test_the_statement_of_a_killed_program_is_cancelled(slow: Database) -> None:
    pipe = Pipe(slow)
    pipe.search(1)
    wait_for_slow(slow, 1)
    pipe.process.kill()
    wait_for_slow(slow, 0)
    pipe.process.wait()


def test_the_statement_of_a_disconnected_http_client_is_cancelled(slow: Database) -> None:
    with serving(slow, *PATIENT, command="mcp") as address:
        async def work() -> None:
            async with connected(f"{address}/mcp", "auto") as client:
                asking = asyncio.ensure_future(client.call_tool("search_docs", {"query": "retry"}))
                await asyncio.to_thread(wait_for_slow, slow, 1)
                asking.cancel()
                await asyncio.wait([asking])
                assert asking.cancelled()

        run(work())
        wait_for_slow(slow, 0)


def test_statements_take_no_longer_than_they_may(slow: Database) -> None:
    async def work() -> None:
        async with connected(program(slow, "--timeout", "1"), "auto") as client:
            result = await client.call_tool("search_docs", {"query": "retry"})
            assert result.is_error and "statement timeout" in result.content[0].text

    run(work())


def test_nothing_that_is_sent_ends_the_conversation(documented: Database) -> None:
    pipe = Pipe(documented)
    for line in ("", "nonsense", "{", "[]", '{"jsonrpc": "2.0"}', '{"jsonrpc": "2.0", "id": 7, "method": 5}',
                 "[" * 10_000, '{"jsonrpc": "2.0", "method": "notifications/unknown"}'):
        pipe.write(line)
    pipe.send({"id": 8, "method": "tools/call", "params": {"name": "search_docs", "arguments": {
        "query": "retry'; DROP TABLE docsearch.document; --" + "x" * 100_000}}})
    answers = []
    while not answers or answers[-1].get("id") != 8:
        answers.append(json.loads(pipe.process.stdout.readline()))
    assert answers[-1]["result"]["isError"] is False
    assert pipe.ask({"id": 9, "method": "tools/list"})["id"] == 9
    assert pipe.close() == 0


def answered(pipe: Pipe, line: str | bytes, least: int = 0) -> list[dict]:
    """The responses to a line: those before the response to the ping after it, and at least `least`, since requests may
    finish in any order."""
    line = line.encode() if isinstance(line, str) else line
    pipe.process.stdin.write(line + b'\n{"jsonrpc": "2.0", "id": "behind", "method": "ping"}\n')
    pipe.process.stdin.flush()
    answers = []
    while not any(answer["id"] == "behind" for answer in answers) or len(answers) <= least:
        answers.append(json.loads(pipe.process.stdout.readline()))
    return [answer for answer in answers if answer["id"] != "behind"]


def test_an_invalid_line_is_answered_and_the_next_one_is_read(documented: Database) -> None:
    pipe = Pipe(documented)
    list_tools = '{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}'
    deep = '{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ' + "[" * 50_000 + "]" * 50_000 + "}"
    for line, code, number in (
            ("nonsense", -32700, None), ("{", -32700, None), ("[" * 10_000, -32700, None), ("\0", -32700, None),
            (list_tools + "\0", -32700, None), (b'{"jsonrpc": "2.0", "id": 5, "method": "\xff"}', -32700, None),
            ("[]", -32600, None), (f"[{list_tools}]", -32600, None), ("5", -32600, None), ("{}", -32600, None),
            ('{"jsonrpc": "2.0"}', -32600, None), ('{"jsonrpc": "2.0", "id": 5}', -32600, 5),
            ('{"jsonrpc": "2.0", "id": "a", "method": 5}', -32600, "a"), ('{"id": 5, "method": "ping"}', -32600, 5),
            ('{"jsonrpc": "1.0", "id": 5, "method": "ping"}', -32600, 5), (deep, -32600, 5),
            *((f'{{"jsonrpc": "2.0", "id": {odd}, "method": "ping"}}', -32600, None)
              for odd in ("null", "1.5", "true", "[1]", "{}", "99999999999999999999"))):
        said = [(answer["error"]["code"], answer["id"]) for answer in answered(pipe, line)]
        assert said == [(code, number)], line[:80]
    for line, code in (('{"jsonrpc": "2.0", "id": 5, "method": "nothing"}', -32601),
                       (json.dumps({"jsonrpc": "2.0", "id": 5, "method": "x" * 1_000_000}), -32601),
                       ('{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": "x"}', -32600),
                       ('{"jsonrpc": "2.0", "id": 5, "method": "tools/call"}', -32602),
                       ('{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 5}}', -32602),
                       (json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "x" * 10_000}}),
                        -32602)):
        said, = answered(pipe, line, 1)
        assert (said["error"]["code"], said["id"]) == (code, 5), line[:80]
        assert len(json.dumps(said)) < 1000
    # Notifications and responses get no response.
    for line in ("", "  ", "\r", "\t\r", '{"jsonrpc": "2.0", "method": "notifications/unknown"}',
                 '{"jsonrpc": "2.0", "method": "nothing"}', '{"jsonrpc": "2.0", "id": 5, "result": {}}',
                 '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5}',
                 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "the message is not valid JSON"}}'):
        assert answered(pipe, line) == [], line
    for line in (list_tools + "\r", "\ufeff" + list_tools, " " + list_tools):
        assert [(answer["id"], "result" in answer) for answer in answered(pipe, line, 1)] == [(5, True)]
    assert pipe.close() == 0


def test_a_line_that_is_too_long_is_answered_and_takes_no_room(documented: Database) -> None:
    pipe = Pipe(documented)

    def resident() -> int:
        status = Path(f"/proc/{pipe.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

    before = resident()
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "search_docs", "arguments": {"query": "x" * 50_000_000}}}
    for line, number in ((json.dumps(call), 7), (json.dumps({**call, "id": "seven"}), "seven"),
                         (json.dumps({"params": call["params"], "jsonrpc": "2.0", "id": 7, "method": "tools/call"}), None),
                         ("x" * 50_000_000, None), ("[" * 50_000_000, None)):
        said, = answered(pipe, line)
        assert (said["error"]["code"], said["id"]) == (-32600, number) and "longer" in said["error"]["message"]
    assert resident() - before < 32 * 1024
    # Many at once without reading: each is answered, and none is kept.
    for _ in range(3):
        pipe.write("x" * 5_000_000)
    assert [json.loads(pipe.process.stdout.readline())["id"] for _ in range(3)] == [None] * 3
    assert pipe.ask({"id": 9, "method": "tools/list"})["id"] == 9
    assert pipe.close() == 0


def test_invalid_lines_before_the_first_message_do_not_end_the_server(documented: Database) -> None:
    process = subprocess.Popen([PROGRAM, "mcp", "--url", documented.conninfo], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment())
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}}
    said, _ = process.communicate(b"nonsense\n[]\n\n" + json.dumps(begin).encode() + b"\n", timeout=GUARD)
    answers = [json.loads(line) for line in said.splitlines()]
    assert [answer["id"] for answer in answers] == [None, None, 0] and "result" in answers[2]


def test_a_restarting_or_missing_database_does_not_end_the_server(new_database: Callable[..., Database]) -> None:
    database = document(new_database())
    pipe = Pipe(database)
    load = {"method": "tools/call", "params": {"name": "load_doc", "arguments": {"slug": "guides/retry"}}}
    assert not pipe.ask({"id": 1, **load})["result"]["isError"]
    others = "FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' " \
             "AND pid <> pg_backend_pid()"
    database.execute(f"SELECT pg_terminate_backend(pid) {others}")
    wait_until(lambda: not database.execute(f"SELECT 1 {others}"))
    assert not pipe.ask({"id": 2, **load})["result"]["isError"]
    assert pipe.close() == 0

    async def work() -> None:
        away = StdioServerParameters(command=PROGRAM, args=["mcp", "--url", "host=/nowhere dbname=docs user=me"])
        async with connected(away, "auto") as client:
            assert len((await client.list_tools()).tools) == 3
            result = await client.call_tool("search_docs", {"query": "retry"})
            assert result.is_error and "cannot connect to database \"docs\"" in result.content[0].text

    run(work())


def test_nothing_can_be_written(documented: Database) -> None:
    documented.execute("CREATE SCHEMA evil; CREATE FUNCTION evil.load_doc(slug text, include_sections bool, "
                       "include_metadata bool, project text, section text, max_tokens int, skip int) RETURNS text LANGUAGE sql "
                       "AS 'DELETE FROM docsearch.document; SELECT NULL::text'")
    pipe = Pipe(documented, PGOPTIONS="-c search_path=evil,public")
    answer = pipe.ask({"id": 1, "method": "tools/call", "params": {"name": "load_doc", "arguments": {"slug": "long"}}})
    assert "read-only transaction" in answer["result"]["content"][0]["text"]
    assert pipe.close() == 0


@needs_node
@pytest.mark.parametrize("generation", ["v1", "v2"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_typescript_sdk_works(documented: Database, address: str, generation: str, transport: str) -> None:
    target = [address] if transport == "http" else [PROGRAM, "mcp", "--url", documented.conninfo]
    done = subprocess.run(["node", CLIENT, NODE, generation, transport, *target], capture_output=True, text=True,
                          env=environment(), timeout=GUARD)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["version"] in ((None, "2025-11-25") if generation == "v1" else ("2026-07-28",))
    assert seen["tools"] == ["search_docs", "load_doc", "list_docs", "report_gap"]
    assert "[kit/guides/retry" in seen["text"] and seen["resource"].startswith("# Retry\n")
    assert seen["missing"][0] is True and "Did you mean kit/guides/retry" in seen["missing"][1]


@needs_node
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_works(documented: Database, address: str, transport: str, tmp_path: Path) -> None:
    target = [address] if transport == "http" else [PROGRAM, "mcp", "--url", documented.conninfo]

    def inspect(*arguments: str) -> dict:
        done = subprocess.run(["node", f"{NODE}/node_modules/.bin/mcp-inspector", "--cli", *target, *arguments],
                              capture_output=True, text=True, timeout=GUARD, stdin=subprocess.DEVNULL,
                              env=environment(HOME=str(tmp_path)))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert len(inspect("--method", "tools/list", "--strict")["tools"]) == 4
    found = inspect("--method", "tools/call", "--tool-name", "search_docs", "--tool-arg", "query=retry")
    assert "[kit/guides/retry" in found["content"][0]["text"]
    assert len(inspect("--method", "resources/list")["resources"]) == 7
