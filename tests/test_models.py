"""Changing the model of a project while everything else continues.

Models are files of the server, so these tests have a server of their own.
"""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import numpy
import onnx
import psycopg
import pytest
import toolchain
from background import WORKER
from conftest import INFERENCE, Database, Site, event, halted, holding, kept_waiting_by, own_server, page, wait_until
from psycopg.conninfo import make_conninfo
from test_deferred import kill

DEFAULT = "all-MiniLM-L6-v2"
SMALL, DIMENSION = "small", 64
NONSENSE = "nonsense"
SHORT = "short"
PAGES = [page(f"p/{number:03}", f"Page {number}.\n\n## Part\n\nThe ferry number {number} leaves at noon.")
         for number in range(120)]
# Makes others wait that store a vector of the same chunk.
VECTOR_IN_THE_MIDDLE = """
    INSERT INTO docsearch.vector_{} (project_id, document_id, chunk_no, embedding)
    SELECT c.project_id, c.document_id, c.chunk_no, array_fill(1::real, ARRAY[384])::halfvec
    FROM docsearch.chunk c ORDER BY c.document_id, c.chunk_no OFFSET %s LIMIT 1"""
SEARCH = "SELECT slug, similarity FROM search_docs(%s, 'kit', max_results => 3)"


def write_small(source: Path, directory: Path) -> None:
    """The shipped model with its vectors projected to fewer components."""
    shutil.copytree(source, directory)
    graph_file = directory / "onnx/model.onnx"
    model = onnx.load(graph_file)
    output = model.graph.output[0]
    width = output.type.tensor_type.shape.dim[-1].dim_value
    directions, _ = numpy.linalg.qr(numpy.random.default_rng(1).normal(size=(width, DIMENSION)))
    model.graph.initializer.append(onnx.numpy_helper.from_array(directions.astype("float32"), "projection"))
    whole = output.name + "_whole"
    for node in model.graph.node:
        node.output[:] = [whole if name == output.name else name for name in node.output]
        node.input[:] = [whole if name == output.name else name for name in node.input]
    model.graph.node.append(onnx.helper.make_node("MatMul", [whole, "projection"], [output.name]))
    output.type.tensor_type.shape.dim[-1].dim_value = DIMENSION
    onnx.save(model, graph_file)
    pooling_file = directory / "1_Pooling/config.json"
    pooling = json.loads(pooling_file.read_text()) | {"word_embedding_dimension": DIMENSION}
    pooling_file.write_text(json.dumps(pooling))


def write_short(source: Path, directory: Path) -> None:
    """A model that reads only a quarter of the tokens."""
    shutil.copytree(source, directory)
    file = directory / "sentence_bert_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"max_seq_length": 64}))


