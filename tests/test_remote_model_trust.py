"""Who decides where the texts of a remote model go, and whose texts are sent."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from conftest import Database
from endpoint import Endpoint, serve

ADD = "SELECT docsearch.add_remote_model(%s, %s, 'tri')"


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    with serve() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(served: Endpoint) -> Endpoint:
    """The endpoint, without requests."""
    served.requests.clear()
    return served


@pytest.fixture(scope="module")
def database(new_database) -> Database:
    return new_database()


@pytest.fixture
def etl(database: Database) -> Iterator[str]:
    """A role that may write all data. Other tests check whether the server has one."""
    role = f"etl{uuid4().hex[:10]}"
    database.execute(f"CREATE ROLE {role} IN ROLE pg_write_all_data, pg_read_all_data")
    yield role
    database.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize("column, value", [("url", "'http://127.0.0.1:9/v1'"), ("api_key_file", "'/etc/hostname'"),
                                           ("model", "'other'"), ("names_dimension", "NOT names_dimension")])
def test_only_a_superuser_decides_where_texts_go(database: Database, endpoint: Endpoint, etl: str, column: str, value: str):
    """A role that may write all data may write docsearch.endpoint, but cannot redirect texts or have a file read as a key."""
    name = f"m{uuid4().hex[:10]}"
    number, = database.execute(ADD, name, endpoint.url)[0]
    database.execute("SELECT docsearch.create_project(%s, model => %s)", name, name)
    former, = database.execute(f"SELECT {column} FROM docsearch.endpoint WHERE model_id = %s", number)[0]
    unusable = f"SELECT FROM docsearch.check() WHERE problem = 'model unusable' AND object = '{name}'"
    assert database.execute(unusable) == []
    with database.connect() as writer:
        writer.execute(f"SET ROLE {etl}")
        writer.execute(f"UPDATE docsearch.endpoint SET {column} = {value} WHERE model_id = {number}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute(f"COMMENT ON DOMAIN docsearch.endpoint_{number} IS 'mine'")
    endpoint.requests.clear()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
        database.execute("SELECT docsearch.test_model(%s)", name)
    assert "no superuser has confirmed" in refused.value.diag.message_primary
    assert "docsearch.add_remote_model()" in refused.value.diag.message_hint
    assert len(database.execute(unusable)) == 1
    assert endpoint.requests == []
    database.execute(f"UPDATE docsearch.endpoint SET {column} = %s WHERE model_id = {number}", former)
    database.execute("SELECT docsearch.test_model(%s)", name)
    assert database.execute(unusable) == []
    database.execute("SELECT docsearch.drop_project(%s)", name)


def test_a_forged_row_is_not_an_endpoint(database: Database, endpoint: Endpoint, etl: str):
    """A model of files does not become one that sends texts away."""
    with database.connect() as writer:
        writer.execute(f"SET ROLE {etl}")
        writer.execute("INSERT INTO docsearch.model (name, dimension, max_tokens, digest, background, remote)"
                       " VALUES ('forged', 3, 512, 'x', 0.1, true)")
        writer.execute("INSERT INTO docsearch.endpoint (model_id, url, model, names_dimension)"
                       " SELECT id, %s, 'tri', false FROM docsearch.model WHERE name = 'forged'", [endpoint.url])
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
        database.execute("SELECT docsearch.embed('a secret', 'forged')")
    assert "no superuser has confirmed" in refused.value.diag.message_primary
    assert endpoint.requests == []
    database.execute("DELETE FROM docsearch.model WHERE name = 'forged'")


def test_only_the_owner_decides_who_may_send_texts(database: Database, endpoint: Endpoint, etl: str):
    """A role that may write all data may write docsearch.model_grant, but this grants nothing, to itself or to others, first
    or again."""
    name = f"g{uuid4().hex[:10]}"
    number, = database.execute(ADD, name, endpoint.url)[0]
    grant, revoke = "SELECT docsearch.grant_model(%s, %s)", "SELECT docsearch.revoke_model(%s, %s)"
    forge = f"INSERT INTO docsearch.model_grant (model_id, role) VALUES ({number}, '%s'::regrole) ON CONFLICT DO NOTHING"
    embed = f"SELECT docsearch.embed('a secret', '{name}')"
    other = f"{etl}_other"
    database.execute(f"CREATE ROLE {other}")
    database.execute(f"SELECT docsearch.grant_usage('{other}', write => true)")
    database.execute(f"SELECT docsearch.grant_usage('{etl}', write => true)")

    def sends(role: str) -> bool:
        with database.connect() as connection:
            connection.execute(f"SET ROLE {role}")
            try:
                connection.execute(embed)
            except psycopg.errors.InsufficientPrivilege as refused:
                assert "docsearch.grant_model" in refused.diag.message_hint
                return False
            return True

    def forged(role: str) -> None:
        with database.connect() as connection:
            connection.execute(f"SET ROLE {etl}")
            connection.execute(forge % role)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"CREATE DOMAIN docsearch.model_grant_{number} AS bool")

    try:
        for role in (etl, other):
            forged(role)
            assert not sends(role)
        database.execute(grant, other, name)
        assert sends(other) and not sends(etl)
        database.execute(grant, etl, name)
        assert sends(other) and sends(etl)
        database.execute(revoke, other, name)
        forged(other)
        assert not sends(other) and sends(etl)
        database.execute(grant, other, name)
        database.execute("SELECT docsearch.revoke_usage(%s)", other)
        database.execute(f"SELECT docsearch.grant_usage('{other}', write => true)")
        forged(other)
        assert not sends(other) and sends(etl)
        # A role of the same name is another one.
        database.execute(grant, other, name)
        database.execute(f"DROP OWNED BY {other}")
        database.execute(f"DROP ROLE {other}")
        database.execute(f"CREATE ROLE {other}")
        database.execute(f"SELECT docsearch.grant_usage('{other}', write => true)")
        forged(other)
        assert not sends(other)
        database.execute(revoke, etl, name)
        assert not sends(etl)
    finally:
        for role in (etl, other):
            database.execute("SELECT docsearch.revoke_usage(%s)", role)
        database.execute(f"DROP ROLE {other}")
        database.execute("DELETE FROM docsearch.model_grant WHERE model_id = %s", number)


def test_models_are_granted_at_once(database: Database, endpoint: Endpoint):
    name = f"g{uuid4().hex[:10]}"
    database.execute(ADD, name, endpoint.url)
    roles = [f"{name}_{number}" for number in range(4)]
    for role in roles:
        database.execute(f"CREATE ROLE {role}")
        database.execute("SELECT docsearch.grant_usage(%s)", role)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda role: database.execute("SELECT docsearch.grant_model(%s, %s)", role, name), roles))
        for role in roles:
            with database.connect() as connection:
                connection.execute(f"SET ROLE {role}")
                connection.execute("SELECT docsearch.embed('a text', %s)", [name])
    finally:
        for role in roles:
            database.execute("SELECT docsearch.revoke_usage(%s)", role)
            database.execute(f"DROP ROLE {role}")
