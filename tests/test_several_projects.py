"""s4_43: several projects, by names and patterns, in every front end."""

import json
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from conftest import Database, page
from test_command_line import FAILED, NOTHING, ask
from test_http import get
from test_mcp import VERSIONS, connected, program, run, text

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

PROJECTS = ("board-1", "board-2", "ledger", "vault")
# Names and patterns, with the projects that they mean.
GIVEN = [
    (["ledger"], {"ledger"}),
    (["LEDGER", "vault"], {"ledger", "vault"}),
    (["Board-*"], {"board-1", "board-2"}),
    (["*-1", "vault"], {"board-1", "vault"}),
    ([], set(PROJECTS)),
]


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    for project in PROJECTS:
        database.execute("SELECT docsearch.create_project(%s)", project)
        database.index(project, page("pins", f"# Pins\n\nSolder a pin to the rail of {project}."))
    return database


def found(answer: dict) -> set[str]:
    return {result["project"] for result in answer["results"]}


def test_s4_43_on_the_command_line(documented: Database) -> None:
    for given, projects in GIVEN:
        options = [option for name in given for option in ("--project", name)]
        answer = json.loads(ask(documented, "search", "solder a pin", *options, "--format", "json"))
        assert found(answer) == projects, given
        listed = json.loads(ask(documented, "list", *options, "--format", "json"))
        assert {document["project"] for document in listed["documents"]} == projects
        if given:
            assert "pins" in ask(documented, "suggest", "pin", *options, "--format", "json")
    ask(documented, "explain", "solder a pin", "pins", "-p", "LEDGER")
    wrong = ask(documented, "search", "pin", "-p", "vault", "-p", "ledgr", status=NOTHING)
    assert 'project "ledgr" does not exist' in wrong and "ledger" in wrong
    several = ask(documented, "explain", "solder a pin", "pins", "-p", "board-*", status=FAILED)
    assert "board-1/pins" in several and "vault" not in several


def test_s4_43_over_http(address: str) -> None:
    for given, projects in GIVEN:
        parameters = [("project", name) for name in given]
        assert found(get(address, f"/v1/search?{urlencode([('q', 'solder a pin'), *parameters])}")) == projects, given
        listed = get(address, f"/v1/docs?{urlencode(parameters)}")
        assert {document["project"] for document in listed["documents"]} == projects
    error = get(address, "/v1/search?q=pin&project=ledger&project=none-*", 404)["error"]
    assert 'no project matches "none-*"' in error["message"] and "ledger" in error["hint"]
    parameters = get(address, "/openapi.json")["components"]["parameters"]
    assert parameters["project"]["schema"] == {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize("mode", VERSIONS)
def test_s4_43_over_mcp(documented: Database, mode: str) -> None:
    async def work() -> None:
        async with connected(program(documented), mode) as client:
            async def projects(tool: str, **arguments: object) -> set[str]:
                found = await text(client, tool, format="json", **arguments)
                answer = json.loads(found)
                return {entry["project"] for entry in answer.get("results", answer.get("documents", ()))}

            for given, expected in GIVEN:
                for project in [given, json.dumps(given), *(given if len(given) == 1 else ())]:
                    assert await projects("search_docs", query="solder a pin", project=project) == expected
                    if given:
                        assert await projects("list_docs", project=project) == expected
            assert await projects("search_docs", query="solder a pin", projects=["vault", "ledger", None]) == {"vault", "ledger"}
            result = await client.call_tool("search_docs", {"query": "pin", "project": ["ledger", "ledgr"]})
            assert result.is_error and 'project "ledgr" does not exist' in result.content[0].text

    run(work())
