"""Resources of searches: the memory of a connection, and statements."""

import json
from pathlib import Path

from conftest import Database, page

KIBIBYTE = 1 << 10
WARM_UP, SEARCHES = 50, 200
# Measured: 8 KiB of private memory and none in contexts; a leak of 1 KiB a search gives 200.
CONTEXT_GROWTH, PRIVATE_GROWTH = 64 * KIBIBYTE, 128 * KIBIBYTE
CONTEXTS = "SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts"
TABLES = "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'docsearch'::regnamespace AND relkind = 'r'"
WORDS = ("button", "slider", "picture", "window", "session", "query", "table", "index")


def private_bytes(pid: int) -> int:
    """Anonymous resident memory of a process, since Rust's allocations are in no memory context."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes, = (int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
    return KIBIBYTE * kilobytes


def test_searches_do_not_add_up_in_memory(database: Database):
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *(page(word, f"How a {word} works.", category=word) for word in WORDS))
    # When autovacuum analyses the tables, connections plan and read the rules again. The allocator keeps
    # the pieces: up to half a megabyte once, which is not what searches add.
    for table, in database.execute(TABLES):
        database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    with database.connect(prepare_threshold=None) as connection:
        def search(numbers: range) -> None:
            for number in numbers:
                word, other = WORDS[number % 8], WORDS[number // 8 % 8]
                rows = connection.execute(
                    "SELECT slug FROM search_docs(%s, filter => %s)",
                    [f"{word} and {other} number {number}",
                     f'{{"category": "{word}"}}' if number % 2 else None]).fetchall()
                assert (word,) in rows

        def sizes() -> tuple[int, int]:
            contexts, = connection.execute(CONTEXTS).fetchone()
            return int(contexts), private_bytes(connection.info.backend_pid)

        search(range(WARM_UP))
        contexts, private = sizes()
        search(range(WARM_UP, WARM_UP + SEARCHES))
        contexts_after, private_after = sizes()
    assert contexts_after - contexts < CONTEXT_GROWTH
    assert private_after - private < PRIVATE_GROWTH


def test_s4_13_dropping_further_sections_takes_no_statement(database: Database):
    database.execute("SELECT docsearch.create_project('guide')")
    parts = "".join(f"\n\n## {word.title()}\n\n" + f"A section on the {word} and its zebra. " * 20 for word in WORDS)
    database.index("guide", page("long", f"About zebras.{parts}"), page("short", "One zebra."))
    statements: list[str] = []
    with database.connect() as connection:
        connection.add_notice_handler(lambda notice: statements.append(notice.message_primary))

        def search(dedup: str) -> tuple[list[bool], int]:
            """Which results are further sections, and the number of statements of the search."""
            statements.clear()
            rows = connection.execute("SELECT additional_chunk FROM search_docs('zebra', 'guide', dedup => %s)",
                                      [dedup])
            return [further for further, in rows], sum("Query Text" in said for said in statements)

        for dedup in ("document", "none", "similar"):
            search(dedup)
        connection.execute("LOAD 'auto_explain'")
        connection.execute("SET auto_explain.log_min_duration = 0")
        connection.execute("SET auto_explain.log_nested_statements = on")
        connection.execute("SET client_min_messages = log")
        (further, taken), (_, without), (_, compared) = search("document"), search("none"), search("similar")
    assert any(further)
    # Comparing sections needs one for their vectors.
    assert taken == without == compared - 1


# The only access paths to tables that grow with the number of documents, whatever the planner's statistics are.
PATHS = {
    "chunk": {"chunk_terms", "chunk_pkey"}, "definition": {"definition_key"}, "document": {"document_pkey", "document_text_digest"},
    "document_name": {"document_name_key", "document_name_trigram"}, "term_stat": {"term_stat_lexeme"},
    "vector_1": {"vector_1_pkey"}, "vector_code": {"vector_code_project"},
}
QUERIES = ("kiln clay", "call_77", "how do kilns burn the clay of word7 and the others", "Page p4", "pge p4", "kiln -clay",
           "what is call_8?", "g/p12", "the kiln number 17 burns word17 clay")


def kiln_pages(name: str, count: int) -> str:
    """A call that loads `count` documents."""
    return (f"SELECT count(*) FROM docsearch.index_docs('{name}', (SELECT jsonb_agg(jsonb_build_object('slug', 'g/p' || n, "
            "'title', 'Page p' || n, 'body', format(E'The kiln number %s burns word%s clay.\\n\\n## call_%1$s\\n\\nIt calls.', "
            f"n, n % 50))) FROM generate_series(1, {count}) n))")


def scans(plan: dict) -> list[dict]:
    """The nodes of a plan that read a table or an index."""
    own = [plan] if "Relation Name" in plan or "Index Name" in plan else []
    return own + [node for part in plan.get("Plans", []) for node in scans(part)]


def searched_paths(database: Database, project: str) -> list[tuple[str, str, int, str]]:
    """Node, table or index, rows read and removed, and statement, of everything that searches of a project read."""
    plans: list[str] = []
    with database.connect() as connection:
        connection.execute("LOAD 'auto_explain'")
        for name, value in (("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_analyze", "on"),
                            ("log_timing", "off"), ("log_format", "json"), ("log_level", "notice")):
            connection.execute(f"SET auto_explain.{name} = '{value}'")
        connection.add_notice_handler(lambda notice: plans.append(notice.message_primary))
        for query in QUERIES:
            connection.execute("SELECT slug FROM search_docs(%s, %s)", [query, project])
    found = []
    for logged in plans:
        if "plan:\n" in logged:
            explained = json.loads(logged.split("plan:\n", 1)[1])
            for node in scans(explained["Plan"]):
                place = node.get("Index Name") or node["Relation Name"]
                removed = node.get("Rows Removed by Filter", 0)
                found.append((node["Node Type"], place, removed, explained["Query Text"]))
    return found


def test_no_statement_of_a_search_depends_on_statistics(database: Database):
    database.execute("SELECT docsearch.create_project('old'), docsearch.create_project('kilns')")
    for table, in database.execute(TABLES):
        database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")

    def check(when: str, most: int = 60) -> None:
        paths = searched_paths(database, "kilns")
        assert {place for _, place, _, _ in paths} >= {"chunk_terms", "document_name_key"}, when
        for node, place, removed, statement in paths:
            table = next((table for table in sorted(PATHS, reverse=True) if place.startswith(table)), None)
            # The rows of a bitmap are read from the table; other scans of it are those of all its rows.
            if table and (place != table or node != "Bitmap Heap Scan"):
                assert place in PATHS[table], (when, node, place, statement)
            # Only some of the similar names are compared.
            assert removed <= most or table == "document_name", (when, node, place, removed, statement)

    database.execute(kiln_pages("kilns", 600))
    check("never analysed")
    database.execute("SELECT docsearch.drop_project('kilns')")
    database.execute("SELECT docsearch.create_project('kilns')")
    database.execute(kiln_pages("old", 200))
    database.execute("ANALYZE")
    database.execute(kiln_pages("kilns", 600))
    check("loaded after ANALYZE")
    database.execute("ANALYZE")
    database.execute("DELETE FROM docsearch.document WHERE project_id = (SELECT id FROM docsearch.project WHERE name = 'kilns')")
    # A few rows of another project may be read.
    assert max(removed for *_, removed, _ in searched_paths(database, "kilns")) < 2500
    database.execute("ANALYZE")
    database.execute(kiln_pages("kilns", 1200))
    check("much grown")


def test_a_load_into_empty_tables_reads_few_documents(new_database):
    """In one session, before anything is analysed: also what checks foreign keys, whose plans a session makes once."""
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    for table, in database.execute(TABLES):
        database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    count = 3_000
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        for first in range(0, count, 50):
            pages = [page(f"{number:04}", f"Words of {number}.") for number in range(first, first + 50)]
            connection.execute("SELECT docsearch.index_docs('kit', %s)", [json.dumps(pages)])
        connection.execute("SELECT pg_stat_force_next_flush()")
    read, = database.execute("SELECT sum(idx_tup_read)::int FROM pg_stat_all_indexes WHERE relid = 'docsearch.document'::regclass")[0]
    # Plans for a few hundred documents read all of them, which a session then makes again. Otherwise it is 22 million.
    assert read < 1_000 * count
