"""Postings with concurrent sessions: every snapshot counts each document once, and no session waits for a merge."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import psycopg
import pytest
from conftest import Database, kept_waiting_by, page, wait_until
from psycopg.types.json import Jsonb
from test_concurrency import INDEX_DOCS, at_once

WORDS = ["anchor", "buoy", "chart", "dock", "ebb", "ferry", "gale", "harbour"]
# A deep check compares all postings with the words of the chunks.
WRONG = "SELECT * FROM docsearch.check(true) WHERE problem = 'postings wrong'"
PENDING = "SELECT count(DISTINCT document_id) FROM docsearch.posting_pending"
SEGMENTS = "SELECT count(*) FROM docsearch.posting_segment"


def text(chance: random.Random) -> str:
    return "\n\n".join(f"## {chance.choice(WORDS).title()}\n\n{' '.join(chance.choices(WORDS, k=20))}." for _ in range(2))


def pages(chance: random.Random, prefix: str, numbers) -> list[dict]:
    return [page(f"{prefix}/{number:03}", text(chance)) for number in numbers]


@pytest.fixture
def kit(new_database) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    return database


def test_loads_at_once_and_searches_beside_them(kit):
    """Readers hold one snapshot each, beside loads, deletions and merges."""
    ended = Event()

    def write(number: int) -> None:
        chance = random.Random(number)
        with kit.connect() as connection:
            for turn in range(6):
                # Half of the pages are those of the other writer, too.
                shared, own = pages(chance, "shared", range(turn, turn + 6)), pages(chance, f"own{number}", range(turn * 8, turn * 8 + 20))
                rows = connection.execute(INDEX_DOCS, ["kit", Jsonb(shared + own)]).fetchall()
                assert {row[1] for row in rows} <= {"added", "changed", "unchanged"}, rows
                connection.execute("SELECT docsearch.delete_doc('kit', %s)", [f"own{number}/{turn * 8 + 3:03}"])
                connection.execute("SELECT docsearch.finish_load('kit')")

    def read() -> int:
        looked = 0
        with kit.connect(autocommit=False) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            while not ended.is_set() or looked < 3:
                assert connection.execute(WRONG).fetchall() == []
                connection.rollback()
                looked += 1
        return looked

    def work(number: int) -> int:
        if number == 2:
            return read()
        try:
            write(number)
        finally:
            if number == 0:
                ended.set()
        return 0

    assert at_once(work, 3)
    assert kit.execute(WRONG) == []
    kit.execute("SELECT docsearch.finish_load('kit')")
    assert kit.execute(PENDING) == [(0,)]
    assert kit.problems() == []


def test_a_running_merge_makes_no_session_wait(kit):
    """An open transaction that has merged: others write and delete, and their pages stay pending."""
    chance = random.Random(5)
    kit.index("kit", *pages(chance, "first", range(10)))
    with kit.connect(autocommit=False) as merging, kit.connect() as other:
        merging.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "merged", range(60)))])
        assert merging.execute(PENDING).fetchone() == (0,)
        other.execute("SET lock_timeout = '1ms'")
        other.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "first", range(5)) + pages(chance, "other", range(60)))])
        other.execute("SELECT docsearch.delete_doc('kit', 'first/009')")
        assert other.execute(PENDING).fetchone() == (70,)
        assert other.execute(SEGMENTS).fetchone() == (0,)
        assert other.execute(WRONG).fetchall() == []
        merging.commit()
        # Documents that others have changed since the merge read them stay pending.
        assert other.execute(PENDING).fetchone() == (66,)
        other.execute("RESET lock_timeout")
        assert other.execute(WRONG).fetchall() == []
        other.execute("SELECT docsearch.finish_load('kit')")
        assert other.execute(PENDING).fetchone() == (0,)
        assert other.execute(WRONG).fetchall() == []


def test_a_load_analyses_the_tables_that_it_has_changed(kit):
    """Once a tenth has changed: by other sessions, by this one, and in the same transaction."""
    chance = random.Random(8)

    def analyses(finish: bool = True) -> int:
        if finish:
            kit.execute("SELECT docsearch.finish_load('kit')")
        return kit.execute("SELECT analyze_count FROM pg_stat_all_tables WHERE relid = 'docsearch.chunk'::regclass")[0][0]

    kit.index("kit", *pages(chance, "first", range(200)))
    first = analyses()
    assert first > 0
    assert analyses() == first
    kit.index("kit", *pages(chance, "one", range(1)))
    assert analyses() == first
    kit.index("kit", *pages(chance, "more", range(60)))
    assert analyses() == first + 1
    with kit.connect(autocommit=False) as connection:
        connection.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "last", range(60)))])
        connection.execute("SELECT docsearch.finish_load('kit')")
        connection.commit()
    assert analyses(finish=False) == first + 2


def test_a_merge_that_is_rolled_back_changes_nothing(kit):
    chance = random.Random(6)
    kit.index("kit", *pages(chance, "first", range(10)))
    with kit.connect(autocommit=False) as merging:
        merging.execute("SELECT docsearch.finish_load('kit')")
        kit.index("kit", *pages(chance, "first", range(3)))
        merging.rollback()
    assert kit.execute(SEGMENTS) == [(0,)]
    assert kit.execute(PENDING) == [(10,)]
    assert kit.execute(WRONG) == []


def test_a_snapshot_from_before_a_merge_stays_whole(kit):
    chance = random.Random(7)
    kit.index("kit", *pages(chance, "first", range(80)))
    with kit.connect(autocommit=False) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        before = reader.execute(SEGMENTS).fetchone()
        kit.index("kit", *pages(chance, "first", range(80)))
        kit.execute("SELECT docsearch.finish_load('kit')")
        assert reader.execute(SEGMENTS).fetchone() == before
        assert reader.execute(WRONG).fetchall() == []
    assert kit.execute(WRONG) == []


def test_the_worker_merges_when_it_has_nothing_else_to_do(kit):
    with kit.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute(INDEX_DOCS, ["kit", Jsonb(pages(random.Random(8), "later", range(5)))])
    wait_until(lambda: kit.execute(PENDING) == [(0,)])
    assert kit.execute(SEGMENTS) == [(1,)]
    assert kit.execute(WRONG) == []


def test_the_worker_merges_what_older_snapshots_leave(kit):
    """A transaction that may not merge itself wakes the worker, which does it once that has committed."""
    with kit.connect(autocommit=False) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute(INDEX_DOCS, ["kit", Jsonb(pages(random.Random(8), "first", range(40)))])
        assert connection.execute(PENDING).fetchone() == (40,)
        connection.commit()
    wait_until(lambda: kit.execute(PENDING) == [(0,)])
    assert kit.execute(WRONG) == []


def test_dropping_a_project_beside_a_merge_leaves_nothing(kit):
    kit.index("kit", *pages(random.Random(9), "first", range(10)))
    with kit.connect(autocommit=False) as merging, ThreadPoolExecutor(1) as pool:
        merging.execute("SELECT docsearch.finish_load('kit')")
        dropping = pool.submit(kit.execute, "SELECT docsearch.drop_project('kit')")
        wait_until(lambda: kept_waiting_by(kit, merging))
        merging.commit()
        assert dropping.result() == [(10,)]
    assert [kit.execute(query) for query in (PENDING, SEGMENTS, "SELECT count(*) FROM docsearch.posting")] == [[(0,)]] * 3


# Tables of versions after 14.
LATER = ("docsearch.question, docsearch.judgment, docsearch.judgment_query, docsearch.judgment_set, docsearch.evaluation_result, "
         "docsearch.evaluation_task, docsearch.evaluation_run, docsearch.query_log, docsearch.query_log_salt, docsearch.feedback, docsearch.gap_report, "
         "docsearch.ranking_change, docsearch.rejected_question, docsearch.tuning, docsearch.pin")


def make_version_12(database: Database) -> None:
    database.execute("DROP TABLE docsearch.posting, docsearch.posting_segment, docsearch.posting_pending, docsearch.vector_code, "
                     f"{LATER}")
    database.execute("ALTER TABLE docsearch.document DROP COLUMN page_keys, DROP COLUMN text_digest, DROP COLUMN keywords_chosen, "
                     "DROP COLUMN boost")
    database.execute("ALTER TABLE docsearch.attached_table DROP COLUMN questions_column")
    database.execute("ALTER TABLE docsearch.chunk DROP COLUMN sections")
    database.execute("ALTER TABLE docsearch.definition DROP COLUMN name, DROP COLUMN section, DROP COLUMN anchor")
    database.execute("DELETE FROM docsearch.schema_version WHERE version >= 13")


def test_the_worker_packs_what_migrate_leaves(kit):
    kit.index("kit", *pages(random.Random(11), "first", range(10)))
    make_version_12(kit)
    with kit.connect(autocommit=False) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT docsearch.migrate()")
        assert connection.execute(PENDING).fetchone() == (10,)
        assert connection.execute(WRONG).fetchall() == []
        connection.commit()
    wait_until(lambda: kit.execute(PENDING) == [(0,)])
    assert kit.execute(WRONG) == []


def test_tables_of_version_12_are_packed(kit):
    """With the tables of version 12, documents are written as before, and migrate() packs them."""
    chance = random.Random(10)
    kit.index("kit", *pages(chance, "first", range(10)))
    make_version_12(kit)
    with kit.connect() as connection:
        connection.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "first", range(5, 15)))])
        connection.execute("SELECT docsearch.delete_doc('kit', 'first/000')")
        connection.execute("DELETE FROM docsearch.document WHERE slug = 'first/001'")
        found = connection.execute("SELECT slug FROM search_docs('anchor buoy', 'kit')").fetchall()
        assert found
        with kit.connect(autocommit=False) as writing:
            # A writer of version 12, without pending documents, ends first.
            writing.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "early", range(3)))])
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute("SET lock_timeout = '10ms'")
                connection.execute("SELECT docsearch.migrate()")
            writing.commit()
        connection.execute("RESET lock_timeout")
        connection.execute("SELECT docsearch.migrate()")
    assert kit.execute(PENDING) == [(0,)]
    assert kit.execute(SEGMENTS) == [(1,)]
    assert kit.execute(WRONG) == []
    assert kit.problems() == []


def test_vectors_of_version_13_get_codes_and_lose_their_graph(kit):
    """Writers in flight end first, later ones wait, and none leaves a vector without a code."""
    chance = random.Random(12)
    kit.index("kit", *pages(chance, "first", range(10)))
    kit.execute(f"DROP TABLE docsearch.vector_code, {LATER}")
    kit.execute("ALTER TABLE docsearch.attached_table DROP COLUMN questions_column")
    kit.execute("ALTER TABLE docsearch.chunk DROP COLUMN sections")
    kit.execute("ALTER TABLE docsearch.definition DROP COLUMN name, DROP COLUMN section, DROP COLUMN anchor")
    kit.execute("ALTER TABLE docsearch.document DROP COLUMN text_digest, DROP COLUMN keywords_chosen, DROP COLUMN boost")
    kit.execute("DELETE FROM docsearch.schema_version WHERE version >= 14")
    kit.execute("CREATE INDEX vector_1_embedding ON docsearch.vector_1 USING hnsw (embedding halfvec_cosine_ops)")
    kit.index("kit", *pages(chance, "second", range(10)))
    assert kit.execute("SELECT slug FROM search_docs('anchor buoy', 'kit', config => '{\"exact_search_limit\": 0}')")
    with kit.connect(autocommit=False) as writing, kit.connect() as migrating, ThreadPoolExecutor(1) as pool:
        writing.execute(INDEX_DOCS, ["kit", Jsonb(pages(chance, "early", range(3)))])
        migrated = pool.submit(migrating.execute, "SELECT docsearch.migrate()")
        wait_until(lambda: kept_waiting_by(kit, writing))
        writing.commit()
        assert migrated.result().fetchone() == (18,)
    assert kit.execute("SELECT sum(codes) >= 23 FROM docsearch.vector_code") == [(True,)]
    assert kit.execute("SELECT to_regclass('docsearch.vector_1_embedding') IS NULL") == [(True,)]
    assert kit.problems() == []
