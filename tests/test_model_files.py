"""Changed files of a model, or of the library that runs it.

The paths are settings of the server, so these tests have a server of their own.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import conftest
import psycopg
import pytest
import toolchain
from conftest import Database, own_server, page
from psycopg.conninfo import make_conninfo

DEFAULT = "all-MiniLM-L6-v2"
GRAPH, TOKENIZER = f"{DEFAULT}/onnx/model.onnx", f"{DEFAULT}/tokenizer.json"
TINY_GRAPH = toolchain.ROOT / "crates/docsearch-inference/tests/fixtures/token_embeddings.onnx"
PLAIN_ROLE = "docsearch_plain"
# Two dimensions and four words; a text with "infinite" has no finite vector.
TINY = {
    "config.json": {"max_position_embeddings": 64},
    "modules.json": [{"path": "", "type": "sentence_transformers.models.Transformer"},
                     {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}],
    "1_Pooling/config.json": {"word_embedding_dimension": 2, "pooling_mode_mean_tokens": True},
    "tokenizer.json": {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {"type": "WordLevel", "unk_token": "[UNK]",
                  "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
                            "red": 4, "green": 5, "infinite": 6}},
    },
}


def write_tiny(directory: Path) -> None:
    for name, contents in TINY.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(contents))
    (directory / "onnx").mkdir()
    shutil.copy(TINY_GRAPH, directory / "onnx/model.onnx")


@dataclass
class Site(conftest.Site):
    """A server with models of its own."""

    models: Path

    def forget(self) -> None:
        """Unloads the models, since loaded ones stay. A new backend has none."""
        if self.instance.settings.get("docsearch.inference") != "in_process":
            self.restart_inference()

    @contextmanager
    def changed(self, file: str, change: Callable[[Path], object]) -> Iterator[None]:
        """Changes a file of a model for a while."""
        path = self.models / file
        kept = path.with_suffix(".kept")
        shutil.copy(path, kept)
        try:
            change(path)
            self.forget()
            yield
        finally:
            kept.replace(path)
            self.forget()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("model-files") as own:
        models = own.instance.home / "models"
        shutil.copytree(toolchain.model(), models / DEFAULT)
        write_tiny(models / "tiny")
        for path in (models, *models.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        own.configure(model_directory=models)
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", page("button", "A control that starts an action."),
                           page("slider", "A control for a number."))
        yield Site(own.instance, own.database, models)
        shutil.rmtree(models)


@pytest.fixture(scope="module")
def database(site: Site) -> Database:
    return site.database


@pytest.fixture(params=["service", "in_process"])
def everywhere(request: pytest.FixtureRequest, site: Site) -> Iterator[None]:
    """Runs a test twice: with models in the program, and in each backend."""
    site.configure(inference=request.param)
    yield
    site.configure(inference="service")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def garble(path: Path) -> None:
    path.write_bytes(b"\x00garbled\xff" * 1000)


def dense_rows(database: Database) -> list[bool]:
    """Which results of a search have a similarity."""
    return [row[0] is not None
            for row in database.execute("SELECT similarity FROM search_docs('starts an action', 'kit')")]


def assert_keywords_only(database: Database) -> None:
    """Checks that a search uses keywords only, with a notice."""
    rows = database.execute("SELECT slug, similarity, keyword_score, notice "
                            "FROM search_docs('starts an action', 'kit')")
    assert rows[0][0] == "button"
    assert rows[0][2] > 0
    for _, similarity, _, notice in rows:
        assert similarity is None
        assert notice.startswith("vector_unavailable: ")


def assert_indexing_refused(database: Database, sqlstates: set[str]) -> None:
    """Checks that nothing is stored without its vector."""
    count = "SELECT count(*), (SELECT count(*) FROM docsearch.chunk) FROM docsearch.document"
    before = database.execute(count)
    with pytest.raises(psycopg.Error) as refused:
        database.execute("SELECT docsearch.index_doc('kit', 'new', 'New', 'A new page.')")
    assert refused.value.sqlstate in sqlstates
    assert refused.value.diag.message_hint
    assert "panick" not in str(refused.value)
    assert database.execute(count) == before


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("file, damage, sqlstate", [
    (GRAPH, Path.unlink, "58P01"),
    (GRAPH, empty, "XX001"),
    (GRAPH, halve, "XX001"),
    (GRAPH, garble, "XX001"),
    (TOKENIZER, Path.unlink, "58P01"),
    (TOKENIZER, empty, "XX001"),
    (TOKENIZER, halve, "XX001"),
], ids=lambda value: getattr(value, "__name__", str(value).rsplit("/", 1)[-1]))
def test_s3_25_a_damaged_model_leaves_keyword_search(site, database, file, damage, sqlstate):
    with site.changed(file, damage):
        assert_keywords_only(database)
        assert_indexing_refused(database, {sqlstate})
    assert all(dense_rows(database))


@pytest.mark.usefixtures("everywhere")
def test_s3_25_a_model_that_another_has_replaced_is_not_used(site, database):
    """Its vectors cannot be compared with stored ones."""
    whole, away = site.models / DEFAULT, site.models / "away"
    whole.rename(away)
    try:
        shutil.copytree(site.models / "tiny", whole)
        site.forget()
        assert_indexing_refused(database, {"55000"})
        assert_keywords_only(database)
    finally:
        shutil.rmtree(whole)
        away.rename(whole)
        site.forget()


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("path, sqlstate", [
    ("/nonexistent/libonnxruntime.so", "58P01"),
    ("/etc/passwd", "0A000"),
])
def test_s3_25_a_wrong_library_leaves_keyword_search(site, database, path, sqlstate):
    site.configure(onnxruntime_path=path)
    site.forget()
    try:
        assert_keywords_only(database)
        assert_indexing_refused(database, {sqlstate})
    finally:
        site.configure(onnxruntime_path="")
        site.forget()
    assert all(dense_rows(database))


@pytest.fixture(scope="module")
def plain(site: Site, database: Database) -> Database:
    """The same database, as a role with the right to search and no other."""
    database.execute(f"CREATE ROLE {PLAIN_ROLE} LOGIN")
    database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}')")
    return Database(make_conninfo(database.conninfo, user=PLAIN_ROLE))


@pytest.mark.parametrize("name", ["onnxruntime_path", "model_directory"])
def test_an_ordinary_role_neither_sets_nor_reads_the_paths(plain: Database, name: str):
    with plain.connect() as connection:
        connection.execute("SELECT docsearch.split_identifier('loadsTheLibrary')")
        for statement in (f"SET docsearch.{name} = '/tmp'", f"ALTER ROLE {PLAIN_ROLE} SET docsearch.{name} = '/tmp'",
                          f"ALTER SYSTEM SET docsearch.{name} = '/tmp'"):
            with pytest.raises((psycopg.errors.CantChangeRuntimeParam, psycopg.errors.InsufficientPrivilege)):
                connection.execute(statement)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SHOW docsearch.{name}")
        values = connection.execute("SELECT value FROM docsearch.settings() WHERE name = %s",
                                    [f"docsearch.{name}"]).fetchall()
        assert values in ([], [(None,)])


def test_an_ordinary_role_does_not_learn_the_paths_from_a_notice(site: Site, plain: Database):
    with site.changed(GRAPH, empty):
        rows = plain.execute("SELECT notice FROM search_docs('action', 'kit')")
    assert rows
    for notice, in rows:
        assert notice.startswith("vector_unavailable: ")
        assert str(site.models) not in notice


@pytest.mark.parametrize("name", ["onnxruntime_path", "model_directory"])
def test_a_path_set_before_the_library_was_loaded_is_ignored(site, plain: Database, name: str):
    """Until then Postgres lets anyone set it: a role could have the server load its own library."""
    with plain.connect(options=f"-c docsearch.{name}=/tmp/own") as connection:
        connection.execute(f"SET docsearch.{name} = '/tmp/own'")
        rows = connection.execute("SELECT similarity, notice FROM search_docs('action', 'kit')").fetchall()
    assert rows
    assert all(similarity is not None and "vector_unavailable" not in (notice or "")
               for similarity, notice in rows)


@pytest.fixture(scope="module")
def tiny(database: Database) -> str:
    """A project with a model of two dimensions, which knows only two words."""
    with pytest.raises(psycopg.errors.ExternalRoutineException, match="test questions"):
        database.execute("SELECT docsearch.create_project('tiny', model => 'tiny')")
    database.execute("SELECT docsearch.add_model('tiny', self_test => false)")
    database.execute("SELECT docsearch.create_project('tiny', model => 'tiny')")
    database.index("tiny", page("colours/red", "red"), page("colours/green", "green"))
    return "tiny"


def test_s3_4_each_model_has_vectors_of_its_own_dimension(database, tiny):
    dimensions = database.execute(
        "SELECT m.name, m.dimension, format_type(a.atttypid, a.atttypmod) FROM docsearch.model m "
        "JOIN pg_attribute a ON a.attrelid = format('docsearch.vector_%s', m.id)::regclass "
        "WHERE a.attname = 'embedding' ORDER BY m.id")
    assert dimensions == [(DEFAULT, 384, "halfvec(384)"), ("tiny", 2, "halfvec(2)")]
    with pytest.raises(psycopg.errors.DataException):
        database.execute("UPDATE docsearch.vector_2 SET embedding = '[1,2,3]'")


def test_s3_4_projects_of_different_models_are_searched_together(database, tiny):
    rows = database.execute("SELECT project, slug, similarity FROM search_docs('red button', max_results => 10)")
    assert {row[:2] for row in rows} == {
        ("kit", "button"), ("kit", "slider"), ("tiny", "colours/red"), ("tiny", "colours/green")}
    assert all(similarity is not None for *_, similarity in rows)


def test_s3_25_one_model_that_fails_does_not_silence_the_other(site, database, tiny):
    with site.changed(GRAPH, empty):
        rows = database.execute("SELECT project, similarity, notice FROM search_docs('red button', max_results => 10)")
    similarities = {project: {row[1] is not None for row in rows if row[0] == project} for project in ("kit", "tiny")}
    assert similarities == {"kit": {False}, "tiny": {True}}
    assert all(notice.startswith("vector_unavailable: ") for *_, notice in rows)


def test_a_page_without_a_finite_vector_does_not_affect_the_others(database, tiny):
    rows = database.index("tiny", page("colours/blue", "blue"), page("infinite", "infinite"))
    assert {row[0]: row[1] for row in rows} == {"colours/blue": "added", "infinite": "failed"}
    stored = "SELECT slug FROM docsearch.document WHERE slug IN ('colours/blue', 'infinite')"
    assert database.execute(stored) == [("colours/blue",)]
