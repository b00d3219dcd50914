"""Documents and chunks are ordinary tables: after any statements by hand and any calls, in any order, statistics and
postings match the chunks. If only documents were removed, `check` finds nothing."""

import random

import psycopg
import pytest
from conftest import Database, page
from psycopg.types.json import Jsonb
from test_concurrency import TERM_DRIFT, TOTAL_DRIFT
from test_postings import WRONG

WORDS = ["anchor", "buoy", "chart", "dock", "ebb", "ferry", "gale", "harbour", "isle", "jetty"]
PROJECTS = ["north", "south"]
INSERT = """
    INSERT INTO docsearch.document (project_id, slug, title, body, content_hash, term_count)
    SELECT p.id, 'hand/' || gen_random_uuid(), 'By hand', 'text', '', n FROM docsearch.project p, generate_series(1, 3) n"""
INSERT_CHUNKS = """
    INSERT INTO docsearch.chunk
    SELECT c.project_id, c.document_id, c.chunk_no + 1000, c.kind, c.heading_path, c.anchor, c.body, c.token_count, 2,
           c.document_term_count, c.input_hash, to_tsvector('simple', 'anchor lighthouse')
    FROM docsearch.chunk c WHERE c.chunk_no < 2"""
# Statements that remove documents and everything derived from them.
REMOVING = [
    "DELETE FROM docsearch.document WHERE id % {0} = 1",
    "DELETE FROM docsearch.document d USING docsearch.project p WHERE p.id = d.project_id AND p.name = '{project}'",
    "WITH gone AS (DELETE FROM docsearch.document WHERE id % {0} = 2 RETURNING id) SELECT count(*) FROM gone",
    "MERGE INTO docsearch.document d USING (VALUES ({0})) v (n) ON d.id % v.n = 0 WHEN MATCHED THEN DELETE",
    "DELETE FROM docsearch.document WHERE false",
    "TRUNCATE docsearch.document CASCADE",
    "DELETE FROM docsearch.project WHERE name = '{project}'",
]
# Statements that change more. docsearch.check() may find the changes, and repair() repairs them.
CHANGING = [
    INSERT,
    f"{INSERT} ON CONFLICT (project_id, slug) DO UPDATE SET term_count = 7",
    "UPDATE docsearch.document SET term_count = term_count + {0}",
    "UPDATE docsearch.document SET title = 'Other', updated_at = now()",
    "UPDATE docsearch.document d SET slug = d.slug || '-{0}'",
    "DELETE FROM docsearch.chunk WHERE chunk_no % {0} = 1",
    "DELETE FROM docsearch.chunk",
    "TRUNCATE docsearch.chunk CASCADE",
    "UPDATE docsearch.chunk SET terms = to_tsvector('simple', 'buoy buoy lagoon'), term_count = 3 WHERE chunk_no % {0} = 0",
    "UPDATE docsearch.chunk SET anchor = 'here'",
    f"{INSERT_CHUNKS} ON CONFLICT DO NOTHING",
    f"{INSERT_CHUNKS} ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE SET terms = to_tsvector('simple', 'reef')",
    "UPDATE docsearch.chunk SET chunk_no = chunk_no + 5000 WHERE chunk_no >= 1000 AND chunk_no < 5000",
]


def text(chance: random.Random) -> str:
    return "\n\n".join(f"## {chance.choice(WORDS).title()}\n\n{' '.join(chance.choices(WORDS, k=60))}." for _ in range(chance.randint(1, 6)))


def create(database: Database) -> None:
    """Creates missing projects."""
    database.execute("SELECT docsearch.migrate()")
    for name in PROJECTS:
        if not database.execute("SELECT FROM docsearch.project WHERE name = %s", name):
            database.execute("SELECT docsearch.create_project(%s)", name)


def call(database: Database, chance: random.Random, project: str) -> None:
    """Calls a function that writes."""
    create(database)
    slugs = [f"page/{number}" for number in range(8)]
    kind = chance.randrange(6)
    if kind < 3:
        pages = [page(slug, text(chance)) for slug in chance.sample(slugs, 4)]
        assert {row[1] for row in database.index(project, *pages)} <= {"added", "changed", "unchanged"}
    elif kind == 3:
        database.execute("SELECT docsearch.delete_doc(%s, %s)", project, chance.choice(slugs))
    else:
        database.execute(f"SELECT docsearch.{'merge_statistics' if kind == 4 else 'finish_load'}(%s)", project)


