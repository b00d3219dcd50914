"""Databases for the client-side tests, on the server that DOCSEARCH_TEST_URL names."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

SERVER = os.environ["DOCSEARCH_TEST_URL"]
CREATE_EXTENSION = "CREATE EXTENSION pg_docsearch CASCADE"


@dataclass
class Database:
    """A database of a test; `conninfo` is what psycopg and libpq programs connect with."""

    conninfo: str

    def connect(self, **keywords) -> psycopg.Connection:
        """A new connection, which commits each statement unless told otherwise."""
        return psycopg.connect(self.conninfo, **{"autocommit": True, **keywords})

    def execute(self, statement: str, *arguments: object) -> list[tuple]:
        """Runs one statement on a connection of its own; returns its rows."""
        with self.connect() as connection:
            cursor = connection.execute(statement, arguments or None)
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: object, **keywords) -> subprocess.CompletedProcess:
        """Runs a client program on this database, which must succeed."""
        command = [program, f"--dbname={self.conninfo}", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, **keywords)
        assert done.returncode == 0, done.stderr
        return done

    def index(self, project: str, *documents: dict) -> list[tuple]:
        """Indexes documents; the rows of index_docs."""
        return self.execute("SELECT * FROM docsearch.index_docs(%s, %s)", project, Jsonb(documents))


def page(slug: str, body: str, **more: object) -> dict:
    """A document whose title is the last segment of its slug."""
    return {"slug": slug, "title": slug.rsplit("/", 1)[-1].title(), "body": body, **more}


@pytest.fixture(scope="module")
def new_database() -> Iterator[Callable[..., Database]]:
    """Makes databases, with the extension unless `extension` is false, that go with the module."""
    made: list[str] = []

    def create(extension: bool = True) -> Database:
        name = f"test_{uuid4().hex[:12]}"
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        made.append(name)
        database = Database(make_conninfo(SERVER, dbname=name))
        if extension:
            database.execute(CREATE_EXTENSION)
        return database

    yield create
    with psycopg.connect(SERVER, autocommit=True) as connection:
        for name in made:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def database(new_database: Callable[..., Database]) -> Database:
    """A database with the extension, shared by the tests of a module."""
    return new_database()
