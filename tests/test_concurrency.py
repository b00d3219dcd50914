"""Indexing, deleting and searching at the same time."""

import os
import random
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier, Event

import psycopg
import pytest
from background import WORKER
from conftest import (
    INFERENCE,
    GUARD,
    Database,
    event,
    halted,
    held_document,
    kept_waiting_by,
    page,
    wait_until,
)
from psycopg.types.json import Jsonb

WRITERS = 4
ROUNDS = 3
SLUGS = [f"page/{number:02}" for number in range(12)]
INDEX_DOCS = "SELECT slug, action, detail FROM docsearch.index_docs(%s, %s)"
INDEX_DOC = "SELECT docsearch.index_doc(%s, %s, %s, %s)"

# Differences between a recount of the chunks and the stored sums. Questions have words but no size.
TERM_DRIFT = """
    WITH recount AS (
        SELECT c.project_id, t.lexeme COLLATE "C" AS lexeme, count(*) AS chunks,
               count(DISTINCT c.document_id) AS documents
        FROM docsearch.chunk c, unnest(c.terms) t GROUP BY 1, 2),
    kept AS (
        SELECT s.project_id, s.lexeme, sum(s.chunks) AS chunks, sum(s.documents) AS documents
        FROM docsearch.term_stat s GROUP BY 1, 2 HAVING sum(s.chunks) <> 0 OR sum(s.documents) <> 0)
    (TABLE recount EXCEPT TABLE kept) UNION ALL (TABLE kept EXCEPT TABLE recount)"""
TOTAL_DRIFT = """
    SELECT p.name, s.*, d.*, c.* FROM docsearch.project p
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(documents), 0), coalesce(sum(document_words), 0),
               coalesce(sum(chunks), 0), coalesce(sum(chunk_words), 0)
        FROM docsearch.project_stat WHERE project_id = p.id) s (documents, words, chunks, chunk_words)
    CROSS JOIN LATERAL (
        SELECT count(*), coalesce(sum(term_count), 0)
        FROM docsearch.document WHERE project_id = p.id) d (documents, words)
    CROSS JOIN LATERAL (
        SELECT count(*), coalesce(sum(term_count), 0)
        FROM docsearch.chunk WHERE project_id = p.id AND kind <> 'question') c (chunks, words)
    WHERE (s.documents, s.words, s.chunks, s.chunk_words)
          IS DISTINCT FROM (d.documents, d.words, c.chunks, c.words)"""
INCOMPLETE = """
    SELECT d.slug FROM docsearch.document d
    WHERE d.chunk_count <> (SELECT count(*) FROM docsearch.chunk c
                            WHERE (c.project_id, c.document_id) = (d.project_id, d.id) AND c.kind <> 'question')
       OR (SELECT count(*) FROM docsearch.chunk c WHERE (c.project_id, c.document_id) = (d.project_id, d.id))
          <> (SELECT count(*) FROM docsearch.vector_1 v WHERE (v.project_id, v.document_id) = (d.project_id, d.id))
       OR NOT EXISTS (SELECT FROM docsearch.document_name n
                      WHERE (n.project_id, n.document_id) = (d.project_id, d.id))"""


def assert_consistent(database: Database) -> None:
    assert database.execute(TERM_DRIFT) == []
    assert database.execute(TOTAL_DRIFT) == []
    assert database.execute(INCOMPLETE) == []


def text(slug: str, writer: int, turn: int) -> str:
    return f"Text of {slug} by writer{writer} in turn{turn}.\n\n## Part\n\nword{writer * 10 + turn} again."


def at_once(work, count: int = WRITERS) -> list:
    """Calls work(number) in `count` threads that start together, and raises their first error."""
    barrier = Barrier(count)

    def started(number: int):
        barrier.wait(GUARD)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(started, range(count)))


@pytest.fixture
def project(database: Database) -> str:
    name = f"project{random.randrange(10 ** 9)}"
    database.execute("SELECT docsearch.create_project(%s)", name)
    return name


def slugs(database: Database, project: str) -> list[str]:
    return [slug for slug, in database.execute(
        "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
        "WHERE p.name = %s ORDER BY d.slug", project)]


