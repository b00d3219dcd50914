"""s4_41: a shortened answer names the call that returns the rest, in the syntax of each front end, and the call does."""

import re
import shlex
import subprocess

import pytest
from conftest import Database
from front import PROGRAM, environment
from test_http import get
from test_mcp import connected, program, run, text

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

# The number of results, which do not fit into the number of tokens.
RESULTS, TOKENS, JSON_TOKENS = 6, 170, 700


def references(answer: str) -> list[str]:
    return re.findall(r"^\d+\. .*\[([^\]]+)\]$", answer, re.M)


def test_s4_41_over_mcp(documented: Database) -> None:
    async def work() -> None:
        async with connected(program(documented), "auto") as client:
            async def search(**arguments: object) -> str:
                return await text(client, "search_docs", query="pause", project="kit", **arguments)

            whole = references(await search(max_results=RESULTS))
            parts, call = [], {"max_results": RESULTS}
            while call:
                part = await search(max_tokens=TOKENS, **call)
                parts.append(references(part))
                rest = re.search(r"max_results: (\d+), offset: (\d+) gives them", part)
                call = {"max_results": int(rest[1]), "offset": int(rest[2])} if rest else {}
            assert len(parts) > 1 and sum(parts, []) == whole and len(whole) == RESULTS
            short = await search(format="detailed", max_tokens=300)
            tokens = int(re.search(r"Switched to compact: .*: max_tokens: (\d+)$", short, re.M)[1])
            assert "   score: " in await search(format="detailed", max_tokens=tokens)

    run(work())


def test_s4_41_over_http(address: str) -> None:
    def slugs(answer: dict) -> list[str]:
        return [result["slug"] for result in answer["results"]]

    whole = slugs(get(address, "/v1/search", query="pause", project="kit", max_results=RESULTS))
    part = get(address, "/v1/search", query="pause", project="kit", max_results=RESULTS, max_tokens=JSON_TOKENS)
    left_out, = (notice["message"] for notice in part["notices"] if notice["code"] == "results_left_out")
    call = dict(re.findall(r"(\w+)=(\d+)", left_out))
    assert set(call) == {"max_results", "offset"} and 0 < len(slugs(part)) < RESULTS
    assert slugs(part) + slugs(get(address, "/v1/search", query="pause", project="kit", **call)) == whole


def test_s4_41_on_the_command_line(documented: Database) -> None:
    def search(*options: object) -> str:
        command = [PROGRAM, "search", "pause", "--project", "kit", "--url", documented.conninfo, *map(str, options)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment()).stdout

    whole = references(search("--max-results", RESULTS))
    part = search("--max-results", RESULTS, "--max-tokens", TOKENS)
    options = re.search(r"characters: (.*) gives them$", part, re.M)[1]
    assert 0 < len(references(part)) < RESULTS
    assert references(part) + references(search(*shlex.split(options))) == whole
