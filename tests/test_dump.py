"""pg_dump carries everything: a restored database answers as the one it came from."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from conftest import CREATE_EXTENSION, Database, page
from psycopg import sql

READER = "docsearch_dump_reader"
QUERIES = ("Button in SwiftUI", "knob", "btn", "AsyncImagePhase.failure", "how do I load a picture", "@>")
PAGES = (
    page("swiftui/button", "A control that starts an action.\n\n## Style\n\nUse `buttonStyle(_:)`.",
         category="controls", metadata={"platform": ["ios", "macos"]}),
    page("swiftui/asyncimage", "A view that loads a picture and shows it.", category="views"),
    page("swiftui/asyncimagephase/failure", "An image failed to load: case `failure(any Error)`."),
    page("secret/roadmap", "Button plans for next year.", category="secret"),
)
STATISTICS = """
    SELECT project_id, lexeme, sum(chunks), sum(documents) FROM docsearch.term_stat
    GROUP BY project_id, lexeme HAVING sum(chunks) <> 0 ORDER BY project_id, lexeme"""
TOTALS = """
    SELECT project_id, sum(documents), sum(document_words), sum(chunks), sum(chunk_words)
    FROM docsearch.project_stat GROUP BY project_id ORDER BY project_id"""
POLICIES = """
    SELECT tablename, policyname, cmd, qual FROM pg_policies
    WHERE schemaname = 'docsearch' ORDER BY tablename, policyname"""
ROW_SECURITY = """
    SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class
    WHERE relnamespace = 'docsearch'::regnamespace AND relkind = 'r' ORDER BY relname"""
GRANTS = """
    SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'docsearch'::regnamespace
    UNION ALL SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname = 'docsearch'
    ORDER BY relname"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'docsearch' ORDER BY indexdef"
COMMENTS = """
    SELECT c.relname, d.objsubid, d.description FROM pg_description d
    JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    WHERE c.relnamespace = 'docsearch'::regnamespace ORDER BY c.relname, d.objsubid"""
POSTINGS = "SELECT * FROM docsearch.posting ORDER BY project_id, segment, bucket, part"
SEGMENTS = "SELECT * FROM docsearch.posting_segment ORDER BY project_id, segment"
PENDING = "SELECT * FROM docsearch.posting_pending ORDER BY project_id, document_id"
MODELS = "SELECT * FROM docsearch.model ORDER BY id"


def results(database: Database, role: str | None = None) -> list[list[tuple]]:
    """All columns of all results, which contain no times."""
    with database.connect() as connection:
        if role:
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
        return [connection.execute("SELECT * FROM search_docs(%s)", [query]).fetchall()
                for query in QUERIES]


def fill(database: Database) -> None:
    """A project with an index, a policy and a grant of its own, and a second project."""
    database.execute("SELECT docsearch.create_project('kit', root_url => 'docs/kit')")
    database.execute("SELECT docsearch.create_project('other', text_config => 'docsearch.simple')")
    database.index("kit", *PAGES)
    database.index("other", page("button", "Another button, to be changed."))
    database.index("other", page("button", "Another button, changed."))
    # One project with all of its postings, and one with a document that is pending.
    database.execute("SELECT docsearch.finish_load('kit')")
    database.execute(f"SELECT docsearch.grant_usage('{READER}')")
    database.execute("CREATE INDEX own_index ON docsearch.document (lower(title))")
    database.execute("DELETE FROM docsearch.synonym WHERE term = 'btn'")
    database.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('knob', 'button')")
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute("CREATE POLICY no_secrets ON docsearch.document FOR SELECT "
                     "USING (category IS DISTINCT FROM 'secret')")


@pytest.fixture(scope="module")
def reader(database: Database) -> Iterator[str]:
    """A role that may search. Roles belong to the server, not to a database."""
    drop = sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(READER))
    with database.connect() as connection:
        connection.execute(drop)
        connection.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(READER)))
    yield READER


@pytest.fixture(scope="module")
def original(database: Database, reader: str) -> Database:
    fill(database)
    return database


@pytest.fixture(scope="module", params=["plain", "custom"])
def restored(request, original: Database, new_database: Callable[..., Database],
             tmp_path_factory) -> Database:
    """The original, dumped and restored without a single error."""
    file = tmp_path_factory.mktemp("dump") / "dump"
    original.run("pg_dump", f"--format={request.param}", f"--file={file}")
    copy = new_database(extension=False)
    if request.param == "plain":
        copy.run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={file}")
    else:
        copy.run("pg_restore", "--exit-on-error", file)
    return copy


def test_results_are_the_same(original: Database, restored: Database):
    found = results(original)
    assert found[0][0][1] == "swiftui/button"
    assert results(restored) == found


@pytest.mark.parametrize("catalogued", [MODELS, STATISTICS, TOTALS, POLICIES, ROW_SECURITY, GRANTS,
                                        INDEXES, COMMENTS, POSTINGS, SEGMENTS, PENDING],
                         ids=["models", "term statistics", "project statistics", "policies",
                              "row security", "grants", "indexes", "comments", "postings", "segments",
                              "pending documents"])
