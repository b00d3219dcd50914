"""A function is found for every type that a driver sends: every function, every argument, every type of psycopg,
node-postgres, JDBC and SQLAlchemy, prepared and not, and variables of PL/pgSQL."""

import datetime
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
import sqlalchemy
from conftest import Database, page
from psycopg.types.json import Json, Jsonb
from sqlalchemy.dialects import postgresql

# The types that drivers send for an argument, by its type in Postgres. An argument of another type fails the test: add it
# here, with the types of drivers, or use one of these.
SENT = {
    "text": ["text", "character varying", "character(3)", "name"],
    "text[]": ["text[]", "character varying[]"],
    "docsearch.json_argument": ["json", "jsonb", "text", "character varying"],
    "docsearch.regconfig_argument": ["regconfig", "text", "character varying"],
    "bigint": ["smallint", "integer", "bigint"],
    "double precision": ["smallint", "integer", "bigint", "numeric", "real", "double precision"],
    "boolean": ["boolean"],
    "timestamp with time zone": ["timestamp with time zone", "timestamp without time zone", "date"],
    "interval": ["interval"],
    "regclass": ["regclass", "text", "character varying", "oid", "integer", "bigint"],
    "regclass[]": ["regclass[]", "text[]", "character varying[]"],
}
# The same from psycopg: Python values.
VALUES = {
    "text": ["kiwi"],
    "text[]": [["kiwi"], []],
    "docsearch.json_argument": [Json({}), Jsonb({}), "{}"],
    "docsearch.regconfig_argument": ["simple"],
    "bigint": [1, 40_000, 3_000_000_000],
    "double precision": [0, 1, 40_000, 0.5, Decimal("0.5")],
    "boolean": [True],
    "timestamp with time zone": [datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), datetime.datetime(2026, 1, 2),
                                 datetime.date(2026, 1, 2)],
    "interval": [datetime.timedelta(minutes=1)],
    "regclass": ["pg_class", 1259],
    "regclass[]": [["pg_class"]],
}
# The same from SQLAlchemy, which casts each value to the type that it is bound as, and from JavaScript.
TYPED = {
    "text": [(sqlalchemy.String(), "kiwi"), (sqlalchemy.Text(), "kiwi"), (None, "kiwi")],
    "text[]": [(sqlalchemy.ARRAY(sqlalchemy.String()), ["kiwi"]), (sqlalchemy.ARRAY(sqlalchemy.Text()), [])],
    "docsearch.json_argument": [(sqlalchemy.JSON(), {}), (postgresql.JSONB(), {}), (sqlalchemy.String(), "{}"), (None, "{}")],
    "docsearch.regconfig_argument": [(postgresql.REGCONFIG(), "simple"), (sqlalchemy.String(), "simple"), (None, "simple")],
    "bigint": [(sqlalchemy.Integer(), 1), (sqlalchemy.SmallInteger(), 1), (sqlalchemy.BigInteger(), 1), (None, 1)],
    "double precision": [(sqlalchemy.Float(), 0.5), (sqlalchemy.REAL(), 0.5), (sqlalchemy.Double(), 0.5), (sqlalchemy.Numeric(), Decimal("0.5")),
                         (sqlalchemy.Integer(), 1), (None, 0.5)],
    "boolean": [(sqlalchemy.Boolean(), True), (None, True)],
    "timestamp with time zone": [(sqlalchemy.DateTime(timezone=True), datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)),
                                 (sqlalchemy.DateTime(), datetime.datetime(2026, 1, 2)), (sqlalchemy.Date(), datetime.date(2026, 1, 2))],
    "interval": [(sqlalchemy.Interval(), datetime.timedelta(minutes=1)), (postgresql.INTERVAL(), datetime.timedelta(minutes=1))],
    "regclass": [(postgresql.REGCLASS(), "pg_class"), (sqlalchemy.String(), "pg_class"), (postgresql.OID(), 1259)],
    "regclass[]": [(sqlalchemy.ARRAY(sqlalchemy.String()), ["pg_class"])],
}
OF_NODE = {
    "text": ["kiwi"], "text[]": [["kiwi"], []], "docsearch.json_argument": [{}, "{}"], "docsearch.regconfig_argument": ["simple"],
    "bigint": [1, "1"], "double precision": [0.5, 1, "0.5"], "boolean": [True], "timestamp with time zone": ["2026-01-02T00:00:00Z"],
    "interval": ["1 minute"], "regclass": ["pg_class", 1259], "regclass[]": [["pg_class"]],
}
# SQLSTATEs: no such function, several, another type, no type, an invalid value of the type.
NOT_FOUND = ("42883", "42725", "42804", "42P18", "22P02", "22P03")
NODE = os.environ.get("DOCSEARCH_TEST_NODE")
DRIVER = Path(__file__).parent / "node" / "drivers.mjs"
FUNCTIONS = """
    SELECT p.oid::regproc::text, p.pronargs - p.pronargdefaults,
           ARRAY(SELECT a.name FROM unnest(p.proargnames) WITH ORDINALITY AS a(name, place) WHERE a.place <= p.pronargs ORDER BY a.place),
           ARRAY(SELECT format_type(t.type, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS t(type, place) ORDER BY t.place)
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_docsearch'
    WHERE p.prorettype <> 'trigger'::regtype AND p.pronargs > 0 AND p.proname !~ '^code_parser_|_argument_(in|out|recv|send)$'
    ORDER BY 1"""


