#!/usr/bin/env python3
"""Sends statements and calls to a server of scripts/fuzz.py, as a role that may read and index.

sqlsmith makes statements from the tables and functions in the catalogs. Alone it would call ours in one of fifty
statements, so its search path begins with a view pg_proc that has few other functions. It does not call functions that
return sets, so these are wrapped.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

import toolchain

URL = os.environ["DOCSEARCH_FUZZ_URL"]
ROLE = "fuzzer"
CORPUS = toolchain.ROOT / "crates" / "docsearch-fuzz" / "corpus"
PROJECTS = ("swiftui", "manual", "hostile")
# Maximum size of an indexed document of the corpus, in bytes.
MAX_PAGE = 20_000
# Time limit of a statement.
TIMEOUT = "3s"
# SQLSTATEs of this class are internal errors.
INTERNAL = re.compile(r" (XX\d{3}) ")
CRASH = re.compile(r"was terminated by signal|PANIC: |panicked at|server process .* exited with exit code")
# System functions that make texts, numbers and JSON of any size and do no harm.
HARMLESS = ("lower", "upper", "length", "left", "right", "md5", "abs", "round", "jsonb_typeof", "array_length", "count",
            "min", "max", "sum", "array_agg", "jsonb_agg", "string_agg", "now", "random", "to_jsonb", "substr", "concat_ws",
            "array_append", "array_cat", "jsonb_array_length", "split_part", "int4", "int8", "float4", "text", "bool_and")
FUNCTIONS = """
SELECT p.oid, n.nspname, p.proname, p.proretset, p.prorettype::regtype::text,
       array(SELECT a.type::regtype::text FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place) ORDER BY a.place),
       coalesce(p.proargnames, '{}'), p.pronargs - p.pronargdefaults
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE (n.nspname = 'docsearch' OR EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
           WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND e.extname = 'pg_docsearch'))
  AND p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype
  AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a (type)
                  WHERE a.type IN ('internal'::regtype, 'cstring'::regtype, 'anyelement'::regtype))
