"""Shared by tests of attacks: a server with attackers, and a record of the roles that their code ran as.

An attacker is an ordinary role. The attacker's code records its current user, which must always be the attacker,
whatever the code is attached to. These tests observe the worker, so they have a server of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from background import acting, detach_all
from conftest import Database, Site, own_server, page, wait_until

ROLES = ("wren", "rook", "finch")
DOCUMENTS = "SELECT d.project_id, d.slug, d.title, d.body, d.category, d.metadata FROM docsearch.document d ORDER BY d.slug"
# Records who runs it, and makes its author a superuser if it can.
SPY = """CREATE FUNCTION {schema}.spy(what text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO {schema}.seen (who, super, what)
        SELECT current_user, r.rolsuper, spy.what FROM pg_catalog.pg_roles r WHERE r.rolname = current_user;
        IF (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
            EXECUTE 'ALTER ROLE {role} SUPERUSER';
        END IF;
        RETURN what;
    END $$"""


@contextmanager
def attacked_server() -> Iterator[Site]:
    """A server with the roles, each with a schema and a spy."""
    with own_server("attacks", max_prepared_transactions=2, **{"docsearch.attached_read_timeout": "10min"}) as own:
        own.database.execute("SELECT docsearch.create_project('open')")
        own.database.index("open", page("welcome", "Welcome to the harbour."))
        for role in ROLES:
            own.database.execute(f"CREATE ROLE {role} LOGIN")
            own.database.execute(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        own.database.execute("SELECT docsearch.grant_usage('wren', write => true)")
        own.database.execute("SELECT docsearch.grant_usage('rook')")
        for function in ("grade_features", "grade_input"):
            own.database.execute(f"GRANT EXECUTE ON FUNCTION docsearch.{function} TO rook")
        for role in ROLES:
            with acting(own.database, role) as attacker:
                attacker.execute("CREATE TABLE seen (who text, super bool, what text, at timestamptz DEFAULT now())")
                attacker.execute("GRANT ALL ON seen TO PUBLIC")
                attacker.execute(f"GRANT USAGE ON SCHEMA {role} TO PUBLIC")
                attacker.execute(SPY.format(schema=role, role=role))
        yield own


@pytest.fixture
def guarded(site: Site) -> Iterator[Database]:
    """The database of a module's server. Checks afterwards that no role has gained privileges, and that code ran only as
    its author."""
    database = site.database
    yield database
    detach_all(database)
    database.execute("SELECT docsearch.wait_for_index()")
    for role in ROLES:
        assert database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", role) == [(False,)]
        others = f"SELECT DISTINCT who, what FROM {role}.seen WHERE who <> '{role}'"
        assert database.execute(others) == []
        database.execute(f"TRUNCATE {role}.seen")


def table(role: psycopg.Connection, columns: str = "id bigint PRIMARY KEY, title text, body text") -> str:
    name = f"t{uuid4().hex[:10]}"
    role.execute(f"CREATE TABLE {name} ({columns})")
    return name


def attach(role: psycopg.Connection, name: str, **arguments: str) -> None:
    """Attaches a table as public: other roles may search, but not read the table."""
    given = "".join(f", {key} => '{value}'" for key, value in arguments.items())
    role.execute(f"SELECT docsearch.attach_table('{name}', public => true{given})")


def number_of(owner: psycopg.Connection, name: str) -> str:
    """The argument of the triggers of an attached table."""
    arguments = "SELECT tgargs FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'docsearch%%' LIMIT 1"
    return owner.execute(arguments, [name]).fetchone()[0].rstrip(b"\0").decode()


def slugs(database: Database, project: str) -> list[str]:
    return [slug for slug, in database.execute(
        "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id"
        " WHERE p.name = %s ORDER BY d.slug", project)]


def error_of(database: Database, name: str) -> str | None:
    rows = database.execute("SELECT a.error FROM docsearch.attached_table a WHERE a.source::text LIKE %s", f"%{name}")
    return rows[0][0] if rows else None


def evil_column(role: psycopg.Connection, body: str) -> str:
    """A table with a column whose cast to text runs `body`."""
    mark = uuid4().hex[:8]
    role.execute(f"CREATE TYPE c{mark} AS (a text)")
    role.execute(f"CREATE FUNCTION f{mark}(v c{mark}) RETURNS text LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN v.a; END $$")
    role.execute(f"CREATE CAST (c{mark} AS text) WITH FUNCTION f{mark}(c{mark})")
    name = table(role, f"id bigint PRIMARY KEY, title text, body c{mark}")
    role.execute(f"INSERT INTO {name} VALUES (1, 'Cast', ROW('hello'))")
    return name


def prepare(database: Database, role: str, write: bool = False) -> None:
    """Creates the role's own schema with a spy, and grants privileges on documents."""
    database.execute(f"CREATE SCHEMA IF NOT EXISTS {role} AUTHORIZATION {role}")
    with acting(database, role) as own:
        own.execute("CREATE TABLE seen (who text, super bool, what text, at timestamptz DEFAULT now())")
        own.execute("GRANT ALL ON seen TO PUBLIC")
        own.execute(f"GRANT USAGE ON SCHEMA {role} TO PUBLIC")
        own.execute(SPY.format(schema=role, role=role))
    if write:
        database.execute(f"SELECT docsearch.grant_usage('{role}', write => true)")


def spied(database: Database, *roles: str) -> Iterator[Database]:
    """Checks afterwards that code ran only as its author, who is not a superuser."""
    yield database
    database.execute("DROP TRIGGER IF EXISTS evil ON docsearch.document")
    detach_all(database)
    database.execute("DELETE FROM docsearch.attached_table")
    database.execute("DELETE FROM docsearch.document WHERE source_root LIKE 'table:%%'")
    for role in roles:
        assert database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", role) == [(False,)]
        assert database.execute(f"SELECT DISTINCT who, what FROM {role}.seen WHERE who <> '{role}'") == []


@contextmanager
def unchanged(database: Database) -> Iterator[None]:
    before = database.execute(DOCUMENTS)
    yield
    assert database.execute(DOCUMENTS) == before


def refuses(database: Database, name: str, reason: str) -> None:
    """Waits until the table reports this reason for not being read."""
    database.execute("SELECT docsearch.wait_for_index('50 ms')")
    wait_until(lambda: reason in (error_of(database, name) or ""))
    found = database.execute("SELECT detail FROM docsearch.check() WHERE problem = 'attached table unread'")
    assert any(reason in detail for detail, in found), found
