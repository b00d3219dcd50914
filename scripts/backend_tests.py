#!/usr/bin/env python3
"""The tests of the extension that run inside a server: found in the sources, run one by one.

`#[pg_test]` makes a SQL function of each in the schema `tests`, which the extension has if it is
built with the feature pg_test. Each is called by a session of its own, in a transaction that is
undone, and passes if it ends without an error, or with the one that `#[pg_test(error = "...")]`
names. `cargo pgrx test` runs the same ones, in the PostgreSQL that cargo-pgrx is set up with.
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
# For a test that hangs, and a server that comes back after a crash.
PATIENCE_SECONDS = 120
PASSED = "00000"


class Problem(Exception):
    """Why the tests cannot be run as they stand."""


@dataclass(frozen=True)
class Test:
    """One test: the name of its function, of the file that it is about, and the error it ends with."""

    file: str
    name: str
    error: str | None

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"


def found() -> list[Test]:
    """The tests in the sources, in the order of files and lines."""
    tests = []
    for path in sorted(SOURCES.rglob("tests.rs")):
        text = path.read_text()
        matches = list(TEST.finditer(text))
        if len(matches) != len(re.findall(r"^ *#\[pg_test", text, re.MULTILINE)):
            raise Problem(f"{path} has a #[pg_test] that is not read")
        for match in matches:
            if match["arguments"] and not match["error"]:
                raise Problem(f"{path}: #[pg_test{match['arguments']}] is not known here")
            error = json.loads(match["error"].removeprefix("error = ")) if match["error"] else None
            tests.append(Test(path.parent.name, match["name"], error))
    return tests


def chosen(tests: Sequence[Test], files: Sequence[str], name: str) -> list[Test]:
    """The tests of some files, if any are named, and those whose name has this part."""
    wanted = {Path(file).stem for file in files}
    if unknown := wanted - {test.file for test in tests}:
        raise Problem(f"src has no tests of {', '.join(sorted(unknown))}")
    of_files = [test for test in tests if not wanted or test.file in wanted]
    if not (named := [test for test in of_files if name in test.name]):
        raise Problem(f"there is no test with {name!r} in its name" if name else "there is no test")
    return named


def compare(tests: Sequence[Test], instance: server.Server, database: str) -> None:
    """Holds the functions of the server against the sources: no test is lost between the two."""
    names = [test.name for test in tests]
    built = instance.query("SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace"
                           f"('{SCHEMA}') ORDER BY proname", database).split()
    if sorted(names) != built:
        raise Problem(f"sources and server differ in the tests {sorted(set(names) ^ set(built))}")


def call(test: Test, instance: server.Server, database: str) -> str | None:
    """Calls a test's function; says what is wrong, if it does not pass."""
    script = (f"\\set VERBOSITY verbose\nBEGIN;\nSELECT \"{SCHEMA}\".\"{test.name}\"() \\g /dev/null\n"
              "\\set state :SQLSTATE\n\\set message :LAST_ERROR_MESSAGE\nROLLBACK;\n"
              "\\echo :state\n\\echo :message\n")
    try:
        done = subprocess.run([str(instance.bin / "psql"), instance.url(database), "-XAtq"],
                              input=script, capture_output=True, text=True,
                              env=instance.environment(), timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        # Its process may be deaf to anything less.
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
    """Waits until the server takes connections, which it does not after a crash."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while instance.run("pg_isready", "-q", "-h", str(instance.socket), "-p", "5432").returncode != 0:
        if time.monotonic() > deadline:
            raise Problem(f"the server does not come back; see {instance.log}")
        time.sleep(0.1)


def run(tests: Sequence[Test], instance: server.Server, database: str,
        note: Callable[[Test, float], None]) -> list[Test]:
    """Runs the tests, a line for each, and notes the seconds of each; returns those that failed."""
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
