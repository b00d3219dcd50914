"""Functions and operators that a role creates in a schema of the search path are never called."""

import re
from pathlib import Path

import psycopg
import pytest
from conftest import CREATE_EXTENSION, Database
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
PLANTER = "docsearch_planter"
TYPES = ("text", "name", "varchar", '"char"', "oid", "int2", "int4", "int8", "float4", "float8", "bool", "jsonb", "text[]",
         "name[]", "int8[]", "timestamptz", "interval", "regclass", "regnamespace", "regproc", "regtype", "regconfig",
         "tsvector", "tsquery")
COMMON = ("text", "name", "oid", "int4", "int8", "jsonb", "text[]", "regclass")


def scripts() -> str:
    """All SQL of the extension, and more."""
    files = [*(ROOT / "sql").rglob("*.sql"), *(ROOT / "src").rglob("*.rs")]
    return "\n".join(file.read_text() for file in files)


def operators(database: Database) -> list[str]:
    """The operators of Postgres in the scripts."""
    known = {name for name, in database.execute("SELECT DISTINCT oprname::text FROM pg_operator")}
    written = set(re.findall(r"(?<=[\s(])[-+*/<>=~!@#%^&|`?]+(?=[\s(])", scripts()))
    return sorted((known & written) | {"=", "<>", "<", "~~", "||"})


def functions(database: Database) -> list[str]:
    known = {name for name, in database.execute(
        "SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")}
    return sorted(known & set(re.findall(r"\b([a-z_0-9]+)\(", scripts())))


def plant(database: Database) -> None:
    """Creates functions and operators in public that fit better than those of Postgres."""
    names, calls = functions(database), operators(database)
    there = set(database.execute("SELECT oprname::text, format_type(oprleft, NULL), format_type(oprright, NULL) "
                                 "FROM pg_operator WHERE oprnamespace = 'public'::regnamespace"))
    body = "LANGUAGE plpgsql AS 'BEGIN PERFORM pg_catalog.nextval(''public.calls''::pg_catalog.regclass); RETURN NULL; END'"
    statements = ["SET check_function_bodies = off", "CREATE SEQUENCE public.calls",
                  "GRANT ALL ON SEQUENCE public.calls TO PUBLIC"]
    for left in TYPES:
        for right in TYPES:
            statements.append(f"CREATE FUNCTION public.planted({left}, {right}) RETURNS bool {body}")
            statements += [f"CREATE OPERATOR public.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.planted)"
                           for name in calls if (name, left, right) not in there]
    for name in names:
        arguments = [(only,) for only in TYPES] + [(first, second) for first in COMMON for second in COMMON]
        statements += [f'CREATE FUNCTION public."{name}"({", ".join(types)}) RETURNS text {body}' for types in arguments]
    with database.connect(autocommit=False) as connection:
        connection.execute(f"SET ROLE {PLANTER}")
        for start in range(0, len(statements), 500):
            connection.execute("; ".join(statements[start:start + 500]))


@pytest.fixture
def planted(new_database) -> Database:
    database = new_database(extension=False)
    with database.connect() as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [PLANTER]).fetchone():
            connection.execute(f"CREATE ROLE {PLANTER}")
        connection.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {PLANTER}")
        for needed in ("vector", "pg_trgm", "btree_gin"):
            connection.execute(f"CREATE EXTENSION {needed}")
    plant(database)
    return database


def calls(connection: psycopg.Connection) -> int:
    value, called = connection.execute("SELECT last_value, is_called FROM public.calls").fetchone()
    return value if called else 0


@pytest.mark.parametrize("path", ['"$user", public', "public, pg_catalog"])
def test_nothing_planted_is_called(planted: Database, path: str):
    with planted.connect() as connection:
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.SQL(path)))
        assert calls(connection) == 0
        connection.execute(CREATE_EXTENSION)
        assert calls(connection) == 0
        for statement in (
            "SELECT docsearch.create_project('kit', settings => '{}')",
            "SELECT docsearch.migrate()",
            "SELECT docsearch.grant_usage('pg_monitor', write => true)",
            "SELECT docsearch.index_doc('kit', 'kiwi', 'Kiwi', 'A bird that cannot fly.', category => 'birds', "
            "metadata => '{\"framework\": \"Aves\"}', keywords => '{bird}')",
            "SELECT docsearch.index_doc('kit', 'kiwi', 'Kiwi', 'A bird that runs.', category => 'birds')",
            "SELECT * FROM search_docs('kiwi in Aves', filter => '{\"framework\": \"Aves\"}')",
            "SELECT search_docs_text('the bird that runs', 'kit', category => 'birds')",
            "SELECT * FROM search_docs('kivi', config => '{\"transform\": \"rules\"}')",
            "SELECT docsearch.explain_search('bird', 'kiwi')",
            "SELECT load_doc('kit/kiwi#kiwi', max_tokens => 100) FROM list_docs() WHERE false",
            "SELECT load_doc('kiwi')",
            "SELECT list_docs_json('kit', sort_by => 'date')",
            "SELECT docsearch.suggest('kiw')",
            "SELECT docsearch.search_refined('bird', 'kit')",
            "SELECT docsearch.answer_prompt('bird', 'kit')",
            "SELECT docsearch.verify_invariants('kit')",
            "SELECT docsearch.index_progress()",
            "SELECT docsearch.merge_statistics('kit')",
            "SELECT docsearch.finish_load('kit')",
            "SELECT docsearch.check('kit')",
            "SELECT docsearch.repair('kit')",
            "SELECT docsearch.reset_rules()",
            "SET docsearch.index_mode = deferred",
            "SELECT docsearch.index_doc('kit', 'kea', 'Kea', 'A parrot.')",
            "SELECT docsearch.wait_for_index()",
            "SELECT docsearch.delete_missing('kit', 'root', '{}')",
            "SELECT docsearch.delete_doc('kit', 'kiwi')",
            "SELECT docsearch.drop_project('kit')",
        ):
            connection.execute(statement)
            assert calls(connection) == 0, statement
        # The trap works: an earlier install script compared like this.
        connection.execute("SELECT FROM pg_catalog.pg_ts_dict d WHERE d.dictnamespace = 'pg_catalog'::pg_catalog.regnamespace")
        assert calls(connection) > 0
