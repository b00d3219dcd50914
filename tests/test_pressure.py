"""s3_35: many at once, and much at once."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from conftest import Database, page
from psycopg.types.json import Jsonb

SEARCHERS, WRITERS, TURNS = 6, 2, 12
SLUGS = [f"page/{number}" for number in range(8)]


@pytest.fixture(scope="module")
def filled(database: Database) -> Database:
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *(page(slug, f"The text of {slug}, with zebras.") for slug in SLUGS))
    return database


@pytest.mark.parametrize("query", [
    "zebra " * 17_000,
    "z" * 100_000,
    "@>" * 50_000,
    " ".join(f"word{number}" for number in range(12_000)),
    "縞馬" * 17_000,
], ids=["one word", "one token", "punctuation", "many words", "no spaces"])
def test_a_query_of_100_kilobytes_is_truncated_with_a_notice(filled: Database, query: str):
    assert len(query.encode()) >= 100_000
    with filled.connect() as connection:
        rows = connection.execute("SELECT notice FROM search_docs(%s)", [query]).fetchall()
    assert rows
    assert all(notice.startswith("query_truncated") for notice, in rows)


def test_s3_35_searches_and_loads_side_by_side_have_no_errors(filled: Database):
    """Searches go on until the last load has ended."""
    loads: list[Future] = []

    def write(client: int) -> None:
        with filled.connect() as connection:
            for turn in range(TURNS):
                docs = [page(slug, f"The text of {slug}, with zebras, {client} {turn}.") for slug in SLUGS[turn % 4::2]]
                rows = connection.execute("SELECT action, detail FROM docsearch.index_docs('kit', %s)",
                                          [Jsonb(docs)]).fetchall()
                assert [row for row in rows if row[0] not in ("changed", "unchanged")] == []

    def search(client: int) -> None:
        with filled.connect() as connection:
            while True:
                are_last = all(load.done() for load in loads)
                rows = connection.execute("SELECT slug FROM search_docs(%s)",
                                          [f"zebras of {SLUGS[client]}"]).fetchall()
                assert len({slug for slug, in rows}) == 5
                if are_last:
                    return

    with ThreadPoolExecutor(SEARCHERS + WRITERS) as pool:
        loads += [pool.submit(write, client) for client in range(WRITERS)]
        for work in [*loads, *(pool.submit(search, client) for client in range(SEARCHERS))]:
            work.result()
    assert filled.execute("SELECT count(*) FROM docsearch.document") == [(len(SLUGS),)]
