#!/usr/bin/env python3
"""Searches for inputs that end a process: `make fuzz`.

rust  every parser, with its corpus and mutations of it, for --seconds a target
sql   a private server with three projects. A role that may index sends statements of sqlsmith (the Debian package), and
      calls every function of the extension with random arguments

Findings of the Rust targets are in target/fuzz, the server's log in target/server/fuzz. The exit status is 0 if nothing
was found, 1 if something was, and 3 if sqlsmith is missing and nothing else was found.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import server
import toolchain

CRATES = ("docsearch-core", "docsearch-inference", "docsearch-readers", "docsearch-cli")
TESTS = "no_input_ends_the_process"
TARGET_LINE = re.compile(r"^fuzz (\S+): (\d+) executions in \d+ s, the slowest in \d+ ms, (\d+) findings", re.MULTILINE)
DATABASE = "fuzz"
SOUND, FOUND, WITHOUT_SQLSMITH = 0, 1, 3


def run_shown(command: list[str | Path], environment: dict[str, str]) -> tuple[int, str]:
    """Runs a command and shows its output. Returns status and output."""
    process = subprocess.Popen([str(part) for part in command], cwd=toolchain.ROOT, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    return process.wait(), "".join(lines)


def rust(options: argparse.Namespace) -> list[str]:
    """Runs the targets of the crates. Returns the findings."""
    environment = toolchain.build_environment()
    for name in ("seconds", "target", "input", "seed"):
        if (value := getattr(options, name)) is not None:
            environment[f"DOCSEARCH_FUZZ_{name.upper()}"] = str(value)
    packages = [part for crate in CRATES for part in ("-p", crate)]
    status, output = run_shown(["cargo", "test", "--no-fail-fast", *packages, TESTS,
                                "--", "--nocapture"], environment)
    targets = TARGET_LINE.findall(output)
    executions = sum(int(count) for _, count, _ in targets)
    print(f"==> {len(targets)} targets, {executions} executions", flush=True)
    bad = [name for name, _, findings in targets if int(findings)]
    if status != 0 and not bad:
        return ["cargo test failed"]
    return [f"{name}: see {toolchain.target_directory() / 'fuzz'}" for name in bad]


def sql(options: argparse.Namespace) -> tuple[list[str], bool]:
    """Runs statements and calls. Returns the findings, and whether sqlsmith is installed."""
    instance = server.throw_away("fuzz")
    # %e is the SQLSTATE.
    instance.settings["log_line_prefix"] = "%m [%p] %e %q%u@%d "
    instance.settings["docsearch.threads"] = "1"
    instance.install("dev")
    instance.remove_data()
    instance.log.unlink(missing_ok=True)
    instance.configure()
    instance.start(DATABASE)
    instance.query(server.CREATE_EXTENSION, DATABASE)
    sqlsmith = shutil.which("sqlsmith")
    environment = {**instance.environment(), **toolchain.python_environment(),
                   "PYTHONUNBUFFERED": "1", "DOCSEARCH_FUZZ_URL": instance.url(DATABASE)}
    script = toolchain.ROOT / "scripts" / "fuzz_sql.py"
    command = [sys.executable, script, "--seconds", str(options.sql_seconds), "--log", instance.log]
    if options.seed is not None:
        command += ["--seed", str(options.seed)]
    if sqlsmith:
        command += ["--sqlsmith", sqlsmith]
    try:
        status, _ = run_shown(command, environment)
    finally:
        instance.stop()
    found = [] if status == 0 else [f"SQL: see {instance.log}"]
    return found, sqlsmith is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="stage", help="rust or sql (default: both)")
    parser.add_argument("--seconds", type=int, default=60, help="for each Rust target (default: 60)")
    parser.add_argument("--sql-seconds", type=int, default=600, help="for sqlsmith, and a half for calls (default: 600)")
    parser.add_argument("--target", help="Rust targets whose name contains this")
    parser.add_argument("--input", type=Path, help="a file to run instead of all other inputs")
    parser.add_argument("--seed", type=int, default=None, help="seed of the inputs (default: the clock)")
    options = parser.parse_args()
    if unknown := set(options.stages) - {"rust", "sql"}:
        parser.error(f"unknown stage {', '.join(unknown)}")
    if options.input is not None:
        options.input = options.input.resolve()
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4))
    print(f"==> seed {options.seed}", flush=True)
    stages = options.stages or (["rust"] if options.target or options.input else ["rust", "sql"])
    found, complete = [], True
    if "rust" in stages:
        found += rust(options)
    if "sql" in stages:
        more, complete = sql(options)
        found += more
    if found:
        print("FOUND:", *found, sep="\n  ", file=sys.stderr)
        raise SystemExit(FOUND)
    if not complete:
        print("Nothing found, but sqlsmith is missing: apt-get install sqlsmith", file=sys.stderr)
        raise SystemExit(WITHOUT_SQLSMITH)
    print("nothing found")


if __name__ == "__main__":
    main()
