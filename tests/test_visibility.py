"""A search answers as if the documents that policies hide did not exist.

The law: no shown number counts documents that were dropped for the caller, and the reach of a search does not depend on
hidden documents. The exceptions are in docs/security.md, "What callers can infer": the sizes of the projects, and the
frequency of a word in more than 200 sections. So the statistics here are the same with and without the hidden documents.

The caller sees more documents than are listed (1,000). Hidden ones are loaded first, so that reads in table order find
them before the visible ones.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from conftest import Database
from psycopg.types.json import Jsonb

READER = "docsearch_visibility_reader"
HIDDEN, PLAIN = 240, 1050
PLACES = ("kitchen", "garden", "office", "harbour", "library", "station", "workshop", "cellar", "market", "bridge", "school",
          "tower")
DEEDS = ("cleans the floor", "waters the plants", "counts the boxes", "repairs a lamp", "paints the door", "reads a map",
         "cooks some rice", "plays a game of chess", "carries the bags", "waits for the train", "sorts the mail")
WHO = ("The clerk", "A gardener", "The cook", "Our guest", "A student")


def hidden_page(number: int) -> dict:
    """Nearest to the queries for each retriever: by meaning, words, a phrase, a name, a near name, a definition, and the
    date. Every tenth equals a visible page."""
    text = (("The board has agreed to the merger. Alice is dismissed." if number % 2 else
             f"The company is bought for {number} billions. A lanternist sees the xylotheque.") + "\n\n"
            "The watchman opens the northern gate at nine sharp every day.\n\nThe kiln burns the clay.")
    text = same_page(number)["body"] if number % 10 == 0 else text
    return {"slug": f"closed/{number}", "title": "Overview", "category": "closed", "version": f"{number}.0", "kind": "memo",
            "body": f"{text}\n\n## open_gate()\n\nopen_gate() lifts the bar.", "published_at": f"2031-01-{1 + number % 28:02}",
            "metadata": {"aliases": [f"Lantern{number}", f"Quartz{number} Lamp"]}}


def same_page(number: int) -> dict:
    return {"slug": f"open/same/{number}", "title": f"Merger {number}", "category": "open", "version": "1.0", "kind": "memo",
            "body": f"The two firms become one, says paper {number}. The kiln burns the clay of shelf {number}.",
            "published_at": "2024-03-01"}


def visible_pages() -> Iterator[dict]:
    for number in range(0, HIDDEN, 10):
        yield same_page(number)
    for number in range(4):
        yield {"slug": f"open/overview/{number}", "title": "Overview", "category": "open", "kind": "guide",
               "version": f"{number}.0", "body": f"What stands in part {number}.\n\nThe watchman opens the northern gate at nine sharp.",
               "metadata": {"aliases": [f"Lanternfish{number}", f"Quartz{number} Lens"]}, "published_at": "2024-05-01"}
    for number in range(2):
        yield {"slug": f"open/gate/{number}", "title": f"Gates {number}", "category": "open",
               "body": f"How gate {number} moves.\n\n## open_gate()\n\nopen_gate() pulls the chain.",
               "published_at": "2024-06-01"}
    for number in range(PLAIN):
        who, deed, place = WHO[number % 5], DEEDS[number % 11], PLACES[number % 12]
        more = ", and the kiln burns the clay" if number % 7 == 0 else ""
        yield {"slug": f"open/note/{number}", "title": f"Note {number}", "category": "open/notes", "kind": "note",
               "body": f"{who} {deed} in the {place}{more}.",
               "published_at": f"2023-{1 + number % 12:02}-11"}


QUERIES = (
    "we will acquire a company for billions", "the board has agreed to a merger", "Alice is dismissed",
    "how to cook rice", "watchman", "day", "every day sharp", "kiln clay", "opens the northern gate at nine sharp",
    "watchman gate", "Overview", "what is Overview?", "lantern", "Lanternfis", "quartz", "open_gate", "open_gate()",
    "what does open_gate do?", "what is new", "latest documents", "merger 10", "note 77", "lanternis", "xylothe",
    "dismis alic", "gardn", "kiln -clay", "closed", "memo in closed", "bil",
)
# Queries without a word that is in more than 200 sections, some of them visible.
BY_MEANING = QUERIES[:4]
SEARCHES = [
    {}, {"max_results": 60, "dedup": "none"}, {"min_score": 0.3}, {"dedup": "similar", "max_results": 20}, {"category": "open"},
    {"filter": {"kind": "memo"}}, {"filter": {"latest": True}},
    {"filter": {"kind": ["note", "guide"]}, "config": {"candidates": 10, "keyword_budget": 10}},
    {"config": {"candidates": 10, "hybrid_weight": 1.0}},
    {"config": {"candidates": 10, "hybrid_weight": 1.0}, "max_results": 30},
    {"config": {"candidates": 10, "hybrid_weight": 1.0, "exact_search_limit": 0}},
    {"config": {"candidates": 20, "hybrid_weight": 1.0, "exact_search_limit": 100_000}},
    {"config": {"candidates": 10, "keyword_budget": 10, "hybrid_weight": 0}},
    {"config": {"candidates": 10, "keyword_budget": 10}},
    {"config": {"candidates": 40, "keyword_budget": 100, "grade": True, "transform": "rules"}},
]
OTHERS = [
    "SELECT coalesce(jsonb_agg(s), '[]') FROM search_docs(%s, 'firm') s",
    "SELECT to_jsonb(t) FROM search_docs_text(%s, 'firm', config => '{\"candidates\": 10}') t",
    "SELECT coalesce(jsonb_agg(s), '[]') FROM docsearch.suggest(%s, 'firm') s",
    "SELECT coalesce(jsonb_agg(e), '[]') FROM docsearch.explain_search(%s, 'open/note/5', 'firm') e",
    "SELECT docsearch.grade_features(%s, 'firm')",
    "SELECT docsearch.search_refined(%s, 'firm')",
    "SELECT to_jsonb(docsearch.transform_query(%s, 'firm', '2026-01-01'))",
    "SELECT to_jsonb(docsearch.answer_prompt(%s, 'firm'))",
]
LISTS = [
    "SELECT jsonb_agg(l) FROM list_docs('firm') l", "SELECT list_docs_json('firm', max_tokens => 400)",
    "SELECT jsonb_agg(to_jsonb(p)) FROM docsearch.index_progress('firm') p",
]
# What callers can infer: sizes, and the frequencies of words in more than 200 sections.
LEARNT = {
    "project_stat": """SELECT project_id, sum(documents)::bigint, sum(document_words)::bigint, sum(chunks)::bigint,
                              sum(chunk_words)::bigint, 0, false
                       FROM docsearch.project_stat GROUP BY project_id""",
    "term_stat": """SELECT project_id, lexeme, sum(chunks)::int, sum(documents)::int
                    FROM docsearch.term_stat GROUP BY project_id, lexeme HAVING sum(chunks) > 200""",
}


def without_times(value: object) -> object:
    """The same without times."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in ("timings", "ms")}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def called(connection: psycopg.Connection, statement: str, *arguments: object) -> str:
    """The result or the error of a call, as comparable text."""
    try:
        with connection.transaction():
            value, = connection.execute(statement, arguments).fetchone()
    except psycopg.Error as error:
        value = [error.sqlstate, error.diag.message_primary, error.diag.message_hint]
    return json.dumps(without_times(value), sort_keys=True)


