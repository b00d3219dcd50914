"""s3_35: many at once, and much at once."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import Database, page
from psycopg.types.json import Jsonb

CLIENTS, SECONDS = 8, 4
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
def test_a_query_of_100_kilobytes_is_answered_and_cut_aloud(filled: Database, query: str):
    assert len(query.encode()) >= 100_000
    with filled.connect() as connection:
        connection.execute("SET statement_timeout = '10s'")
        rows = connection.execute("SELECT notice FROM search_docs(%s)", [query]).fetchall()
    assert rows
    assert all(notice.startswith("query_truncated") for notice, in rows)


def test_s3_35_searches_and_loads_side_by_side_have_no_errors(filled: Database):
    end = time.monotonic() + SECONDS

    def work(client: int) -> int:
        done = 0
        with filled.connect() as connection:
            while time.monotonic() < end:
                if client % 4:
                    rows = connection.execute("SELECT slug FROM search_docs(%s)",
                                              [f"zebras of {SLUGS[client]}"]).fetchall()
                    assert len({slug for slug, in rows}) == 5
                else:
                    docs = [page(slug, f"The text of {slug}, with zebras, {client} {done}.")
                            for slug in SLUGS[done % 4::2]]
                    rows = connection.execute("SELECT action, detail FROM docsearch.index_docs('kit', %s)",
                                              [Jsonb(docs)]).fetchall()
                    assert [row for row in rows if row[0] not in ("changed", "unchanged")] == []
                done += 1
        return done

    with ThreadPoolExecutor(CLIENTS) as pool:
        done = list(pool.map(work, range(CLIENTS)))
    assert all(done), done
    assert filled.execute("SELECT count(*) FROM docsearch.document") == [(len(SLUGS),)]
