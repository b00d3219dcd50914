"""The file of the log of queries: whatever is in its place or in it, searches answer, and the worker goes on."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Database, Site, own_server, page, wait_until

pytestmark = pytest.mark.any_server("no part of PostgreSQL reads or writes the file")
SEARCH = "SELECT count(*) FROM search_docs(%s, 'kiln')"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("query_log_file", **{"docsearch.log_queries": "text"}) as site:
        site.database.execute("SELECT docsearch.create_project('kiln')")
        site.database.index("kiln", page("shelf", "A shelf holds pots."), page("cone", "A cone bends."))
        yield site


@pytest.fixture
def waiting(site: Site) -> Iterator[Path]:
    """The place of the file, without one, and an empty log."""
    number, = site.database.execute("SELECT oid::text FROM pg_database WHERE datname = current_database()")[0]
    place = site.instance.data / "base" / number / f"pgsql_tmp_docsearch_queries.{number}"
    wait_until(lambda: not place.exists() and not Path(f"{place}.aside").exists())
    site.database.execute("TRUNCATE docsearch.query_log")
    yield place
    if place.is_symlink() or place.exists():
        place.unlink()


def logged(database: Database, query: str) -> bool:
    return bool(database.execute("SELECT FROM docsearch.query_log WHERE query = %s", query))


def put(waiting: Path, lines: bytes) -> None:
    """Lines that no worker has taken for a while, so that the next call starts one. A worker may take them at once."""
    new = waiting.with_name("lines_of_a_test")
    new.write_bytes(lines)
    new.chmod(0o666)
    os.utime(new, (0, 0))
    new.rename(waiting)


def search(database: Database, query: str) -> None:
    assert database.execute(SEARCH, query) is not None


def test_damaged_lines_are_left_out(site: Site, waiting: Path):
    search(site.database, "shelf")
    wait_until(lambda: logged(site.database, "shelf"))
    good, = site.database.execute(
        """SELECT json_build_object('at', (extract(epoch FROM now() - timestamptz '2000-01-01 00:00:00+00') * 1e6)::bigint,
                                    'kind', 'search', 'id', 'good', 'session', 's', 'role', 'r', 'source', 'sql',
                                    'query', 'good', 'projects', project_ids, 'results', 0)::text FROM docsearch.query_log""")[0]
    call = json.loads(good)
    generator = random.Random(5)
    lines = [good.replace("good", f"good {number}").encode() for number in range(20)]
    lines += [line[:generator.randrange(len(line))] for line in lines]
    damaged: list[dict] = [
        {"at": -1}, {"at": 2**63 - 1}, {"at": 1e300}, {"query": "a\0b"}, {"role": "\0"}, {"query": "x" * 5000}, {"notices": ["y" * 5000]},
        {"results": -1}, {"results": 2**32 - 1}, {"grade": 1e300}, {"grade": -1e-300}, {"milliseconds": {"total_ms": 1e300}},
        {"milliseconds": {"total_ms": 1e-320}}, {"projects": [2**63]}, {"projects": None}, {"kind": "drop"}, {"first": [{}]},
        {"first": [{"project": 1, "document": 1}] * 50}, {"query_hash": "\ud800"}, {"session": {"a": [[[]]]}}]
    lines += [json.dumps(call | {"id": "bad"} | change).encode() for change in damaged]
    lines += [b"[" * 100_000, b"{" * 50_000, b'"' + b"z" * 3_000_000, b"\xff\xfe\x00", b"", b"null", bytes(range(256)).replace(b"\n", b"")]
    generator.shuffle(lines)
    put(waiting, b"\n".join([*lines, b""]))
    search(site.database, "cone")
    wait_until(lambda: logged(site.database, "cone"))
    stored = {query for query, in site.database.execute("SELECT query FROM docsearch.query_log WHERE id LIKE 'good%%'")}
    assert stored >= {f"good {number}" for number in range(20)}
    bad = site.database.execute("SELECT total_ms, grade, query FROM docsearch.query_log WHERE id = 'bad'")
    assert len(bad) <= 1, "one of the damaged lines may be stored: that with a time of nearly nothing"
    assert site.database.problems() == []


def test_a_link_is_not_followed(site: Site, waiting: Path, tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("")
    target.chmod(0o666)
    waiting.symlink_to(target)
    search(site.database, "linked")
    assert target.read_text() == ""
    waiting.unlink()
    search(site.database, "afterwards")
    wait_until(lambda: logged(site.database, "afterwards"))
    assert not logged(site.database, "linked")


def test_a_pipe_keeps_no_search_waiting(site: Site, waiting: Path):
    os.mkfifo(waiting)
    waiting.chmod(0o666)
    with site.database.connect() as connection:
        connection.execute("SET statement_timeout = '60s'")
        connection.execute(SEARCH, ["piped"])
    waiting.unlink()
    search(site.database, "afterwards")
    wait_until(lambda: logged(site.database, "afterwards"))


def test_a_directory_that_cannot_be_written(site: Site, waiting: Path):
    directory = waiting.parent
    before = directory.stat().st_mode
    directory.chmod(0o500)
    try:
        search(site.database, "unwritable")
    finally:
        directory.chmod(before)
    search(site.database, "afterwards")
    wait_until(lambda: logged(site.database, "afterwards"))


def test_lines_that_cannot_be_deleted_do_not_stop_the_worker(site: Site, waiting: Path):
    """Something else is where lines are set aside."""
    aside = Path(f"{waiting}.aside")
    aside.mkdir()
    try:
        search(site.database, "blocked")
        with site.database.connect() as connection:
            connection.execute("SET docsearch.index_mode = 'deferred'")
            connection.execute("SELECT docsearch.index_doc('kiln', 'plate', 'Plate', 'A plate is flat.')")
        assert site.database.execute("SELECT docsearch.wait_for_index('5 min')") == [(True,)]
    finally:
        aside.rmdir()


@pytest.mark.parametrize("setting", ["docsearch.log_keep_rows = 500", "docsearch.log_keep_days = 2"])
def test_old_rows_are_deleted_in_parts(site: Site, waiting: Path, setting: str):
    """More than one transaction deletes; 500 calls of today stay."""
    # A worker that could not store lines before stores none.
    wait_until(lambda: not site.database.execute("SELECT FROM pg_stat_activity WHERE backend_type = 'docsearch indexer'"))
    site.database.execute(
        """INSERT INTO docsearch.query_log (id, logged_at, kind, session, role, source, query, project_ids, results)
           SELECT 'old ' || n, now() - interval '3 days' - n * interval '1 second', 'search', 's', 'r', 'sql', 'old', '{}', 0
           FROM generate_series(1, 50000) n""")
    site.database.execute(f"ALTER SYSTEM SET {setting}")
    site.database.execute("SELECT pg_reload_conf()")
    now, = site.database.execute("SELECT (extract(epoch FROM now() - timestamptz '2000-01-01 00:00:00+00') * 1e6)::bigint")[0]
    lines = [json.dumps({"at": now + number, "kind": "search", "id": f"new {number}", "session": "s", "role": "r", "source": "sql",
                         "query": "new", "projects": [], "results": 0}) for number in range(1_500)]
    put(waiting, "\n".join([*lines, ""]).encode())
    search(site.database, "shelf")
    kept = 500 if "rows" in setting else 1_500
    wait_until(lambda: site.database.execute("SELECT count(*) FROM docsearch.query_log")[0][0] <= kept + 1)
    assert not logged(site.database, "old")
    assert site.database.execute("SELECT count(*) >= %s FROM docsearch.query_log", kept)[0][0]
    site.database.execute("ALTER SYSTEM RESET ALL")
    site.database.execute("SELECT pg_reload_conf()")
