#!/usr/bin/env python3
"""Tests the Debian packages in a bare system: install, search, upgrade, remove, purge.

Needs root and debootstrap. The system is an archive in the cache. Prints the time until the first answer.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import debian_root
import toolchain
from commands import output
from debian_root import enter

MAJOR = 17
MINUTE = 60
CLUSTER = "/var/lib/postgresql/test"
BIN = f"/usr/lib/postgresql/{MAJOR}/bin"
# Leftover files have this in their names.
OURS = re.compile(r"docsearch", re.IGNORECASE)
FIRST = """\
CREATE EXTENSION pg_docsearch CASCADE;
SELECT docsearch.create_project('handbook', title => 'Handbook');
SELECT docsearch.index_doc('handbook', 'guides/retry', 'Retrying requests',
    E'# Retrying requests\\n\\nA request that times out is sent again, up to three times.',
    category => 'guides', metadata => '{"platforms": ["linux", "macos"]}');
"""
SEARCH = "SELECT slug FROM search_docs('what happens after a timeout')"
PAGE = "guides/retry"
OTHER_MODEL = f"usr/share/postgresql/{MAJOR}/pg_docsearch/models/mine/config.json"


class System:
    """A bare Debian system in a folder."""

    def __init__(self, root: Path):
        self.root = root

    def install(self, packages: list[Path]) -> None:
        """apt install of files."""
        place = self.root / "packages"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in packages:
            shutil.copy(file, place)
        enter(self.root, "sh", "-c", "apt-get install -qq --no-install-recommends /packages/*.deb",
              stderr=subprocess.DEVNULL)

    def apt(self, *arguments: str) -> None:
        """Another command of apt."""
        enter(self.root, "apt-get", "-qq", *arguments)

    def postgres(self, *command: str) -> str:
        """A program of the server, as its user."""
        return enter(self.root, "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command)

    def query(self, statement: str) -> str:
        """The result of SQL."""
        return self.postgres(f"{BIN}/psql", "-h", "/tmp", "-v", "ON_ERROR_STOP=1", "-XAtqc", statement).strip()

    def start(self) -> None:
        """Makes a cluster, if there is none, and starts it."""
        if not (self.root / CLUSTER[1:]).is_dir():
            self.postgres(f"{BIN}/initdb", "-D", CLUSTER, "--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust")
        options = "-c listen_addresses= -c unix_socket_directories=/tmp"
        self.postgres(f"{BIN}/pg_ctl", "-D", CLUSTER, "-w", "-l", f"{CLUSTER}/log", "-o", options, "start")

    def stop(self) -> None:
        """Stops the server, if it runs."""
        if (self.root / CLUSTER[1:] / "postmaster.pid").is_file():
            self.postgres(f"{BIN}/pg_ctl", "-D", CLUSTER, "-m", "fast", "-w", "stop")

    def ours(self) -> list[str]:
        """The files and folders of this project outside the cluster."""
        found = []
        for place, folders, files in os.walk(self.root):
            if Path(place) == self.root:
                folders[:] = [name for name in folders if name not in ("packages", "proc", "sys", "dev")]
            folders[:] = [name for name in folders if Path(place, name) != self.root / CLUSTER[1:]]
            found += [str(Path(place, name).relative_to(self.root)) for name in (*folders, *files) if OURS.search(name)]
        return sorted(path for path in found if not path.startswith("var/log"))


def require(fact: bool, what: str) -> None:
    """Ends the test if `fact` is false."""
    if not fact:
        raise SystemExit(f"FAILED: {what}")


def packed(revision: str) -> list[Path]:
    """Builds the packages of a revision."""
    command = [sys.executable, toolchain.ROOT / "scripts" / "package.py", "deb", "--pg", str(MAJOR),
               "--pg-config", debian_root.headers(MAJOR)]
    shown = output(*command, env={**os.environ, "REVISION": revision})
    return [Path(line.split()[-1]) for line in shown.splitlines() if line.endswith(".deb")]


def lint(packages: list[Path]) -> None:
    """Runs lintian, if it is installed."""
    if shutil.which("lintian") is None:
        print("lintian is not installed: not run")
        return
    found = output("lintian", "--allow-root", "--fail-on", "error,warning", *packages).strip()
    require(not found, found)
    print("lintian finds nothing")


def first_answer(system: System, packages: list[Path]) -> None:
    """Measures the time from an empty system to an answer."""
    began = time.monotonic()
    system.install(packages)
    installed = time.monotonic()
    system.start()
    started = time.monotonic()
    system.query(FIRST)
    answer = system.query(SEARCH)
    ended = time.monotonic()
    require(answer == PAGE, f"the search found {answer!r}")
    require(ended - began < MINUTE, f"the first answer took {ended - began:.0f} s")
    print(f"first answer {ended - began:.1f} s after apt install: installing {installed - began:.1f}, "
          f"a cluster {started - installed:.1f}, extension, document and search {ended - started:.1f}")


def life(system: System, packages: list[Path], newer: list[Path]) -> None:
    """Tests the program, an upgrade with a running server, and removal."""
    shown = enter(system.root, "docsearch", "search", "what happens after a timeout", "--url",
                  "postgres:///postgres?host=/tmp&user=postgres")
    require(PAGE in shown, f"docsearch search shows {shown!r}")
    for place in ("usr/share/man/man1/docsearch.1.gz", "usr/share/bash-completion/completions/docsearch",
                  "usr/lib/systemd/system/docsearch.service",
                  "usr/lib/systemd/system/postgresql@.service.d/pg_docsearch.conf"):
        require((system.root / place).is_file(), f"{place} is missing")
    mine = system.root / OTHER_MODEL
    mine.parent.mkdir(parents=True)
    mine.write_text("{}")
    system.install(newer)
    system.query("SELECT docsearch.restart_inference()")
    require(system.query(SEARCH) == PAGE, "no answer after the upgrade")
    system.stop()
    system.start()
    require(system.query(SEARCH) == PAGE, "no answer after the upgrade and a restart")
    system.stop()
    print("upgraded: answers before and after a restart of the server")
    names = [path.name.split("_")[0] for path in newer]
    system.apt("remove", *names)
    enter(system.root, "dpkg", "--purge", *names)
    require(mine.is_file(), "a model of the user's own is gone")
    shutil.rmtree(mine.parent.parent.parent)
    require(not system.ours(), f"left over: {', '.join(system.ours())}")
    print("removed and purged: nothing left but a model of the user's own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", action="store_true",
                        help="time apt install in a system without PostgreSQL, which apt downloads then")
    options = parser.parse_args()
    # Not in target/deb, from which images are built.
    aside = toolchain.target_directory() / "debian" / "newer"
    aside.mkdir(parents=True, exist_ok=True)
    newer = [file.replace(aside / file.name) for file in packed("2")]
    packages = packed("1")
    lint(packages)
    archive = debian_root.bare() if options.network else debian_root.with_packages(
        f"pg{MAJOR}", [f"postgresql-{MAJOR}", f"postgresql-{MAJOR}-pgvector", "libstdc++6", "libgcc-s1"])
    place = toolchain.target_directory() / "debian" / "test"
    output("rm", "-rf", "--one-file-system", place)
    system = System(debian_root.unpack(archive, place))
    try:
        first_answer(system, packages)
        life(system, packages, newer)
    finally:
        system.stop()
    print(f"passed: packages on Debian {debian_root.RELEASE}, PostgreSQL {MAJOR}, "
          f"version {toolchain.version()}")


if __name__ == "__main__":
    main()
