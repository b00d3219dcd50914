"""Shared by tests of the background worker: its process, its queue, and how to block it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
from conftest import GUARD, Database, holding, kept_waiting_by, wait_until
from psycopg.types.json import Jsonb

WORKER = """SELECT pid FROM pg_stat_activity
            WHERE backend_type = 'docsearch indexer' AND datname = current_database()"""
WAITING = "SELECT count(*) FROM docsearch.embedding_queue"
# The worker takes rows that are not locked, and waits at most a second for other locks.
LATER_HALF = """SELECT FROM docsearch.embedding_queue q WHERE q.document_id IN
                    (SELECT m.document_id FROM docsearch.embedding_queue m
                     ORDER BY m.next_attempt, m.document_id OFFSET %s) FOR UPDATE"""


def held_worker(database: Database) -> AbstractContextManager[psycopg.Connection]:
    """Lets the worker read and embed, but store no vector until the returned connection is closed."""
    return holding(database, "LOCK TABLE docsearch.embedding_rate IN SHARE MODE")


@contextmanager
def half_way(database: Database, holder: psycopg.Connection) -> Iterator[int]:
    """Lets a blocked worker store the vectors of half of the queue. Yields its process."""
    wait_until(lambda: kept_waiting_by(database, holder))
    waiting, = database.execute(WAITING)[0]
    with holding(database, LATER_HALF, waiting // 2):
        holder.close()
        wait_until(lambda: database.execute(WAITING)[0][0] == waiting - waiting // 2)
        (worker,), = wait_until(lambda: database.execute(WORKER))
        yield worker


@contextmanager
def indexed_half_way(database: Database, project: str, documents: list[dict]) -> Iterator[int]:
    """Indexes documents in the background until half have vectors. Yields the running worker."""
    with held_worker(database) as holder:
        with database.connect() as connection:
            connection.execute("SET docsearch.index_mode = 'deferred'")
            connection.execute("SELECT * FROM docsearch.index_docs(%s, %s)", [project, Jsonb(documents)])
        with half_way(database, holder) as worker:
            yield worker


def acting(database: Database, role: str) -> psycopg.Connection:
    """A connection of the role, with its own schema first in the search path."""
    return psycopg.connect(database.conninfo, autocommit=True, user=role, options=f"-c search_path={role}")


def settled(database: Database) -> None:
    """Waits until the worker has nothing left to do."""
    assert database.execute("SELECT docsearch.wait_for_index(make_interval(secs => %s))", GUARD) == [(True,)]


def detach_all(database: Database) -> None:
    """Detaches all tables."""
    database.execute("SELECT docsearch.detach_table(a.source) FROM docsearch.attached_table a JOIN pg_class c ON c.oid = a.source")
