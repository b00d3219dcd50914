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
    """The row of the shipped model in table `model`, as in the first version."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    return database.execute("SELECT name, dimension, max_tokens, digest, background FROM docsearch.model")[0]


def tables_of(version: int, database: Database, model: tuple) -> None:
    """Creates the tables of that version."""
    with database.connect() as connection:
        connection.execute("SET search_path TO pg_catalog, pg_temp")
        for number, script in enumerate(VERSIONS[:version], 1):
            connection.execute(script.read_text())
            connection.execute("INSERT INTO docsearch.schema_version (version) VALUES (%s)", [number])
        # The licence as read by versions before 11, and a row by hand that they accepted.
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


# Attached tables of version 10: with triggers, but without comments that confirm them.
ATTACHED = """
    CREATE TABLE article (id bigint PRIMARY KEY, title text, body text);
    INSERT INTO docsearch.attached_table (id, project_id, source, source_root, slug_prefix, key_column, title_column, body_column,
                                          access, reads_as, writes_as)
    SELECT 7, p.id, 'article', 'table:public.article', 'article/', 'id', 'title', 'body', 'public', current_user, current_user
    FROM docsearch.project p;
    CREATE TRIGGER docsearch_7_insert AFTER INSERT ON article REFERENCING NEW TABLE AS docsearch_new
        FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('7');
    CREATE TRIGGER docsearch_7_update AFTER UPDATE ON article REFERENCING OLD TABLE AS docsearch_old NEW TABLE AS docsearch_new
        FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('7');
    CREATE TRIGGER docsearch_7_delete AFTER DELETE ON article REFERENCING OLD TABLE AS docsearch_old
        FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('7');
    CREATE TRIGGER docsearch_7_truncate AFTER TRUNCATE ON article
        FOR EACH STATEMENT EXECUTE FUNCTION docsearch.attached_changed('7')"""
CONFIRMED = "SELECT count(*) FROM pg_description WHERE description LIKE '%\"reads_as\"%'"


@pytest.fixture
def attached(new_database, model) -> Database:
    database = new_database()
    tables_of(10, database, model)
    database.execute(ATTACHED)
    return database


def test_attached_tables_continue_if_only_the_owner_of_our_tables_can_have_written_the_rows(attached):
    attached.execute("SELECT docsearch.migrate()")
    attached.execute("SELECT docsearch.repair()")
    attached.execute("INSERT INTO article VALUES (1, 'Train', 'From the station.')")
    assert attached.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert attached.execute("SELECT error FROM docsearch.attached_table") == [(None,)]
    assert attached.execute("SELECT slug FROM docsearch.document WHERE source_root IS NOT NULL") == [("article/1",)]
    assert attached.execute(CONFIRMED) == [(2,)]


@pytest.mark.parametrize("version", [10, 11])
def test_changes_that_were_noted_before_are_kept(new_database, model, version):
    database = new_database()
    tables_of(version, database, model)
    database.execute(ATTACHED if version == 10 else ATTACHED.replace("current_user", "current_user::regrole"))
    database.execute("UPDATE docsearch.attached_table SET loading = false")
    database.execute("INSERT INTO article VALUES (1, 'Train', 'From the station.'), (2, 'Bus', 'From the square.')")
    database.execute("DELETE FROM article WHERE id = 2")
    noted = "SELECT key, noted_at FROM docsearch.table_change ORDER BY key, noted_at"
    before = database.execute(noted)
    assert [key for key, _ in before] == ["1", "2", "2"]
    with database.connect() as connection:
        # The worker sees them after the commit.
        connection.execute("BEGIN")
        assert connection.execute("SELECT docsearch.migrate()").fetchone() == (len(VERSIONS),)
        assert connection.execute(noted).fetchall() == before
        # It creates the table of vectors, which is missing here.
        connection.execute("SELECT docsearch.repair()")
        connection.execute("COMMIT")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(version == 10,)]
    if version == 11:
        # Nothing has confirmed the attachment, so the changes wait.
        assert database.execute(noted) == before
        return
    assert database.execute("SELECT slug FROM docsearch.document WHERE source_root IS NOT NULL") == [("article/1",)]


@pytest.mark.parametrize(("doubt", "undone"), [
    ("GRANT pg_write_all_data TO versions_etl", "REVOKE pg_write_all_data FROM versions_etl"),
    ("GRANT UPDATE ON docsearch.attached_table TO versions_etl", ""),
    ("GRANT UPDATE (body_column) ON docsearch.attached_table TO versions_etl", ""),
    ("GRANT TRIGGER ON docsearch.attached_table TO versions_etl", ""),
    ("ALTER TABLE docsearch.attached_table OWNER TO versions_etl", ""),
    ("DROP TRIGGER docsearch_7_delete ON article", ""),
    ("UPDATE docsearch.attached_table SET rows_where = 'true'", ""),
    ("UPDATE docsearch.attached_table SET writes_as = 'no such role'", ""),
])
def test_attached_tables_wait_if_others_may_have_written_the_rows(attached, doubt, undone):
    attached.execute("CREATE ROLE versions_etl")
    try:
        attached.execute(doubt)
        attached.execute("SELECT docsearch.migrate()")
        attached.execute("SELECT docsearch.repair()")
        attached.execute("INSERT INTO article VALUES (1, 'Train', 'From the station.')")
        assert attached.execute("SELECT docsearch.wait_for_index()") == [(False,)]
        assert attached.execute("SELECT problem, object FROM docsearch.check() WHERE problem LIKE 'attached%'") == [
            ("attached table unread", "public.article")]
        assert attached.execute("SELECT count(*) FROM docsearch.document WHERE source_root IS NOT NULL") == [(0,)]
        assert attached.execute(CONFIRMED) == [(0,)]
        # After attaching again, its documents are still there and nothing is lost.
        attached.execute("ALTER TABLE docsearch.attached_table OWNER TO CURRENT_USER")
        attached.execute("SELECT docsearch.detach_table('article', keep_documents => true)")
        attached.execute("SELECT docsearch.attach_table('article', project => 'kit', public => true)")
        assert attached.execute("SELECT docsearch.wait_for_index()") == [(True,)]
        assert attached.execute("SELECT slug FROM docsearch.document WHERE source_root IS NOT NULL") == [("article/1",)]
    finally:
        if undone:
            attached.execute(undone)
        attached.execute("DROP OWNED BY versions_etl")
        attached.execute("DROP ROLE versions_etl")


@pytest.mark.parametrize(("doubt", "undone", "counts"), [
    ("SELECT 1", "", True),
    ("GRANT pg_write_all_data TO versions_etl", "REVOKE pg_write_all_data FROM versions_etl", False),
    ("GRANT INSERT ON docsearch.model_grant TO versions_etl", "", False),
    ("GRANT UPDATE (role) ON docsearch.model_grant TO versions_etl", "", False),
])
def test_grants_of_models_stay_valid_if_only_the_owner_can_have_written_them(new_database, model, doubt, undone, counts):
    database = new_database()
    tables_of(11, database, model)
    database.execute("CREATE ROLE versions_etl")
    try:
        database.execute(doubt)
        database.execute("UPDATE docsearch.model SET remote = true")
        database.execute("INSERT INTO docsearch.model_grant SELECT id, 'versions_etl' FROM docsearch.model")
        database.execute("SELECT docsearch.migrate()")
        confirmed = database.execute("SELECT d.description LIKE '%versions_etl%' FROM pg_type t JOIN pg_description d ON d.objoid = t.oid "
                                     "WHERE t.typnamespace = 'docsearch'::regnamespace AND t.typname LIKE 'model_grant_%'")
        assert confirmed == ([(True,)] if counts else [])
    finally:
        if undone:
            database.execute(undone)
        database.execute("DROP OWNED BY versions_etl")
        database.execute("DROP ROLE versions_etl")
