"""What searches take: the memory of a connection, and statements."""

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
    """Anonymous resident memory of a process: what the Rust side allocates is in no context."""
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
            """Which results are further sections, and how many statements the search takes."""
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
    # Comparing sections takes one for their vectors.
    assert taken == without == compared - 1
