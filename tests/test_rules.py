"""Rules are read by every backend, and read again when they change."""

import pytest
from conftest import page

PAGES = (page("button", "Starts something."), page("toggle", "Switches something."))


@pytest.fixture
def database(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *PAGES)
    return database


def found_by_keyword(connection, query: str) -> list[str]:
    """The pages that have a word of the query."""
    rows = connection.execute(
        "SELECT slug FROM search_docs(%s) WHERE keyword_score > 0", [query])
    return [slug for slug, in rows]


def test_s2_3_an_open_connection_sees_a_new_rule(database):
    with database.connect() as connection:
        assert found_by_keyword(connection, "knob") == []
        database.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('knob', 'toggle')")
        assert found_by_keyword(connection, "knob") == ["toggle"]
        database.execute("UPDATE docsearch.synonym SET expansion = 'button' WHERE term = 'knob'")
        assert found_by_keyword(connection, "knob") == ["button"]
        database.execute("DELETE FROM docsearch.synonym WHERE term = 'knob'")
        assert found_by_keyword(connection, "knob") == []
        database.execute("TRUNCATE docsearch.synonym")
        assert found_by_keyword(connection, "btn") == []


def test_a_rule_that_is_rolled_back_was_never_there(database):
    with database.connect() as connection, database.connect(autocommit=False) as other:
        other.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('knob', 'toggle')")
        assert found_by_keyword(other, "knob") == ["toggle"]
        assert found_by_keyword(connection, "knob") == []
        other.rollback()
        assert found_by_keyword(other, "knob") == []
        assert found_by_keyword(connection, "knob") == []


def test_an_old_snapshot_does_not_outlive_its_transaction(database):
    with database.connect(autocommit=False) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert found_by_keyword(connection, "knob") == []
        database.execute("INSERT INTO docsearch.synonym (term, expansion) VALUES ('knob', 'toggle')")
        assert found_by_keyword(connection, "knob") == []
        connection.rollback()
        assert found_by_keyword(connection, "knob") == ["toggle"]
