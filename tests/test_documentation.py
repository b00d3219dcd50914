"""The blocks of README and docs run with the output that they show, and signatures match the functions."""

import os
from pathlib import Path

import pytest
from conftest import Database
from documentation import ROOT, Page, Reader, Wrong, matches, read, signatures, without
from psycopg.conninfo import conninfo_to_dict

pytestmark = pytest.mark.any_server("examples show statements, which other tests run with every version")

PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "SUMMARY.md")]
FUNCTIONS = """
    SELECT p.proname::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_docsearch'"""
ROLES = "SELECT rolname::text FROM pg_roles"


def named(page: Page) -> str:
    return str(page.path.relative_to(ROOT))


@pytest.fixture(params=[page for path in PAGES if (page := read(path)).blocks], ids=named)
def page(request) -> Page:
    return request.param


@pytest.fixture
def reader(page: Page, new_database, tmp_path: Path):
    """A reader with a database, unless the page creates the extension itself, and the examples of the repository."""
    creates = any("CREATE EXTENSION pg_docsearch" in block.text for block in page.blocks)
    database: Database = new_database(extension=not creates)
    roles = set(database.execute(ROLES))
    connection = conninfo_to_dict(database.conninfo)
    programs = Path(os.environ["DOCSEARCH_TEST_CLI"]).parent
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "DOCSEARCH_"))}
    environment = {**kept, "PGHOST": connection["host"], "PGPORT": connection["port"], "PGUSER": connection["user"],
                   "PGDATABASE": connection["dbname"], "LC_ALL": "C.UTF-8", "HOME": str(tmp_path),
                   "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    if node := os.environ.get("DOCSEARCH_TEST_NODE"):
        environment["NODE_PATH"] = f"{node}/node_modules"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    reader = Reader(tmp_path, environment, [fault for fault, _ in database.known_faults()])
    yield reader
    reader.close()
    with database.connect() as server:
        server.execute("ALTER SYSTEM RESET ALL")
        server.execute("SELECT pg_reload_conf()")
        server.execute(f'ALTER DATABASE "{connection["dbname"]}" RESET ALL')
        for role, in set(server.execute(ROLES).fetchall()) - roles:
            server.execute(f'REASSIGN OWNED BY "{role}" TO CURRENT_USER')
            server.execute(f'DROP OWNED BY "{role}" CASCADE')
            server.execute(f'DROP ROLE "{role}"')


def test_the_blocks_of_a_page_run(page: Page, reader: Reader):
    problems = list(reader.run(page))
    assert not problems, "\n".join(problems)


def test_signatures_are_those_of_the_functions(database: Database):
    known: dict[str, list[tuple[str, str]]] = {}
    for name, arguments, result in database.execute(FUNCTIONS):
        known.setdefault(name, []).append((arguments, result))
    pages = [page for path in PAGES if (page := read(path)).signatures]
    assert pages
    problems = [f"{named(page)}:{line}: {problem}" for page in pages for line, text in page.signatures
                for problem in signatures(text, known)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("mark", ["<!-- not run -->", "<!-- not run: -->", "<!-- not run: it is long -->"])
def test_a_block_is_left_out_for_a_reason_only(tmp_path: Path, mark: str):
    (tmp_path / "page.md").write_text(f"{mark}\n```sql\nSELECT 1;\n```\n")
    with pytest.raises(Wrong):
        read(tmp_path / "page.md")


def test_output_is_compared_without_variable_parts():
    shown = " slug  | score\n-------+-------\n kiwi  | ...\n...\n(2 rows)\n"
    assert matches(shown, " slug | score \n------+-------\n kiwi | 0.94\n kea  | 0.2\n(2 rows)\n\n")
    assert not matches(shown, " slug | score \n------+-------\n kea | 0.94\n kea  | 0.2\n(2 rows)\n\n")
    assert matches("took 3 ms", "took 14.2 ms")


def test_known_faults_of_this_server_are_no_difference():
    shown = " problem | object \n---------+--------\n(0 rows)\n"
    printed = (" problem | object \n---------+--------\n CVE-1   | pgvector 0.8.1\n CVE-2 | PostgreSQL 18.1\n(2 rows)\n")
    assert matches(shown, without(["CVE-2", "CVE-1"], printed))
    assert matches(shown, without([], shown))
    for faults in ([], ["CVE-1"], ["CVE-1", "CVE-2", "CVE-3"]):
        assert not matches(shown, without(faults, printed))
    assert not matches(shown, without(["CVE-1"], shown))
