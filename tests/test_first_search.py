"""The first search of a server and of a connection: what is read in advance, and what connections need not do again."""

from collections.abc import Iterator

import psycopg
import pytest
from background import WORKER, settled
from conftest import Site, own_server, page, wait_until

PAGES = 1_200
READ = ("chunk", "document", "document_name", "posting", "term_stat", "vector_code")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("first") as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", *(page(f"page-{number}", f"The valve {number} opens at {number * 7} bar.") for number in range(PAGES)))
        own.database.execute("SELECT docsearch.finish_load('kit')")
        own.database.execute("CREATE ROLE first_reader LOGIN")
        own.database.execute("SELECT docsearch.grant_usage('first_reader')")
        own.database.execute("CREATE ROLE first_stranger LOGIN")
        yield own


def restart(site: Site) -> None:
    site.instance.stop()
    site.instance.start("docs")


def blocks_read(connection: psycopg.Connection) -> int:
    """Blocks of the tables that searches read which were not in memory, since the start of the server."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    connection.execute("SELECT pg_stat_clear_snapshot()")
    return connection.execute(
        "SELECT sum(heap_blks_read + idx_blks_read)::int FROM pg_statio_all_tables WHERE schemaname = 'docsearch' "
        "AND (relname = ANY (%s) OR relname LIKE 'vector\\_%%')", [list(READ)]).fetchone()[0]


def test_a_search_after_warm_reads_no_table_from_the_disk(site):
    restart(site)
    with site.database.connect(user="first_reader") as reader:
        before = blocks_read(reader)
        reader.execute("SELECT docsearch.warm('kit')")
        warmed = blocks_read(reader)
        assert warmed > before + 50
        reader.execute("SELECT FROM search_docs('which valve opens at 777 bar', 'kit')")
        # Only pages of indexes that a scan of a whole project does not visit.
        assert blocks_read(reader) - warmed < (warmed - before) / 10


def test_who_may_not_read_documents_may_not_warm_them(site):
    with site.database.connect(user="first_stranger") as stranger, pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.execute("SELECT docsearch.warm('kit')")


def test_an_unknown_project_is_an_error_with_a_hint(site):
    with pytest.raises(psycopg.errors.UndefinedObject) as refused:
        site.database.execute("SELECT docsearch.warm('kits')")
    assert refused.value.diag.message_hint == "Known projects: kit."


def looked(site: Site) -> int | None:
    """When a search last found no due work; None if the next one looks again."""
    database, = site.database.execute("SELECT oid FROM pg_database WHERE datname = current_database()")[0]
    mark = site.instance.data / "pg_stat_tmp" / f"pg_docsearch_check.{database}"
    return mark.stat().st_mtime_ns if mark.exists() else None


def search(site: Site) -> None:
    with site.database.connect(user="first_reader") as reader:
        reader.execute("SELECT FROM search_docs('valve', 'kit')")


def test_connections_share_the_look_for_due_work_until_the_server_restarts(site):
    wait_until(lambda: not site.database.execute(WORKER))
    restart(site)
    search(site)
    first = looked(site)
    assert first is not None
    search(site)
    assert looked(site) == first
    restart(site)
    search(site)
    assert looked(site) > first


def test_a_worker_that_has_ended_leaves_no_look_behind(site):
    """It may have given up: the next search looks again."""
    search(site)
    with site.database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT docsearch.index_doc('kit', 'later', 'Later', 'A late valve.')")
    settled(site.database)
    assert wait_until(lambda: not site.database.execute(WORKER))
    assert looked(site) is None
