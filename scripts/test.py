#!/usr/bin/env python3
"""Runs the tests, stage by stage, and ends with a line of counts.

core    the Rust crates (cargo test)
backend the extension's own Rust code, src/**/tests.rs, inside a server
sql     pgspot over the SQL scripts, then SQL regression files, tests/sql/*.sql, in the order of
        tests/schedule
client  client-side tests, tests/test_*.py, against a running server
model   the model builder's tests, model/test_*.py

backend, sql and client run with PostgreSQL 18, 17 and 16, or with those that --pg names. The first of them runs every
client-side test. The last leaves out those that are marked any_server, which no other server can make fail. Versions
between them run no client-side tests.

--file runs single files of one stage: `sql --file search`, `client --file test_http`, or one
test of a file, `client --file test_http::test_name`. `backend --file tsvector` runs the tests of
src/postgres/tsvector.rs. Files do not depend on each other. `backend --name part` runs the tests
with this in their names.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import backend_tests
import browser
import clock
import cross
import install
import postgres
import server
import toolchain

TESTS = toolchain.ROOT / "tests"
CRATES = ("docsearch-core", "docsearch-inference", "docsearch-readers", "docsearch-cli", "docsearch-fuzz")
BACKEND_DATABASE = "backend"
SQL_DATABASE = "regression"
CLIENT_DATABASE = "client"
# The regression file that creates the extension; the others expect it.
CREATING_FILE = "extension"
CLOCK = clock.Clock()
# The servers of this run that the stages share, by version and number.
SERVERS: dict[tuple[int, int], server.Server] = {}
# Number of client-side test files that run at the same time, each with its own server: they mostly wait.
WORKERS = 2
BROWSER_REASON = f"tests in a browser (tests/test_browser.py): they need {browser.NEEDED}, and Node.js 20 or later"
# Tests that are not run here, and why.
LEFT_OUT: list[str] = []
PASSED_RUST = r"test result: ok\. (\d+) passed"
PASSED_PYTEST = r"(\d+) passed"

# Tests that work under qemu, where a test cannot start its own program, and the emulator has threads, too.
EMULATED = ["-p", "docsearch-core", "-p", "docsearch-inference", "-p", "docsearch-readers", "-p", "docsearch-cli",
            "--lib", "--bins", "--test", "directory", "--test", "model", "--", "--skip", "no_input_ends_the_process"]


class Failure(Exception):
    """A failed stage, with the reason in a few words."""


def run(command: Iterable[str | Path], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a command, shows its standard output while it runs, and returns status and output."""
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


def test_server(major: int, number: int = 0) -> server.Server:
    """A fresh server with the extension built in the dev profile, made once a run; those of other versions are
    stopped."""
    if (major, number) not in SERVERS:
        for (of, _), other in SERVERS.items():
            if of != major:
                stop(other)
        instance = server.throw_away(f"test-{major}-{number}", major)
        with CLOCK.span(title("server", major), "build"):
            instance.install("dev")
        instance.remove_data()
        instance.configure()
        SERVERS[major, number] = instance
    return SERVERS[major, number]


def start(instance: server.Server, database: str) -> None:
    """Starts a server, and measures its processor time."""
    instance.start(database)
    CLOCK.watch(instance)


def stop(instance: server.Server) -> None:
    """Stops a server, if it runs."""
    CLOCK.forget(instance)
    instance.stop()


def title(stage: str, major: int) -> str:
    """The name of a stage with a version."""
    return f"{stage} {major}"


def core() -> str:
    """The crates' tests, with the real model."""
    environment = {**toolchain.build_environment(),
                   "DOCSEARCH_TEST_MODEL": str(toolchain.model()),
                   "DOCSEARCH_TEST_ORT": str(toolchain.onnxruntime() / "libonnxruntime.so")}
    chosen = EMULATED if cross.IS_CROSS else [part for crate in CRATES for part in ("-p", crate)]
    with CLOCK.span("core", "build"):
        if run(["cargo", "test", "--no-run", *chosen], environment)[0]:
            raise Failure("the tests of the crates did not build")
    with CLOCK.span("core", "run"):
        status, output = run(["cargo", "test", "--no-fail-fast", *chosen], environment)
    if status != 0:
        raise Failure("cargo test failed")
    return f"{count(PASSED_RUST, output)} Rust tests"


def backend(major: int, files: Sequence[str] = (), name: str = "") -> str:
    """The tests that run inside a server, or some of them, with their own build and server."""
    stage = title("backend", major)
    instance = server.throw_away(f"backend-{major}", major)
    try:
        tests = backend_tests.found()
        chosen = backend_tests.chosen(tests, files, name)
        with CLOCK.span(stage, "build"):
            instance.install("dev", (backend_tests.FEATURE,))
        with CLOCK.span(stage, "run"):
            instance.remove_data()
            instance.configure()
            start(instance, BACKEND_DATABASE)
            instance.query(server.CREATE_EXTENSION, BACKEND_DATABASE)
            backend_tests.compare(tests, instance, BACKEND_DATABASE)
            failed = backend_tests.run(chosen, instance, BACKEND_DATABASE,
                                       lambda test, seconds: CLOCK.test(stage, test.file, test.name, seconds))
    except backend_tests.Problem as problem:
        raise Failure(str(problem)) from problem
    finally:
        stop(instance)
    if failed:
        raise Failure(f"{len(failed)} of {len(chosen)} backend tests: {', '.join(map(str, failed))}")
    return f"{len(chosen)} backend tests"