def test_objects_of_the_tables_are_the_same(original, restored, catalogued):
    expected = original.execute(catalogued)
    assert expected
    assert restored.execute(catalogued) == expected


def test_the_index_that_the_user_added_is_there(restored: Database):
    assert restored.execute("SELECT to_regclass('docsearch.own_index') IS NOT NULL") == [(True,)]


def test_the_policy_still_hides(original: Database, restored: Database, reader: str):
    def secrets(found):
        return [row for rows in found for row in rows if row[1] == "secret/roadmap"]

    assert secrets(results(restored))
    found = results(restored, reader)
    assert not secrets(found)
    assert found == results(original, reader)


def test_keywords_are_still_found_through_the_index(restored: Database):
    """The planner chooses the index, once there are more rows than fit in a few blocks."""
    with restored.connect(autocommit=False) as connection:
        connection.execute("INSERT INTO docsearch.document (project_id, slug, title, body, content_hash) "
                           "SELECT 1, 'many/' || n, 'Many', '', '' FROM generate_series(1, 3000) n")
        connection.execute("INSERT INTO docsearch.chunk SELECT project_id, id, 0, 'summary', '{}', '', '', 1, 1, 1, '', "
                           "to_tsvector('simple', slug) FROM docsearch.document WHERE title = 'Many'")
        # Indexing does this at the end of each call.
        connection.execute("SELECT gin_clean_pending_list('docsearch.chunk_terms')")
        connection.execute("ANALYZE docsearch.chunk")
        plan = connection.execute(
            "EXPLAIN SELECT c.document_id FROM docsearch.chunk c "
            "WHERE c.project_id + 0 = 1 AND c.terms @@ 'button'::tsquery").fetchall()
        connection.rollback()
    assert any("chunk_terms" in line for line, in plan), plan


def test_indexing_goes_on(restored: Database):
    newest, = restored.execute("SELECT max(id) FROM docsearch.document")[0]
    assert [row[:2] for row in restored.index("kit", PAGES[0], page("swiftui/slider", "Slides."))] == [
        ("swiftui/button", "unchanged"), ("swiftui/slider", "added")]
    number, = restored.execute("SELECT id FROM docsearch.document WHERE slug = 'swiftui/slider'")[0]
    assert number > newest
    assert restored.execute("SELECT slug FROM search_docs('Slider')")[0] == ("swiftui/slider",)
    created, = restored.execute("SELECT docsearch.create_project('third')")[0]
    assert created > 2


def test_attached_tables_go_on_in_the_restored_database(new_database, reader, tmp_path):
    """On another server roles have other OIDs; here the database has another OID."""
    database, file = new_database(), tmp_path / "dump"
    database.execute("SELECT docsearch.create_project('kit')")
    database.execute("CREATE TABLE bird (id bigint PRIMARY KEY, title text, body text)")
    database.execute("CREATE VIEW shown AS SELECT * FROM bird")
    database.execute("SELECT docsearch.attach_table('bird', rows_where => 'id > 0', project => 'kit', public => true)")
    database.execute("SELECT docsearch.attach_table('shown', project => 'kit', public => true, every => NULL,"
                     " changes_in => '{bird}')")
    database.execute("SELECT docsearch.wait_for_index()")
    database.run("pg_dump", f"--file={file}")
    copy = new_database(extension=False)
    copy.run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={file}")
    copy.execute("INSERT INTO bird VALUES (1, 'Heron', 'Wades.'), (-1, 'Hidden', 'Not by the table.')")
    assert copy.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    slugs = "SELECT slug FROM docsearch.document ORDER BY slug"
    assert copy.execute(slugs) == [("bird/1",), ("shown/-1",), ("shown/1",)]
    assert copy.problems() == []
    # The agreements are valid there, too.
    copy.execute(f"UPDATE docsearch.attached_table SET writes_as = '{reader}'")
    copy.execute("INSERT INTO bird VALUES (2, 'Gull', 'Dives.')")
    assert copy.execute("SELECT docsearch.wait_for_index()") == [(False,)]
    copy.execute("UPDATE docsearch.attached_table SET writes_as = current_user::text::regrole, attempts = 0, next_attempt = now()")
    assert copy.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert ("bird/2",) in copy.execute(slugs)
    assert copy.execute("SELECT docsearch.detach_table('bird') + docsearch.detach_table('shown')") == [(5,)]


def test_dropping_the_extension_keeps_the_tables(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", PAGES[0])
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        database.execute("DROP EXTENSION pg_docsearch")
    assert database.execute("SELECT slug FROM search_docs('Button')") == [("swiftui/button",)]


def test_an_extension_created_again_works_with_the_old_tables(original, new_database, tmp_path):
    """Only the tables were dumped, and the extension is that of the new database."""
    file = tmp_path / "tables.sql"
    original.run("pg_dump", "--schema=docsearch", f"--file={file}")
    database = new_database(extension=False)
    database.execute(CREATE_EXTENSION)
    database.run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={file}")
    assert database.execute("SELECT docsearch.migrate()") == original.execute("SELECT docsearch.migrate()")
    assert results(database) == results(original)
