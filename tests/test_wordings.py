"""s4_42: a wording in the words of the documentation finds the page for a goal that is described in other words, in every
front end."""

import json
import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from conftest import Database, page
from test_command_line import FAILED, ask
from test_folder import docsearch
from test_http import get
from test_mcp import VERSIONS, connected, program, run, text

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

GOAL = "notice that the browser went away before the answer was ready"
WORDING = "detecting when clients abort"
WANTED = "requests/abort"
# The page that has the words of the goal comes before the one that says how it is done.
PAGES = [
    page(WANTED, "Detecting when clients abort: the browser goes away before its answer is ready, and the signal of the request fires."),
    page("guides/ready", "An answer is ready when all parts are. The browser shows it then."),
    page("requests/timeouts", "A request that takes too long gets an error. Set the limit for each route."),
    page("install", "Run the installer, and start the server."),
    page("templates", "A template is a file with holes for values."),
    page("database", "Queries go through a pool of ten sessions."),
    page("styles", "Colours and fonts are in one file."),
    page("logs", "Lines of the log have a time and a level."),
]
# Refused wordings, with a part of the hint.
REFUSED = [(["x"] * 6, "at most 5 further wordings"), (["x" * 4001, "y" * 4000], "at most 8000 characters")]


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('web')")
    database.index("web", *PAGES)
    return database


def options(*wordings: str) -> list[str]:
    return [option for wording in wordings for option in ("--also", wording)]


def test_s4_42_on_the_command_line(documented: Database) -> None:
    def first(*wordings: str) -> str:
        answer = json.loads(ask(documented, "search", *options(*wordings), GOAL, "--format", "json"))
        return answer["results"][0]["slug"]

    assert first() != WANTED and first(" ", "") == first()
    assert first(WORDING) == first(WORDING, "client aborts") == first("client aborts", WORDING) == WANTED
    detailed = ask(documented, "search", GOAL, "--also", WORDING, "--format", "detailed")
    assert re.search(rf"- also {WORDING} \(share 0\.\d\d, alone 0\.\d{{4}}\): 0\.\d{{4}} to 0\.\d{{4}}\n", detailed), detailed
    for wordings, hint in REFUSED:
        for command in (["search", GOAL], ["explain", GOAL, WANTED]):
            said = ask(documented, *command, *options(*wordings), status=FAILED)
            assert "HINT:  Use" in said and hint in said, said
    for command in ("search", "explain"):
        assert f"--also '{WORDING}'" in docsearch(command, "--help").stdout
        assert "--also" in docsearch("completions", "bash").stdout


def test_s4_42_pages_excluded_by_a_wording_are_no_results_even_if_few_are_found(documented: Database) -> None:
    def found(*wordings: str) -> set[str]:
        answer = documented.execute("SELECT slug FROM search_docs(%s, 'web', max_results => 50, also => %s)", GOAL, list(wordings))
        return {slug for slug, in answer}

    assert WANTED in found() and WANTED in found("the browser is gone")
    for wording in ("the browser is gone -abort", "the browser is gone -clients"):
        assert found(wording) and WANTED not in found(wording) | found("the signal of a request", wording)


def test_s4_42_an_explanation_has_the_addition_of_each_wording(documented: Database) -> None:
    given = ("explain", GOAL, WANTED, *options(WORDING, "client aborts"))
    steps = json.loads(ask(documented, *given, "--format", "json"))
    assert steps == [step for step, in documented.execute(
        "SELECT to_jsonb(e) FROM docsearch.explain_search(%s, %s, also => %s) e", GOAL, WANTED, ["client aborts", WORDING])]
    also = [step for step in steps if step["rule"] == "also"]
    assert sorted(step["matched"] for step in also) == ["client aborts", WORDING]
    for form in ("compact", "detailed"):
        _, shown = ask(documented, *given, "--format", form).split("\n\n")
        head, *rows = (line.split(maxsplit=3) for line in shown.splitlines())
        assert head == ["share", "score", "adds", "wording"]
        assert [wording for *_, wording in rows] == [GOAL, *(step["matched"] for step in also)]
        numbers = [[float(number) for number in row[:3]] for row in rows]
        assert sum(share for share, *_ in numbers) == pytest.approx(1, abs=0.001)
        # The score of the question plus the additions is the score.
        assert numbers[0][1] + sum(adds for *_, adds in numbers) == pytest.approx(steps[-1]["after"], abs=0.001)
        for own, step in zip(numbers[1:], also):
            assert own[:2] == pytest.approx([step["weight"], step["raw"]], abs=0.0001)
    assert "share" not in ask(documented, *given[:3])


