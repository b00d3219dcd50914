"""Ranking weights that were settings of the server: if one is still set, searches work and warn."""

from collections.abc import Iterator

import psycopg
import pytest
from conftest import Database, Site, own_server, page

SEARCH = "SELECT slug FROM search_docs('where does the ferry leave')"
PAGES = [page("ferry", "It leaves from the old harbour at nine."), page("train", "Trains leave from the station.")]


def warnings(connection: psycopg.Connection, statement: str = SEARCH) -> list[tuple[str, str]]:
    """The warnings of a statement, and their hints."""
    warnings: list[tuple[str, str]] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            warnings.append((notice.message_primary, notice.message_hint))

    connection.add_notice_handler(note)
    try:
        connection.execute(statement)
    finally:
        connection.remove_notice_handler(note)
    return warnings


def names(warnings: list[tuple[str, str]]) -> list[str]:
    for message, hint in warnings:
        name = message.split()[0]
        assert message == f"{name} is no longer a setting and has no effect"
        assert f'"{name.removeprefix("docsearch.")}" is a key of config' in hint and f"RESET {name}" in hint
    return [message.split()[0] for message, _ in warnings]


def filled(database: Database) -> Database:
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *PAGES)
    return database


@pytest.fixture
def kit(new_database) -> Database:
    return filled(new_database())


def test_s2_17_a_former_setting_is_named_once_in_each_session(kit):
    name = kit.execute("SELECT current_database()")[0][0]
    kit.execute(f"ALTER DATABASE {name} SET docsearch.weight_task = 0.5")
    expected = "SELECT round(score::numeric, 4) FROM search_docs('ferry', config => '{\"max_boost\": 2}')"
    for _ in range(2):
        with kit.connect() as connection:
            assert names(warnings(connection)) == ["docsearch.weight_task"]
            assert warnings(connection) == []
            connection.execute("SET docsearch.max_boost = 1")
            assert names(warnings(connection)) == ["docsearch.max_boost"]
            assert warnings(connection) == []
            # It has no effect.
            assert (connection.execute(expected.replace(", config => '{\"max_boost\": 2}'", "")).fetchall()
                    == connection.execute(expected).fetchall())
    kit.execute(f"ALTER DATABASE {name} RESET docsearch.weight_task")
    with kit.connect() as connection:
        assert warnings(connection) == []


def test_a_session_that_sets_one_before_the_library_is_loaded_is_warned_too(kit):
    with kit.connect(options="-c docsearch.boost_recency=0 -c docsearch.candidates=50") as connection:
        assert names(warnings(connection)) == ["docsearch.boost_recency"]
        assert connection.execute("SHOW docsearch.candidates").fetchone() == ("50",)
        listed = connection.execute("SELECT count(*) FROM pg_settings WHERE name = 'docsearch.boost_recency'").fetchone()
        assert listed == (0,)


@pytest.fixture(scope="module")
def preloaded() -> Iterator[Site]:
    with own_server("former", shared_preload_libraries="pg_docsearch", **{"docsearch.grade_min_score": "0.9"}) as site:
        filled(site.database)
        yield site


def test_a_server_with_one_in_its_configuration_starts_and_reloads(preloaded):
    with preloaded.database.connect() as connection:
        assert names(warnings(connection)) == ["docsearch.grade_min_score"]
        assert warnings(connection) == []
    preloaded.configure(snippet_length=100)
    with preloaded.database.connect() as connection:
        assert names(warnings(connection)) == ["docsearch.grade_min_score"]
    assert "contains errors" not in preloaded.instance.log.read_text()


def test_connections_and_dumps_that_set_one_work_where_the_library_is_preloaded(preloaded):
    database = preloaded.database
    # Set by a connection string, and by a dump of roles and databases.
    with database.connect(options="-c docsearch.bm25_b=0.1") as connection:
        assert names(warnings(connection)) == ["docsearch.bm25_b", "docsearch.grade_min_score"]
    database.execute("ALTER DATABASE docs SET docsearch.bm25_k1 = '1.2'")
    with database.connect() as connection:
        assert names(warnings(connection)) == ["docsearch.bm25_k1", "docsearch.grade_min_score"]
    database.execute("ALTER DATABASE docs RESET docsearch.bm25_k1")
    with pytest.raises(psycopg.errors.InvalidName):
        database.execute("SET docsearch.nosuch_setting = 1")