def counted(database: Database) -> list[list[tuple]]:
    return [database.execute(TERM_DRIFT), database.execute(TOTAL_DRIFT)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("statements", [REMOVING, REMOVING + CHANGING], ids=["removing", "changing"])
def test_statistics_equal_a_recount(new_database, statements, seed):
    database, chance = new_database(), random.Random(f"{seed}/{len(statements)}")
    create(database)
    for step in range(25):
        project, done = chance.choice(PROJECTS), "call"
        if chance.random() < 0.5:
            done = chance.choice(statements).format(chance.randint(2, 4), project=project)
            with database.connect(autocommit=False) as connection:
                connection.execute(done)
                if chance.random() < 0.2:
                    connection.rollback()
        else:
            call(database, chance, project)
        assert counted(database) == [[], []], done
        # Slower, since it reads everything.
        if step % 6 == 0:
            assert database.execute(WRONG) == [], done
    if statements is REMOVING:
        assert database.problems() == []
    assert not any(problem in ("statistics wrong", "postings wrong") for problem, *_ in database.problems())


def test_every_statement_keeps_the_statistics_right(new_database):
    """Each by itself, on documents with several sections that share words."""
    database, chance = new_database(), random.Random(1)
    for statement in REMOVING + CHANGING:
        create(database)
        for name in PROJECTS:
            database.index(name, *(page(f"page/{number}", text(chance)) for number in range(6)))
        database.execute(statement.format(2, project="north"))
        assert counted(database) == [[], []], statement
        assert database.execute(WRONG) == [], statement
        database.execute("TRUNCATE docsearch.document CASCADE")
    assert database.problems() == []


def test_a_trigger_of_ones_own_writes_by_hand_within_a_call(new_database):
    """Rows of the function are counted once, and rows of the trigger as well."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("a", "Anchors and buoys."), page("b", "Buoys and charts."), page("c", "Charts and docks."))
    database.execute("""
        CREATE FUNCTION public.removes() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM docsearch.document d WHERE d.slug = 'c';
            RETURN NULL;
        END $$""")
    database.execute("CREATE TRIGGER removes AFTER INSERT OR UPDATE OR DELETE ON docsearch.document FOR EACH ROW "
                     "WHEN (pg_trigger_depth() < 1) EXECUTE FUNCTION public.removes()")
    database.index("kit", page("d", "Docks and ebbs."))
    assert database.execute("SELECT count(*) FROM docsearch.document") == [(3,)]
    assert counted(database) == [[], []]
    database.index("kit", page("c", "Charts again."))
    database.execute("SELECT docsearch.delete_doc('kit', 'a')")
    assert counted(database) == [[], []]
    assert database.problems() == []


def test_a_writer_deletes_by_hand(new_database):
    """With privileges on documents alone, and only those that policies show."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("a", "Anchors.", category="open"), page("b", "Buoys.", category="closed"), page("c", "Charts.", category="open"))
    with database.connect() as connection:
        connection.execute("CREATE ROLE docsearch_by_hand")
        try:
            connection.execute("SELECT docsearch.grant_usage('docsearch_by_hand', write => true)")
            connection.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
            connection.execute("CREATE POLICY open ON docsearch.document USING (category = 'open')")
            connection.execute("SET ROLE docsearch_by_hand")
            assert connection.execute("DELETE FROM docsearch.document").rowcount == 2
            connection.execute("RESET ROLE")
            assert connection.execute("SELECT slug FROM docsearch.document").fetchall() == [("b",)]
            assert counted(database) == [[], []]
            connection.execute("SET ROLE docsearch_by_hand")
            with pytest.raises(psycopg.Error) as refused:
                connection.execute("SELECT docsearch.count_changes()")
            assert refused.value.sqlstate == "39P01"
            connection.execute("RESET ROLE")
        finally:
            connection.execute("DROP OWNED BY docsearch_by_hand CASCADE")
            connection.execute("DROP ROLE docsearch_by_hand")
    assert database.problems() == []


def test_a_trigger_of_another_table_counts_nothing(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("a", "Anchors."))
    with database.connect() as connection:
        connection.execute("CREATE TABLE public.chunk (LIKE docsearch.chunk)")
        connection.execute("CREATE TRIGGER own AFTER INSERT ON public.chunk REFERENCING NEW TABLE AS docsearch_new "
                           "FOR EACH STATEMENT EXECUTE FUNCTION docsearch.count_changes()")
        connection.execute("INSERT INTO public.chunk SELECT * FROM docsearch.chunk")
        connection.execute("CREATE TRIGGER row AFTER INSERT ON public.chunk FOR EACH ROW EXECUTE FUNCTION docsearch.count_changes()")
        connection.execute("INSERT INTO public.chunk SELECT * FROM docsearch.chunk")
    assert counted(database) == [[], []]


def test_documents_may_be_sent_as_json_while_others_delete(new_database):
    """Two sessions, one of which writes by hand: nothing is counted twice."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *(page(f"page/{number}", "Anchors and buoys.") for number in range(6)))
    with database.connect(autocommit=False) as first, database.connect(autocommit=False) as second:
        first.execute("DELETE FROM docsearch.document WHERE slug IN ('page/0', 'page/1')")
        second.execute("SELECT * FROM docsearch.index_docs('kit', %s)", [Jsonb([page("page/5", "Charts.")])])
        second.execute("DELETE FROM docsearch.document WHERE slug = 'page/4'")
        second.commit()
        first.commit()
    assert counted(database) == [[], []]
    assert database.problems() == []
