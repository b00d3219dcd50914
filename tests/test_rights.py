"""Every function, called with every kind of value by roles of every privilege: no backend ends, no error is internal,
and roles without privileges get nothing."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from conftest import Database, page
from inference import RUN_DIRECTORY

VISITOR, READER, WRITER = "docsearch_rights_visitor", "docsearch_rights_reader", "docsearch_rights_writer"
# Functions for every role that may use the schema; none is about documents.
HARMLESS = {
    "code_parser_end", "code_parser_start", "code_parser_token", "code_parser_types",
    "detect_language", "embed", "embed_passages", "known_faults", "page_keys", "text_digest",
    "settings", "split_identifier", "status",
    *(f"{type}_argument_{use}" for type in ("json", "regconfig") for use in ("in", "out", "recv", "send")),
}
FUNCTIONS = """
    SELECT p.pronamespace::regnamespace::text, p.proname::text, p.oid::regprocedure::text,
           ARRAY(SELECT format_type(t.type, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS t(type, place) ORDER BY place),
           p.prorettype = 'trigger'::regtype, p.proisstrict
    FROM pg_proc p
    WHERE p.pronamespace = 'docsearch'::regnamespace
       OR EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
                  WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND e.extname = 'pg_docsearch')
    ORDER BY 3"""
# SQL of values that a function has to survive.
TEXTS = [
    "NULL", "''", "' '", "E'\\\\x00'", "U&'\\202E\\200B'", "'; DROP TABLE docsearch.document; --'", "'%_\\%'", "'infinity'", "'../../etc/passwd'",
    "repeat('a/', 20000)", "repeat('[', 20000)", "repeat('> ', 5000)", "repeat('x', {size})", "repeat(U&'\\7E1E\\99AC ', 10000)",
]
DEEP = "(repeat('{\"a\": [', 2000) || '1' || repeat(']}', 2000))::jsonb"
HOSTILE = {
    "text": TEXTS,
    "text[]": ["NULL", "'{}'", "'{NULL}'", "'{{a,b},{c,d}}'", "array_fill('kiwi'::text, '{300}')", "'[5:6]={a,b}'",
               "ARRAY[repeat('x', {size} / 100)]"],
    "docsearch.json_argument": ["NULL", "'null'", "'[]'", "'7'", "'{}'", "'{\"\": 1}'", DEEP, "'{\"limit\": 1e400}'", "'[1e400]'",
              "'{\"a\": {\"not\": {\"not\": {\"from\": 1}}}}'", "'{\"limit\": -1, \"after\": \"infinity\"}'",
              "jsonb_build_object('a', repeat('x', {size}))",
              "(SELECT jsonb_build_object('a', jsonb_agg(n)) FROM generate_series(1, 20000) n)",
              "(SELECT jsonb_object_agg(n, n) FROM generate_series(1, 5000) n)"],
    "integer": ["NULL", "0", "-1", "2147483647", "-2147483648"],
    "bigint": ["NULL", "0", "-1", "2147483647", "-2147483648", "9223372036854775807", "'-9223372036854775808'"],
    "double precision": ["NULL", "'NaN'", "'Infinity'", "'-Infinity'", "-1", "3.4e38", "1e300"],
    "boolean": ["NULL", "true", "false"],
    "timestamp with time zone": ["NULL", "'infinity'", "'-infinity'", "'294276-12-31'", "'4713-01-01 BC'"],
    "interval": ["NULL", "'-1 day'", "'-178000000 years'"],
    "regclass": ["NULL", "0", "4294967295", "'pg_class'", "'docsearch.document'", "'docsearch.chunk'"],
    "regclass[]": ["NULL", "'{}'", "'{NULL}'", "'{0,4294967295}'", "'{{pg_class,pg_type},{pg_proc,NULL}}'",
                   "array_fill('docsearch.document'::regclass, '{300}')", "'[5:6]={pg_class,pg_class}'"],
    "docsearch.regconfig_argument": ["NULL", "0::oid::regconfig", "4294967295::oid::regconfig", "'simple'"],
    "oid": ["NULL", "0", "4294967295"],
    "internal": ["NULL"],
    "cstring": ["NULL", "''", "'['", "'no_schema.nothing'"],
}
# Valid values that exercise a function, by its name or by the type.
ORDINARY = {
    "text": "'kiwi'", "text[]": "'{kiwi}'", "docsearch.json_argument": "'{}'", "integer": "2", "bigint": "1", "double precision": "0",
    "boolean": "true", "cstring": "'{}'",
    "timestamp with time zone": "'2024-01-01'", "interval": "'1 second'", "regclass": "'rights.birds'",
    "regclass[]": "'{}'",
    "docsearch.regconfig_argument": "'docsearch.english'", "oid": "1", "internal": "NULL",
}
PROJECT_FIRST = {"create_project", "drop_project", "index_doc", "index_docs", "delete_doc", "delete_missing", "check", "repair",
                 "merge_statistics", "finish_load", "index_progress", "verify_invariants", "list_docs", "list_docs_json", "set_model"}
# Their last argument is `projects`.
SEVERAL_PROJECTS = {"search_docs", "search_docs_json", "search_docs_text", "search_answer", "explain_search", "suggest", "search_refined",
                    "grade_results", "grade_features", "grade_input", "transform_query", "answer_prompt", "count_docs", "facets"}


@dataclass
class Function:
    schema: str
    name: str
    signature: str
    types: list[str]
    is_trigger: bool
    is_strict: bool

    def ordinary(self) -> list[str]:
        values = [ORDINARY[type] for type in self.types]
        if self.name in PROJECT_FIRST:
            # The first text: docsearch.check has a boolean before it where it has two arguments.
            values[self.types.index("text")] = "'new'" if self.name == "create_project" else "'kit'"
        else:
            # Optional texts: no project has this name.
            for place, type in enumerate(self.types):
                # A strict function is not called with a null.
                if place and type == "text" and not self.is_strict:
                    values[place] = "NULL"
            if self.name == "explain_search":
                values[1] = "'kiwi'"
            if self.name in SEVERAL_PROJECTS:
                values[-1] = "'{kit}'"
        return {
            "index_docs": ["'kit'", """'[{"slug": "emu", "title": "Emu", "body": "It runs."}]'"""],
            "index_doc": ["'kit'", "'emu'", "'Emu'", "'It runs.'", "'birds'", "'{}'", *["NULL"] * (len(values) - 6)],
            "set_questions": ["'kit'", "'kiwi'", """'["can it fly"]'""", "'reader'"],
            "questions": ["'kit'", "'kiwi'"],
            "pin": ["'kit'", "'kiwi'", "'{kiwi}'", "'{}'", "NULL"],
            "unpin": ["'kit'", "'kiwi'"],
            "pins": ["'kit'"],
            "accept_question": ["'kit/kiwi'", "'can it fly'"],
            "reject_question": ["'kit/kiwi'", "'can it fly'"],
            "question_candidates": ["'kit'", "NULL", "5", "3", "NULL"],
            "judge_from_clicks": ["'clicks'", "'kit'", "NULL", "3", "NULL"],
            "drift": ["NULL", "NULL", "5", "NULL", "NULL"],
            "store_logged_queries": ["""'{"{\\"id\\": \\"1\\"}"}'"""],
            "delete_doc": ["'kit'", "'kiwi'"],
            "write_questions": ["'kit'", "0", "NULL", "NULL", "NULL"],
            "delete_missing": ["'kit'", "'root'", "'{}'"],
            "set_model": ["'kit'", "'all-MiniLM-L6-v2'"],
            "grant_model": ["'pg_monitor'", "'all-MiniLM-L6-v2'"],
            "revoke_model": ["'pg_monitor'", "'all-MiniLM-L6-v2'"],
            "attach_table": ["'rights.birds'", "'id'", "'title'", "'body'", "NULL", "NULL", "NULL", "'kit'", "NULL", "'id > 0'",
                             "NULL", "NULL", "NULL", "true", "NULL", "NULL"],
            "read_table": ["'rights.birds'", "'kit'"],
            "detach_table": ["'rights.birds'", "'kit'", "false"],
            "embedding_dimension": ["NULL"],
            "grant_model": [f"'{READER}'", "'all-MiniLM-L6-v2'"],
            "revoke_model": [f"'{READER}'", "'all-MiniLM-L6-v2'"],
            "answer_prompt": [*values[:-3], "4000", "NULL", "'{kit}'"],
            "create_project": ["'new'", *["NULL"] * (len(values) - 1)],
            "list_docs": ["'kit'", "NULL", "NULL", "'date'", *["NULL"] * (len(values) - 4)],
            "list_docs_json": ["'kit'", "NULL", "NULL", "'date'", *["NULL"] * (len(values) - 4)],
            "search_docs_text": [*values[:-5], "'compact'", "20000", "NULL", "'{kiwi}'", "'{kit}'"],
            "search_answer": [*values[:-5], "'compact'", "20000", "NULL", "'{kiwi}'", "'{kit}'"],
        }.get(self.name, values)

    def statement(self, values: list[str]) -> str:
        given = ", ".join(f"{value}::{type}" if type != "internal" else value for value, type in zip(values, self.types, strict=True))
        return f'SELECT * FROM {self.schema}."{self.name}"({given})'


@pytest.fixture(scope="module")
def library(new_database) -> Iterator[Database]:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("kiwi", "A bird that cannot fly.", category="birds"), page("kea", "A parrot. See `kiwi`."))
    with database.connect() as connection:
        for role in (VISITOR, READER, WRITER):
            connection.execute(f"DROP ROLE IF EXISTS {role}")
            connection.execute(f"CREATE ROLE {role}")
        connection.execute(f"GRANT USAGE ON SCHEMA docsearch TO {VISITOR}")
        connection.execute(f"SELECT docsearch.grant_usage('{READER}')")
        connection.execute(f"SELECT docsearch.grant_usage('{WRITER}', write => true)")
        connection.execute(f"CREATE SCHEMA rights AUTHORIZATION {WRITER}")
        connection.execute("CREATE TABLE rights.birds (id int PRIMARY KEY, title text, body text)")
        connection.execute(f"ALTER TABLE rights.birds OWNER TO {WRITER}")
        connection.execute("GRANT USAGE ON SCHEMA rights TO PUBLIC")
    yield database
    with database.connect() as connection:
        roles = ", ".join((VISITOR, READER, WRITER))
        connection.execute(f"DROP OWNED BY {roles} CASCADE")
        connection.execute(f"DROP ROLE {roles}")


@pytest.fixture(scope="module")
def functions(library: Database) -> list[Function]:
    return [Function(*row) for row in library.execute(FUNCTIONS)]


@pytest.fixture(scope="module")
def secrets(library: Database) -> list[str]:
    """Texts that only a superuser may see."""
    settings = ("data_directory", "docsearch.model_directory", "docsearch.inference_program", "docsearch.onnxruntime_path")
    with library.connect() as connection:
        connection.execute("SELECT docsearch.settings()")
        shown = [connection.execute(f"SHOW {name}").fetchone()[0] for name in settings]
    return [secret for secret in shown if secret] + [RUN_DIRECTORY]


@dataclass
class Answer:
    state: str
    text: str


def call(connection: psycopg.Connection, statement: str) -> Answer:
    """Runs a statement, returns its output, and rolls it back."""
    try:
        with connection.transaction(force_rollback=True):
            rows = connection.execute(statement).fetchall()
            return Answer("00000", repr(rows))
    except psycopg.Error as error:
        diagnosis = error.diag
        said = (diagnosis.message_primary, diagnosis.message_detail, diagnosis.message_hint, diagnosis.context)
        return Answer(error.sqlstate or "none", "\n".join(part for part in said if part))


def attempts(function: Function, size: int) -> Iterator[str]:
    ordinary = function.ordinary()
    yield function.statement(ordinary)
    yield function.statement(["NULL"] * len(ordinary))
    for place, type in enumerate(function.types):
        for value in HOSTILE[type]:
            yield function.statement([*ordinary[:place], value.replace("{size}", str(size)), *ordinary[place + 1:]])


def may_execute(connection: psycopg.Connection, function: Function) -> bool:
    return connection.execute("SELECT has_function_privilege(%s, 'EXECUTE')", [function.signature]).fetchone()[0]


@pytest.mark.parametrize(("role", "size"), [(VISITOR, 100_000), (READER, 10_000_000), (WRITER, 1_000_000)])
def test_no_call_ends_a_backend_or_reveals_secrets(library, functions, secrets, role, size):
    problems = []
    with library.connect() as watch, library.connect() as connection:
        connection.execute(f"SET ROLE {role}")
        # A megabyte is split into sections, and embedding them takes minutes.
        connection.execute("SET docsearch.index_mode = deferred")
        # Waiting for a worker is not a failure.
        connection.execute("SET statement_timeout = '20s'")
        connection.execute("SET client_min_messages = error")
        for function in functions:
            for statement in attempts(function, size):
                answer = call(connection, statement)
                assert not connection.closed, statement[:300]
                if answer.state == "none" or answer.state[:2] in ("XX", "57", "58", "08") and answer.state != "57014":
                    problems.append((statement[:300], answer.state, answer.text[:300]))
                revealed = [secret for secret in secrets if secret in answer.text and secret not in statement]
                if revealed:
                    problems.append((statement[:300], "reveals", revealed))
        # A crash would have ended this connection, too.
        assert watch.execute("SELECT 1").fetchone() == (1,)
    assert not problems, "\n".join(map(str, problems))


def too_large(size: int) -> dict[str, list[str]]:
    """SQL of arguments of a type with `size` bytes or elements, in few values and in many."""
    return {
        "text": [f"repeat('x', {size})"],
        "text[]": [f"ARRAY[repeat('x', {size})]", f"array_fill('x'::text, '{{{size // 10}}}')", f"array_fill(NULL::text, '{{{size}}}')"],
        "docsearch.json_argument": [f"jsonb_build_object('a', repeat('x', {size}))", f"jsonb_build_array(repeat('x', {size}))",
                  f"(SELECT jsonb_agg(NULL::text) FROM generate_series(1, {size // 33}))"],
        "regclass[]": [f"array_fill('pg_class'::regclass, '{{{size // 4}}}')"],
    }


def taken(pid: int) -> tuple[float, int]:
    """Processor seconds and peak megabytes of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) // 1024