@dataclass
class Function:
    name: str
    required: int
    names: list[str]
    types: list[str]

    def calls(self) -> Iterator[tuple[str, str]]:
        """For each argument: a call with it as `{}` and other required arguments as NULL, and its type."""
        for place, (name, type) in enumerate(zip(self.names, self.types)):
            others = [f"{other} => NULL" for other in self.names[:self.required] if other != name]
            yield f"SELECT * FROM {self.name}({', '.join([*others, f'{name} => {{}}'])})", type
            # By position: all earlier arguments are given.
            before = ["NULL"] * place + ["{}"] + ["NULL"] * (self.required - place - 1)
            yield f"SELECT * FROM {self.name}({', '.join(before)})", type


@pytest.fixture(scope="module")
def functions(database: Database) -> list[Function]:
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", page("kiwi", "A bird that cannot fly."), page("kea", "A parrot, which can fly."))
    return [Function(*row) for row in database.execute(FUNCTIONS)]


def test_every_argument_has_a_type_that_accepts_drivers_types(functions: list[Function]):
    assert len(functions) > 50
    others = [(function.name, type) for function in functions for type in function.types if type not in SENT]
    assert not others


def test_a_function_is_found_by_every_type_that_is_sent(database: Database, functions: list[Function]):
    problems = []
    with database.connect() as connection:
        for function in functions:
            for call, type in function.calls():
                for sent in [*SENT[type], "unknown"]:
                    try:
                        # node-postgres sends parameters without a type; people type literals.
                        connection.execute(f"PREPARE sent ({sent}) AS {call.format('$1')}")
                        connection.execute("DEALLOCATE sent")
                    except psycopg.Error as error:
                        problems.append((call, sent, str(error)))
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("placeholder", ["%s", "%b", "%t"])
@pytest.mark.parametrize("prepare", [False, True])
def test_a_function_takes_what_psycopg_sends(database: Database, functions: list[Function], placeholder: str, prepare: bool):
    problems = []
    with database.connect() as connection:
        for function in functions:
            for call, type in function.calls():
                for value in VALUES[type]:
                    try:
                        connection.execute(f"EXPLAIN {call.format(placeholder)}", [value], prepare=prepare)
                    except psycopg.Error as error:
                        if error.sqlstate in NOT_FOUND:
                            problems.append((call, value, str(error)))
    assert not problems, "\n".join(map(str, problems))


