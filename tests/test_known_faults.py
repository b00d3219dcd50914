"""Reports of known faults of PostgreSQL and pgvector. Tests fake a version in the catalog, the files of a server or a
pg_config.

The law: CREATE EXTENSION, check(), known_faults(), make install and install.sh report exactly the faults of the table for
a version."""

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import install
import known_fault
import package
import parts
import psycopg
import pytest
import toolchain
from conftest import CREATE_EXTENSION, Database
from psycopg import sql
from test_versions import machine

CVE, VACUUM, SERVER, OLD = "CVE-2026-3172", "HNSW broken by VACUUM", "CVE-2026-14662", "pgvector too old"
# Versions of pgvector with their faults, from the advisories.
PGVECTOR = {"0.7.4": [OLD, CVE, VACUUM], "0.8.0": [CVE, VACUUM], "0.8.1": [CVE, VACUUM], "0.8.1-2.pgdg": [CVE, VACUUM],
            "0.8.2": [VACUUM], "0.8.3": [VACUUM], "0.8.4-beta1": [VACUUM], "0.8.4": [], "0.8.4-1.pgdg13+1": [],
            "0.8.10": [], "0.9.0": [], "0.10": [], "1.0.0": [], "unpackaged": []}
POSTGRESQL = {"16.14": [SERVER], "16.15": [], "16.9 (Debian 16.9-1.pgdg12+1)": [SERVER], "17.10": [SERVER], "17.2": [SERVER],
              "17.11 (Ubuntu 17.11-0ubuntu0.25.04.1)": [], "18beta1": [SERVER], "18.0": [SERVER], "18.5": [SERVER],
              "18.6 (Debian 18.6-1.pgdg13+1)": [], "18.10": []}


def names(faults: list[known_fault.Fault]) -> list[str]:
    return [fault.fault for fault in faults]


def set_catalog(database: Database, version: str) -> None:
    """Changes the version of pgvector in the catalog."""
    database.execute("UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'", version)


@contextmanager
def other_catalog(database: Database, version: str) -> Iterator[None]:
    before = database.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0][0]
    set_catalog(database, version)
    try:
        yield
    finally:
        set_catalog(database, before)


def warnings(database: Database, statement: str) -> list[list[str]]:
    """The warnings of a statement: message, detail and hint of each."""
    found = []
    with database.connect() as connection:
        # A notice can only be read in its handler.
        connection.add_notice_handler(lambda notice: found.append(
            (notice.severity_nonlocalized, notice.message_primary, notice.message_detail, notice.message_hint)))
        connection.execute(statement)
    return [said for severity, *said in found if severity == "WARNING"]


def test_versions_have_the_faults_of_the_table():
    for version, expected in PGVECTOR.items():
        assert names(known_fault.faults(known_fault.PGVECTOR, version)) == expected, version
    for version, expected in POSTGRESQL.items():
        assert names(known_fault.faults(known_fault.POSTGRESQL, version)) == expected, version
    assert known_fault.safe(known_fault.PGVECTOR, "0.8.1") == "0.8.4"
    assert [known_fault.safe(known_fault.POSTGRESQL, major) for major in ("16", "17", "18")] == ["16.15", "17.11", "18.6"]


def test_create_extension_warns_of_this_server(new_database):
    database = new_database(extension=False)
    found = warnings(database, CREATE_EXTENSION)
    expected = {f"{thing} has a known fault: {fault}" for fault, thing in database.known_faults()}
    assert {message for message, _, _ in found} == expected
    assert all(detail and hint for _, detail, hint in found)


@pytest.mark.parametrize("version", [version for version, faults in PGVECTOR.items() if OLD not in faults])
def test_create_extension_warns_of_any_other_pgvector(new_database, version):
    database = new_database(extension=False)
    database.execute("CREATE EXTENSION vector")
    files = database.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")[0][0]
    set_catalog(database, version)
    found = warnings(database, CREATE_EXTENSION)
    # The files of the server do not change, and may have faults of their own.
    expected = set(PGVECTOR[version]) | set(names(known_fault.faults(known_fault.PGVECTOR, files)))
    of_vector = [row for row in found if row[0].startswith("pgvector")]
    assert {message.rpartition(": ")[2] for message, _, _ in of_vector} == expected
    assert all("ALTER EXTENSION vector UPDATE" in hint for _, _, hint in of_vector)