def test_s4_42_over_http(documented: Database, address: str) -> None:
    def search(*wordings: str, status: int = 200) -> dict:
        parameters = [("query", GOAL), *(("also", wording) for wording in wordings), ("max_results", "3")]
        return get(address, f"/v1/search?{urlencode(parameters)}", status)

    def first(*wordings: str) -> str:
        return search(*wordings)["results"][0]["slug"]

    assert first() != WANTED and first("", " ") == first()
    assert first(WORDING) == first("client aborts", WORDING, "") == WANTED
    wordings = [WORDING, "client aborts & signals = 100 %"]
    found = search(*wordings)
    expected, = documented.execute("SELECT search_docs_json(%s, max_results => 3, also => %s)", GOAL, wordings)[0]
    assert found["results"] == expected["results"] and found["understood"] == expected["understood"]
    assert sorted(also["query"] for also in found["understood"]["also"]) == sorted(wordings)
    # The name may be escaped, and parameters may be in any order.
    escaped = get(address, f"/v1/search?%61lso={WORDING.replace(' ', '+')}&&q={GOAL.replace(' ', '%20')}&")
    assert escaped["results"][0]["slug"] == WANTED
    for wordings, hint in REFUSED:
        error = search(*wordings, status=400)["error"]
        assert error["sqlstate"] == "22023" and hint in error["hint"], error
    for wrong, said in (("also=x", "`query`"), ("q=x&colour=red", "`also`"), ("q=x&q=y&also=z", "q is repeated"),
                        ("q=x&also=y&max_results=many", "invalid digit")):
        error = get(address, f"/v1/search?{wrong}", 400)["error"]
        assert said in error["message"], error
    described = get(address, "/openapi.json")["paths"]["/v1/search"]["get"]["parameters"]
    also, = (parameter for parameter in described if parameter.get("name") == "also")
    assert also["schema"] == {"type": "array", "items": {"type": "string"}, "maxItems": 5}


@pytest.mark.parametrize("mode", VERSIONS)
def test_s4_42_over_mcp(documented: Database, mode: str) -> None:
    async def work() -> None:
        async with connected(program(documented), mode) as client:
            async def first(**arguments: object) -> str:
                found = await text(client, "search_docs", query=GOAL, **arguments)
                return re.search(r"^1\. .*\[web/(.*?)(?:#.*)?\]$", found, re.M)[1]

            plain = await first()
            assert plain != WANTED
            for also in ([], "", None, [" ", None]):
                assert await first(also=also) == plain, also
            for also in ([WORDING], WORDING, json.dumps([WORDING]), [WORDING, "client aborts", None, ""]):
                assert await first(also=also) == WANTED, also
            assert await first(wordings=[WORDING]) == WANTED
            tool, = (tool for tool in (await client.list_tools()).tools if tool.name == "search_docs")
            assert tool.input_schema["properties"]["also"] == {"type": "array", "items": {"type": "string"}, "maxItems": 5}
            assert WORDING in tool.description
            for also, said in (*REFUSED, ({"a": "b"}, "also must be a list of strings"), ([["a"]], "also must be a list of strings")):
                result = await client.call_tool("search_docs", {"query": GOAL, "also": also})
                assert result.is_error and said in result.content[0].text, result.content[0].text

    run(work())
