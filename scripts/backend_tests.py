#!/usr/bin/env python3
"""Finds the tests of the extension that run inside a server, and runs them one by one.

`#[pg_test]` makes a SQL function of each in the schema `tests`, in builds with the feature pg_test. A session of its
own calls it in a transaction that is rolled back. The test passes if it ends without an error, or with the one that
`#[pg_test(error = "...")]` names. `cargo pgrx test` runs the same tests in cargo-pgrx's PostgreSQL.
"""

import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import server
import toolchain

FEATURE = "pg_test"
SCHEMA = "tests"
SOURCES = toolchain.ROOT / "src"
TEST = re.compile(r"#\[pg_test(?P<arguments>\((?P<error>error = \"(?:[^\"\\]|\\.)*\")?[^\n]*\))?\]\s*"
                  r"(?:#\[[^\n]*\]\s*)*(?:unsafe )?fn (?P<name>\w+)\(")
# For a test that hangs, and for a server that recovers from a crash.
PATIENCE_SECONDS = 120
PASSED = "00000"


class Problem(Exception):
    """Why the tests cannot be run."""


@dataclass(frozen=True)
class Test:
    """One test: its function, the file that it tests, and the expected error."""

    file: str
    name: str
    error: str | None

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"


def found() -> list[Test]:
    """The tests in the sources, by file and line."""
    tests = []
    for path in sorted(SOURCES.rglob("tests.rs")):
        text = path.read_text()
        matches = list(TEST.finditer(text))
        if len(matches) != len(re.findall(r"^ *#\[pg_test", text, re.MULTILINE)):
            raise Problem(f"{path} has a #[pg_test] that cannot be parsed")
        for match in matches:
            if match["arguments"] and not match["error"]:
                raise Problem(f"{path}: #[pg_test{match['arguments']}] is not known here")
            error = json.loads(match["error"].removeprefix("error = ")) if match["error"] else None
            tests.append(Test(path.parent.name, match["name"], error))
    return tests


def chosen(tests: Sequence[Test], files: Sequence[str], name: str) -> list[Test]:
    """The tests of these files, or of all, whose names contain `name`."""
    wanted = {Path(file).stem for file in files}
    if unknown := wanted - {test.file for test in tests}:
        raise Problem(f"src has no tests of {', '.join(sorted(unknown))}")
    of_files = [test for test in tests if not wanted or test.file in wanted]
    if not (named := [test for test in of_files if name in test.name]):
        raise Problem(f"there is no test with {name!r} in its name" if name else "there is no test")
    return named


def compare(tests: Sequence[Test], instance: server.Server, database: str) -> None:
    """Compares the functions of the server with the sources, so that no test is lost."""
    names = [test.name for test in tests]
    built = instance.query("SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace"
                           f"('{SCHEMA}') ORDER BY proname", database).split()
    if sorted(names) != built:
        raise Problem(f"sources and server differ in the tests {sorted(set(names) ^ set(built))}")


def call(test: Test, instance: server.Server, database: str) -> str | None:
    """Calls a test's function. Returns what is wrong, if it fails."""
    script = (f"\\set VERBOSITY verbose\nBEGIN;\nSELECT \"{SCHEMA}\".\"{test.name}\"() \\g /dev/null\n"
              "\\set state :SQLSTATE\n\\set message :LAST_ERROR_MESSAGE\nROLLBACK;\n"
              "\\echo :state\n\\echo :message\n")
    try:
        done = subprocess.run([str(instance.bin / "psql"), instance.url(database), "-XAtq"],
                              input=script, capture_output=True, text=True,
                              env=instance.environment(), timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        # Its process may ignore weaker signals.
        instance.control("-m", "immediate", "-w", "stop")
        instance.start(database)
        return f"it did not end within {PATIENCE_SECONDS} seconds"
    if done.returncode != 0:
        await_server(instance)
        return done.stderr.strip() or f"psql ended with {done.returncode}"
    state, _, message = done.stdout.partition("\n")
    if test.error is None:
        return None if state == PASSED else done.stderr.strip()
    if state == PASSED:
        return f"it ended without the error: {test.error}"
    if message.removesuffix("\n") != test.error:
        return f"the error should be: {test.error}\n{done.stderr.strip()}"
    return None


def await_server(instance: server.Server) -> None:
    """Waits until the server accepts connections again after a crash."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while instance.run("pg_isready", "-q", "-h", str(instance.socket), "-p", "5432").returncode != 0:
        if time.monotonic() > deadline:
            raise Problem(f"the server does not come back; see {instance.log}")
        time.sleep(0.1)


def run(tests: Sequence[Test], instance: server.Server, database: str,
        note: Callable[[Test, float], None]) -> list[Test]:
    """Runs the tests, prints a line for each, and records their times. Returns the failed ones."""
    failed = []
    for test in tests:
        started = time.monotonic()
        problem = call(test, instance, database)
        note(test, time.monotonic() - started)
        print(f"{'ok    ' if problem is None else 'FAILED'} {test}", flush=True)
        if problem is not None:
            print("\n".join(f"       {line}" for line in problem.splitlines()), flush=True)
            failed.append(test)
    return failed