ORDER BY 2, 3, 1"""
TEXTS = ["", " ", "a", "swiftui", "swiftui/button", "manual", "hostile", "button in swiftui", "how do I retry?", "'; --", "%", "\\",
         "\u202e", "e\u0301" * 50, "日本語" * 20, "x" * 10_000, "word " * 5_000, "(" * 5_000, "\"a\" -b", "a/" * 400, "*" * 3_000,
         "../../etc/passwd", "http://127.0.0.1:1/", "compact", "detailed", "raw", "document", "none", "similar", "latest", "english",
         "infinity", "1e400", "docsearch://swiftui/button", "title", "category", "\x01", "\U0001f468\u200d\U0001f469"]
INTEGERS = [0, 1, -1, 2, 5, 10, 100, 1000, 2**31 - 1, -2**31]
OBJECTS = ['{}', '{"category": "Views"}', '{"platforms": ["ios", "macos"], "version": "latest"}', '{"depth": {"from": 1, "to": 9}}',
           '{"kind": {"not": "method"}, "after": "2020-01-01"}', '{"dedup": "similar"}', '{"max_boost": 1.5}', '{"vectors": "document"}',
           '[{"slug": "new", "title": "New", "body": "# New\\n\\ntext"}]', '[{"slug": "a/b", "title": "A", "body": ""}, {"slug": 1}]',
           '[{"slug": "deep", "title": "D", "body": "x", "category": "a/b/c", "metadata": {"a": [[[1]]]}}]']
CHOICES = {"format": ("compact", "detailed", "raw"), "max_results": ("1", "5", "100"), "min_score": ("0", "0.3"),
           "max_chars": ("200", "2000", "20000"), "max_tokens": ("50", "500"), "mode": ("hybrid", "keyword", "vector"),
           "dedup": ("document", "none", "similar"), "sort_by": ("title", "updated", "category"), "k": ("1", "10")}
KEYS = ["a", "not", "from", "to", "category", "version", "kind", "after", "before", "slug", "title", "body", "metadata", "keywords",
        "weights", "max_boost", "dedup", "vectors", "query", "results", "grade", "relevance", "platforms"]


@dataclass
class Called:
    """Results of the calls of a function."""

    calls: int = 0
    states: Counter[str] = field(default_factory=Counter)


def documents(folder: Path, pattern: str, prefix: str = "") -> list[dict]:
    """The files of a folder as documents."""
    found = []
    for path in sorted(folder.rglob(pattern)):
        text = path.read_bytes()[:MAX_PAGE].decode(errors="replace").replace("\0", "\ufffd")
        if path.is_file() and text.strip():
            slug = re.sub(r"[^A-Za-z0-9/_.-]", "-", prefix + str(path.relative_to(folder).with_suffix("")))
            found.append({"slug": slug, "title": path.stem, "body": text, "category": path.parent.name,
                          "metadata": {"platforms": ["ios"], "depth": len(path.parts)}, "version": "1.2"})
    return found


def prepare(connection: psycopg.Connection, chance: random.Random) -> list[tuple]:
    """Creates three projects, an attached table and the role. Returns the functions to call."""
    contents = (documents(toolchain.ROOT / "examples" / "swiftui", "*.md"),
                documents(toolchain.ROOT / "docs", "*.md"),
                [page for folder in ("markdown", "rst", "html", "query")
                 for page in documents(CORPUS / folder, "*", f"{folder}/")])
    connection.execute("SELECT docsearch.create_project('swiftui'), docsearch.create_project('manual'),"
                       " docsearch.create_project('hostile')")
    for project, pages in zip(PROJECTS, contents, strict=True):
        rows = connection.execute("SELECT * FROM docsearch.index_docs(%s, %s)", (project, Jsonb(pages))).fetchall()
        print(f"    {project}: {len(rows)} documents", flush=True)
    connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROLE)))
    connection.execute("SELECT docsearch.grant_usage(%s, write => true)", (ROLE,))
    functions = connection.execute(FUNCTIONS).fetchall()
    connection.execute(f"""
        CREATE SCHEMA wrapped; CREATE SCHEMA chosen; GRANT USAGE ON SCHEMA wrapped, chosen TO {ROLE};
        CREATE TABLE wrapped.page (id bigint PRIMARY KEY, title text, body text, metadata jsonb);
        ALTER TABLE wrapped.page OWNER TO {ROLE};
        ALTER ROLE {ROLE} SET search_path = chosen, pg_catalog, public;
        ALTER ROLE {ROLE} SET statement_timeout = '{TIMEOUT}'""")
    for oid, schema, name, is_set, _, types, _, _ in functions:
        if is_set:
            connection.execute(sql.SQL(
                "CREATE FUNCTION wrapped.{}({}) RETURNS text LANGUAGE sql AS {}").format(
                sql.Identifier(f"{name}_{oid}"), sql.SQL(", ").join(map(sql.SQL, types)), sql.Literal(
                    f"SELECT left(string_agg(found::text, ' '), 2000) FROM {schema}.{name}("
                    + ", ".join(f"${place + 1}" for place in range(len(types))) + ") found")))
    connection.execute(sql.SQL("""
        CREATE VIEW chosen.pg_proc AS SELECT * FROM pg_catalog.pg_proc WHERE oid = ANY ({}) AND NOT proretset
            OR pronamespace = 'wrapped'::regnamespace
            OR pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ({})
                AND NOT EXISTS (SELECT FROM unnest(proargtypes) a (type) JOIN pg_type t ON t.oid = a.type
                                WHERE t.typname ~ '^any|range|enum')""").format(
        sql.Literal([row[0] for row in functions]), sql.Literal(list(HARMLESS))))
    connection.execute(f"GRANT SELECT ON chosen.pg_proc TO {ROLE}")
    with psycopg.connect(URL, user=ROLE, autocommit=True) as own:
        own.execute("SELECT docsearch.attach_table('wrapped.page', public => true)")
        own.execute("INSERT INTO wrapped.page SELECT i, 'Page ' || i, 'Text of page ' || i, '{}' FROM generate_series(1, 50) i")
    chance.shuffle(functions)
    return functions


def deep(chance: random.Random) -> str:
    """JSON as text, sometimes deep or large."""
    if chance.random() < 0.2:
        depth = chance.choice((10, 60, 100, 200, 1_000, 6_000))
        opening, closing = chance.choice((("[", "]"), ('{"a":', "}"), ('{"not":', "}"), ('[{"a":', "}]")))
        return opening * depth + "1" + closing * depth
    if chance.random() < 0.1:
        return "[" + ",".join(["1"] * chance.choice((10, 1_000, 50_000))) + "]"

    def value(level: int) -> str:
        kind = chance.randrange(8 if level else 5)
        if kind < 2:
            return json.dumps(chance.choice(TEXTS))
        if kind == 2:
            return chance.choice(("0", "1", "-1", "0.5", "1e300", "1e-300", "123456789012345678901234567890", "null", "true"))
        if kind < 5 or level == 0:
            return json.dumps(chance.choice(KEYS))
        if kind == 5:
            return "[" + ",".join(value(level - 1) for _ in range(chance.randrange(4))) + "]"
        return "{" + ",".join(f"{json.dumps(chance.choice(KEYS))}:{value(level - 1)}" for _ in range(chance.randrange(5))) + "}"

    return value(3)


def argument(kind: str, name: str, chance: random.Random, slugs: list[str]) -> object:
    """A value for an argument."""
    if chance.random() < 0.1:
        return None
    if kind.endswith("[]"):
        count = chance.choice((0, 1, 1, 2, 5, 500))
        return [argument(kind.removesuffix("[]"), name, chance, slugs) for _ in range(count)]
    if kind in ("json", "jsonb", "docsearch.json_argument"):
        return chance.choice(OBJECTS) if chance.random() < 0.5 else deep(chance)
    if name in CHOICES and chance.random() < 0.8:
        return chance.choice(CHOICES[name])
    if kind in ("integer", "bigint", "smallint", "oid"):
        return str(chance.choice(INTEGERS))
    if kind in ("real", "double precision", "numeric"):
        return chance.choice(("0", "0.5", "1", "-1", "1e30", "NaN", "Infinity", "-Infinity"))
    if kind == "boolean":
        return chance.choice(("true", "false"))
    if kind.startswith("timestamp") or kind == "date":
        return chance.choice(("now", "infinity", "-infinity", "2024-01-01", "294276-12-31"))
    if kind == "interval":
        return chance.choice(("0", "1 ms", "-1 day", "10 ms"))
    if kind in ("regclass", "regconfig", "docsearch.regconfig_argument", "regrole"):
        return chance.choice(("wrapped.page", "english", ROLE, "pg_class", "docsearch.document", "0"))
    if "vector" in kind:
        return chance.choice(("[1,2,3]", "[" + ",".join(["0.05"] * 384) + "]", "'a':1A 'b':2", ""))
    if "project" in name and chance.random() < 0.7:
        return chance.choice(PROJECTS)
    if ("slug" in name or "query" in name) and chance.random() < 0.6:
        return chance.choice(slugs)
    return chance.choice(TEXTS)


def statement(function: tuple, chance: random.Random, slugs: list[str]) -> tuple[sql.Composed, list[object]]:
    """A call with random arguments: all by position, or some by name."""
    _, schema, name, _, _, types, names, required = function
    names = list(names)[:len(types)]
    places = list(range(len(types)))
    by_name = len(names) == len(types) and all(names) and chance.random() < 0.8
    if by_name:
        optional = places[required:]
        places = sorted(places[:required] + chance.sample(optional, min(len(optional), chance.choice((0, 1, 1, 2, 3)))))
    values = [argument(types[place], names[place] if place < len(names) else "", chance, slugs) for place in places]
    parts = [sql.SQL("{} => %s::{}").format(sql.Identifier(names[place]), sql.SQL(types[place])) if by_name
             else sql.SQL("%s::{}").format(sql.SQL(types[place])) for place in places]
    called = sql.SQL("SELECT * FROM {}({})").format(sql.Identifier(schema, name), sql.SQL(", ").join(parts))
    return called, values


def call(functions: list[tuple], seconds: float, chance: random.Random) -> tuple[dict[str, Called], int]:
    """Calls the functions in turn. Returns the results, and the number of lost connections."""
    called = {f"{schema}.{name}({', '.join(types)})": Called() for _, schema, name, _, _, types, _, _ in functions}
    lost = 0
    end = time.monotonic() + seconds
    connection = psycopg.connect(URL, user=ROLE)
    slugs = [row[0] for row in connection.execute("SELECT slug FROM docsearch.document ORDER BY slug LIMIT 200")]
    while time.monotonic() < end:
        function = chance.choice(functions)
        one = called[f"{function[1]}.{function[2]}({', '.join(function[5])})"]
        one.calls += 1
        try:
            connection.execute(*statement(function, chance, slugs)).fetchmany(1000)
            one.states["00000"] += 1
            # Later calls need what a call deletes.
            if chance.random() < 0.1 and not re.match("drop|delete|detach|set_model|reset", function[2]):
                connection.commit()
        except psycopg.Error as error:
            one.states[error.sqlstate or "none"] += 1
        if connection.broken or connection.closed:
            lost += 1
            time.sleep(1)
            connection = psycopg.connect(URL, user=ROLE)
        else:
            connection.rollback()
    connection.close()
    return called, lost


def report(log: Path) -> list[str]:
    """Lines of the server's log that must not be there, with their context."""
    bad: list[str] = []
    more = 0
    with log.open(errors="replace") as lines:
        for line in lines:
            if CRASH.search(line) or INTERNAL.search(line) and re.search("ERROR|FATAL|PANIC", line):
                bad.append(line[:600])
                more = 3
            elif more:
                bad[-1] += "    " + line[:600]
                more -= 1
    return bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, required=True, help="for both at once")
    parser.add_argument("--log", type=Path, required=True, help="of the server")
    parser.add_argument("--sqlsmith", help="the program, if there is one")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print("==> three projects", flush=True)
    with psycopg.connect(URL, autocommit=True) as connection:
        functions = prepare(connection, chance)
    print(f"==> {len(functions)} functions, {options.seconds} s", flush=True)
    smith = None
    if options.sqlsmith:
        said = options.log.with_name("sqlsmith.log").open("w")
        # sqlsmith reads a seed as a C int.
        smith = subprocess.Popen([options.sqlsmith, f"--target={URL}&user={ROLE}" if "user=" not in URL else
                                  f"--target={re.sub('user=[^&]*', f'user={ROLE}', URL)}", "--exclude-catalog", "--verbose",
                                  f"--seed={options.seed % 2**31}"], stdout=said, stderr=subprocess.STDOUT)
    called, lost = call(functions, options.seconds, chance)
    gave_up = False
    if smith:
        gave_up = smith.poll() is not None
        smith.terminate()
        smith.wait()
        text = options.log.with_name("sqlsmith.log").read_text(errors="replace")
        counts = re.findall(r"queries: (\d+)", text)
        print(f"==> sqlsmith: {counts[-1] if counts else 'fewer than 1000'} statements"
              + (", and ended by itself" if gave_up else ""), flush=True)
    total = sum(one.calls for one in called.values())
    succeeded = sum(one.states["00000"] for one in called.values())
    print(f"==> {total} calls of {len(called)} functions, {succeeded} without an error, {lost} connections lost", flush=True)
    for name, one in sorted(called.items()):
        states = ", ".join(f"{state} {count}" for state, count in one.states.most_common(6))
        print(f"    {name}: {one.calls} calls: {states}")
    bad = report(options.log)
    for text in bad[:30]:
        print(f"BAD {text}")
    if bad or lost or gave_up:
        raise SystemExit(f"{len(bad)} lines of the log, {lost} connections lost")


if __name__ == "__main__":
    main()