def spot(major: int) -> None:
    """Runs pgspot: no name in the install script may resolve to an object that another role has created.

    The SQL of migrate() is checked with the path that the function pins.
    """
    staged = install.staging_directory(major, "dev") / "share" / "extension"
    versions = sorted((toolchain.ROOT / "sql" / "schema").glob("*.sql"))
    pinned = "SET search_path TO pg_catalog, pg_temp;\n"
    scripts = {path.name: path.read_text() for path in staged.glob("*.sql")}
    scripts |= {path.name: pinned + path.read_text() for path in versions}
    environment = {**os.environ, "PYTHONPATH": str(toolchain.pgspot_packages())}
    found = []
    for name, script in scripts.items():
        # In an extension's script, CREATE OR REPLACE replaces only objects of the extension.
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


def sql(major: int, files: Sequence[str] = ()) -> str:
    """The regression files, or some of them, through the server's own pg_regress.

    pgspot is left out if files are named.
    """
    names, wanted = scheduled(), {Path(file).stem for file in files}
    if unknown := wanted - set(names):
        raise Failure(f"tests/sql has no {', '.join(sorted(unknown))}")
    names = [name for name in names if not files or name in wanted]
    stage, instance = title("sql", major), test_server(major)
    if not files:
        with CLOCK.span(stage, "pgspot"):
            spot(major)
    start(instance, SQL_DATABASE)
    if CREATING_FILE not in names:
        instance.query(server.CREATE_EXTENSION, SQL_DATABASE)
    results = toolchain.target_directory() / "regress" / str(major)
    results.mkdir(parents=True, exist_ok=True)
    makefile = Path(postgres.ask(instance.bin / "pg_config", "--pgxs"))
    pg_regress = makefile.parent.parent / "test" / "regress" / "pg_regress"
    with CLOCK.span(stage, "run"):
        status, output = run([*cross.runner(), pg_regress, "--use-existing", f"--dbname={SQL_DATABASE}",
                              f"--host={instance.socket}", "--port=5432", f"--user={server.USER}",
                              f"--bindir={instance.bin}", f"--inputdir={TESTS}",
                              f"--expecteddir={TESTS}", f"--outputdir={results}", *names],
                             instance.environment())
    CLOCK.regress(stage, output)
    if status != 0:
        differences = results / "regression.diffs"
        if differences.is_file():
            print(differences.read_text(errors="replace"))
        raise Failure(f"SQL regression; differences in {differences}")
    return f"{len(names)} SQL files"


def pytest(stage: str, directory: Path, environment: dict[str, str], files: Sequence[str] = (),
           options: Sequence[str] = ()) -> int:
    """Runs the pytest files of a directory, or some of them; returns how many tests passed."""
    targets = [target(directory, file) for file in files] or [directory]
    report = toolchain.target_directory() / "tests" / f"{stage.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
               *options, *targets]
    with CLOCK.span(stage, "run"):
        status, output = run(command, {**toolchain.python_environment(), **environment})
    CLOCK.junit(stage, report)
    if status != 0:
        raise Failure(f"pytest {directory.name}")
    return count(PASSED_PYTEST, output)


def target(directory: Path, file: str) -> str:
    """The argument of pytest for a file of a directory and a test in it."""
    name, separator, test = file.partition("::")
    path = directory / f"{Path(name).stem}.py"
    if not path.is_file():
        raise Failure(f"{directory.name} has no {path.name}")
    return f"{path}{separator}{test}"


def client(major: int, files: Sequence[str] = (), everything: bool = True) -> str:
    """The client-side tests, or those of some files. The environment names the server and the programs.

    Unless `everything` is set, files that are marked any_server are left out.
    """
    stage = title("client", major)
    instances = [test_server(major, number) for number in range(1 if len(files) == 1 else WORKERS)]
    for instance in instances:
        start(instance, CLIENT_DATABASE)
    with CLOCK.span(stage, "build"):
        if run(["cargo", "build", "-p", "docsearch-cli"], toolchain.build_environment())[0]:
            raise Failure("docsearch-cli did not build")
    modules = (toolchain.python_packages(), toolchain.xdist_packages(), toolchain.mcp_packages(), toolchain.driver_packages(),
               toolchain.ROOT / "scripts")
    environment = {"PYTHONPATH": os.pathsep.join(map(str, modules)),
                   "DOCSEARCH_TEST_URL": " ".join(instance.url(CLIENT_DATABASE) for instance in instances),
                   "DOCSEARCH_TEST_PG": str(major),
                   "DOCSEARCH_TEST_CLI": str(toolchain.target_directory() / "debug" / "docsearch"),
                   "PATH": f"{instances[0].bin}{os.pathsep}{os.environ['PATH']}"}
    if (node := node_packages()) is not None:
        environment["DOCSEARCH_TEST_NODE"] = str(node)
    if (program := browser.find()) is not None and node is not None:
        environment["DOCSEARCH_TEST_CHROMIUM"] = program
        environment["PYTHONPATH"] += f"{os.pathsep}{toolchain.browser_packages()}"
    elif BROWSER_REASON not in LEFT_OUT:
        LEFT_OUT.append(BROWSER_REASON)
    options = ["--numprocesses", str(len(instances)), "--dist", "loadfile"] if len(instances) > 1 else []
    if not everything and not files:
        options += ["-m", "not any_server"]
    return f"{pytest(stage, TESTS, environment, files, options)} client tests"


