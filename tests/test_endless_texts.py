"""No text stops embedding: it is embedded, or it fails within docsearch.inference_text_limit and others go on.

These tests make a program hang, so they have a server of their own.
"""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import toolchain
from conftest import GUARD, Database, Site, own_server, page, wait_until
from inference import answered, plain, programs, running, uses_vectors
from psycopg.types.json import Jsonb

pytestmark = pytest.mark.any_server("texts are embedded by the inference program, which knows no server")

__all__ = ["plain"]

SEARCH = "SELECT similarity, notice FROM search_docs(%s)"
# One character of each script, and pieces of machine-made texts.
UNITS = {"latin": "é", "cyrillic": "я", "greek": "λ", "hebrew": "א", "arabic": "ب", "devanagari": "क", "tamil": "த",
         "thai": "การ", "lao": "ກ", "khmer": "ក", "burmese": "က", "hangul": "한", "han": "漢", "kana": "あ", "emoji": "🎉",
         "family": "👩\u200d👩\u200d👧", "flags": "🇩🇪", "mark": "\u0301", "nothing": "\u200b", "digits": "3141592653",
         "hex": "deadbeef", "dna": "GATTACA", "base64": "QmFzZTY0", "underscores": "_", "dots": ".", "equals": "="}
# Text before the run. The run is longer than one and than two pieces that are tokenised at once.
BEFORE = ("", " ", "t ", "An ordinary beginning. ", "\n\n", "\u3000")
LENGTHS = (8_300, 20_000)
# A model whose tokenizer looks up all parts of a word, which takes hours for this word.
SLOW, SLOW_WORD = "slow-words", "x" * 200_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(toolchain.model(), models / "all-MiniLM-L6-v2")
    shutil.copytree(toolchain.model(), models / SLOW)
    tokenizer = models / SLOW / "tokenizer.json"
    contents = json.loads(tokenizer.read_text())
    contents["model"]["max_input_chars_per_word"] = len(SLOW_WORD)
    tokenizer.write_text(json.dumps(contents))
    readable(models)
    with own_server("endless", **{"docsearch.model_directory": str(models)}) as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", page("button", "A control that starts an action."))
        yield own


def readable(directory: Path) -> None:
    """Makes files readable, since the server may run as another user."""
    for place in (*directory.parents[:2], directory, *directory.rglob("*")):
        place.chmod(place.stat().st_mode | (0o555 if place.is_dir() else 0o444))


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


def run(unit: str, length: int) -> str:
    """A run of this length in bytes."""
    return unit * (length // len(unit.encode()) + 1)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_text_of_any_characters_without_white_space_is_embedded(database, plain, unit):
    program = running(database)
    texts = [before + run(unit, length) for before in BEFORE for length in LENGTHS]
    vectors = plain.execute("SELECT array_length(docsearch.embed_passages(%s), 1)", texts)
    assert vectors == [(len(texts),)]
    # A query has at most 8,000 characters.
    for query in {text[:8_000] for text in texts}:
        plain.execute(SEARCH, query)
    documents = [page(f"run/{number}", text, title="A run") for number, text in enumerate(texts[::4])]
    with database.connect() as connection:
        connection.execute("LOAD 'pg_docsearch'")
        connection.execute("SET docsearch.index_mode = 'deferred'")
        rows = connection.execute("SELECT action FROM docsearch.index_docs('kit', %s)", [Jsonb(documents)])
        assert {action for action, in rows.fetchall()} <= {"added", "changed"}
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert uses_vectors(database)
    assert answered(database)["pid"] == program


@pytest.fixture
def limited(site: Site) -> Iterator[None]:
    site.configure(inference_text_limit="3s")
    try:
        yield
    finally:
        site.configure(inference_text_limit="10min")


@pytest.mark.usefixtures("limited")
def test_a_text_that_takes_too_long_fails_and_others_continue(site, database, plain):
    former = running(database)
    with ThreadPoolExecutor(2) as pool:
        passage = pool.submit(plain.execute, "SELECT docsearch.embed_passages(ARRAY[%s], %s)", SLOW_WORD, SLOW)
        query = pool.submit(plain.execute, "SELECT docsearch.embed(%s, %s)", SLOW_WORD, SLOW)
        for failed in (passage, query):
            problem = failed.exception(GUARD)
            assert isinstance(problem, psycopg.errors.ExternalRoutineException)
            assert "3 s" in problem.diag.message_primary
            assert "docsearch.inference_text_limit" in problem.diag.message_hint
        assert uses_vectors(database)
    # Nothing else ends the busy threads.
    wait_until(lambda: former not in programs(site))
    assert uses_vectors(database)
    assert "a thread is stuck" in answered(database)["last_error"]