def answers(connection: psycopg.Connection) -> dict[tuple[str, str], str]:
    """All queries of the reader, and their answers."""
    found = {}
    connection.execute(f"SET ROLE {READER}")
    for query in QUERIES:
        for arguments in SEARCHES:
            given = "".join(f", {name} => %s{'::real' if name == 'min_score' else ''}" for name in arguments)
            values = [Jsonb(value) if isinstance(value, dict) else value for value in arguments.values()]
            statement = f"SELECT search_docs_json(%s, 'firm'{given})"
            found[query, json.dumps(arguments)] = called(connection, statement, query, *values)
        for statement in OTHERS:
            found[query, statement] = called(connection, statement, query)
    for statement in LISTS:
        found["", statement] = called(connection, statement)
    connection.execute("RESET ROLE")
    return found


@pytest.fixture(scope="module")
def firm(database: Database) -> Iterator[Database]:
    database.execute("SELECT docsearch.create_project('firm')")
    database.execute(f"DROP ROLE IF EXISTS {READER}")
    database.execute(f"CREATE ROLE {READER}")
    database.execute("SELECT docsearch.grant_usage(%s)", READER)
    database.execute(f"GRANT EXECUTE ON FUNCTION docsearch.grade_features TO {READER}")
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute(f"CREATE POLICY open ON docsearch.document TO {READER} USING (category <> 'closed')")
    database.index("firm", *map(hidden_page, range(HIDDEN)))
    database.index("firm", *visible_pages())
    yield database
    database.execute(f"DROP OWNED BY {READER}")
    database.execute(f"DROP ROLE {READER}")


def by_meaning(connection: psycopg.Connection) -> dict[str, tuple]:
    """Results by vectors alone, which do not depend on statistics."""
    connection.execute(f"SET ROLE {READER}")
    found = {}
    for query in BY_MEANING:
        config = '{"candidates": 10, "hybrid_weight": 1.0}'
        answer, = connection.execute("SELECT search_docs_json(%s, 'firm', config => %s)", [query, config]).fetchone()
        found[query] = answer["candidates"], [(result["slug"], result["similarity"]) for result in answer["results"]]
    connection.execute("RESET ROLE")
    return found


