"""An attached table stops working when its roles, memberships or columns change."""

from collections.abc import Iterator

import psycopg
import pytest
from attacks import attach, attacked_server, refuses, table, unchanged
from background import acting, settled
from conftest import Database, Site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with attacked_server() as own:
        yield own


@pytest.fixture
def database(guarded: Database) -> Iterator[Database]:
    yield guarded
    guarded.execute("DELETE FROM docsearch.document WHERE source_root LIKE 'table:%'")


def test_another_role_of_the_same_name_is_not_the_one_that_attached_a_table(database):
    with acting(database, "wren") as role:
        name = table(role)
        database.execute("CREATE ROLE guest")
        database.execute("GRANT wren TO guest")
        database.execute("SELECT docsearch.grant_usage('guest', write => true)")
        with database.connect() as guest:
            guest.execute("SET ROLE guest")
            guest.execute(f"SELECT docsearch.attach_table('wren.{name}', project => 'open', public => true)")
        settled(database)
        database.execute("DROP OWNED BY guest")
        database.execute("DROP ROLE guest")
        with unchanged(database):
            role.execute(f"INSERT INTO {name} VALUES (1, 'One', 'Noted while there was none.')")
            refuses(database, name, 'role "guest", which attached it, does not exist any more')
            database.execute("CREATE ROLE guest SUPERUSER")
            role.execute(f"INSERT INTO {name} VALUES (2, 'Two', 'Noted since.')")
            database.execute("UPDATE docsearch.attached_table SET attempts = 0, next_attempt = now(), error = NULL")
            refuses(database, name, 'role "guest", which attached it, does not exist any more')
            # Writing the new number into the row does not help: its owner has agreed to the old one.
            database.execute("UPDATE docsearch.attached_table SET writes_as = 'guest', attempts = 0, next_attempt = now(), error = NULL")
            refuses(database, name, "writes_as")
        database.execute("DROP ROLE guest")
        # The owner attaches it again, and nothing is lost.
        role.execute(f"SELECT docsearch.detach_table('{name}')")
        attach(role, name, project="open")
        settled(database)
        assert len(database.execute("SELECT FROM docsearch.document WHERE source_root LIKE 'table:%'")) == 2


def test_a_role_with_a_new_name_is_the_same(database):
    database.execute("CREATE ROLE former LOGIN")
    database.execute("SELECT docsearch.grant_usage('former', write => true)")
    database.execute("CREATE SCHEMA former AUTHORIZATION former")
    with acting(database, "former") as role:
        name = table(role)
        attach(role, name, project="open")
        settled(database)
        database.execute("ALTER ROLE former RENAME TO latter")
        role.execute(f"INSERT INTO former.{name} VALUES (1, 'One', 'After the wedding.')")
        settled(database)
        assert database.execute("SELECT slug FROM docsearch.document WHERE source_root LIKE 'table:%'") == [(f"{name}/1",)]
        role.execute(f"SELECT docsearch.detach_table('former.{name}')")
    database.execute("DROP OWNED BY latter CASCADE")
    database.execute("DROP ROLE latter")


@pytest.mark.parametrize("who", ["member", "owner of the schema"])
def test_a_revoked_membership_stops_the_tables_of_the_member(database, who):
    database.execute("CREATE ROLE team")
    database.execute("GRANT team TO wren")
    database.execute("CREATE SCHEMA team AUTHORIZATION team")
    database.execute("CREATE TABLE team.page (id bigint PRIMARY KEY, title text, body text)")
    database.execute("ALTER TABLE team.page OWNER TO team")
    with acting(database, "wren") as role:
        role.execute("SELECT docsearch.attach_table('team.page', project => 'open', public => true)")
        settled(database)
        database.execute("REVOKE team FROM wren")
        with unchanged(database):
            database.execute("INSERT INTO team.page VALUES (1, 'One', 'Of another owner.')")
            refuses(database, "team.page", "is not a member of its owner \"team\" any more")
        with acting(database, "rook") as stranger, pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute("SELECT docsearch.detach_table('team.page')")
        database.execute("GRANT USAGE ON SCHEMA team TO wren")
        notices = []
        role.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        if who == "member":
            role.execute("SELECT docsearch.detach_table('team.page')")
            assert notices == ["triggers of team.page remain, but have no effect"]
        else:
            database.execute("SELECT docsearch.detach_table('team.page')")
        assert database.execute("SELECT count(*) FROM docsearch.attached_table") == [(0,)]
        assert database.execute("SELECT count(*) FROM pg_type WHERE typnamespace = 'docsearch'::regnamespace"
                                " AND typname LIKE 'attached!_%' ESCAPE '!' AND typtype = 'd'") == [(0,)]
        database.execute("INSERT INTO team.page VALUES (2, 'Two', 'Not recorded.')")
        assert database.execute("SELECT count(*) FROM docsearch.table_change") == [(0,)]
    database.execute("DROP OWNED BY team CASCADE")
    database.execute("DROP ROLE team")


def test_documents_are_deleted_with_their_table_whatever_happened_to_the_roles(database):
    database.execute("CREATE ROLE guest LOGIN")
    database.execute("CREATE SCHEMA guest AUTHORIZATION guest")
    database.execute("SELECT docsearch.grant_usage('guest', write => true)")
    with acting(database, "guest") as role:
        name = table(role)
        role.execute(f"INSERT INTO {name} VALUES (1, 'One', 'Goes.')")
        attach(role, name, project="open")
        settled(database)
    database.execute("DROP OWNED BY guest CASCADE")
    database.execute("DROP ROLE guest")
    settled(database)
    assert database.execute("SELECT count(*) FROM docsearch.document WHERE source_root LIKE 'table:%'") == [(0,)]
    assert database.execute("SELECT count(*) FROM docsearch.attached_table") == [(0,)]


CHANGES = {
    "dropped and added": "ALTER TABLE {0} DROP COLUMN id; ALTER TABLE {0} ADD COLUMN id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START 11)",
    "swapped": "ALTER TABLE {0} RENAME COLUMN id TO former; ALTER TABLE {0} RENAME COLUMN other TO id",
    "computed": "ALTER TABLE {0} ALTER COLUMN id TYPE bigint USING id + 10",
    "of another type": "ALTER TABLE {0} ALTER COLUMN id TYPE text USING (id + 10)::text",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_key_column_that_becomes_another_leaves_no_documents_without_rows(database, change):
    with acting(database, "wren") as role:
        name = table(role, "id bigint PRIMARY KEY, title text, body text, other bigint UNIQUE")
        role.execute(f"INSERT INTO {name} VALUES (1, 'One', 'A heron.', 11), (2, 'Two', 'A gull.', 12)")
        attach(role, name, project="open")
        settled(database)
        role.execute(CHANGES[change].format(name))
        settled(database)
        found = database.execute("SELECT slug, title FROM docsearch.document WHERE source_root LIKE 'table:%' ORDER BY slug")
        assert found == [(f"{name}/11", "One"), (f"{name}/12", "Two")]


def test_a_text_that_is_computed_again_is_read_again(database):
    with acting(database, "wren") as role:
        name = table(role)
        role.execute(f"INSERT INTO {name} VALUES (1, 'One', 'A heron.')")
        attach(role, name, project="open")
        settled(database)
        role.execute(f"ALTER TABLE {name} ALTER COLUMN body TYPE text USING upper(body)")
        settled(database)
        assert database.execute("SELECT body FROM docsearch.document WHERE source_root LIKE 'table:%'") == [("A HERON.",)]