def write_nonsense(source: Path, directory: Path) -> None:
    """The shipped model with shuffled weights, as after a wrong export or on a faulty processor."""
    shutil.copytree(source, directory)
    graph_file = directory / "onnx/model.onnx"
    model = onnx.load(graph_file)
    weights = {node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"}
    random = numpy.random.default_rng(1)
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            mixed = random.permutation(onnx.numpy_helper.to_array(tensor), axis=0)
            tensor.CopyFrom(onnx.numpy_helper.from_array(mixed, tensor.name))
    onnx.save(model, graph_file)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(toolchain.model(), models / DEFAULT)
    write_small(models / DEFAULT, models / SMALL)
    write_nonsense(models / DEFAULT, models / NONSENSE)
    write_short(models / SMALL, models / SHORT)
    (models / "linked").symlink_to(models / SMALL)
    (models / "broken").mkdir()
    for path in [*models.parents[:3], models, *models.rglob("*")]:
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    with own_server("models", **{"docsearch.model_directory": models}) as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", *PAGES)
        yield own


@pytest.fixture
def database(site: Site) -> Iterator[Database]:
    yield site.database
    assert site.database.problems() == []


def model_of(database: Database) -> str:
    return database.execute("SELECT m.name FROM docsearch.project p JOIN docsearch.model m ON m.id = p.model_id "
                            "WHERE p.name = 'kit'")[0][0]


def vectors(database: Database) -> dict[str, int]:
    """Vectors by model."""
    try:
        return vectors_now(database)
    except psycopg.errors.UndefinedTable:
        return {}


def vectors_now(database: Database) -> dict[str, int]:
    tables = database.execute("SELECT m.name, m.id FROM docsearch.model m "
                              "WHERE to_regclass('docsearch.vector_' || m.id) IS NOT NULL")
    return {name: database.execute(f"SELECT count(*) FROM docsearch.vector_{number}")[0][0] for name, number in tables}


def test_a_model_is_checked_and_recorded(database):
    assert database.execute("SELECT docsearch.add_model('small') > 0") == [(True,)]
    recorded = "SELECT dimension, length(digest), licence FROM docsearch.model WHERE name = 'small'"
    assert database.execute(recorded) == [(DIMENSION, 64, "Apache-2.0")]
    assert database.execute("SELECT docsearch.embedding_dimension('small')") == [(DIMENSION,)]
    database.execute("SELECT docsearch.add_model('alias', 'small')")
    assert database.execute("SELECT docsearch.embedding_dimension('alias')") == [(DIMENSION,)]
    for name, error in [("nowhere", psycopg.errors.UndefinedObject), ("../etc", psycopg.errors.UndefinedObject)]:
        with pytest.raises(error):
            database.execute("SELECT docsearch.add_model(%s)", name)
    with pytest.raises(psycopg.Error) as refused:
        database.execute("SELECT docsearch.add_model('broken')")
    assert "broken" in str(refused.value)
    assert database.execute("SELECT name FROM docsearch.model ORDER BY name") == [("alias",), (DEFAULT,), ("small",)]


def test_a_name_has_the_files_of_one_model_after_concurrent_calls(database):
    def add(directory: str) -> str:
        try:
            database.execute("SELECT docsearch.add_model('twin', %s)", directory)
        except psycopg.errors.DuplicateObject as refused:
            assert "with other files" in refused.diag.message_primary
            return "refused"
        return directory

    with ThreadPoolExecutor(2) as pool:
        outcomes = set(pool.map(add, [SMALL, SHORT]))
    directory, = outcomes - {"refused"}
    assert len(outcomes) == 2
    assert database.execute("SELECT directory FROM docsearch.model WHERE name = 'twin'") == [(directory,)]
    database.execute("DELETE FROM docsearch.model WHERE name = 'twin'")


def test_a_link_below_the_directory_of_models_is_the_administrators(database):
    """A user who can create one there may read the files anyway."""
    number = database.execute("SELECT docsearch.add_model('linked')")[0][0]
    assert database.execute("SELECT docsearch.embedding_dimension('linked')") == [(DIMENSION,)]
    database.execute("DELETE FROM docsearch.model WHERE id = %s", number)


def test_a_model_whose_vectors_do_not_distinguish_texts_is_refused(database):
    """The law: a registered model gives useful searches, or a warning was raised."""
    for statement in ("SELECT docsearch.add_model('nonsense')", "SELECT docsearch.set_model('kit', 'nonsense')",
                      "SELECT docsearch.create_project('new', model => 'nonsense')"):
        with pytest.raises(psycopg.errors.ExternalRoutineException) as refused:
            database.execute(statement)
        assert "of 12 test questions" in refused.value.diag.message_primary
        assert "float graph" in refused.value.diag.message_hint
        assert "self_test => false" in refused.value.diag.message_hint
    assert database.execute("SELECT count(*) FROM docsearch.model WHERE name = 'nonsense'") == [(0,)]
    for statement in ("SELECT docsearch.add_model('nonsense', self_test => false)",
                      "SELECT docsearch.test_model('nonsense')"):
        with database.connect() as connection:
            warnings = []
            connection.add_notice_handler(lambda notice: warnings.append((notice.severity, notice.message_primary, notice.message_hint)))
            connection.execute(statement)
        (severity, message, hint), = warnings
        assert severity == "WARNING" and "does not distinguish texts" in message and "float graph" in hint
    database.execute("DELETE FROM docsearch.model WHERE name = 'nonsense'")
    assert "finds the passages of 12 of 12" in database.execute("SELECT docsearch.test_model('small')")[0][0]
    assert "finds the passages of 12 of 12" in database.execute("SELECT docsearch.test_model()")[0][0]


def test_searches_go_on_while_a_project_gets_another_model(site, database):
    before = database.execute(SEARCH, "ferry at noon")
    stop = Event()

    def search() -> list[int]:
        counts = []
        with database.connect() as connection:
            while not counts or not stop.is_set():
                rows = connection.execute(SEARCH, ["ferry at noon"]).fetchall()
                counts.append(sum(similarity is not None for _, similarity in rows))
        return counts

    def write() -> None:
        with database.connect() as connection:
            for number in range(20):
                connection.execute("SELECT docsearch.index_doc('kit', %s, 'New', %s)",
                                   [f"new/{number}", f"# New\n\nA page that came meanwhile, number {number}."])

    with ThreadPoolExecutor() as pool:
        searching, writing = pool.submit(search), pool.submit(write)
        database.execute("SELECT docsearch.set_model('kit', 'small')")
        assert database.execute("SELECT switching_to FROM docsearch.index_progress('kit')") in ([("small",)], [(None,)])
        writing.result()
        assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
        stop.set()
        assert set(searching.result()) == {3}, "a search had no vectors"
    assert model_of(database) == "small"
    chunks = database.execute("SELECT count(*) FROM docsearch.chunk")[0][0]
    wait_until(lambda: vectors(database) == {"small": chunks})
    assert [slug for slug, _ in database.execute(SEARCH, "ferry at noon")] != []
    assert len(before) == 3
    # Nothing has to be embedded again for the new model.
    assert {row[1] for row in database.index("kit", *PAGES)} == {"unchanged"}


def test_a_killed_switch_continues(database):
    chunks = database.execute("SELECT count(*) FROM docsearch.chunk")[0][0]
    program, = database.execute("SELECT pid FROM docsearch.status()")[0]
    with database.connect(autocommit=False) as connection, ExitStack() as held:
        connection.execute("SELECT docsearch.set_model('kit', %s)", [DEFAULT])
        with halted(program):
            connection.commit()
            wait_until(lambda: INFERENCE in [event(database, pid) for pid, in database.execute(WORKER)])
            number, = database.execute("SELECT id FROM docsearch.model WHERE name = %s", DEFAULT)[0]
            holder = held.enter_context(holding(database, VECTOR_IN_THE_MIDDLE.format(number), chunks // 2))
        worker, = wait_until(lambda: kept_waiting_by(database, holder))
        assert 0 < vectors(database)[DEFAULT] < chunks
        kill(database, worker)
    assert model_of(database) == SMALL
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert model_of(database) == DEFAULT
    wait_until(lambda: vectors(database) == {DEFAULT: chunks})


def test_a_switch_can_be_cancelled_and_a_failure_is_reported(site, database):
    with pytest.raises(psycopg.errors.UndefinedObject):
        database.execute("SELECT docsearch.set_model('kit', 'nowhere')")
    database.execute("SELECT docsearch.set_model('kit', %s)", DEFAULT)
    assert database.execute("SELECT next_model_id FROM docsearch.project WHERE name = 'kit'") == [(None,)]
    database.execute("CREATE ROLE finch LOGIN")
    database.execute("SELECT docsearch.grant_usage('finch')")
    reader = Database(make_conninfo(database.conninfo, user="finch"))
    for statement in ("SELECT docsearch.set_model('kit', 'small')", "SELECT docsearch.add_model('small')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(statement)


LONG = [page(f"long/{number}", "\n\n".join(
    [f"# Long {number}\n\nWhat this page is about."]
    + [f"## Part {part}\n\n" + " ".join(f"Sentence {sentence} of part {part} says that ferry {number} leaves." for sentence in range(number * 4))
       for part in range(6)])) for number in range(1, 12)]
# Everything that searches read of a project's documents.
INDEXED = """
    SELECT d.slug, d.chunk_count, d.term_count, c.chunk_no, c.kind, c.heading_path, c.anchor, c.body, c.token_count, c.term_count,
           c.document_term_count, c.input_hash, c.terms::text, v.embedding::text
    FROM docsearch.project p JOIN docsearch.document d ON d.project_id = p.id
    JOIN docsearch.chunk c ON (c.project_id, c.document_id) = (d.project_id, d.id)
    LEFT JOIN docsearch.vector_{} v ON (v.project_id, v.document_id, v.chunk_no) = (c.project_id, c.document_id, c.chunk_no)
    WHERE p.name = '{}' ORDER BY d.slug, c.chunk_no"""


def indexed(database: Database, project: str) -> list[tuple]:
    model, = database.execute("SELECT model_id FROM docsearch.project WHERE name = %s", project)[0]
    return database.execute(INDEXED.format(model, project))


def test_a_project_that_gets_a_model_is_as_one_that_was_created_with_it(database):
    """The same documents and model give the same index, whatever the previous model."""
    for name, model in (("switched", DEFAULT), ("shorter", SHORT), ("longer", DEFAULT)):
        database.execute("SELECT docsearch.create_project(%s, model => %s)", name, model)
        assert {row[1] for row in database.index(name, *LONG)} == {"added"}
    assert len(indexed(database, "shorter")) > 1.5 * len(indexed(database, "longer"))
    for model, same in ((SHORT, "shorter"), (SMALL, None), (DEFAULT, "longer"), (SHORT, "shorter")):
        database.execute("SELECT docsearch.set_model('switched', %s)", model)
        assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
        assert database.execute("SELECT waiting, failed, switching_to, last_error FROM docsearch.index_progress('switched')") == [
            (0, 0, None, None)]
        if same is not None:
            assert indexed(database, "switched") == indexed(database, same)
    for name in ("switched", "shorter", "longer"):
        database.execute("SELECT docsearch.drop_project(%s)", name)
    # Vectors of unused models are deleted some seconds later.
    wait_until(lambda: database.problems() == [])
