"""A language model behind an endpoint: who may name one, what is sent, and giving up."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from conftest import Database, wait_until
from endpoint import Endpoint, fails, hangs, serve
from psycopg import sql
from psycopg.conninfo import make_conninfo

TEST = "SELECT docsearch.test_language_model()"
SECRET = ["docsearch.llm_url", "docsearch.llm_model", "docsearch.llm_api_key_file"]
PLAIN_ROLE = "docsearch_asker"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as served:
        yield served


@pytest.fixture
def configured(database: Database, endpoint: Endpoint) -> Iterator[psycopg.Connection]:
    """A superuser's session that has the endpoint."""
    with database.connect() as connection:
        connection.execute(sql.SQL("SET docsearch.llm_url = {}").format(endpoint.url))
        connection.execute("SET docsearch.llm_model = 'small'")
        yield connection


@pytest.fixture(scope="module")
def plain(database: Database) -> Iterator[Database]:
    """The same database, as an ordinary role."""
    database.execute("SELECT docsearch.create_project('kit')")
    database.execute(f"CREATE ROLE {PLAIN_ROLE} LOGIN")
    database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}')")
    yield Database(make_conninfo(database.conninfo, user=PLAIN_ROLE))
    database.execute(f"DROP OWNED BY {PLAIN_ROLE}")
    database.execute(f"DROP ROLE {PLAIN_ROLE}")


def test_s1_2_who_is_asked_is_up_to_superusers_and_shown_to_them(database: Database, plain: Database):
    for name in SECRET:
        with database.connect() as connection:
            connection.execute("SELECT docsearch.settings()")
            assert connection.execute(f"SHOW {name}").fetchone() == ("",)
        for statement in (f"SHOW {name}", f"SET {name} = 'http://127.0.0.1'"):
            with plain.connect() as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT docsearch.settings()")
                connection.execute(statement)
    listed = {name for name, in plain.execute("SELECT name FROM docsearch.settings()")}
    assert "docsearch.llm_max_calls" in listed and not listed & set(SECRET)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute(TEST)


def test_s1_35_without_a_url_nothing_is_contacted(database: Database, endpoint: Endpoint):
    with database.connect() as connection:
        connection.execute("SET docsearch.llm_model = 'small'")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
            connection.execute(TEST)
    assert "docsearch.llm_url" in caught.value.diag.message_hint
    assert endpoint.asked == []


def test_s1_11_a_question_carries_the_settings(configured: psycopg.Connection, endpoint: Endpoint):
    answer = configured.execute(TEST).fetchone()[0]
    assert re.fullmatch(r'"ready" in \d+ ms', answer)
    configured.execute("SET docsearch.llm_transform_top_k = 0")
    configured.execute(TEST)
    first, second = ({key: value for key, value in body.items() if key != "messages"} for body in endpoint.asked)
    assert first == {"model": "small", "temperature": 0.3, "top_p": 0.95, "top_k": 40, "max_tokens": 200}
    assert "top_k" not in second


def test_a_question_that_is_cancelled_ends_at_once(configured: psycopg.Connection, database: Database,
                                                   endpoint: Endpoint):
    endpoint.react = hangs
    configured.execute("SET docsearch.llm_timeout = '5min'")
    with ThreadPoolExecutor() as pool:
        question = pool.submit(configured.execute, TEST)
        wait_until(lambda: endpoint.asked)
        begun = time.monotonic()
        database.execute("SELECT pg_cancel_backend(%s)", configured.info.backend_pid)
        with pytest.raises(psycopg.errors.QueryCanceled):
            question.result(timeout=20)
        # Neither the statement nor the connection to the endpoint waits for its end.
        assert endpoint.left.wait(20)
        assert time.monotonic() - begun < 20


def test_s3_27_what_an_endpoint_says_is_for_superusers(configured: psycopg.Connection, plain: Database,
                                                       database: Database, endpoint: Endpoint):
    endpoint.react = fails(404, "no such model for account 123")
    with pytest.raises(psycopg.errors.ExternalRoutineException) as caught:
        configured.execute(TEST)
    assert "404" in caught.value.diag.message_detail and "account 123" in caught.value.diag.message_detail
    assert "docsearch.llm_model" in caught.value.diag.message_hint

    database.execute(f"GRANT EXECUTE ON FUNCTION docsearch.test_language_model() TO {PLAIN_ROLE}")
    database.execute(f"ALTER ROLE {PLAIN_ROLE} SET docsearch.llm_url = '{endpoint.url}'")
    with pytest.raises(psycopg.errors.ExternalRoutineException) as caught:
        plain.execute(TEST)
    said = f"{caught.value.diag.message_primary} {caught.value.diag.message_detail} {caught.value.diag.message_hint}"
    assert "404" in said and "account 123" not in said and endpoint.url not in said
