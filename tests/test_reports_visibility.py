"""Reports show what they would show if all that is hidden from their reader did not exist.

The law: for random projects, policies and logs, what a reader gets is what they get after the calls, pages, projects, feedback and reports
of gaps that policies hide were deleted. So no page, query or number depends on them. Reports are all functions of the schema that
take `since`, and those that are named here.
"""

import json
import random
from collections.abc import Iterator

import psycopg
import pytest
from conftest import Database, page
from logged_calls import random_log

READER = "docsearch_report_reader"
PROJECTS = ("kiln", "wheel", "glaze", "secret")
TOPICS = ("shelf", "cone", "firing", "clay", "plate", "bowl", "slip", "glaze")
QUERIES = tuple(f"{question} {topic}" for topic in TOPICS for question in ("how to use a", "what is a"))
# Rows of the schema that policies may hide, and the policy of pages.
LOGGED = ("query_log", "feedback", "gap_report")
OTHERS = (
    "SELECT * FROM docsearch.drift(project => %(project)s)", "SELECT * FROM docsearch.drift()",
    "SELECT * FROM docsearch.question_candidates(%(project)s, min_sessions => 1)",
    "SELECT * FROM docsearch.duplicates(%(project)s)", "SELECT * FROM docsearch.duplicates(%(project)s, 0.2, true)",
    *(f"SELECT {columns} FROM docsearch.{table} ORDER BY 1" for table, columns in (
        ("query_log", "id, query, query_hash, found_documents, found_anchors"), ("feedback", "call_id, document_id, kind, comment"),
        ("gap_report", "project_id, slug, report, goal"))))


@pytest.fixture(scope="module")
def pottery(database: Database) -> Iterator[Database]:
    for project in PROJECTS:
        database.execute("SELECT docsearch.create_project(%s)", project)
        database.index(project, *(page(f"{topic}/{number}", f"# {topic.title()} {number}\n\nA {topic} of the {project} is made of clay. "
                                       f"It takes {number} hours.", category=f"level-{number}")
                                  for number, topic in enumerate(TOPICS)))
    database.execute(f"CREATE ROLE {READER}")
    database.execute("SELECT docsearch.grant_reports(%s)", READER)
    for table in ("document", "project"):
        database.execute(f"ALTER TABLE docsearch.{table} ENABLE ROW LEVEL SECURITY")
    yield database
    database.execute(f"DROP OWNED BY {READER}")
    database.execute(f"DROP ROLE {READER}")


def reports(connection: psycopg.Connection) -> list[str]:
    """Calls of all reports, with and without a project. A report that writes is none."""
    rows = connection.execute(
        """SELECT p.proname, p.proargnames[:p.pronargs], p.pronargs - p.pronargdefaults FROM pg_proc p
           WHERE p.pronamespace = 'docsearch'::regnamespace AND p.provolatile <> 'v'
             AND p.proargtypes[array_position(p.proargnames, 'since') - 1] = 'timestamptz'::regtype ORDER BY 1""")
    calls = []
    for name, arguments, required in rows:
        assert set(arguments[:required]) <= {"project"}, f"{name} needs other arguments: list a call of it in OTHERS"
        limit = ", max_rows => 100" if "max_rows" in arguments else ""
        calls.append(f"SELECT * FROM docsearch.{name}(project => %(project)s{limit})")
        if not required:
            calls.append(f"SELECT * FROM docsearch.{name}(since => NULL{limit})")
    assert len(calls) > 15
    return [*calls, *OTHERS]


def shown(connection: psycopg.Connection, calls: list[str]) -> dict[tuple[str, str], str]:
    """What a reader gets of each call and project, rows or the error."""
    found = {}
    connection.execute(f"SET ROLE {READER}")
    for project in (*PROJECTS, "none"):
        for call in calls:
            try:
                with connection.transaction():
                    answer: object = connection.execute(call, {"project": project}).fetchall()
            except psycopg.Error as error:
                answer = [error.sqlstate, error.diag.message_primary, error.diag.message_hint]
            found[call, project] = json.dumps(answer, default=str)
    connection.execute("RESET ROLE")
    return found


def restrict(connection: psycopg.Connection, generator: random.Random) -> tuple[str, str]:
    """Random policies of the reader, as conditions on documents and projects."""
    projects = generator.choice(["true", "name <> 'secret'", f"name IN ('kiln', '{generator.choice(PROJECTS)}')"])
    pages = generator.choice(
        ["true", "category <> 'level-3'", "slug !~ 'clay|bowl'", f"id %% {generator.choice([2, 3])} <> 0".replace("%%", "%"),
         "NOT (category = 'level-1' AND project_id = (SELECT min(p.id) FROM docsearch.project p))"])
    connection.execute(f"CREATE POLICY some_projects ON docsearch.project FOR SELECT TO {READER} USING ({projects})")
    connection.execute(f"CREATE POLICY some_pages ON docsearch.document FOR SELECT TO {READER} USING ("
                       f"({pages}) AND EXISTS (SELECT FROM docsearch.project p WHERE p.id = project_id))")
    return projects, pages