def test_writers_of_the_same_documents_neither_deadlock_nor_lose_any(database, project):
    """Half of the writers send all documents in any order, half one by one."""
    def write(writer: int) -> list[tuple]:
        order, rows = random.Random(writer), []
        with database.connect() as connection:
            for turn in range(ROUNDS):
                mine = order.sample(SLUGS, 9)
                if writer % 2:
                    docs = Jsonb([page(slug, text(slug, writer, turn)) for slug in mine])
                    rows += connection.execute(INDEX_DOCS, [project, docs]).fetchall()
                    continue
                for slug in mine:
                    action, = connection.execute(
                        INDEX_DOC, [project, slug, slug, text(slug, writer, turn)]).fetchone()
                    rows.append((slug, action, None))
        return rows

    rows = [row for written in at_once(write) for row in written]
    assert [row for row in rows if row[1] not in ("added", "changed", "unchanged")] == []
    added = Counter(slug for slug, action, _ in rows if action == "added")
    assert added == Counter({slug: 1 for slug, *_ in rows})
    assert slugs(database, project) == sorted(added)
    assert_consistent(database)


def test_calls_leave_no_pending_list_to_searches(database, project):
    def write(writer: int) -> None:
        for turn in range(ROUNDS):
            documents = [page(slug, text(slug, writer, turn)) for slug in SLUGS]
            database.execute(INDEX_DOCS, project, Jsonb(documents))

    at_once(write)
    database.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple")
    assert database.execute("SELECT pending_tuples FROM pgstatginindex('docsearch.chunk_terms')") == [(0,)]


def test_statistics_add_up_while_others_delete(database, project):
    def write(writer: int) -> None:
        order = random.Random(writer)
        with database.connect() as connection:
            for turn in range(ROUNDS):
                mine = order.sample(SLUGS, 6)
                if writer == 0:
                    for slug in mine:
                        connection.execute("SELECT docsearch.delete_doc(%s, %s)", [project, slug])
                    continue
                docs = Jsonb([page(slug, text(slug, writer, turn)) for slug in mine])
                rows = connection.execute(INDEX_DOCS, [project, docs]).fetchall()
                assert [row for row in rows if row[1] == "failed"] == []
                connection.execute("SELECT docsearch.merge_statistics(%s)", [project])

    at_once(write)
    assert_consistent(database)


@pytest.mark.parametrize("overtake", ["insert", "delete"])
def test_a_writer_that_was_overtaken_locks_in_the_order_of_slugs(database, project, overtake):
    """The writer plans page `a`, which another transaction inserts or deletes before the writer reaches it.
    It must not return to `a` with locks on `b` and `c`: a second writer may hold `a` by then.
    """
    database.index(project, *(page(slug, "before") for slug in ("a", "b", "c")))
    if overtake == "insert":
        database.execute("SELECT docsearch.delete_doc(%s, 'a')", project)

    def load(connection: psycopg.Connection, *slugs: str) -> list[tuple]:
        docs = Jsonb([page(slug, f"by {connection.info.backend_pid}") for slug in slugs])
        return connection.execute(INDEX_DOCS, [project, docs]).fetchall()

    # Connections with locks are closed first.
    with (ThreadPoolExecutor(2) as pool, database.connect() as first, database.connect() as second,
          database.connect(autocommit=False) as has_a, database.connect(autocommit=False) as has_c):
        if overtake == "insert":
            has_a.execute(INDEX_DOC, [project, "a", "A", "inserted"])
        else:
            has_a.execute("SELECT docsearch.delete_doc(%s, 'a')", [project])
        has_c.execute(INDEX_DOC, [project, "c", "C", "changed"])
        writers = [pool.submit(load, first, "a", "b", "c")]
        wait_until_blocked(database, first, has_a)
        has_a.commit()
        wait_until_blocked(database, first, has_c)
        writers.append(pool.submit(load, second, "a", "b"))
        wait_until_blocked(database, second, first)
        has_c.commit()
        rows = [row for writer in writers for row in writer.result(GUARD)]
    assert len(rows) == 5
    assert [row for row in rows if row[1] not in ("added", "changed")] == []
    assert_consistent(database)


