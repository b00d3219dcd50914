"""A model behind an endpoint, as the model of a project."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from conftest import GUARD, Database, page, wait_until
from endpoint import DIMENSION, Endpoint, Reaction, fails, hangs, serve, works
from psycopg.conninfo import make_conninfo

ADD = "SELECT docsearch.add_remote_model(%s, %s, 'tri')"
PAGES = [page(f"p/{name}", f"Everything about the {name}.\n\n## Use\n\nTurn the {name} with care.")
         for name in ("ferry", "orchestra", "tractor", "violin", "lantern")]
SEARCH = "SELECT slug, similarity, notice FROM search_docs(%s, 'kit', max_results => 1)"
PLAIN_ROLE = "docsearch_reader"


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    with serve() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(served: Endpoint) -> Iterator[Endpoint]:
    """The endpoint, working and without requests."""
    served.react = None
    served.requests.clear()
    served.left.clear()
    yield served
    served.react = None


@pytest.fixture(scope="module")
def database(new_database, served: Endpoint) -> Database:
    """A database with project kit, whose model is remote."""
    made = new_database()
    made.execute(ADD, "remote", served.url)
    made.execute("SELECT docsearch.create_project('kit', model => 'remote')")
    assert {action for _, action, *_ in made.index("kit", *PAGES)} == {"added"}
    return made


def recovered(database: Database, endpoint: Endpoint) -> None:
    """Makes the endpoint answer once, so that failures are retried as at first."""
    endpoint.react = None
    database.execute("SELECT docsearch.test_model('remote')")
    endpoint.requests.clear()


def test_a_project_is_indexed_and_searched_with_it(database: Database, endpoint: Endpoint):
    row = database.execute("SELECT dimension, remote, directory, max_tokens, background BETWEEN 0 AND 0.9 "
                           "FROM docsearch.model")
    assert row == [(DIMENSION, True, None, 512, True)]
    slug, similarity, notice = database.execute(SEARCH, "care of a lantern")[0]
    assert slug == "p/lantern" and similarity > 0
    assert notice is None or "vector_unavailable" not in notice
    assert endpoint.texts() == ["care of a lantern"]
    database.execute(SEARCH, "care of a lantern")
    assert len(endpoint.requests) == 1
    assert database.problems() == []
    assert len(endpoint.requests) == 1
    assert f"{DIMENSION} components" in database.execute("SELECT docsearch.test_model('remote')")[0][0]
    assert len(endpoint.requests) == 2


def test_passages_go_together_and_prefixes_before_them(database: Database, endpoint: Endpoint):
    database.execute("SELECT docsearch.add_remote_model('prefixed', %s, 'tri', 16, NULL, 'query: ', 'passage: ')",
                     endpoint.url)
    database.execute("SELECT docsearch.create_project('many', model => 'prefixed')")
    endpoint.requests.clear()
    count = 60

    def react(path: str, body: dict) -> Reaction:
        """Waits until all passages have arrived or wait in the program."""
        queued = "SELECT queue_depth FROM docsearch.status()"
        wait_until(lambda: database.execute(queued) == [(count - len(endpoint.texts()),)])
        return works(path, body)

    endpoint.react = react
    database.index("many", *(page(f"m/{number}", f"Number {number}.") for number in range(count)))
    endpoint.react = None
    texts = endpoint.texts()
    assert len(texts) == count and all(text.startswith("passage: ") for text in texts)
    assert len(endpoint.requests) < len(texts) / 5
    assert {body["dimensions"] for body in endpoint.requests} == {16}
    endpoint.requests.clear()
    database.execute("SELECT search_docs('number 7', 'many')")
    assert endpoint.texts() == ["query: number 7"]


def test_s3_26_a_search_continues_with_keywords_while_the_endpoint_fails(database: Database, endpoint: Endpoint):
    recovered(database, endpoint)
    endpoint.react = fails(503)
    begun = time.monotonic()
    slug, similarity, notice = database.execute(SEARCH, "turn the violin")[0]
    assert slug == "p/violin" and similarity is None and "vector_unavailable" in notice
    # Only pauses can take this long.
    assert len(endpoint.requests) == 4 and time.monotonic() - begun > 0.65

    def attempts() -> int:
        """The number of attempts, which is one soon after a failure."""
        endpoint.requests.clear()
        database.execute(SEARCH, "turn the tractor")
        return len(endpoint.requests)

    wait_until(lambda: attempts() == 1)
    rows = database.index("kit", page("p/late", "Too late."))
    assert rows[0][1] == "failed" and "the endpoint of the embedding model has failed" in str(rows[0])
    recovered(database, endpoint)
    assert database.execute(SEARCH, "turn the violin")[0][1] is not None


def test_s3_26_deferred_documents_get_their_vectors_when_it_works_again(database: Database, endpoint: Endpoint):
    endpoint.react = fails(500)
    with database.connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SELECT docsearch.index_doc('kit', 'p/deferred', 'Deferred', 'A page for later.')")
    wait_until(lambda: database.execute("SELECT error FROM docsearch.embedding_queue WHERE attempts > 0"))
    error = database.execute("SELECT error FROM docsearch.embedding_queue")[0][0]
    assert "embedding model has failed" in error
    assert database.execute(SEARCH, "a page for later")[0][0] == "p/deferred"
    endpoint.react = None
    # After many attempts the next one would be late.
    database.execute("UPDATE docsearch.embedding_queue SET attempts = 0, next_attempt = now()")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    assert database.problems() == []


def test_s3_27_a_key_that_is_refused_is_an_error_with_guidance(database: Database, endpoint: Endpoint, tmp_path):
    key = "sk-" + uuid4().hex
    key_file = tmp_path / "key"
    key_file.write_text(key)
    for path in [*tmp_path.parents[:3], tmp_path, key_file]:
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    endpoint.react = fails(401, f"wrong key {key}")
    with pytest.raises(psycopg.errors.ExternalRoutineException) as caught:
        database.execute("SELECT docsearch.add_remote_model('keyed', %s, 'tri', api_key_file => %s)",
                         endpoint.url, str(key_file))
    diag = caught.value.diag
    assert "API key" in diag.message_primary and "401" in diag.message_detail and "api_key_file" in diag.message_hint
    assert key not in f"{diag.message_primary} {diag.message_detail} {diag.message_hint}"
    assert len(endpoint.requests) == 1
    assert database.execute("SELECT FROM docsearch.model WHERE name = 'keyed'") == []


def test_arguments_that_cannot_be_used_are_refused_before_anything_is_sent(database: Database, endpoint: Endpoint):
    for arguments in ("'m', 'file:///etc/passwd', 'tri'", "'m', NULL, 'tri'", "'m', 'http://x', ' '",
                      "NULL, 'http://x', 'tri'", "'m', 'http://x', 'tri', 5000", "'m', 'http://x', 'tri', 0",
                      "'m', 'http://x', 'tri', max_tokens => 5",
                      "'m', 'http://x', 'tri', api_key_file => 'key'"):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            database.execute(f"SELECT docsearch.add_remote_model({arguments})")
        assert caught.value.diag.message_hint
    assert endpoint.requests == []


def test_an_address_may_change_and_a_model_may_not(database: Database, endpoint: Endpoint):
    with serve() as other:
        number = database.execute(ADD, "remote", other.url)
        endpoint.requests.clear()
        database.execute(SEARCH, "a query without a cached vector")
        assert "a query without a cached vector" in other.texts() and endpoint.requests == []
        assert database.execute(ADD, "remote", endpoint.url) == number
    with pytest.raises(psycopg.errors.DuplicateObject) as caught:
        database.execute("SELECT docsearch.add_remote_model('remote', %s, 'tri', 32)", endpoint.url)
    assert "another name" in caught.value.diag.message_hint


def test_endpoints_are_the_superusers_matter(database: Database, endpoint: Endpoint):
    database.execute(f"CREATE ROLE {PLAIN_ROLE} LOGIN")
    try:
        database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}', write => true)")
        plain = Database(make_conninfo(database.conninfo, user=PLAIN_ROLE))
        for statement in ("SELECT FROM docsearch.endpoint", "SELECT docsearch.test_model('remote')",
                          "SELECT docsearch.add_remote_model('own', 'http://127.0.0.1', 'tri')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(statement)
        assert plain.execute(SEARCH, "what a reader asks")[0][1] is not None
        database.execute(f"GRANT CREATE ON SCHEMA docsearch TO {PLAIN_ROLE}")
        database.execute(f"ALTER TABLE docsearch.endpoint OWNER TO {PLAIN_ROLE}")
        endpoint.requests.clear()
        assert "vector_unavailable" in database.execute(SEARCH, "after the change")[0][2]
        assert endpoint.requests == []
    finally:
        database.execute("ALTER TABLE docsearch.endpoint OWNER TO CURRENT_USER")
        database.execute(f"DROP OWNED BY {PLAIN_ROLE}")
        database.execute(f"DROP ROLE {PLAIN_ROLE}")


@pytest.fixture
def roles(database: Database) -> Iterator[dict[str, Database]]:
    """The same database as a reader, a writer, a writer that was given the model, and a member of that role."""
    names = ("reader", "writer", "granted", "member")
    for name in names:
        database.execute(f"CREATE ROLE remote_{name} LOGIN")
        database.execute(f"SELECT docsearch.grant_usage('remote_{name}', write => {name != 'reader'})")
    database.execute("GRANT remote_granted TO remote_member")
    database.execute("SELECT docsearch.grant_model('remote_granted', 'remote')")
    database.execute("GRANT CREATE ON SCHEMA public TO remote_writer, remote_granted")
    yield {name: Database(make_conninfo(database.conninfo, user=f"remote_{name}")) for name in names}
    database.execute("SELECT docsearch.revoke_model('remote_granted', 'remote')")
    for name in reversed(names):
        database.execute(f"DROP OWNED BY remote_{name}")
        database.execute(f"DROP ROLE remote_{name}")


# Statements by which a text of the caller's choice reaches the endpoint.
SENDING = {
    "embed": "SELECT docsearch.embed(%s, 'remote')",
    "embed_passages": "SELECT docsearch.embed_passages(ARRAY[%s], 'remote')",
    "index_doc": "SELECT docsearch.index_doc('kit', 'sent', 'Sent', %s)",
    "index_docs": "SELECT * FROM docsearch.index_docs('kit', jsonb_build_array(jsonb_build_object("
                  "'slug', 'sent', 'title', 'Sent', 'body', %s::text)))",
}
# Searches, which send the query and nothing else.
SEARCHING = {
    "search_docs": "SELECT count(*) FROM search_docs(%s, 'kit')",
    "search_docs_json": "SELECT search_docs_json(%s, 'kit')",
    "search_docs_text": "SELECT search_docs_text(%s, 'kit')",
    "explain_search": "SELECT count(*) FROM docsearch.explain_search(%s, 'p/ferry', 'kit')",
    "search_refined": "SELECT docsearch.search_refined(%s, 'kit', max_refinements => 0)",
    "answer_prompt": "SELECT docsearch.answer_prompt(%s, 'kit')",
    "grade_results": "SELECT docsearch.grade_results(%s, 'kit')",
    "transform_query": "SELECT docsearch.transform_query(%s, 'kit')",
}


def refused(role: Database, statement: str, *arguments: object) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        role.execute(statement, *arguments)
    assert 'to model "remote"' in caught.value.diag.message_primary, caught.value
    assert "docsearch.grant_model" in caught.value.diag.message_hint


def test_only_roles_with_the_grant_can_send_texts_to_the_model(database: Database, endpoint: Endpoint,
                                                               roles: dict[str, Database]):
    recovered(database, endpoint)
    hidden = "SELECT string_agg(body, ' ') FROM docsearch.document"
    for name in ("reader", "writer"):
        for function, statement in SENDING.items():
            if function.startswith("index") and name == "reader":
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    roles[name].execute(statement, f"{name} {function}")
                continue
            refused(roles[name], statement, f"{name} {function}")
        refused(roles[name], f"SELECT docsearch.embed_passages(ARRAY[({hidden})], 'remote')")
        # The dimension is a column, and reading it sends nothing.
        assert roles[name].execute("SELECT dimension FROM docsearch.model WHERE name = 'remote'") == [(DIMENSION,)]
        assert len(roles[name].execute("SELECT docsearch.embed('a text', 'all-MiniLM-L6-v2')")) == 1
    with roles["writer"].connect() as connection:
        connection.execute("SET docsearch.default_model = 'remote'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT docsearch.embed('by default')")
    with roles["writer"].connect() as connection:
        connection.execute("SET docsearch.index_mode = 'deferred'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(SENDING["index_doc"], ["later"])
    roles["writer"].execute("CREATE TABLE own(id int PRIMARY KEY, title text, body text)")
    refused(roles["writer"], "SELECT docsearch.attach_table('own', project => 'kit', public => true)")
    refused(roles["writer"], "SELECT docsearch.create_project('own', model => 'remote')")
    assert endpoint.requests == []
    for name in ("granted", "member"):
        for function, statement in SENDING.items():
            text = f"{name} {function}"
            roles[name].execute(statement, text)
            assert any(text in sent for sent in endpoint.texts()), text
    database.execute("SELECT docsearch.delete_doc('kit', 'sent')")


def test_a_search_sends_only_the_query(database: Database, endpoint: Endpoint,
                                       roles: dict[str, Database]):
    recovered(database, endpoint)
    for number, (function, statement) in enumerate(SEARCHING.items()):
        query = f"a lantern for {function} {number}"
        roles["reader"].execute(statement, query)
        assert set(endpoint.texts()) == {query}, function
        endpoint.requests.clear()


def test_a_project_that_is_switching_to_the_model_accepts_documents_of_granted_roles(
        database: Database, endpoint: Endpoint, roles: dict[str, Database]):
    recovered(database, endpoint)
    database.execute("SELECT docsearch.create_project('local')")
    database.index("local", page("first", "The first page."))
    with roles["writer"].connect() as writer:
        assert writer.execute("SELECT docsearch.index_doc('local', 'own', 'Own', 'Stays here.')").fetchone() == ("added",)
    endpoint.react = fails(503)
    database.execute("SELECT docsearch.set_model('local', 'remote')")
    refused(roles["writer"], "SELECT docsearch.index_doc('local', 'own', 'Own', 'Would be sent.')")
    endpoint.react = None
    database.execute("SELECT docsearch.drop_project('local')")
    assert not any("Would be sent" in text for text in endpoint.texts())


def test_rows_of_a_granted_role_no_longer_wait(database: Database, endpoint: Endpoint,
                                               roles: dict[str, Database]):
    recovered(database, endpoint)
    granted = roles["granted"]
    granted.execute("CREATE TABLE given(id int PRIMARY KEY, title text, body text)")
    granted.execute("INSERT INTO given VALUES (1, 'One', 'A row that may be sent.')")
    granted.execute("SELECT docsearch.attach_table('given', project => 'kit', public => true)")
    wait_until(lambda: any("A row that may be sent" in text for text in endpoint.texts()))
    database.execute("SELECT docsearch.wait_for_index()")
    database.execute("SELECT docsearch.revoke_model('remote_granted', 'remote')")
    granted.execute("INSERT INTO given VALUES (2, 'Two', 'A row that stays here.')")
    wait_until(lambda: database.execute("SELECT FROM docsearch.index_progress('kit') "
                                        "WHERE last_error LIKE '%%permission denied to send%%'"))
    assert not any("stays here" in text for text in endpoint.texts())
    granted.execute("SELECT docsearch.detach_table('given')")


def test_a_search_that_is_cancelled_ends_at_once(database: Database, endpoint: Endpoint):
    recovered(database, endpoint)
    endpoint.react = hangs
    with database.connect() as connection, ThreadPoolExecutor() as pool:
        connection.execute("SET docsearch.endpoint_timeout = '1h'")
        search = pool.submit(connection.execute, SEARCH, ["something that hangs"])
        wait_until(lambda: endpoint.requests)
        database.execute("SELECT pg_cancel_backend(%s)", connection.info.backend_pid)
        with pytest.raises(psycopg.errors.QueryCanceled):
            search.result(GUARD)
        assert endpoint.left.wait(GUARD)


def test_s3_27_a_time_limit_holds(database: Database, endpoint: Endpoint):
    recovered(database, endpoint)
    endpoint.react = hangs
    with database.connect() as connection:
        connection.execute("SET docsearch.endpoint_timeout = '300ms'")
        slug, similarity, notice = connection.execute(SEARCH, ["turn the orchestra"]).fetchone()
    assert slug == "p/orchestra" and similarity is None and "within 0.3 s" in notice


def test_s4_40_a_query_that_times_out_has_the_vector_of_an_equal_one_before(database: Database, endpoint: Endpoint):
    """Only in the same session and role, with the current documents that the role sees."""
    recovered(database, endpoint)
    asked = "where to turn a lantern"
    rows = "SELECT slug, similarity, notice FROM search_docs(%s, 'kit', max_results => 20)"
    database.execute(f"CREATE ROLE {PLAIN_ROLE}")
    database.execute(f"SELECT docsearch.grant_usage('{PLAIN_ROLE}')")
    database.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
    database.execute(f"CREATE POLICY seen_by_reader ON docsearch.document FOR SELECT TO {PLAIN_ROLE} USING (slug <> 'p/lantern')")
    try:
        with database.connect() as connection:
            before = connection.execute(rows, [asked]).fetchall()
            # The program's own cache has ended with it.
            database.execute("SELECT docsearch.restart_inference()")
            connection.execute("SET docsearch.endpoint_timeout = '300ms'")
            endpoint.react = hangs
            again = connection.execute(rows, [asked]).fetchall()
            assert [row[:2] for row in again] == [row[:2] for row in before]
            assert all("vector_recalled: " in notice and "within 0.3 s" in notice for *_, notice in again)
            answer = connection.execute("SELECT search_docs_json(%s, 'kit')", [asked]).fetchone()[0]
            assert answer["vector_recalled"] is True
            assert "vector_recalled" in [notice["code"] for notice in answer["notices"]]
            # Another text is another vector.
            assert all(row[1] is None for row in connection.execute(rows, [asked + "s"]).fetchall())
            # Another role does not learn from the notice which queries were sent.
            connection.execute(f"SET ROLE {PLAIN_ROLE}")
            others = connection.execute(rows, [asked]).fetchall()
            assert others and all(similarity is None and "vector_unavailable: " in notice
                                  for _, similarity, notice in others)
            assert "p/lantern" not in [slug for slug, *_ in others]
            # Its own queries respect its policies.
            endpoint.react = None
            database.execute("SELECT docsearch.test_model('remote')")
            own = connection.execute(rows, [asked]).fetchall()
            database.execute("SELECT docsearch.restart_inference()")
            endpoint.react = hangs
            recalled = connection.execute(rows, [asked]).fetchall()
            assert [row[:2] for row in recalled] == [row[:2] for row in own]
            assert all("vector_recalled: " in notice for *_, notice in recalled)
            assert "p/lantern" not in [slug for slug, *_ in recalled]
            connection.execute("RESET ROLE")
            # Deleted documents are not found.
            database.execute("SELECT docsearch.delete_doc('kit', 'p/tractor')")
            later = connection.execute(rows, [asked]).fetchall()
            assert {slug for slug, *_ in later} == {slug for slug, *_ in before} - {"p/tractor"}
            assert all("vector_recalled: " in notice for *_, notice in later)
    finally:
        recovered(database, endpoint)
        database.execute("DROP POLICY IF EXISTS seen_by_reader ON docsearch.document")
        database.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
        database.execute(f"DROP OWNED BY {PLAIN_ROLE}")
        database.execute(f"DROP ROLE {PLAIN_ROLE}")
        database.index("kit", *PAGES)


def test_a_model_that_hangs_does_not_keep_other_projects_waiting(database: Database, endpoint: Endpoint):
    recovered(database, endpoint)
    database.execute("SELECT docsearch.create_project('here')")
    database.index("here", page("raft", "A raft of logs."))
    endpoint.react = hangs
    with database.connect() as connection, ThreadPoolExecutor() as pool:
        connection.execute("SET docsearch.endpoint_timeout = '1h'")
        found = pool.submit(connection.execute, "SELECT project, similarity IS NOT NULL, notice FROM search_docs('a raft or a ferry')")
        rows = found.result(GUARD).fetchall()
    assert endpoint.requests
    assert {(project, compared) for project, compared, _ in rows} >= {("here", True), ("kit", False)}
    assert any("vector_unavailable" in (notice or "") for *_, notice in rows)
    database.execute("SELECT docsearch.drop_project('here')")


def test_a_project_moves_from_a_remote_model_to_the_shipped_one(database: Database, endpoint: Endpoint):
    recovered(database, endpoint)
    database.execute("SELECT docsearch.set_model('kit', 'all-MiniLM-L6-v2')")
    assert database.execute("SELECT docsearch.wait_for_index()") == [(True,)]
    endpoint.requests.clear()
    assert database.execute(SEARCH, "care of a lantern")[0][0] == "p/lantern"
    assert endpoint.requests == []