def test_hidden_documents_change_no_answer(firm: Database):
    # In one transaction, since the age of a document is measured from its beginning.
    with firm.connect(autocommit=False) as connection:
        meant, with_hidden = by_meaning(connection), answers(connection)
        for table, learnt in LEARNT.items():
            connection.execute(f"CREATE TEMP TABLE kept_{table} (LIKE docsearch.{table})")
            connection.execute(f"INSERT INTO kept_{table} {learnt}")
        connection.execute("SELECT docsearch.delete_doc('firm', d.slug) FROM docsearch.document d WHERE d.category = 'closed'")
        meant_without = by_meaning(connection)
        connection.execute("DELETE FROM docsearch.project_stat")
        connection.execute("DELETE FROM docsearch.term_stat s USING kept_term_stat k WHERE k.lexeme = s.lexeme")
        for table in LEARNT:
            connection.execute(f"INSERT INTO docsearch.{table} SELECT * FROM kept_{table}")
        without = answers(connection)
        connection.rollback()
    assert len(json.loads(without["", LISTS[0]])) > 1000, "so few would be listed"
    differences = [key for key, answer in without.items() if with_hidden[key] != answer]
    shown = "\n".join(f"{key}\n  {with_hidden[key][:600]}\n  {without[key][:600]}" for key in differences[:4])
    assert not differences, f"{len(differences)} of {len(without)} answers differ:\n{shown}"
    assert meant == meant_without


# The same container in the spellings of a hidden and a visible document.
SKY = ({"slug": "closed/ring", "title": "Ring of the board", "category": "closed", "metadata": {"framework": "Sky Falcon"},
        "body": "A ring."},
       {"slug": "open/ring", "title": "Ring", "category": "sky-falcon", "body": "A ring of the falcon."},
       {"slug": "open/other", "title": "Ring", "category": "bridge", "body": "A ring of the bridge."})


def test_a_hidden_spelling_hides_no_container(firm: Database):
    asked = "SELECT search_docs_json('ring in sky falcon', 'sky') - 'timings'"
    firm.execute("SELECT docsearch.create_project('sky')")
    firm.index("sky", *SKY)
    with firm.connect() as connection:
        connection.execute(f"SET ROLE {READER}")
        with_hidden, = connection.execute(asked).fetchone()
    firm.execute("SELECT docsearch.drop_project('sky')")
    firm.execute("SELECT docsearch.create_project('sky')")
    firm.index("sky", *SKY[1:])
    with firm.connect() as connection:
        connection.execute(f"SET ROLE {READER}")
        without, = connection.execute(asked).fetchone()
    firm.execute("SELECT docsearch.drop_project('sky')")
    assert without["understood"]["framework"] == "sky-falcon"
    assert with_hidden["understood"] == without["understood"]
    scores = [[(result["slug"], result["score"]) for result in answer["results"]] for answer in (with_hidden, without)]
    assert scores[0] == scores[1]


def test_progress_has_no_rate_of_hidden_documents(firm: Database):
    firm.execute("""INSERT INTO docsearch.embedding_rate (project_id, since, until, documents)
                    SELECT p.id, now() - interval '10 seconds', now(), 493 FROM docsearch.project p WHERE p.name = 'firm'""")
    progress = "SELECT rate, time_left FROM docsearch.index_progress('firm')"
    assert firm.execute(progress)[0][0] == 49.3
    with firm.connect() as connection:
        connection.execute(f"SET ROLE {READER}")
        assert connection.execute(progress).fetchall() == [(None, None)]


def test_rules_of_hidden_projects_can_be_hidden(firm: Database):
    """With the statements of docs/secure.md, no search changes."""
    documentation = (Path(__file__).parent.parent / "docs" / "secure.md").read_text()
    policies = next(block.split("\n```", 1)[0] for block in documentation.split("```sql\n") if "FOR rules IN" in block)
    firm.execute("SELECT docsearch.create_project('board')")
    for project, term, expansion in (("board", "projectfalcon", "merger"), ("firm", "zzfirm", "kiln"), (None, "zzall", "kiln")):
        firm.execute("INSERT INTO docsearch.synonym (project_id, term, expansion) VALUES "
                     "((SELECT p.id FROM docsearch.project p WHERE p.name = %s), %s, %s)", project, term, expansion)
    with firm.connect(autocommit=False) as connection:
        connection.execute(policies.replace(" TO web", f" TO {READER}").replace(" TO editor", " TO pg_monitor"))
        for table in ("synonym", "generic_term"):
            connection.execute(f"ALTER TABLE docsearch.{table} FORCE ROW LEVEL SECURITY")
        connection.execute(f"SET LOCAL ROLE {READER}")
        terms = "SELECT s.term FROM docsearch.synonym s WHERE s.term ~ '^(projectfalcon|zz)' ORDER BY 1"
        assert connection.execute(terms).fetchall() == [("zzall",), ("zzfirm",)]
        for term in ("zzfirm", "zzall"):
            matched = "SELECT e.matched FROM docsearch.explain_search(%s, 'open/same/0', 'firm') e WHERE e.rule = 'original'"
            assert "kiln" in connection.execute(matched, [term]).fetchone()[0]
        connection.rollback()
    firm.execute("DELETE FROM docsearch.synonym WHERE term ~ '^(projectfalcon|zz)'")
    firm.execute("SELECT docsearch.drop_project('board')")