def node_packages() -> Path | None:
    """The MCP clients and the checks of accessibility that run on Node.js 20 or later; without it, their tests are skipped."""
    if not shutil.which("npm"):
        return None
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    if not (found := re.match(r"v(\d+)", version)) or int(found[1]) < 20:
        return None
    return toolchain.node_packages()


def model() -> str:
    """The model builder's tests, on the built models."""
    environment = {"DOCSEARCH_TEST_MODEL": str(toolchain.model()),
                   "DOCSEARCH_TEST_MODEL_FLOAT": str(toolchain.model("-float")),
                   "DOCSEARCH_TEST_WEIGHTS": str(toolchain.weights())}
    return f"{pytest('model', toolchain.ROOT / 'model', environment)} model tests"


STAGES = {"core": core, "backend": backend, "sql": sql, "client": client, "model": model}
# Stages that need a server.
SERVED = ("backend", "sql", "client")


def available(majors: Sequence[int], wanted: bool) -> tuple[list[int], list[str]]:
    """Of some versions of PostgreSQL those that are here or can be fetched, and why others are not run; one that is
    `wanted` has to be."""
    found, reasons = [], []
    for major in majors:
        try:
            with CLOCK.span(title("PostgreSQL", major), "fetch"):
                postgres.find(major)
            found.append(major)
        except postgres.Missing as missing:
            if wanted:
                raise SystemExit(f"FAILED: {missing}") from missing
            reasons.append(f"PostgreSQL {major}: {missing}")
    return found, reasons


def jobs(stages: Sequence[str], majors: Sequence[int], chosen: dict) -> Iterator[tuple[str, Callable[[], str]]]:
    """The stages to run: all of one version, then of the next."""
    if "core" in stages:
        yield "core", core
    for major in majors:
        for stage in (stage for stage in SERVED if stage in stages):
            # What the first and the last version both do, versions between them do, too.
            if stage == "client" and major not in (majors[0], majors[-1]):
                continue
            more = {"everything": major == majors[0]} if stage == "client" else {}
            yield title(stage, major), partial(STAGES[stage], major, **chosen, **more)
    if "model" in stages:
        yield "model", model


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="stage", help="which (default: all)")
    parser.add_argument("--pg", dest="majors", nargs="+", type=int, choices=postgres.SUPPORTED, default=[],
                        metavar="version", help="PostgreSQL 16, 17 or 18 (default: all available)")
    parser.add_argument("--file", dest="files", nargs="+", default=[], metavar="name",
                        help="run only these files of the stage backend, sql or client")
    parser.add_argument("--name", help="run only the tests of the stage backend with this in their names")
    options = parser.parse_args(arguments)
    if options.files and (len(options.stages) != 1 or options.stages[0] not in SERVED):
        parser.error(f"--file goes with one stage of {', '.join(SERVED)}")
    if options.name and options.stages != ["backend"]:
        parser.error("--name goes with the stage backend")
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"unknown stage {', '.join(unknown)}; there are {', '.join(STAGES)}")
    return options


def main() -> None:
    options = options_of()
    stages = options.stages or list(STAGES)
    chosen = {option: value for option, value in (("files", options.files), ("name", options.name)) if value}
    # The newest first: it runs everything.
    wanted = dict.fromkeys(options.majors) or sorted(postgres.SUPPORTED, reverse=True)
    majors, missing = available(list(wanted), bool(options.majors)) if set(stages) & set(SERVED) else ([], [])
    passed, failed = [], []
    try:
        for name, job in jobs(stages, majors, chosen):
            print(f"==> {name}", flush=True)
            try:
                passed.append(f"{job()} ({name})" if name[-1].isdigit() else job())
            except (Failure, SystemExit) as failure:
                print(f"FAILED {name}: {failure}", file=sys.stderr, flush=True)
                failed.append(name)
    finally:
        for instance in SERVERS.values():
            stop(instance)
    print(CLOCK.table())
    for reason in [*missing, *LEFT_OUT]:
        print(f"NOT RUN {reason}")
    summary = ", ".join(passed) or "nothing"
    if failed:
        raise SystemExit(f"FAILED: {', '.join(failed)}; passed: {summary}")
    print(f"passed: {summary}")


if __name__ == "__main__":
    main()