def test_questions_that_are_given_at_once_are_all_kept(database, project):
    """Questions replace those of the same source. A change of the page or of another source loses none."""
    database.index(project, page("a", "before"))
    give = "SELECT docsearch.set_questions(%s, 'a', %s, %s)"
    with ThreadPoolExecutor(1) as pool, database.connect() as waits, database.connect(autocommit=False) as holds:
        for source, statement, arguments in (
                ("reader", INDEX_DOC, [project, "a", "A", "changed"]),
                ("model small", give, [project, Jsonb(["by the author"]), "author"])):
            holds.execute(give, [project, Jsonb([f"by {source}"]), source])
            writer = pool.submit(waits.execute, statement, arguments)
            wait_until_blocked(database, waits, holds)
            holds.commit()
            writer.result(GUARD)
    stored = database.execute("SELECT question FROM docsearch.questions(%s, 'a') ORDER BY question", project)
    assert stored == [("by model small",), ("by reader",), ("by the author",)]
    assert database.execute("SELECT count(*) FROM docsearch.chunk WHERE kind = 'question'") == [(3,)]
    # The page changed after the reader saw it.
    assert [problem for problem, *_ in database.problems(project)] == ["questions stale"]
    assert_consistent(database)


def wait_until_blocked(database: Database, waits: psycopg.Connection, holds: psycopg.Connection) -> None:
    """Waits until one connection waits for a lock that another holds."""
    wait_until(lambda: waits.info.backend_pid in kept_waiting_by(database, holds))


def test_searches_during_a_load_see_whole_documents(database, project):
    """Every turn replaces the same word of all sections, in one transaction."""
    def body(turn: int) -> str:
        return "\n\n".join(f"## Part {part}\n\nzebra turn{turn} part{part}" for part in range(3))

    database.index(project, *(page(slug, body(0)) for slug in SLUGS[:4]))
    done, seen = Event(), []

    def search() -> None:
        with database.connect() as connection:
            while not done.is_set():
                rows = connection.execute(
                    "SELECT slug, chunk_count, snippet, similarity FROM search_docs('zebra', %s)",
                    [project]).fetchall()
                whole = connection.execute("SELECT load_doc(%s, project => %s)",
                                           [SLUGS[0], project]).fetchone()[0]
                seen.append((rows, {turn for turn in range(9) if f"turn{turn}" in whole}))

    with ThreadPoolExecutor(1) as pool, database.connect(autocommit=False) as loading:
        searching = pool.submit(search)

        def search_on() -> None:
            """Waits for a search that begins after this call."""
            enough = len(seen) + 2
            wait_until(lambda: len(seen) >= enough or searching.done())

        try:
            for turn in range(1, 4):
                docs = Jsonb([page(slug, body(turn)) for slug in SLUGS[:4]])
                loading.execute(INDEX_DOCS, [project, docs])
                search_on()
                loading.commit()
                search_on()
        finally:
            done.set()
        searching.result(GUARD)
    for rows, turns in seen:
        assert {row[0] for row in rows} == set(SLUGS[:4])
        assert len({row[1] for row in rows}) == 1
        assert all(row[2] and row[3] is not None for row in rows)
        assert len(turns) == 1


MANY_PAGES = [page(f"long/{number:03}", f"word{number} " * 30) for number in range(200)]
PARTS = (f"## Part {number}\n\n{f'Words of part {number}. ' * 20}\n\n" for number in range(2500))
ONE_PAGE = [page("long/100", "".join(PARTS))]


@pytest.mark.parametrize("docs, held_by", [
    (MANY_PAGES, "another writer"), (MANY_PAGES, "the model"), (ONE_PAGE, "the model"),
], ids=["many pages, by another writer", "many pages, by the model", "one page of 1 MB, by the model"])
def test_a_load_that_is_cancelled_ends_and_leaves_nothing(database, project, docs, held_by):
    """The load waits for something that does not come, so it cannot have finished."""
    status = "SELECT pid, requests FROM docsearch.status()"
    terms = "SELECT count(*) FROM docsearch.term_stat"
    with (ThreadPoolExecutor(1) as pool, database.connect() as loading,
          held_document(database, project, "long/100") as other, ExitStack() as held):
        loading.execute("SELECT docsearch.embed('warm up')")
        backend, before = loading.info.backend_pid, database.execute(terms)
        # Passages that the program has received.
        (program, requests), = wait_until(lambda: database.execute(f"{status} WHERE requests > 0"))
        load = pool.submit(loading.execute, INDEX_DOCS, [project, Jsonb(docs)])
        if held_by == "another writer":
            wait_until_blocked(database, loading, other)
        else:
            wait_until(lambda: database.execute(f"{status} WHERE requests > %s", requests))
            held.enter_context(halted(program))
            wait_until(lambda: event(database, backend) in (INFERENCE, "transactionid"))
        assert not load.done()
        database.execute("SELECT pg_cancel_backend(%s)", backend)
        with pytest.raises(psycopg.errors.QueryCanceled):
            load.result(GUARD)
        assert slugs(database, project) == []
        assert database.execute(terms) == before
        held.close()
        other.close()
        rows = loading.execute(INDEX_DOCS, [project, Jsonb([page("short", "text")])]).fetchall()
    assert [row[1] for row in rows] == ["added"]
    assert_consistent(database)