def delete_hidden(connection: psycopg.Connection) -> dict[str, int]:
    """Deletes what the policies hide from the reader, and returns how much that is."""
    deleted = {}
    connection.execute(f"SET ROLE {READER}")
    for table in (*LOGGED, "document", "project"):
        connection.execute(f"CREATE TEMP TABLE seen_{table} AS SELECT id FROM docsearch.{table}")
    connection.execute("RESET ROLE")
    for table in LOGGED:
        rows = connection.execute(f"DELETE FROM docsearch.{table} t WHERE NOT EXISTS (SELECT FROM seen_{table} s WHERE s.id = t.id)")
        deleted[table] = rows.rowcount
    rows = connection.execute(
        """SELECT docsearch.delete_doc(p.name, d.slug) FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
           WHERE NOT EXISTS (SELECT FROM seen_document s WHERE s.id = d.id)""")
    deleted["document"] = rows.rowcount
    rows = connection.execute("SELECT docsearch.drop_project(p.name) FROM docsearch.project p "
                              "WHERE NOT EXISTS (SELECT FROM seen_project s WHERE s.id = p.id)")
    deleted["project"] = rows.rowcount
    return deleted


@pytest.mark.parametrize("seed", range(6))
def test_what_is_hidden_changes_no_report(pottery: Database, seed: int):
    generator = random.Random(seed)
    with pottery.connect(autocommit=False) as connection:
        connection.execute("SELECT set_config('role', 'none', true)")
        random_log(connection, seed, 250, list(QUERIES))
        policies = restrict(connection, generator)
        calls = reports(connection)
        with_hidden = shown(connection, calls)
        deleted = delete_hidden(connection)
        without = shown(connection, calls)
        connection.rollback()
    differences = [key for key, answer in without.items() if with_hidden[key] != answer]
    listed = "\n".join(f"{key}\n  {with_hidden[key][:800]}\n  {without[key][:800]}" for key in differences[:4])
    assert not differences, f"{policies}, deleted {deleted}: {len(differences)} of {len(without)} differ:\n{listed}"


def test_the_law_sees_what_is_hidden(pottery: Database):
    """The policies of the test above hide something of each kind, and what is left is not nothing."""
    with pottery.connect(autocommit=False) as connection:
        random_log(connection, 1, 250, list(QUERIES))
        connection.execute(f"CREATE POLICY some_projects ON docsearch.project FOR SELECT TO {READER} USING (name <> 'secret')")
        connection.execute(f"CREATE POLICY some_pages ON docsearch.document FOR SELECT TO {READER} USING (category <> 'level-3' AND "
                           "EXISTS (SELECT FROM docsearch.project p WHERE p.id = project_id))")
        before = {table: connection.execute(f"SELECT count(*) FROM docsearch.{table}").fetchone()[0] for table in LOGGED}
        deleted = delete_hidden(connection)
        connection.rollback()
    assert all(0 < deleted[table] < before[table] for table in LOGGED), (deleted, before)
    assert deleted["document"] > 0
    assert deleted["project"] == 1


def test_a_call_without_a_page_is_seen_by_its_projects(pottery: Database):
    """What found nothing belongs to no page, so readers see it if they see the projects."""
    with pottery.connect(autocommit=False) as connection:
        connection.execute("TRUNCATE docsearch.query_log")
        for project, results, found in (("kiln", 0, "{}"), ("kiln", 1, "level-3"), ("kiln", 1, "level-2"), ("secret", 0, "{}")):
            connection.execute(
                """INSERT INTO docsearch.query_log (id, logged_at, kind, session, source, role, query, query_hash, project_ids, results,
                                                    found_projects, found_documents)
                   SELECT gen_random_uuid()::text, now(), 'search', 's', 'sql', 'app', %(name)s, md5(%(name)s), ARRAY[p.id], %(results)s,
                          CASE WHEN d.id IS NULL THEN '{}' ELSE ARRAY[p.id] END, CASE WHEN d.id IS NULL THEN '{}' ELSE ARRAY[d.id] END
                   FROM docsearch.project p LEFT JOIN docsearch.document d ON d.project_id = p.id AND d.category = %(found)s
                   WHERE p.name = %(project)s""",
                {"name": f"{project} {found}", "project": project, "results": results, "found": found})
        connection.execute(f"CREATE POLICY some_projects ON docsearch.project FOR SELECT TO {READER} USING (name <> 'secret')")
        connection.execute(f"CREATE POLICY some_pages ON docsearch.document FOR SELECT TO {READER} USING (category <> 'level-3')")
        connection.execute(f"SET ROLE {READER}")
        queries = connection.execute("SELECT query FROM docsearch.top_queries() ORDER BY 1").fetchall()
        connection.rollback()
    assert queries == [("kiln level-2",), ("kiln {}",)]
