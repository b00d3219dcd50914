"""drop_all with a running worker and writers, with an ordinary owner, and after a restore."""

import threading
from uuid import uuid4

import psycopg
import pytest
from conftest import Database, holding, kept_waiting_by, page, wait_until
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

DROP_ALL = "SELECT docsearch.drop_all(confirm => current_database())"
DROP_EXTENSION = "DROP EXTENSION pg_docsearch"
LEFT = "SELECT count(*) FROM pg_namespace WHERE nspname = 'docsearch'"
WORKERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'docsearch indexer' AND datname = current_database()"


def test_a_worker_that_is_at_it_ends(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.execute("CREATE TABLE bird (id int PRIMARY KEY, title text, body text)")
    database.execute("SELECT docsearch.attach_table('bird', project => 'kit')")
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        documents = [page(f"bird/{n}", f"Bird number {n} " + "flies low over the water. " * 40) for n in range(60)]
        connection.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb(documents)])
    wait_until(lambda: database.execute(WORKERS))
    database.execute(DROP_ALL)
    wait_until(lambda: not database.execute(WORKERS))
    database.execute("INSERT INTO bird VALUES (1, 'Grebe', 'Builds a nest that floats.')")
    database.execute(DROP_EXTENSION)
    assert database.execute(LEFT) == [(0,)]


def test_it_waits_for_a_writer_and_the_next_one_finds_nothing(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    index = "SELECT docsearch.index_doc('kit', %s, 'Heron', 'Wades in shallow water.')"
    with holding(database, index, "first") as writer:
        removal = threading.Thread(target=database.execute, args=[DROP_ALL])
        removal.start()
        wait_until(lambda: kept_waiting_by(database, writer))
        writer.commit()
    removal.join()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        database.execute(index, "second")
    database.execute(DROP_EXTENSION)


def test_an_ordinary_owner_removes_his_own(new_database):
    database = new_database()
    role = f"owner_{uuid4().hex[:8]}"
    database.execute(f"CREATE ROLE {role} LOGIN")
    try:
        database.execute(f"ALTER SCHEMA docsearch OWNER TO {role}")
        database.execute(f"GRANT EXECUTE ON FUNCTION docsearch.drop_all(text) TO {role}")
        database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        owner = Database(make_conninfo(database.conninfo, user=role))
        owner.execute("CREATE TABLE bird (id int PRIMARY KEY, title text, body text)")
        owner.execute("SELECT docsearch.attach_table('bird')")
        owner.execute(DROP_ALL)
        assert owner.execute("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'bird'::regclass") == [(0,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            owner.execute(DROP_EXTENSION)
        database.execute(DROP_EXTENSION)
        assert database.execute(LEFT) == [(0,)]
    finally:
        database.execute(f"DROP OWNED BY {role} CASCADE")
        database.execute(f"DROP ROLE {role}")


def test_a_restored_database_can_uninstall_it_too(new_database, tmp_path):
    original, copy = new_database(), new_database(extension=False)
    original.execute("CREATE TABLE bird (id int PRIMARY KEY, title text, body text)")
    original.execute("INSERT INTO bird VALUES (1, 'Grebe', 'Builds a nest that floats.')")
    original.execute("SELECT docsearch.attach_table('bird')")
    original.execute("SELECT docsearch.wait_for_index()")
    original.run("pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}")
    copy.run("pg_restore", "--exit-on-error", tmp_path / "dump")
    copy.execute(DROP_ALL)
    copy.execute(DROP_EXTENSION)
    assert copy.execute(LEFT) == [(0,)]
    assert copy.execute("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'bird'::regclass AND NOT tgisinternal") == [(0,)]