@pytest.mark.parametrize("prepare", ["SELECT 1", "SELECT docsearch.migrate()"],
                         ids=["without tables", "without a model"])
def test_first_projects_may_be_created_at_once(new_database, prepare):
    """Each finds neither the tables nor the model's row, and one of them creates both."""
    database = new_database()
    database.execute(prepare)
    at_once(lambda writer: database.execute("SELECT docsearch.create_project(%s)", f"project{writer}"))
    assert database.execute("SELECT count(*) FROM docsearch.project") == [(WRITERS,)]
    assert database.execute("SELECT count(*) FROM docsearch.model") == [(1,)]


@pytest.mark.parametrize("prepare", [[], ["SELECT docsearch.create_project('other')"],
                                     ["SELECT docsearch.migrate()", "SELECT docsearch.add_model('all-MiniLM-L6-v2')"]],
                         ids=["without tables", "beside others", "without vectors"])
def test_first_loads_of_a_project_may_begin_at_once(new_database, tmp_path, prepare):
    """One creates the project, and all load into it without errors."""
    database = new_database()
    for statement in prepare:
        database.execute(statement)
    for number in range(6):
        (tmp_path / f"page{number}.md").write_text(f"# Page {number}\n\nText of page {number}.\n")

    def load(_: int) -> subprocess.CompletedProcess:
        return subprocess.run([os.environ["DOCSEARCH_TEST_CLI"], "index", tmp_path, "--project", "fresh", "--url", database.conninfo],
                              capture_output=True, text=True)

    for done in at_once(load, 6):
        assert done.returncode == 0, done.stderr
    assert len(slugs(database, "fresh")) == 6
    assert database.problems() == []
    assert_consistent(database)


def test_a_project_that_is_created_twice_at_once_is_a_clear_error(new_database):
    """The first one creates it, whatever the others find."""
    database = new_database()

    def create(_: int) -> str | None:
        try:
            database.execute("SELECT docsearch.create_project('same')")
        except psycopg.Error as error:
            assert "already exists" in str(error) and error.diag.message_hint
            return error.sqlstate
        return None

    for _ in range(3):
        assert Counter(at_once(create, 6)) == {None: 1, "42710": 5}
        database.execute("SELECT docsearch.drop_project('same')")


