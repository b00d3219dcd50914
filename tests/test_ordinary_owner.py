"""An ordinary role may own all of it: no superuser is needed, and none at work, once the extension is there."""

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
    database.execute(f"GRANT EXECUTE ON FUNCTION docsearch.check(text), docsearch.repair(text) TO {role}")
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


def test_what_concerns_the_server_stays_with_superusers(owner):
    for statement in ("SELECT docsearch.restart_inference()", "SELECT docsearch.test_language_model()",
                      "SELECT docsearch.add_remote_model('far', 'http://127.0.0.1:1/v1', 'm')",
                      "SET docsearch.llm_url = 'http://127.0.0.1:1/v1'", "SET docsearch.inference = 'in_process'"):
        with owner.connect() as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            # The library knows its settings.
            connection.execute("SELECT count(*) FROM docsearch.settings() s WHERE docsearch.split_identifier('a') = 'a'")
            connection.execute(statement)
