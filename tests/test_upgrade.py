"""Tables of every earlier version of the extension, with a project and a document."""

from pathlib import Path

import pytest
from conftest import Database

VERSIONS = sorted((Path(__file__).resolve().parent.parent / "sql" / "schema").glob("*.sql"))
LICENCE = "all-MiniLM-L6-v2, published by the sentence-transformers project as"
SEARCH = "SELECT slug FROM search_docs('where does the ferry leave?', 'kit')"
DOCUMENTS = "SELECT slug, title, body, metadata, published_at, created_at FROM docsearch.document"


@pytest.fixture(scope="module")
def model(new_database) -> tuple:
    """What the table `model` has known of the shipped model from the first version on."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    return database.execute("SELECT name, dimension, max_tokens, digest, background FROM docsearch.model")[0]


def tables_of(version: int, database: Database, model: tuple) -> None:
    """Makes the tables as that version made them."""
    with database.connect() as connection:
        connection.execute("SET search_path TO pg_catalog, pg_temp")
        for number, script in enumerate(VERSIONS[:version], 1):
            connection.execute(script.read_text())
            connection.execute("INSERT INTO docsearch.schema_version (version) VALUES (%s)", [number])
        # Its licence as versions before 11 read it, and a row by hand that they took.
        for name in (model[0], "../elsewhere")[:1 + (version < 11)]:
            connection.execute("INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background, licence) "
                               "VALUES (%s, %s, %s, %s, %s, %s)", [name, *model[1:], LICENCE])
        connection.execute("INSERT INTO docsearch.project (name, title, model_id, text_config) "
                           "SELECT 'kit', 'Kit', id, 'docsearch.english' FROM docsearch.model WHERE name = %s", [model[0]])
        connection.execute("INSERT INTO docsearch.document (project_id, slug, title, body, content_hash) "
                           "SELECT id, 'ferry', 'Ferry', 'It leaves from the old harbour.', '' FROM docsearch.project")


@pytest.mark.parametrize("version", range(1, len(VERSIONS)))
def test_s3_31_tables_of_an_earlier_version_are_brought_up_to_date(new_database, model, version):
    database = new_database()
    tables_of(version, database, model)
    before = database.execute(DOCUMENTS)
    assert database.execute("SELECT docsearch.migrate()") == [(len(VERSIONS),)]
    if version < 11:
        assert database.execute("SELECT DISTINCT licence FROM docsearch.model") == [("Apache-2.0",)]
    database.execute("SELECT docsearch.repair()")
    assert database.problems() == []
    assert database.execute(DOCUMENTS) == before
    assert database.execute(SEARCH) == [("ferry",)]
    assert database.execute("SELECT docsearch.index_doc('kit', 'new', 'New', 'New')") == [("added",)]
