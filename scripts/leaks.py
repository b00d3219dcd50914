"""Checks that a statement cannot run as the wrong role: the compiler must refuse the mistakes in leaks.rs.

A line of that file with a comment such as `//~ E0502` must have that error, and no other line may have one.
"""

import json
import pathlib
import re
import subprocess
import sys

import toolchain

FILE = "src/postgres/statement/leaks.rs"
COMMAND = ["cargo", "check", "--quiet", "--package", "pg_docsearch", "--features", "leaks", "--message-format", "json"]
EXPECTED = re.compile(r"//~ (E\d{4}(?:, E\d{4})*)$")


def expected(text):
    """The expected errors of each line."""
    found = ((number, EXPECTED.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return {(FILE, number, code) for number, match in found if match for code in match[1].split(", ")}


def raised(output):
    """The errors of the compiler: file, line and code of each."""
    for line in output.splitlines():
        message = json.loads(line).get("message")
        if not isinstance(message, dict) or message["level"] != "error" or not message["spans"]:
            continue
        place = next(span for span in message["spans"] if span["is_primary"])
        yield place["file_name"], place["line_start"], (message["code"] or {}).get("code")


def main():
    compiled = subprocess.run(COMMAND, cwd=toolchain.ROOT, env=toolchain.build_environment(), capture_output=True, text=True)
    wanted, found = expected((pathlib.Path(toolchain.ROOT) / FILE).read_text()), set(raised(compiled.stdout))
    problems = [f"{file}:{line} compiles, and should not: {code}" for file, line, code in sorted(wanted - found)]
    problems += [f"{file}:{line} has an error that is not expected: {code}" for file, line, code in sorted(
        found - wanted, key=str)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not wanted or not found:
        sys.exit(compiled.stderr or f"{FILE} names no error")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
