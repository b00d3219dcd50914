#!/usr/bin/env python3
"""Runs the tests, stage by stage, and ends with one line that counts.

core    the Rust crates (cargo test)
backend the extension's own Rust code, src/**/tests.rs, inside a server
sql     pgspot over the SQL scripts, then SQL regression files, tests/sql/*.sql, in the order of
        tests/schedule
client  client-side tests, tests/test_*.py, against a running server
model   the model builder's tests, model/test_*.py

--file runs single files of one stage: `sql --file search`, `client --file test_http`, or one
test of a file, `client --file test_http::test_name`; `backend --file tsvector` what is tested of
src/postgres/tsvector.rs. Every file stands alone. `backend --name part` runs the tests with this
in their names.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import backend_tests
import install
import server
import toolchain

TESTS = toolchain.ROOT / "tests"
CRATES = ("docsearch-core", "docsearch-inference", "docsearch-cli", "docsearch-fuzz")
BACKEND_DATABASE = "backend"
SQL_DATABASE = "regression"
CLIENT_DATABASE = "client"
# The regression file that creates the extension; the others expect it.
CREATING_FILE = "extension"
PASSED_RUST = r"test result: ok\. (\d+) passed"
PASSED_PYTEST = r"(\d+) passed"


class Failure(Exception):
    """A stage that did not pass, with the reason in a few words."""


def run(command: Iterable[str | Path], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a command, shows its standard output as it comes and returns status and output."""
    process = subprocess.Popen([str(part) for part in command], cwd=toolchain.ROOT,
                               env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    return process.wait(), "".join(lines)


def count(pattern: str, output: str) -> int:
    """The sum of the numbers that the pattern's group finds."""
    return sum(int(number) for number in re.findall(pattern, output))


@cache
def test_server() -> server.Server:
    """A fresh server with the extension built in the dev profile, started once a run."""
    instance = server.throw_away("test")
    instance.install("dev")
    instance.remove_data()
    instance.configure()
    return instance


def core() -> str:
    """The crates' tests, with the real model."""
    environment = {**toolchain.build_environment(),
                   "DOCSEARCH_TEST_MODEL": str(toolchain.model()),
                   "DOCSEARCH_TEST_ORT": str(toolchain.onnxruntime() / "libonnxruntime.so")}
    packages = [part for crate in CRATES for part in ("-p", crate)]
    status, output = run(["cargo", "test", "--no-fail-fast", *packages], environment)
    if status != 0:
        raise Failure("cargo test failed")
    return f"{count(PASSED_RUST, output)} Rust tests"


def backend(files: Sequence[str] = (), name: str = "") -> str:
    """The tests that run inside a server, or some of them; with a build and a server of their own."""
    instance = server.throw_away("backend")
    try:
        tests = backend_tests.found()
        chosen = backend_tests.chosen(tests, files, name)
        instance.install("dev", (backend_tests.FEATURE,))
        instance.remove_data()
        instance.configure()
        instance.start(BACKEND_DATABASE)
        instance.query(server.CREATE_EXTENSION, BACKEND_DATABASE)
        backend_tests.compare(tests, instance, BACKEND_DATABASE)
        failed = backend_tests.run(chosen, instance, BACKEND_DATABASE)
    except backend_tests.Problem as problem:
        raise Failure(str(problem)) from problem
    finally:
        instance.stop()
    if failed:
        raise Failure(f"{len(failed)} of {len(chosen)} backend tests: {', '.join(map(str, failed))}")
    return f"{len(chosen)} backend tests"


def spot() -> None:
    """pgspot: no name in the install script may mean an object that others have planted.

    What migrate() runs is looked at with the path that the function pins.
    """
    staged = install.staging_directory(install.Installation.find(str(toolchain.postgres_pg_config())).major, "dev") / "share" / "extension"
    versions = sorted((toolchain.ROOT / "sql" / "schema").glob("*.sql"))
    pinned = "SET search_path TO pg_catalog, pg_temp;\n"
    scripts = {path.name: path.read_text() for path in staged.glob("*.sql")}
    scripts |= {path.name: pinned + path.read_text() for path in versions}
    environment = {**os.environ, "PYTHONPATH": str(toolchain.pgspot_packages())}
    found = []
    for name, script in scripts.items():
        # CREATE OR REPLACE, in an extension's script, replaces nothing that is not the extension's.
        upgrade = ["--ignore", "PS002"] if name.count("--") > 1 else []
        done = subprocess.run([sys.executable, "-m", "pgspot", *upgrade], input=script, capture_output=True,
                              text=True, env=environment)
        if "Errors: 0 Warnings: 0 Unknown: 0" not in done.stdout:
            found.append(name)
            print(f"pgspot on {name}:\n{done.stdout}{done.stderr}", flush=True)
    if not versions or len(scripts) == len(versions) or found:
        raise Failure(f"pgspot finds something in {', '.join(found) or 'no script'}")


def scheduled() -> list[str]:
    """The names in tests/schedule, which must be those of tests/sql."""
    lines = (TESTS / "schedule").read_text().splitlines()
    names = [name for line in lines if line.startswith("test:")
             for name in line.removeprefix("test:").split()]
    files = {path.stem for path in (TESTS / "sql").glob("*.sql")}
    if files != set(names):
        raise Failure(f"tests/schedule and tests/sql differ in {sorted(files ^ set(names))}")
    return names


def sql(files: Sequence[str] = ()) -> str:
    """The regression files, or some of them, through the pg_regress of the private PostgreSQL.

    pgspot is left out where files are named.
    """
    names, wanted = scheduled(), {Path(file).stem for file in files}
    if unknown := wanted - set(names):
        raise Failure(f"tests/sql has no {', '.join(sorted(unknown))}")
    names = [name for name in names if not files or name in wanted]
    instance = test_server()
    if not files:
        spot()
    instance.start(SQL_DATABASE)
    if CREATING_FILE not in names:
        instance.query(server.CREATE_EXTENSION, SQL_DATABASE)
    results = toolchain.target_directory() / "regress"
    results.mkdir(parents=True, exist_ok=True)
    pg_regress = instance.bin.parent / "lib" / "pgxs" / "src" / "test" / "regress" / "pg_regress"
    status, _ = run([pg_regress, "--use-existing", f"--dbname={SQL_DATABASE}",
                     f"--host={instance.socket}", "--port=5432", f"--user={server.USER}",
                     f"--bindir={instance.bin}", f"--inputdir={TESTS}",
                     f"--expecteddir={TESTS}", f"--outputdir={results}", *names],
                    instance.environment())
    if status != 0:
        differences = results / "regression.diffs"
        if differences.is_file():
            print(differences.read_text(errors="replace"))
        raise Failure(f"SQL regression; differences in {differences}")
    return f"{len(names)} SQL files"


def pytest(directory: Path, environment: dict[str, str], files: Sequence[str] = ()) -> int:
    """Runs the pytest files of a directory, or some of them; returns how many tests passed."""
    targets = [target(directory, file) for file in files] or [directory]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *targets]
    status, output = run(command, {**toolchain.python_environment(), **environment})
    if status != 0:
        raise Failure(f"pytest {directory.name}")
    return count(PASSED_PYTEST, output)


