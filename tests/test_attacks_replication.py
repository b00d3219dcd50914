"""Logical replication: publishing our tables does not prevent indexing, a subscriber answers as its publisher, and the
effect of a subscription on attached tables, whose triggers it does not fire, is reported."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from conftest import Database, Site, own_server, page, wait_until
from test_postings import PENDING, WRONG

# The tables that a subscriber needs for searches: documents and derived tables, without queues.
PUBLISHED = """
    SELECT string_agg('docsearch.' || c.relname, ', ' ORDER BY c.relname) FROM pg_class c
    WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'
      AND c.relname NOT IN ('project', 'attached_table', 'watched_table', 'view_row', 'table_change',
                            'embedding_queue', 'embedding_rate', 'model_grant', 'endpoint')"""
PROJECT = "docsearch.project (id, name, title, root_url, model_id, text_config, settings, created_at, updated_at)"
QUERIES = ("wades in shallow water", "heron", "egret", "nest")


def answers(database: Database) -> list[list[tuple]]:
    return [database.execute("SELECT slug, round(score::numeric, 4) FROM search_docs(%s)", query) for query in QUERIES]


@pytest.fixture(scope="module")
def publisher() -> Iterator[Site]:
    with own_server("publisher", wal_level="logical") as own:
        yield own


@pytest.fixture(scope="module")
def subscriber() -> Iterator[Site]:
    with own_server("subscriber", wal_level="logical") as own:
        own.database.execute("DROP EXTENSION pg_docsearch")
        yield own


@contextmanager
def subscribed(publisher: Site, subscriber: Site, publication: str) -> Iterator[None]:
    """Subscribes, waits for the initial copy, and follows until the end of the block."""
    connection = publisher.instance.url("docs")
    subscriber.database.execute(f"CREATE SUBSCRIPTION follows CONNECTION '{connection}' PUBLICATION {publication}")
    try:
        wait_until(lambda: subscriber.database.execute("SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")
                   == [(0,)])
        yield
    finally:
        subscriber.database.execute("DROP SUBSCRIPTION follows")


def caught_up(publisher: Site) -> None:
    position, = publisher.database.execute("SELECT pg_current_wal_lsn()")[0]
    wait_until(lambda: publisher.database.execute(
        "SELECT bool_and(confirmed_flush_lsn >= %s::pg_lsn) FROM pg_replication_slots", position) == [(True,)])


def test_a_publication_of_all_tables_blocks_no_statement(publisher):
    """Postgres refuses to change and delete rows of published tables that have no replica identity."""
    database = publisher.database
    database.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    database.execute("SELECT docsearch.create_project('birds')")
    database.index("birds", page("heron", "Wades in shallow water. See `Egret`.", category="waders"), page("grebe", "Floats."))
    assert database.index("birds", page("heron", "Waits in shallow water.", category="fishers"))[0][1] == "changed"
    database.execute("SELECT docsearch.delete_doc('birds', 'grebe')")
    database.execute("SELECT docsearch.finish_load('birds')")
    database.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('egret', 'heron')")
    database.execute("SELECT docsearch.reset_rules()")
    database.execute("CREATE TABLE public.ringed (id int PRIMARY KEY, title text, body text)")
    database.execute("SELECT docsearch.attach_table('public.ringed', project => 'birds', public => true)")
    database.execute("INSERT INTO public.ringed VALUES (1, 'Stork', 'Nests on a chimney.')")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    database.execute("SELECT docsearch.detach_table('public.ringed')")
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT docsearch.index_doc('birds', 'later', 'Later', 'Embedded afterwards.')")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert database.execute("SELECT * FROM docsearch.repair()") == []
    database.execute("SELECT docsearch.drop_project('birds')")
    without = """SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'
                 AND c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)"""
    assert database.execute(without) == []
    database.execute("DROP PUBLICATION everything; DROP TABLE public.ringed")


def test_a_subscriber_answers_as_its_publisher(publisher, subscriber, tmp_path):
    source, target = publisher.database, subscriber.database
    source.execute("SELECT docsearch.create_project('kit')")
    source.index("kit", page("heron", "Wades in shallow water."), page("grebe", "Builds a nest that floats."))
    tables, = source.execute(PUBLISHED)[0]
    source.execute(f"CREATE PUBLICATION answers FOR TABLE {tables}, {PROJECT}")
    schema = tmp_path / "schema.sql"
    source.run("pg_dump", "--schema-only", "--no-publications", f"--file={schema}")
    target.run("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={schema}")
    with subscribed(publisher, subscriber, "answers"):
        assert answers(target) == answers(source)
        source.index("kit", page("heron", "Waits in a nest of reeds."), page("egret", "White all over."))
        source.execute("SELECT docsearch.delete_doc('kit', 'grebe')")
        source.execute("SELECT docsearch.finish_load('kit')")
        source.index("kit", page("stork", "Nests on a chimney."))
        source.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('egret', 'heron')")
        source.execute("SELECT docsearch.configure_project('kit', '{\"hybrid_weight\": 0.5}')")
        caught_up(publisher)
        assert answers(target) == answers(source)
        assert target.problems() == []
        # Its own worker has nothing to do.
        assert target.execute("SELECT docsearch.wait_for_index()") == [(True,)]
        # Postings are those of the publisher: nothing is merged here.
        assert target.execute(WRONG) == []
        segments = target.execute("SELECT * FROM docsearch.posting_segment")
        assert segments and target.execute(PENDING) == [(1,)]
        target.execute("SELECT docsearch.finish_load('kit')")
        assert target.execute("SELECT * FROM docsearch.posting_segment") == segments
        assert target.execute(PENDING) == [(1,)]
    source.execute("DROP PUBLICATION answers")


@pytest.fixture
def ringed(publisher, subscriber) -> Iterator[Database]:
    """A table that a subscription writes, on the subscriber; nothing of ours is published."""
    source, target = publisher.database, subscriber.database
    if target.execute("SELECT count(*) FROM pg_extension WHERE extname = 'pg_docsearch'") == [(0,)]:
        target.execute("CREATE EXTENSION pg_docsearch CASCADE")
    for database in (source, target):
        database.execute("CREATE TABLE public.ringed (id int PRIMARY KEY, title text, body text)")
    source.execute("CREATE PUBLICATION ringing FOR TABLE public.ringed")
    # Sequences are not replicated.
    target.execute("SELECT docsearch.create_project('first')" if target.execute("SELECT to_regclass('docsearch.project')") == [(None,)]
                   else "SELECT setval(pg_get_serial_sequence('docsearch.project', 'id'), 1000 + max(id)) FROM docsearch.project")
    target.execute("SELECT docsearch.create_project('ringed')")
    with subscribed(publisher, subscriber, "ringing"):
        yield target
        target.execute("SELECT docsearch.drop_project('ringed')")
    source.execute("DROP PUBLICATION ringing")
    for database in (source, target):
        database.execute("DROP TABLE public.ringed CASCADE")


def found(database: Database) -> list[str]:
    return [slug for slug, in database.execute("SELECT slug FROM docsearch.document d JOIN docsearch.project p"
                                               " ON p.id = d.project_id WHERE p.name = 'ringed' ORDER BY slug")]


@pytest.mark.parametrize("triggers", ["as they are made", "ENABLE ALWAYS"])
def test_rows_of_a_subscription_fire_no_triggers_and_this_is_reported(publisher, ringed, triggers):
    with ringed.connect() as connection:
        said = []
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
        connection.execute("SELECT docsearch.attach_table('public.ringed', public => true)")
    assert said == ["a subscription writes table public.ringed, and fires no triggers: its changes are not indexed"]
    assert [found[:2] for found in ringed.problems()] == [("attached table subscribed", "public.ringed")]
    if triggers == "ENABLE ALWAYS":
        for name, in ringed.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = 'public.ringed'::regclass AND NOT tgisinternal"):
            ringed.execute(f"ALTER TABLE public.ringed ENABLE ALWAYS TRIGGER {name}")
    # Earlier rows are read, later ones are not.
    assert ringed.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    publisher.database.execute("INSERT INTO public.ringed VALUES (1, 'Stork', 'Nests on a chimney.')")
    caught_up(publisher)
    assert ringed.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)]
    assert ringed.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert found(ringed) == []
    ringed.execute("SELECT docsearch.read_table('public.ringed')")
    assert ringed.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert found(ringed) == ["ringed/1"]


def test_a_view_of_a_table_that_a_subscription_writes_follows_it(publisher, ringed):
    ringed.execute("CREATE VIEW public.rings AS SELECT * FROM public.ringed")
    ringed.execute("SELECT docsearch.attach_table('public.rings', project => 'ringed', every => '1 second', public => true)")
    publisher.database.execute("INSERT INTO public.ringed VALUES (1, 'Stork', 'Nests on a chimney.')")
    wait_until(lambda: ringed.execute("SELECT docsearch.wait_for_index()") and found(ringed) == ["rings/1"])
    publisher.database.execute("DELETE FROM public.ringed")
    wait_until(lambda: ringed.execute("SELECT docsearch.wait_for_index()") and found(ringed) == [])


def test_a_view_that_watches_such_a_table_reports_it(ringed):
    ringed.execute("CREATE VIEW public.rings AS SELECT * FROM public.ringed")
    ringed.execute("SELECT docsearch.attach_table('public.rings', project => 'ringed', public => true, changes_in => '{ringed}')")
    assert [found[:2] for found in ringed.problems()] == [("attached table subscribed", "public.ringed")]


def test_a_truncation_that_a_subscription_applies_runs_as_the_tables_owner(publisher, ringed):
    """TRUNCATE is the only change that fires statement triggers, if they are ENABLE ALWAYS. The key is recorded as the owner
    of our tables, whatever role the subscription runs as."""
    ringed.execute("CREATE ROLE ringer")
    ringed.execute("GRANT ringer TO postgres; GRANT ALL ON SCHEMA public TO ringer; SELECT docsearch.grant_usage('ringer', write => true)")
    ringed.execute("ALTER TABLE public.ringed OWNER TO ringer")
    publisher.database.execute("INSERT INTO public.ringed VALUES (1, 'Stork', 'Nests on a chimney.')")
    caught_up(publisher)
    with ringed.connect() as connection:
        connection.execute("SET ROLE ringer")
        connection.execute("SELECT docsearch.attach_table('public.ringed', project => 'ringed', public => true)")
    assert ringed.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert found(ringed) == ["ringed/1"]
    for name, in ringed.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = 'public.ringed'::regclass AND NOT tgisinternal"):
        ringed.execute(f"ALTER TABLE public.ringed ENABLE ALWAYS TRIGGER {name}")
    publisher.database.execute("TRUNCATE public.ringed")
    caught_up(publisher)
    assert ringed.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert found(ringed) == []
    ringed.execute("SELECT docsearch.detach_table('public.ringed'); ALTER TABLE public.ringed OWNER TO postgres;"
                   " DROP OWNED BY ringer; DROP ROLE ringer")