def test_create_extension_refuses_a_pgvector_that_cannot_do_it(new_database):
    database = new_database(extension=False)
    database.execute("CREATE EXTENSION vector")
    set_catalog(database, "0.7.4")
    with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        database.execute(CREATE_EXTENSION)
    assert caught.value.diag.message_primary == "pg_docsearch cannot be used with pgvector 0.7.4"
    assert "ALTER EXTENSION vector UPDATE" in caught.value.diag.message_hint
    assert database.execute("SELECT FROM pg_extension WHERE extname = 'pg_docsearch'") == []


def test_check_has_a_row_for_each_and_every_role_is_warned(new_database):
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    check = "SELECT problem, object, detail, repair FROM docsearch.check({})"
    statement = "SELECT fault, object, detail, repair FROM docsearch.known_faults()"
    files = database.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")[0][0]
    for version, expected in PGVECTOR.items():
        with other_catalog(database, version):
            rows = database.execute(check.format(""))
            assert rows == database.execute(statement) == database.execute(check.format("'kit'")), version
            # The files of the server do not change; the oldest known version is named.
            faults = {fault: version for fault in expected}
            for fault in names(known_fault.faults(known_fault.PGVECTOR, files)):
                faults[fault] = min(faults.get(fault, files), files, key=known_fault.read)
            found = {row[:2] for row in rows if row[1].startswith("pgvector")}
            assert {(fault, known_fault.read(thing.split()[1])) for fault, thing in found} == {
                (fault, known_fault.read(version)) for fault, version in faults.items()}, version
            # Only a person can repair them.
            assert database.execute("SELECT * FROM docsearch.repair()") == []
            assert database.execute("SELECT versions -> 'pgvector' ->> 'catalog' FROM docsearch.status()") == [(version,)]
            if version != "unpackaged":
                assert database.problems() == []


def test_a_role_without_privileges_is_warned_and_sees_nothing_else(new_database):
    database = new_database()
    database.execute("CREATE ROLE known_faults_reader")
    try:
        database.execute("SELECT docsearch.create_project('kit'), docsearch.grant_usage('known_faults_reader')")
        with other_catalog(database, "0.8.1"), database.connect() as connection:
            connection.execute("SET ROLE known_faults_reader")
            rows = connection.execute("SELECT fault FROM docsearch.known_faults() WHERE object = 'pgvector 0.8.1'").fetchall()
            assert rows == [(CVE,), (VACUUM,)]
    finally:
        database.execute("DROP OWNED BY known_faults_reader")
        database.execute("DROP ROLE known_faults_reader")


def test_the_files_of_the_server_count_too():
    with machine("known-faults") as own:
        own.new_files()
        own.instance.configure()
        own.instance.start("docs")
        database = own.database()
        database.execute(CREATE_EXTENSION)
        database.execute("SELECT docsearch.create_project('kit')")
        control = own.installation.share / "extension" / "vector.control"
        text = control.read_text()
        installed = re.search(r"default_version = '(.*)'", text)[1]
        control.write_text(text.replace(installed, "0.8.1"))
        rows = database.execute("SELECT problem, detail, repair FROM docsearch.check() WHERE object = 'pgvector 0.8.1'")
        assert [row[0] for row in rows] == [CVE, VACUUM]
        for _, detail, repair in rows:
            assert f"catalog {installed}, files on the server 0.8.1" in detail
            assert repair.startswith("Install pgvector 0.8.4 or newer on the server")
        assert database.problems() == []
        assert database.execute("SELECT versions -> 'pgvector' ->> 'files' FROM docsearch.status()") == [("0.8.1",)]