def test_a_project_keeps_the_table_of_its_vectors_that_the_worker_is_about_to_drop(new_database):
    """Until its transaction ends, the worker sees no project that needs the table."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('former')")
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT docsearch.index_doc('former', 'welcome', 'Welcome', 'The harbour opens at six.')")
    with database.connect(autocommit=False) as creating:
        creating.execute("SELECT docsearch.create_project('next')")
        database.execute("SELECT docsearch.drop_project('former')")
        wait_until(lambda: not database.execute(WORKER))
        creating.commit()
    database.index("next", page("welcome", "The harbour opens at six."))
    assert database.problems() == []


def test_a_project_is_removed_once(new_database):
    """The second session gets an error that there is none."""
    database = new_database()
    for _ in range(3):
        database.execute("SELECT docsearch.create_project('same')")
        database.index("same", page("a", "Text."), page("b", "More text."))

        def remove(_: int) -> int | str:
            try:
                return database.execute("SELECT docsearch.drop_project('same')")[0][0]
            except psycopg.Error as error:
                return error.sqlstate

        assert Counter(at_once(remove)) == {2: 1, "42704": WRITERS - 1}
    assert database.problems() == []


def test_rights_are_given_and_taken_at_once(new_database):
    """To one role and to several: each call takes effect, and none fails because of another."""
    database = new_database()
    database.execute("SELECT docsearch.migrate()")
    roles = [f"concurrent_{random.randrange(10 ** 9)}" for _ in range(WRITERS)]
    for role in roles:
        database.execute(f"CREATE ROLE {role}")
    write = "SELECT bool_and(has_table_privilege(r, 'docsearch.document', 'INSERT')) FROM unnest(%s::text[]) r"
    try:
        for _ in range(ROUNDS):
            at_once(lambda number: database.execute("SELECT docsearch.grant_usage(%s, write => true)", roles[number]))
            at_once(lambda number: database.execute("SELECT docsearch.grant_usage(%s, write => true)", roles[0]))
            assert database.execute(write, roles) == [(True,)]
            at_once(lambda number: database.execute("SELECT docsearch.revoke_usage(%s)", roles[number]))
            assert database.execute("SELECT bool_or(has_schema_privilege(r, 'docsearch', 'USAGE')) FROM unnest(%s::text[]) r",
                                    roles) == [(False,)]
    finally:
        for role in roles:
            database.execute(f"DROP OWNED BY {role}")
            database.execute(f"DROP ROLE {role}")


def test_tables_that_share_a_name_are_attached_at_once(new_database):
    """Each call finds no project of the name and would create it."""
    database = new_database()
    for number in range(WRITERS):
        database.execute(f"CREATE SCHEMA part{number}")
        database.execute(f"CREATE TABLE part{number}.article (id int PRIMARY KEY, title text, body text)")
    attach = "SELECT docsearch.attach_table('part{0}.article', slug_prefix => 'part{0}/', public => true)"
    attached = at_once(lambda number: database.execute(attach.format(number)))
    assert attached == [[("article",)]] * WRITERS
    assert database.execute("SELECT count(*) FROM docsearch.attached_table") == [(WRITERS,)]
    assert database.problems() == []


def test_statistics_are_read_without_waiting(database, project):
    """Neither a load nor a merge that has not ended keeps a reader, or a second load, waiting."""
    database.index(project, page("a", "text"))
    with database.connect(autocommit=False) as writer, database.connect() as reader:
        writer.execute(INDEX_DOC, [project, "b", "B", "more text"])
        writer.execute("SELECT docsearch.finish_load(%s)", [project])
        reader.execute(f"SET lock_timeout = '{GUARD}s'")
        assert reader.execute("SELECT sum(chunks) FROM docsearch.term_stat "
                              "WHERE lexeme = 'text'").fetchone()[0] >= 1
        assert reader.execute("SELECT slug FROM search_docs('text', %s)", [project]).fetchall() == [("a",)]
        reader.execute("SELECT docsearch.merge_statistics(%s)", [project])
        assert reader.execute(INDEX_DOC, [project, "c", "C", "text"]).fetchone() == ("added",)
    assert_consistent(database)


def test_a_repair_and_writers_wait_for_each_other(database, project):
    """Uncommitted changes are neither counted nor lost."""
    database.index(project, page("a", "text"), page("b", "more text"))
    database.execute("DELETE FROM docsearch.term_stat t USING docsearch.project p "
                     "WHERE p.id = t.project_id AND p.name = %s AND t.lexeme = 'text'", project)
    repair = "SELECT problem, detail FROM docsearch.repair(%s)"
    waiting = "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted"
    with (database.connect(autocommit=False) as writer, database.connect(autocommit=False) as mending,
          database.connect() as late, ThreadPoolExecutor(2) as pool):
        writer.execute(INDEX_DOC, [project, "b", "B", "other text"])
        writer.execute("SELECT docsearch.merge_statistics(%s)", [project])
        repairing = pool.submit(lambda: mending.execute(repair, [project]).fetchall())
        wait_until(lambda: database.execute(waiting, mending.info.backend_pid) == [(1,)])
        writer.execute("SELECT docsearch.finish_load(%s)", [project])
        writer.commit()
        assert repairing.result(GUARD) == [("statistics wrong", "counted again")]
        writing = pool.submit(late.execute, INDEX_DOC, [project, "c", "C", "late text"])
        wait_until(lambda: database.execute(waiting, late.info.backend_pid) == [(1,)])
        assert not writing.done()
        assert database.execute("SELECT slug FROM search_docs('other', %s, max_results => 1)", project) == [("b",)]
        mending.commit()
        writing.result(GUARD)
    assert database.problems(project) == []
    assert_consistent(database)