def test_a_function_takes_what_sqlalchemy_sends(database: Database, functions: list[Function]):
    problems = []
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=database.connect)
    with engine.connect() as connection:
        for function in functions:
            for call, type in function.calls():
                for kind, value in TYPED[type]:
                    parameter = sqlalchemy.bindparam("given", value, type_=kind)
                    try:
                        connection.execute(sqlalchemy.text(f"EXPLAIN {call.format(':given')}").bindparams(parameter))
                    except sqlalchemy.exc.DBAPIError as error:
                        if error.orig.sqlstate in NOT_FOUND:
                            problems.append((call, kind, str(error.orig)))
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.skipif(not NODE, reason="Node.js 20 is not installed")
def test_a_function_takes_what_node_postgres_sends(database: Database, functions: list[Function]):
    calls = [(f"EXPLAIN {call.format('$1')}", value) for function in functions for call, type in function.calls()
             for value in OF_NODE[type]]
    address = psycopg.conninfo.conninfo_to_dict(database.conninfo)
    url = f"postgresql://{address['user']}@/{address['dbname']}?host={address['host']}&port={address['port']}"
    done = subprocess.run(["node", DRIVER, NODE, url], input=json.dumps(calls), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    failed = {place: message for place, message in json.loads(done.stdout).items() if message.startswith(NOT_FOUND)}
    assert not failed, [(calls[int(place)], message) for place, message in failed.items()]


def test_a_function_takes_variables(database: Database, functions: list[Function]):
    problems = []
    with database.connect() as connection:
        for function in functions:
            for call, type in function.calls():
                for sent in SENT[type]:
                    try:
                        # Creating a function parses its body without running it.
                        connection.execute(f"CREATE FUNCTION pg_temp.takes(given {sent}) RETURNS SETOF record LANGUAGE sql "
                                           f"BEGIN ATOMIC {call.format('given')}; END")
                        connection.execute("DROP FUNCTION pg_temp.takes")
                    except psycopg.Error as error:
                        if error.sqlstate in NOT_FOUND:
                            problems.append((call, sent, str(error)))
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("filter", ["'{\"category\": \"birds\"}'", "'{\"category\": \"birds\"}'::json", "'{\"category\": \"birds\"}'::jsonb",
                                    "'{\"category\": \"birds\"}'::text", "'{\"category\": \"birds\"}'::varchar", "NULL::json", "NULL",
                                    "json_build_object('category', 'birds')", "jsonb_build_object('category', 'birds')"])
def test_json_of_every_type_means_the_same(database: Database, functions: list[Function], filter: str):
    database.index("kit", page("emu", "A bird that runs.", category="birds"), page("bat", "It flies.", category="mammals"))
    slugs = [slug for slug, in database.execute(f"SELECT slug FROM search_docs('bird', 'kit', filter => {filter})")]
    assert slugs[0] == "emu" if "birds" in filter else set(slugs) > {"emu"}
    assert ("bat" in slugs or len(slugs) > 1) is ("birds" not in filter)


def test_invalid_json_is_refused_with_the_name_of_the_argument(database: Database, functions: list[Function]):
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="json"):
        database.execute("SELECT slug FROM search_docs('bird', filter => %s::text)", "{")


NUMBERS = "SELECT max(pg_column_size(s)), count(*) FROM search_docs('bird', 'kit', max_results => {}, min_score => {}) s"


@pytest.mark.parametrize("most", ["2", "2::smallint", "2::bigint"])
@pytest.mark.parametrize("least", ["0", "0.0", "0::real", "0::float8", "0::numeric", "0::smallint"])
def test_numbers_of_every_type_mean_the_same(database: Database, functions: list[Function], most: str, least: str):
    assert database.execute(NUMBERS.format(most, least))[0][1] == database.execute(NUMBERS.format("2", "0"))[0][1]


@pytest.mark.parametrize("number", [2**31, -2**31 - 1, 2**63 - 1, -2**63])
def test_a_whole_number_out_of_range_is_refused_by_name(database: Database, functions: list[Function], number: int):
    """It is neither truncated nor rounded to a number that fits."""
    for function in functions:
        for name, type in zip(function.names, function.types):
            if type != "bigint" or name in ("project_id", "document_id"):
                continue
            given = {"text": "'kit'", "text[]": "'{kiwi}'", "bigint": "1"}
            others = [f"{other} => {given[kind]}" for other, kind in list(zip(function.names, function.types))[:function.required]
                      if other != name and kind in given]
            with pytest.raises(psycopg.Error) as refused:
                database.execute(f"SELECT * FROM {function.name}({', '.join([*others, f'{name} => {number}'])})")
            assert refused.value.sqlstate == "22023" and name in str(refused.value) and refused.value.diag.message_hint, (
                function.name, name, refused.value)


@pytest.mark.parametrize("number", ["'NaN'", "'Infinity'", "-0.1", "1.1", "1e300", "'-Infinity'"])
def test_a_threshold_out_of_range_is_refused(database: Database, functions: list[Function], number: str):
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        database.execute(f"SELECT slug FROM search_docs('bird', min_score => {number}::float8)")


def test_values_arrive_unchanged(database: Database, functions: list[Function]):
    """Through variables of PL/pgSQL, to a project, a document and back."""
    database.execute("""
        DO $$
        DECLARE
            language text := 'simple';
            settings json := '{"max_boost": 1.5}';
            metadata json := '{"b": 1, "a": [true, null, 1.50]}';
        BEGIN
            PERFORM docsearch.create_project('typed', text_config => language, settings => settings);
            PERFORM docsearch.index_doc('typed', 'owl', 'Owl', 'It hunts at night.', metadata => metadata,
                                        published_at => date '2026-02-03');
        END
        $$""")
    assert database.execute("SELECT text_config, settings FROM docsearch.project WHERE name = 'typed'") == [
        ("pg_catalog.simple", {"max_boost": 1.5})]
    stored, = database.execute("SELECT metadata, published_at::date FROM docsearch.document WHERE slug = 'owl'")
    assert stored == ({"a": [True, None, 1.5], "b": 1}, datetime.date(2026, 2, 3))