def test_status_reports_the_versions(new_database):
    database = new_database()
    with database.connect() as connection:
        connection.execute("SELECT '[1]'::vector")
        server, = connection.execute("SHOW server_version").fetchone()
        vector, = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        versions, = connection.execute("SELECT versions FROM docsearch.status()").fetchone()
        # PostgreSQL knows which library is loaded from 18 on.
        loaded = vector if connection.info.server_version >= 180000 else None
    assert versions["server"] == server
    assert versions["pg_docsearch"] == {"catalog": toolchain.version(), "library": toolchain.version()}
    assert versions["pgvector"] == {"catalog": vector, "files": vector, "library": loaded}


def installation(place: Path, server: str, vector: str) -> install.Installation:
    """A PostgreSQL with only its versions."""
    extensions = place / "share" / "extension"
    extensions.mkdir(parents=True)
    (place / "lib").mkdir()
    for name in install.REQUIRED_EXTENSIONS:
        (extensions / f"{name}.control").write_text("default_version = '1.0'\n")
    (extensions / "vector.control").write_text(f"comment = 'vectors'\ndefault_version = '{vector}'\nrelocatable = true\n")
    program = place / "pg_config"
    program.write_text(f'#!/bin/sh\ncase "$1" in\n--version) echo "PostgreSQL {server}" ;;\n'
                       f'--sharedir) echo "{place}/share" ;;\n--pkglibdir) echo "{place}/lib" ;;\nesac\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return install.Installation.find(str(program))


PAIRS = [*((server, "0.8.4") for server in POSTGRESQL), *(("18.6", vector) for vector in PGVECTOR), ("17.10", "0.8.1")]


@pytest.mark.parametrize(("server", "vector"), PAIRS)
def test_make_install_and_install_sh_say_the_same(tmp_path, server, vector):
    found = installation(tmp_path / "server", server, vector)
    expected = {*POSTGRESQL.get(server, names(known_fault.faults(known_fault.POSTGRESQL, server))), *PGVECTOR[vector]}
    installer = tmp_path / "install.sh"
    text = (toolchain.ROOT / "packaging" / "install.sh").read_text()
    glibc = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True).stdout.split()[1]
    values = {"major": str(found.major), "machine": os.uname().machine, "glibc": glibc, "faults": package.faults(found.major)}
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    installer.write_text(text)
    for part in ("share", "lib"):
        (tmp_path / part).mkdir()
    done = subprocess.run(["sh", installer, "--pg-config", found.pg_config], capture_output=True, text=True)
    if OLD in expected:
        with pytest.raises(SystemExit, match=re.escape(f"pgvector {vector}")):
            found.check_extensions()
        assert done.returncode == 1 and f"pgvector {vector}" in done.stderr
        return
    found.check_extensions()
    lines = found.known_faults()
    assert {re.search(r"known fault, (.*?): ", line)[1] for line in lines} == expected
    assert done.returncode == 0, done.stderr
    reported = set(re.findall(r"known fault, (.*?): ", done.stderr))
    # Only make install reports a beta of the fixed release, since sort does not know betas.
    assert reported == expected - ({VACUUM} if vector == "0.8.4-beta1" else set())


def test_packages_ask_for_versions_without_a_fault():
    wanted = parts.wanted(17)
    assert wanted == {"vector_least": "0.8.0", "vector_safe": "0.8.4", "server_safe": "17.11"}
    described = [*(toolchain.ROOT / "packaging").glob("*.*"), *(toolchain.ROOT / "packaging" / "deb").glob("*.control")]
    text = "".join(path.read_text() for path in described if path.is_file())
    assert {name for name in wanted if name in text} == set(wanted)
    # Only the table has these versions.
    assert not re.search(r"(vector|postgresql)\S* *\(?>= *[0-9]|\"vector\": *\"[0-9]", text)


def test_the_reference_equals_the_table():
    text = (toolchain.ROOT / "docs" / "reference" / "administration.md").read_text()
    for fault in known_fault.table():
        row = f"| `{fault.fault}` | {fault.product} {', '.join(fault.good_from)} | {fault.effect.replace('tsvector', '`tsvector`')} |"
        assert row in text, row
