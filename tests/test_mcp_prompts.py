"""Prompts of `docsearch mcp`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Database
from front import serving
from mcp import MCPError
from mcp.types import PromptReference
from test_mcp import VERSIONS, connected, program, run, text

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")


@pytest.fixture(scope="module")
def address(documented: Database) -> Iterator[str]:
    with serving(documented, "--rate", "0", command="mcp") as address:
        yield f"{address}/mcp"


@pytest.mark.parametrize("mode", VERSIONS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_prompt_has_an_assistant_write_questions(documented: Database, address: str, transport: str, mode: str) -> None:
    """Each listed section can be loaded, has no question, and has the name of a questions file."""
    def listed(prompt: str) -> list[dict[str, str]]:
        return [json.loads(line) for line in re.search(r"```json\n(.*?)\n```", prompt, re.S)[1].splitlines()]

    async def work() -> None:
        async with connected(address if transport == "http" else program(documented), mode) as client:
            (prompt,) = (await client.list_prompts()).prompts
            assert prompt.name == "write_questions"
            assert [(argument.name, argument.required) for argument in prompt.arguments] == [("project", True)]
            (message,) = (await client.get_prompt("write_questions", {"project": "kit"})).messages
            assert message.role == "user"
            skill = (Path(__file__).parent.parent / "skills/docsearch-questions/SKILL.md").read_text()
            assert skill[skill.index("## Rules"):].strip() in message.content.text
            sections = listed(message.content.text)
            assert {"file": "guides/retry", "heading": "Backoff", "reference": "kit/guides/retry#backoff"} in sections
            for section in sections:
                await text(client, "load_doc", slug=section["reference"])
            documented.execute("""SELECT docsearch.set_questions('kit', 'guides/retry',
                                      '[{"anchor": "backoff", "question": "how long does it wait"}]')""")
            try:
                (message,) = (await client.get_prompt("write_questions", {"project": "kit"})).messages
                assert [entry for entry in sections if entry not in listed(message.content.text)] == [
                    {"file": "guides/retry", "heading": "Backoff", "reference": "kit/guides/retry#backoff"}]
            finally:
                documented.execute("SELECT docsearch.set_questions('kit', 'guides/retry', '[]')")
            for name, arguments, hint in (("write_questions", {"project": "kti"}, "Known projects: kit, other"),
                                          ("write_questions", {}, "project must not be missing"),
                                          ("other", {"project": "kit"}, "unknown prompt")):
                with pytest.raises(MCPError, match=hint):
                    await client.get_prompt(name, arguments)
            reference = PromptReference(type="ref/prompt", name="write_questions")
            projects = await client.complete(reference, {"name": "project", "value": "k"})
            assert projects.completion.values == ["kit"]

    run(work())