@pytest.mark.any_server("the library measures arguments, with every version alike")
def test_an_argument_that_is_too_large_is_refused_by_its_size(library, functions):
    """Before it is copied or read: the bounds on time and memory allow neither."""
    size = 100_000_000
    arguments = too_large(size)
    problems = []
    with library.connect() as connection:
        connection.execute(f"SET ROLE {READER}")
        pid = connection.info.backend_pid
        made, own = {}, 0
        for value in {value for values in arguments.values() for value in values}:
            before, _ = taken(pid)
            connection.execute(f"SELECT pg_column_size({value})")
            after, own = taken(pid)
            made[value] = after - before
        for function in functions:
            # Input and output functions behave as for other types.
            if function.is_trigger or "_argument_" in function.name:
                continue
            ordinary = function.ordinary()
            for place, type in enumerate(function.types):
                for value in arguments.get(type, []):
                    statement = function.statement([*ordinary[:place], value, *ordinary[place + 1:]])
                    before, _ = taken(pid)
                    answer = call(connection, statement)
                    after, peak = taken(pid)
                    # The reader may not call the function.
                    if answer.state not in ("22023", "42501") or after - before - made[value] > 1 or peak - own > 250:
                        problems.append((statement[:200], answer.state, answer.text[:200], after - before, peak - own))
    assert not problems, "\n".join(map(str, problems))


