"""A role that may write cannot stop others from working."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from attacks import attach, attacked_server, error_of, evil_column, slugs, table
from background import WORKER, acting, settled
from conftest import GUARD, Database, Site, kept_waiting_by, wait_until


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Database:
    return guarded


@pytest.mark.parametrize("name", ["worker.running", "worker.leaving", "model", "schema_version", "term_stat"])
def test_a_lock_that_anybody_can_take_stops_nothing(database, name):
    with acting(database, "finch") as other, acting(database, "wren") as role:
        other.execute(f"SELECT pg_advisory_lock(hashtextextended('docsearch.{name}', n)) FROM generate_series(0, 50) n")
        mine = table(role)
        attach(role, mine, project="open")
        role.execute(f"INSERT INTO {mine} VALUES (1, 'Free', 'All goes on.')")
        role.execute("SELECT docsearch.finish_load('open')")
        settled(database)
        assert f"{mine}/1" in slugs(database, "open")
        role.execute(f"SELECT docsearch.detach_table('{mine}')")


def test_writers_do_not_wait_for_a_blocked_worker(database):
    with acting(database, "wren") as role:
        name = table(role)
        attach(role, name, project="open")
        settled(database)
        with database.connect(autocommit=False) as holder:
            # The worker waits for this lock.
            holder.execute("LOCK TABLE docsearch.attached_table, docsearch.embedding_queue IN ACCESS EXCLUSIVE MODE")
            holder.rollback()
            holder.execute("LOCK TABLE docsearch.embedding_queue IN ACCESS EXCLUSIVE MODE")
            role.execute(f"INSERT INTO {name} VALUES (1, 'First', 'Written.')")
            wait_until(lambda: database.execute(
                "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'docsearch indexer' AND wait_event_type = 'Lock'"))
            role.execute(f"INSERT INTO {name} VALUES (2, 'Second', 'Written as well.')")
            holder.rollback()
        settled(database)
        assert {f"{name}/1", f"{name}/2"} <= set(slugs(database, "open"))
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_an_open_transaction_does_not_block_indexing_of_others(database):
    with acting(database, "wren") as role, acting(database, "wren") as other:
        name, theirs = table(role), table(other)
        attach(role, name, project="open")
        attach(other, theirs, project="open")
        settled(database)
        wait_until(lambda: not database.execute(WORKER))
        with role.transaction():
            role.execute(f"INSERT INTO {name} VALUES (1, 'Open', 'Not committed yet.')")
            other.execute(f"INSERT INTO {theirs} VALUES (1, 'Done', 'Committed.')")
            wait_until(lambda: f"{theirs}/1" in slugs(database, "open"))
        wait_until(lambda: f"{name}/1" in slugs(database, "open"))
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        other.execute(f"SELECT docsearch.detach_table('{theirs}')")


def test_an_unreadable_row_does_not_affect_the_others(database):
    deep = "[" * 200 + "]" * 200
    with acting(database, "wren") as role:
        name = table(role, "id int PRIMARY KEY, title text, body text, more jsonb, at text")
        role.execute(f"INSERT INTO {name} SELECT n, 'Page ' || n, 'Text.', '{{}}', '2026-01-0' || n FROM generate_series(1, 5) n")
        role.execute(f"UPDATE {name} SET at = 'the other day' WHERE id = 2")
        role.execute(f"UPDATE {name} SET more = %s::jsonb WHERE id = 4", [f'{{"deep": {deep}}}'])
        attach(role, name, metadata="more", published_at="at", project="open")
        settled(database)
        assert [slug for slug in slugs(database, "open") if slug.startswith(name)] == [f"{name}/1", f"{name}/3", f"{name}/5"]
        assert f"{name}/" in error_of(database, name)
        # Indexed documents stay while their row cannot be read, and are indexed again when it can.
        role.execute(f"UPDATE {name} SET at = 'never' WHERE id = 3")
        role.execute(f"UPDATE {name} SET at = '2026-03-01' WHERE id = 2")
        settled(database)
        assert [slug for slug in slugs(database, "open") if slug.startswith(name)] == [f"{name}/{n}" for n in (1, 2, 3, 5)]
        role.execute(f"SELECT docsearch.detach_table('{name}')")


@pytest.mark.parametrize("body", [
    "PERFORM pg_sleep(600)",
    "LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP",
], ids=["slow", "endless"])
def test_slow_code_of_one_table_does_not_delay_others(site, database, body):
    site.configure(attached_read_timeout="5s")
    with acting(database, "wren") as role:
        slow, quick = evil_column(role, body), table(role)
        attach(role, slow, project="open", slug_prefix=f"{slow}/")
        attach(role, quick, project="open")
        wait_until(lambda: database.execute("SELECT attempts > 0 FROM docsearch.attached_table WHERE source::text LIKE %s",
                                            f"%{slow}") == [(True,)])
        role.execute(f"INSERT INTO {quick} VALUES (1, 'Quick', 'Comes through.')")
        wait_until(lambda: f"{quick}/1" in slugs(database, "open"))
        with role.transaction():
            role.execute("SET LOCAL docsearch.index_mode = 'deferred'")
            role.execute(f"SELECT docsearch.index_doc('open', '{slow}-beside', 'Beside', 'Embedded meanwhile.')")
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.embedding_queue") == [(0,)])
        for name in (slow, quick):
            role.execute(f"SELECT docsearch.detach_table('{name}')")
    site.configure(attached_read_timeout="10min")


# An expensive row delays only its own table: a step of the worker keeps its time limit, other tables take turns,
# the row is reported, and its neighbours are found.

@pytest.fixture
def slow_writing(site: Site, database: Database) -> Iterator[Database]:
    """Documents with the title `slow` take ten minutes to write, unless the statement is cancelled."""
    database.execute("""CREATE FUNCTION public.take_long() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.title = 'slow' THEN PERFORM pg_sleep(600); END IF; RETURN NEW; END $$""")
    database.execute("CREATE TRIGGER take_long BEFORE INSERT OR UPDATE ON docsearch.document"
                     " FOR EACH ROW EXECUTE FUNCTION public.take_long()")
    site.configure(attached_read_timeout="1s")
    yield database
    site.configure(attached_read_timeout="10min")
    database.execute("DROP TRIGGER take_long ON docsearch.document")
    database.execute("DROP FUNCTION public.take_long()")


def left_out(database: Database, name: str) -> list[tuple]:
    """The rows of `check` about rows that were left out of a table."""
    return database.execute("SELECT detail FROM docsearch.check() WHERE problem = 'attached table incomplete'"
                            " AND object LIKE %s", f"%{name}")


def test_rows_that_are_slow_to_write_do_not_delay_others(slow_writing):
    with acting(slow_writing, "wren") as role:
        name, quick = table(role), table(role)
        role.execute(f"INSERT INTO {name} SELECT n, CASE WHEN n IN (2, 5) THEN 'slow' ELSE 'Page' END, 'Text ' || n"
                     " FROM generate_series(1, 6) n")
        attach(role, quick, project="open")
        attach(role, name, project="open")
        wait_until(lambda: slow_writing.execute("SELECT FROM docsearch.attached_table WHERE source::text LIKE %s"
                                                " AND step_rows < 256", f"%{name}"))
        role.execute(f"INSERT INTO {quick} VALUES (1, 'Quick', 'Comes through.')")
        wait_until(lambda: f"{quick}/1" in slugs(slow_writing, "open"))
        wait_until(lambda: f"{name}/6" in slugs(slow_writing, "open"))
        assert [slug for slug in slugs(slow_writing, "open") if slug.startswith(f"{name}/")] == [
            f"{name}/{n}" for n in (1, 3, 4, 6)]
        assert f"{name}/5: the row takes more than 1000 ms" in error_of(slow_writing, name)
        assert "docsearch.attached_read_timeout" in left_out(slow_writing, name)[0][0]
        settled(slow_writing)
        # The same for a change of a row, whose document stays as it was.
        role.execute(f"UPDATE {name} SET title = 'slow', body = 'Changed.' WHERE id = 3")
        role.execute(f"UPDATE {name} SET body = 'Changed, too.' WHERE id = 4")
        wait_until(lambda: f"{name}/3: the row takes" in (error_of(slow_writing, name) or ""))
        wait_until(lambda: body_of(slow_writing, f"{name}/4") == "Changed, too.")
        assert body_of(slow_writing, f"{name}/3") == "Text 3"
        # After the repair all rows are read, and nothing is reported.
        assert "other rows were left out, too" in error_of(slow_writing, name)
        role.execute(f"UPDATE {name} SET title = 'Page'")
        role.execute(f"SELECT docsearch.read_table('{name}')")
        settled(slow_writing)
        assert len([slug for slug in slugs(slow_writing, "open") if slug.startswith(f"{name}/")]) == 6
        wait_until(lambda: (error_of(slow_writing, name), left_out(slow_writing, name)) == (None, []))
        # A repaired single row needs nothing else.
        role.execute(f"UPDATE {name} SET title = 'slow', body = 'Once more.' WHERE id = 4")
        wait_until(lambda: f"{name}/4: the row takes" in (error_of(slow_writing, name) or ""))
        wait_until(lambda: left_out(slow_writing, name))
        role.execute(f"UPDATE {name} SET title = 'Page' WHERE id = 4")
        wait_until(lambda: body_of(slow_writing, f"{name}/4") == "Once more.")
        assert (error_of(slow_writing, name), left_out(slow_writing, name)) == (None, [])
        for each in (name, quick):
            role.execute(f"SELECT docsearch.detach_table('{each}')")


def body_of(database: Database, slug: str) -> str | None:
    found = database.execute("SELECT d.body FROM docsearch.document d WHERE d.slug = %s", slug)
    return found[0][0] if found else None


MARKDOWN = {"prose": "Some words in a line. ", "headings": "# a\n", "brackets": "[", "items": "1. ", "tables": "|a|b|\n",
            "emphasis": "*a_"}


@pytest.mark.parametrize("kind", MARKDOWN)
def test_text_that_is_slow_to_index_does_not_delay_others(site, database, kind):
    piece = MARKDOWN[kind]
    site.configure(attached_read_timeout="300ms")
    with acting(database, "wren") as role:
        name, quick = table(role), table(role)
        attach(role, quick, project="open")
        role.execute(f"INSERT INTO {quick} VALUES (0, 'First', 'Page.')")
        settled(database)
        role.execute(f"INSERT INTO {name} SELECT n, 'Page', repeat(%s, %s) FROM generate_series(1, 2) n",
                     [piece, 1_500_000 // len(piece)])
        role.execute(f"INSERT INTO {name} VALUES (3, 'Page', 'A short one.')")
        attach(role, name, project="open")
        wait_until(lambda: database.execute("SELECT FROM docsearch.attached_table WHERE source::text LIKE %s"
                                            " AND step_rows < 256", f"%{name}"))
        role.execute(f"INSERT INTO {quick} VALUES (1, 'Quick', 'Comes through.')")
        wait_until(lambda: f"{quick}/1" in slugs(database, "open"))
        wait_until(lambda: f"{name}/3" in slugs(database, "open"))
        assert f"{name}/2: the row takes" in error_of(database, name)
        for each in (name, quick):
            role.execute(f"SELECT docsearch.detach_table('{each}')")
    site.configure(attached_read_timeout="10min")


def test_a_row_that_ends_the_worker_each_time_is_left_out(site, database):
    with acting(database, "wren") as role:
        name = table(role)
        role.execute(f"INSERT INTO {name} VALUES (1, 'Deadly', 'Text.'), (2, 'Page', 'Text.')")
        attach(role, name, project="open")
        settled(database)
        # The state after a process has ended with this row for the fifth time.
        with database.connect(autocommit=False) as holder:
            holder.execute("UPDATE docsearch.attached_table SET loading = true, loaded_to = NULL, reading = true,"
                           " step_rows = 1, attempts = 5, next_attempt = now() WHERE source::text LIKE %s", [f"%{name}"])
            holder.execute("DELETE FROM docsearch.document WHERE slug LIKE %s", [f"{name}/%"])
            holder.commit()
        with role.transaction():
            role.execute("SET LOCAL docsearch.index_mode = 'deferred'")
            role.execute(f"SELECT docsearch.index_doc('open', '{name}-wakes', 'Wakes', 'The worker.')")
        wait_until(lambda: f"{name}/2" in slugs(database, "open"))
        assert f"{name}/1" not in slugs(database, "open")
        assert "ends the background worker" in left_out(database, name)[0][0]
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_documents_of_many_deleted_rows_are_removed_in_parts(site, database):
    """Comparing documents with rows takes several steps, and removing them as well."""
    with acting(database, "wren") as role:
        name = table(role)
        role.execute(f"INSERT INTO {name} SELECT n, 'Page', 'Text ' || n FROM generate_series(1, 400) n")
        attach(role, name, project="open")
        settled(database)
        role.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        role.execute(f"DELETE FROM {name} WHERE id < 400")
        role.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
        database.execute("UPDATE docsearch.attached_table SET step_rows = 1 WHERE source::text LIKE %s", f"%{name}")
        role.execute(f"SELECT docsearch.read_table('{name}')")
        settled(database)
        assert [slug for slug in slugs(database, "open") if slug.startswith(f"{name}/")] == [f"{name}/400"]
        role.execute(f"SELECT docsearch.detach_table('{name}')")


def test_a_dropped_table_leaves_nothing(database):
    with acting(database, "wren") as role:
        name, other = table(role), table(role)
        for each in (name, other):
            role.execute(f"INSERT INTO {each} VALUES (1, 'Gone soon', 'With its table.')")
            attach(role, each, project="open")
        settled(database)
        role.execute(f"DROP TABLE {name}")
        role.execute(f"INSERT INTO {other} VALUES (2, 'Wakes', 'The worker.')")
        wait_until(lambda: f"{name}/1" not in slugs(database, "open"))
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.attached_table a"
                                            " WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = a.source)") == [(0,)])
        role.execute(f"SELECT docsearch.detach_table('{other}')")


def test_changes_of_many_concurrent_writers_are_all_indexed(database):
    """Workers start and end in the meantime. A commit while one ends is not lost."""
    with acting(database, "wren") as role:
        name = table(role)
        attach(role, name, project="open")

    def write(part: int) -> None:
        with acting(database, "wren") as writer:
            for number in range(40):
                writer.execute(f"INSERT INTO {name} VALUES ({part * 1000 + number}, 'Page', 'Text {number}.')")
                if part == 0 and number % 15 == 0:
                    for worker in database.execute(WORKER):
                        database.execute("SELECT pg_terminate_backend(%s)", *worker)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with acting(database, "wren") as role:
        role.execute(f"INSERT INTO {name} VALUES (-1, 'Last', 'Nothing comes after it.')")
        wait_until(lambda: database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)])
        assert len([slug for slug in slugs(database, "open") if slug.startswith(f"{name}/")]) == 161
        role.execute(f"SELECT docsearch.detach_table('{name}')")


# A writer may lock the tables that they write to, as with any table. Readers do not wait for ever.

READS = [
    "SELECT * FROM public.search_docs('harbour')",
    "SELECT public.search_docs_json('harbour')",
    "SELECT public.search_docs_text('harbour')",
    "SELECT * FROM docsearch.search_answer('harbour')",
    "SELECT docsearch.search_refined('harbour')",
    "SELECT * FROM docsearch.explain_search('harbour', 'welcome')",
    "SELECT * FROM docsearch.suggest('har')",
    "SELECT docsearch.transform_query('harbour')",
    "SELECT docsearch.answer_prompt('harbour')",
    "SELECT docsearch.grade_results('harbour')",
    "SELECT docsearch.grade_features('harbour')",
    "SELECT * FROM docsearch.grade_input('harbour')",
    "SELECT public.load_doc('welcome')",
    "SELECT public.load_doc_json('welcome')",
    "SELECT * FROM public.load_docs(ARRAY['welcome', 'no such page'])",
    "SELECT * FROM public.list_docs()",
    "SELECT public.list_docs_json()",
    "SELECT * FROM docsearch.index_progress()",
]


@pytest.mark.parametrize("locked", ["document", "project"])
@pytest.mark.parametrize("kept_by", ["a session", "a prepared transaction"])
def test_readers_wait_for_a_lock_of_a_writer_only_so_long(database, locked, kept_by):
    with acting(database, "wren") as writer, acting(database, "rook") as reader:
        for read in READS:
            reader.execute(read)
        writer.execute("BEGIN")
        writer.execute(f"LOCK TABLE docsearch.{locked} IN ACCESS EXCLUSIVE MODE")
        if kept_by != "a session":
            writer.execute("PREPARE TRANSACTION 'stays'")
        reader.execute("SET docsearch.lock_timeout = '20ms'")
        try:
            for read in READS:
                with pytest.raises(psycopg.errors.LockNotAvailable, match=f"holds a lock on docsearch.{locked}") as refused:
                    reader.execute(read)
                assert "Waited 20 ms" in refused.value.diag.message_detail
                holders = reader.execute(refused.value.diag.message_hint.split(" shows ")[0]).fetchall()
                holder = None if kept_by != "a session" else writer.info.backend_pid
                assert (holder, "AccessExclusiveLock") in holders
                assert "docsearch.lock_timeout" in refused.value.diag.message_hint
                assert reader.execute("SHOW lock_timeout").fetchone() == ("0",)
            # Nor do writers with a time limit.
            with acting(database, "wren") as other:
                other.execute("SET lock_timeout = '20ms'")
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("SELECT docsearch.index_doc('open', 'held', 'Held', 'Not written.')")
        finally:
            writer.execute("ROLLBACK" if kept_by == "a session" else "ROLLBACK PREPARED 'stays'")
        for read in READS:
            reader.execute(read)


def test_the_shorter_limit_for_locks_holds(database):
    with acting(database, "wren") as writer, acting(database, "rook") as reader:
        writer.execute("BEGIN")
        writer.execute("LOCK TABLE docsearch.document IN ACCESS EXCLUSIVE MODE")
        reader.execute("SET lock_timeout = '30ms'")
        for own in ("10min", "0"):
            reader.execute(f"SET docsearch.lock_timeout = '{own}'")
            with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                reader.execute("SELECT * FROM public.search_docs('harbour')")
            assert "Waited 30 ms" in refused.value.diag.message_detail
            assert reader.execute("SHOW lock_timeout").fetchone() == ("30ms",)
        # A longer limit is respected.
        reader.execute("SET lock_timeout = 0")
        with ThreadPoolExecutor(1) as pool:
            search = pool.submit(lambda: reader.execute("SELECT slug FROM public.search_docs('harbour')").fetchall())
            wait_until(lambda: reader.info.backend_pid in kept_waiting_by(database, writer))
            writer.execute("ROLLBACK")
            assert ("welcome",) in search.result(GUARD)


def test_a_reader_can_continue_after_a_caught_error(database):
    with acting(database, "wren") as writer, acting(database, "rook") as reader:
        writer.execute("BEGIN")
        writer.execute("LOCK TABLE docsearch.document IN ACCESS EXCLUSIVE MODE")
        reader.execute("SET docsearch.lock_timeout = '20ms'")
        reader.execute("BEGIN")
        for _ in range(3):
            reader.execute("SAVEPOINT before")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                reader.execute("SELECT public.load_doc('welcome')")
            reader.execute("ROLLBACK TO before")
            assert reader.execute("SHOW lock_timeout").fetchone() == ("0",)
        writer.execute("ROLLBACK")
        assert "Welcome" in reader.execute("SELECT public.load_doc('welcome')").fetchone()[0]
        reader.execute("COMMIT")
