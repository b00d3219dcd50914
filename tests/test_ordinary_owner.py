"""An ordinary role may own everything: once the extension exists, no superuser is needed or acts."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from conftest import Database, page
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb


@pytest.fixture(scope="module")
def owner(new_database) -> Iterator[Database]:
    database = new_database()
    role = f"owner_{uuid4().hex[:8]}"
    database.execute(f"CREATE ROLE {role} LOGIN")
    database.execute(f"ALTER SCHEMA docsearch OWNER TO {role}")
    database.execute("GRANT EXECUTE ON FUNCTION docsearch.check(text), docsearch.repair(text), docsearch.test_model(text), "
                     f"docsearch.embedding_dimension(text) TO {role}")
    database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
    yield Database(make_conninfo(database.conninfo, user=role))
    database.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
    database.execute(f"DROP OWNED BY {role}")
    database.execute(f"DROP ROLE {role}")


def test_it_makes_the_tables_and_they_are_its_own(owner):
    owner.execute("SELECT docsearch.create_project('kit')")
    owners = "SELECT DISTINCT pg_get_userbyid(c.relowner)::text = current_user FROM pg_class c" \
             " WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'"
    assert owner.execute(owners) == [(True,)]


def test_it_indexes_and_searches_at_once_and_in_the_background(owner):
    assert owner.index("kit", page("heron", "Wades in shallow water."))[0][1] == "added"
    with owner.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)",
                           [Jsonb([page("kingfisher", "Dives from a branch.")])])
        assert connection.execute("SELECT docsearch.wait_for_index()").fetchone() == (True,)
    found = owner.execute("SELECT slug, similarity > 0 FROM search_docs('dives from a branch', 'kit') WHERE rank = 1")
    assert found == [("kingfisher", True)]
    assert owner.problems() == []


def test_the_worker_is_that_role_and_no_other(owner):
    owner.execute("CREATE TABLE seen (session_role text, superuser text)")
    owner.execute("CREATE TYPE noted AS (a text)")
    owner.execute("""CREATE FUNCTION note(n noted) RETURNS text LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO seen VALUES (session_user, current_setting('is_superuser')); RETURN n.a; END $$""")
    owner.execute("CREATE CAST (noted AS text) WITH FUNCTION note(noted)")
    owner.execute("CREATE TABLE bird (id int PRIMARY KEY, title text, body noted)")
    owner.execute("INSERT INTO bird VALUES (1, 'Grebe', ROW('Builds a nest that floats.'))")
    owner.execute("SELECT docsearch.attach_table('bird', project => 'kit')")
    assert owner.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert owner.execute("SELECT slug FROM search_docs('a nest that floats', 'kit') WHERE rank = 1") == [("bird/1",)]
    assert owner.execute("SELECT DISTINCT session_role = current_user, superuser FROM seen") == [(True, "off")]


def test_only_superusers_control_the_server(owner):
    for statement in ("SELECT docsearch.restart_inference()", "SELECT docsearch.test_language_model()",
                      "SELECT docsearch.add_remote_model('far', 'http://127.0.0.1:1/v1', 'm')",
                      "SET docsearch.llm_url = 'http://127.0.0.1:1/v1'", "SET docsearch.inference = 'in_process'"):
        with owner.connect() as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            # The library is loaded, so its settings exist.
            connection.execute("SELECT count(*) FROM docsearch.settings() s WHERE docsearch.split_identifier('a') = 'a'")
            connection.execute(statement)


# Paths of existing and missing files and directories.
ELSEWHERE = ["/etc", "/", "/no/such/place", "..", "../models", "../no-such-place", "a/../../etc", "./all-MiniLM-L6-v2", ".", "",
             ".hidden", "all-MiniLM-L6-v2/", "all-MiniLM-L6-v2/onnx", "..\\etc", "a\nb", "a\x7fb", "a\u202eb", "x" * 256, "../" * 2000]
USES = ["SELECT docsearch.embed('x', 'outside')", "SELECT docsearch.embed_passages('{x}', 'outside')",
        "SELECT docsearch.embedding_dimension('outside')", "SELECT docsearch.test_model('outside')",
        "SELECT docsearch.add_model('outside')", "SELECT docsearch.set_model('kit', 'outside')",
        "SELECT docsearch.create_project('other', model => 'outside')", "SELECT docsearch.index_doc('lost', 'a', 'A', 'A page.')"]
OUTSIDE = """INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background, directory)
             VALUES (%s, 384, 256, 'x', 0.1, %s) RETURNING id"""


@pytest.mark.parametrize("directory", ELSEWHERE)
def test_the_table_of_models_takes_plain_names_alone(owner, directory):
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute(OUTSIDE, "outside", directory)
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute(OUTSIDE, directory, None)


@pytest.fixture(scope="module")
def without_constraints(owner) -> Database:
    """The owner of the tables may drop their constraints."""
    owner.execute("ALTER TABLE docsearch.model DROP CONSTRAINT model_directory_plain, DROP CONSTRAINT model_name_plain")
    owner.execute("SELECT docsearch.create_project('lost')")
    return owner


@pytest.mark.parametrize("directory", ELSEWHERE)
def test_a_row_of_the_owner_leads_to_no_other_directory_of_the_server(without_constraints, directory):
    """The law: a path in a table can be trusted only as far as the weakest writer of that table. If a name leads outside,
    the error is the same whether the target exists or not, and nothing is loaded."""
    owner = without_constraints
    number, = owner.execute(OUTSIDE, "outside", directory)[0]
    owner.execute("UPDATE docsearch.project SET model_id = %s WHERE name = 'lost'", number)
    try:
        for use in USES:
            with pytest.raises(psycopg.errors.InvalidName) as refused:
                owner.execute(use)
            assert refused.value.diag.message_primary == \
                'the row of model "outside" in docsearch.model names no directory below docsearch.model_directory'
            assert "column directory" in refused.value.diag.message_hint
        faults = owner.known_faults()
        found = owner.execute("SELECT problem, object, detail, repair FROM docsearch.check('lost')")
        problems = [row for row in found if row[:2] not in faults]
        assert [(problem, name) for problem, name, *_ in problems][0] == ("model unusable", "outside")
        assert "column directory" in problems[0][3]
        loaded = owner.execute("SELECT models FROM docsearch.status()")[0][0]
        assert "etc" not in str(loaded)
    finally:
        owner.execute("DELETE FROM docsearch.project WHERE name = 'lost'")
        owner.execute("DELETE FROM docsearch.model WHERE name = 'outside'")
        owner.execute("SELECT docsearch.create_project('lost')")


@pytest.mark.parametrize("name", [name for name in ELSEWHERE if name])
def test_the_name_of_a_row_is_one_of_its_directory_and_no_more(without_constraints, name):
    owner = without_constraints
    number, = owner.execute(OUTSIDE, name, None)[0]
    owner.execute("UPDATE docsearch.project SET model_id = %s WHERE name = 'lost'", number)
    try:
        with pytest.raises(psycopg.errors.InvalidName):
            owner.execute("SELECT docsearch.index_doc('lost', 'a', 'A', 'A page.')")
        with pytest.raises(psycopg.errors.UndefinedObject):
            owner.execute("SELECT docsearch.embed('x', %s)", name)
        with owner.connect() as connection:
            connection.execute("SELECT set_config('docsearch.default_model', %s, false)", [name])
            with pytest.raises(psycopg.errors.UndefinedObject):
                connection.execute("SELECT docsearch.embed('x')")
    finally:
        owner.execute("DELETE FROM docsearch.project WHERE name = 'lost'")
        owner.execute("DELETE FROM docsearch.model WHERE id = %s", number)
        owner.execute("SELECT docsearch.create_project('lost')")