def test_a_wrong_call_of_a_function_is_a_clear_error(library, functions):
    """Functions of triggers and of the text search parser are for Postgres, but every role may call them."""
    with library.connect() as connection:
        connection.execute("CREATE TABLE rights.nest (id int)")
        for function in functions:
            if function.is_trigger:
                answer = call(connection, f"SELECT {function.schema}.{function.name}()")
                assert answer.state == "39P01", (function, answer)
                assert function.name in answer.text and "trigger" in answer.text
                # Nor does a user's own trigger of any kind cause an internal error.
                for kind in ("BEFORE INSERT ON rights.nest FOR EACH ROW", "AFTER INSERT ON rights.nest FOR EACH ROW",
                             "BEFORE INSERT ON rights.nest FOR EACH STATEMENT", "AFTER INSERT ON rights.nest FOR EACH STATEMENT"):
                    connection.execute(f"CREATE TRIGGER own {kind} EXECUTE FUNCTION {function.schema}.{function.name}()")
                    assert call(connection, "INSERT INTO rights.nest VALUES (1) RETURNING id").state in ("00000", "39P01"), (function, kind)
                    connection.execute("DROP TRIGGER own ON rights.nest")
            elif "internal" in function.types:
                nulls = ", ".join("NULL" for _ in function.types)
                assert call(connection, f"SELECT {function.schema}.{function.name}({nulls}) IS NULL").state in ("00000", "0A000", "42883"), function
        connection.execute("DROP TABLE rights.nest")