def target(directory: Path, file: str) -> str:
    """A file of a directory as pytest takes it, with what `::` names in it."""
    name, separator, test = file.partition("::")
    path = directory / f"{Path(name).stem}.py"
    if not path.is_file():
        raise Failure(f"{directory.name} has no {path.name}")
    return f"{path}{separator}{test}"


def client(files: Sequence[str] = ()) -> str:
    """The client-side tests, or those of some files; they find the server and the programs in
    the environment.
    """
    instance = test_server()
    instance.start(CLIENT_DATABASE)
    if run(["cargo", "build", "-p", "docsearch-cli"], toolchain.build_environment())[0]:
        raise Failure("docsearch-cli did not build")
    modules = (toolchain.python_packages(), toolchain.mcp_packages(), toolchain.ROOT / "scripts")
    environment = {"PYTHONPATH": os.pathsep.join(map(str, modules)),
                   "DOCSEARCH_TEST_URL": instance.url(CLIENT_DATABASE),
                   "DOCSEARCH_TEST_CLI": str(toolchain.target_directory() / "debug" / "docsearch"),
                   "PATH": f"{instance.bin}{os.pathsep}{os.environ['PATH']}"}
    if (node := node_packages()) is not None:
        environment["DOCSEARCH_TEST_NODE"] = str(node)
    return f"{pytest(TESTS, environment, files)} client tests"


def node_packages() -> Path | None:
    """The MCP clients that run on Node.js 20 or later; without it, their tests are skipped."""
    if not shutil.which("npm"):
        return None
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    if not (found := re.match(r"v(\d+)", version)) or int(found[1]) < 20:
        return None
    return toolchain.node_packages()


def model() -> str:
    """The model builder's tests, on the models as they are built."""
    environment = {"DOCSEARCH_TEST_MODEL": str(toolchain.model()),
                   "DOCSEARCH_TEST_MODEL_FLOAT": str(toolchain.model("-float")),
                   "DOCSEARCH_TEST_WEIGHTS": str(toolchain.weights())}
    return f"{pytest(toolchain.ROOT / 'model', environment)} model tests"


STAGES = {"core": core, "backend": backend, "sql": sql, "client": client, "model": model}
STAGES_WITH_FILES = ("backend", "sql", "client")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="stage", help="which (default: all)")
    parser.add_argument("--file", dest="files", nargs="+", default=[], metavar="name",
                        help="run only these files of the stage backend, sql or client")
    parser.add_argument("--name", help="run only the tests of the stage backend with this in their names")
    options = parser.parse_args()
    if options.files and (len(options.stages) != 1 or options.stages[0] not in STAGES_WITH_FILES):
        parser.error(f"--file goes with one stage of {', '.join(STAGES_WITH_FILES)}")
    if options.name and options.stages != ["backend"]:
        parser.error("--name goes with the stage backend")
    chosen = {"files": options.files, "name": options.name}
    chosen = {option: value for option, value in chosen.items() if value}
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"unknown stage {', '.join(unknown)}; there are {', '.join(STAGES)}")
    passed, failed = [], []
    try:
        for name in options.stages or STAGES:
            print(f"==> {name}", flush=True)
            try:
                passed.append(STAGES[name](**chosen))
            except (Failure, SystemExit) as failure:
                print(f"FAILED {name}: {failure}", file=sys.stderr, flush=True)
                failed.append(name)
    finally:
        if test_server.cache_info().currsize:
            test_server().stop()
    summary = ", ".join(passed) or "nothing"
    if failed:
        raise SystemExit(f"FAILED: {', '.join(failed)}; passed: {summary}")
    print(f"passed: {summary}")


if __name__ == "__main__":
    main()