def test_without_rights_nothing_is_done(library, functions):
    assert {function.name for function in functions} >= HARMLESS
    open_to_all = []
    with library.connect() as connection:
        connection.execute(f"SET ROLE {VISITOR}")
        for function in functions:
            state = call(connection, function.statement(function.ordinary())).state
            # No role can call a trigger function.
            if state not in (("0A000", "42804") if function.is_trigger else ("42501",)) and function.name not in HARMLESS:
                open_to_all.append((function.signature, state))
        connection.execute("RESET ROLE")
        connection.execute(f"REVOKE USAGE ON SCHEMA docsearch FROM {VISITOR}")
        connection.execute(f"SET ROLE {VISITOR}")
        for function in functions:
            state = call(connection, function.statement(function.ordinary())).state
            if state != "42501":
                open_to_all.append((function.signature, state, "without the schema"))
        connection.execute("RESET ROLE")
        connection.execute(f"GRANT USAGE ON SCHEMA docsearch TO {VISITOR}")
    assert not open_to_all, "\n".join(map(str, open_to_all))


def test_a_reader_changes_nothing(library, functions):
    """Whatever a reader calls and commits, the tables do not change."""
    tables = [name for name, in library.execute(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r' ORDER BY 1")]
    look = " UNION ALL ".join(f"SELECT '{table}', md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) FROM {table} t" for table in tables)
    before = dict(library.execute(look))
    with library.connect() as connection:
        connection.execute(f"SET ROLE {READER}")
        connection.execute("SET client_min_messages = error")
        for function in functions:
            try:
                connection.execute(function.statement(function.ordinary()))
            except psycopg.Error as error:
                assert error.sqlstate, function
    assert dict(library.execute(look)) == before
