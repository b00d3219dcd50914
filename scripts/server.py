#!/usr/bin/env python3
"""Private PostgreSQL servers below the target directory, reached through a Unix socket only.

Each server is a directory with a copy of the private PostgreSQL of its version, into which the extension is installed,
the data and the log. Postgres refuses to run as root. For root it runs as the user nobody in a user namespace, or,
where namespaces are forbidden, as the real user nobody below /var/tmp.
"""

import argparse
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import cross
import install
import postgres
import toolchain

NOBODY = 65534
USER = "postgres"
DEVELOPMENT_DATABASE = "docsearch"
NAMESPACE = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"]
SET_USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
CREATE_EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_docsearch CASCADE"
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}
# The developer's own server: passages are embedded on every core.
DURABLE = {"fsync": "on", "docsearch.threads": str(os.cpu_count() or 1)}
# Commits reach the operating system: tests end servers and processes, and expect what was committed.
# On a busy machine an answer may be late. Tests of timeouts set their own.
THROW_AWAY = {"fsync": "off", "full_page_writes": "off", "docsearch.inference_timeout": "10min",
              "docsearch.inference_text_limit": "10min"}
# Unicode's character properties, and code point order. PostgreSQL 16 has no builtin locale, and text search
# of 17 does not use it.
LIBC_LOCALE = ["--locale=C", "--lc-ctype=C.UTF-8"]
BUILTIN_LOCALE = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
LOCALE = {16: LIBC_LOCALE, 17: [*LIBC_LOCALE, *BUILTIN_LOCALE], 18: ["--locale=C", *BUILTIN_LOCALE]}
# How long pg_ctl waits for a server to start or to stop.
PATIENCE_SECONDS = "300"


@cache
def launcher() -> list[str]:
    """The prefix with which a command of PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return []
    for prefix in (NAMESPACE, SET_USER):
        if shutil.which(prefix[0]) and subprocess.run(
                [*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    raise SystemExit("PostgreSQL does not run as root, and neither unshare nor setpriv works here: "
                     "run make as an ordinary user.")


class Server:
    """One private server; `name` is unique within the checkout."""

    def __init__(self, name: str, settings: dict[str, str], major: int = postgres.NEWEST):
        self.major = major
        place = toolchain.target_directory() / "server" / f"{name}{cross.SUFFIX}"
        digest = hashlib.sha256(str(place).encode()).hexdigest()[:10]
        # The real user nobody has no access to root's checkout.
        self.home = Path(f"/var/tmp/pg_docsearch-{digest}") if launcher() == SET_USER else place
        self.data = self.home / "data"
        self.log = self.home / "server.log"
        # A socket's path must be shorter than 108 bytes, so it is not in the checkout.
        self.socket = Path(f"/tmp/pg_docsearch-{os.geteuid()}-{digest}")
        self.settings = {**SETTINGS, **settings, "unix_socket_directories": str(self.socket)}
        self.bin = self.home / "postgres" / "programs"

    def url(self, database: str = DEVELOPMENT_DATABASE) -> str:
        """The libpq URL of one of its databases."""
        return f"postgresql:///{database}?host={self.socket}&port=5432&user={USER}"

    def environment(self) -> dict[str, str]:
        """The caller's environment without variables that would redirect libpq."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        return {**kept, "LC_ALL": "C", "PGCTLTIMEOUT": PATIENCE_SECONDS}

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess:
        """Runs a server program as the server's user."""
        # A file, not a pipe: a server that is started keeps it open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run([*launcher(), str(self.bin / program), *arguments],
                                  stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, cwd="/", env=self.environment())
            output.seek(0)
            done.stdout = output.read()
        return done

    def control(self, *arguments: str) -> bool:
        """Runs pg_ctl on the data directory; whether it succeeded."""
        return self.run("pg_ctl", "-D", str(self.data), *arguments).returncode == 0

    def query(self, statement: str, database: str = "postgres") -> str:
        """Runs SQL through psql; returns the bare output."""
        command = [str(self.bin / "psql"), self.url(database), "-XAtqc", statement]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment())
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip())
        return done.stdout.strip()

    def running(self) -> bool:
        """Whether the server runs."""
        return self.data.is_dir() and self.control("status")

    def processor_seconds(self) -> float:
        """Processor time of its processes so far, including ended ones; 0 if it does not run."""
        try:
            family = {(self.data / "postmaster.pid").read_text().split()[0]}
        except FileNotFoundError:
            return 0.0
        processes = {}
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                # After the name in brackets: state, parent; later the ticks of it and of those it has waited for.
                numbers = (place / "stat").read_text().rpartition(")")[2].split()
                processes[place.name] = (numbers[1], sum(map(int, numbers[11:15])))
        while more := {pid for pid, (parent, _) in processes.items() if parent in family} - family:
            family |= more
        return sum(processes[pid][1] for pid in family & processes.keys()) / os.sysconf("SC_CLK_TCK")

    def own(self, path: Path) -> None:
        """Gives a directory to the user that the server runs as, private to it."""
        path.mkdir(exist_ok=True)
        path.chmod(0o700)
        if os.geteuid() == 0:
            owner = NOBODY if launcher() == SET_USER else 0
            os.chown(path, owner, owner)

    def unpack(self, source: postgres.Postgres) -> bool:
        """Copies a PostgreSQL here; false if it is here already."""
        target = self.home / "postgres"
        marker = target / "version"
        if marker.is_file() and marker.read_text() == source.marker:
            return False
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        source.copy(target)
        for path in (target, *target.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
        marker.write_text(source.marker)
        return True

    def install(self, profile: str, features: Sequence[str] = ()) -> bool:
        """Builds the extension and installs it here; true if anything changed."""
        source = postgres.find(self.major)
        staged = install.build(install.Installation.find(str(source.pg_config)), profile, features)
        changed = self.unpack(source)
        target = install.Installation.find(str(self.bin / "pg_config"))
        changed = bool(install.copy(staged, target)) or changed
        if cross.IS_CROSS:
            program = target.library / "pg_docsearch" / install.PROGRAM
            program.rename(program.with_suffix(".emulated"))
            cross.emulate_program(program, f"{program.name}.emulated", cross.EMULATED)
        return changed

    def configure(self) -> bool:
        """Makes the data directory and writes the settings; true if anything changed."""
        changed = False
        if not (self.data / "PG_VERSION").is_file():
            shutil.rmtree(self.data, ignore_errors=True)
            self.own(self.data)
            done = self.run("initdb", "-D", str(self.data), "--username", USER, "--auth", "trust",
                            "--encoding", "UTF8", "--no-instructions",
                            *LOCALE[self.major])
            if done.returncode != 0:
                raise SystemExit(f"initdb failed in {self.data}:\n{done.stdout}")
            with (self.data / "postgresql.conf").open("a") as file:
                file.write("include 'private.conf'\n")
            changed = True
        lines = "".join(f"{name} = '{value}'\n" for name, value in self.settings.items())
        settings = self.data / "private.conf"
        if not settings.is_file() or settings.read_text() != lines:
            settings.write_text(lines)
            settings.chmod(0o644)
            changed = True
        return changed

    def claim_socket(self) -> None:
        """Makes the socket's directory, and refuses one of another user."""
        if os.path.lexists(self.socket):
            state = self.socket.lstat()
            owners = {os.geteuid()} | ({NOBODY} if launcher() else set())
            if not stat.S_ISDIR(state.st_mode) or state.st_uid not in owners:
                raise SystemExit(f"{self.socket} belongs to another user: remove it")
        self.own(self.socket)

    def start(self, database: str = DEVELOPMENT_DATABASE) -> None:
        """Starts the server and creates `database`, if necessary."""
        if not self.running():
            self.claim_socket()
            self.log.touch()
            if launcher() == SET_USER:
                os.chown(self.log, NOBODY, NOBODY)
            if not self.control("-l", str(self.log), "-w", "start"):
                tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
                raise SystemExit(f"the server did not start; the end of {self.log}:\n{tail}")
        if not self.query(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"):
            self.query(f'CREATE DATABASE "{database}"')

    def stop_page(self) -> None:
        """Ends the program that serves its page (`scripts/page_server.py`), if it runs."""
        record = self.home / "page"
        if record.is_file():
            pid = int(record.read_text().split()[0])
            if is_program(pid, "docsearch"):
                os.kill(pid, signal.SIGTERM)
                while is_program(pid, "docsearch"):
                    time.sleep(0.05)
            record.unlink()

    def stop(self) -> bool:
        """Stops the server; false if it did not run."""
        if not self.running():
            return False
        if not self.control("-m", "fast", "-w", "stop"):
            raise SystemExit(f"the server did not stop; see {self.log}")
        return True

    def remove_data(self) -> None:
        """Stops the server and removes its data."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)


def is_program(pid: int, name: str) -> bool:
    """Whether a process runs a program with this name: its number may be that of another by now."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[1] == f"({name})" and Path(f"/proc/{pid}/exe").is_file()
    except OSError:
        return False


def development() -> Server:
    """The server of `make start`: durable, keeps its data."""
    return Server("development", DURABLE)


def throw_away(name: str, major: int = postgres.NEWEST) -> Server:
    """A server for tests: fast, its data is removed at the next start."""
    return Server(name, THROW_AWAY, major)


def start_development(profile: str, extension: bool = False) -> Server:
    """Builds, installs and starts; restarts only if something changed.

    `extension` creates it in the database, too.
    """
    server = development()
    changed = server.install(profile)
    changed = server.configure() or changed
    if changed and server.stop():
        print("==> restarting the server with what has changed; make reset starts afresh, which "
              "a changed\n    SQL script of the same version needs")
    server.start()
    if extension:
        server.query(CREATE_EXTENSION, DEVELOPMENT_DATABASE)
    print(f"The server runs. make psql connects to it; its URL is\n  {server.url()}")
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description="The development server.")
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="build, install, start")
    start.add_argument("--profile", default="release", help="cargo profile (default: release)")
    start.add_argument("--create-extension", action="store_true",
                       help="and create the extension in its database")
    commands.add_parser("stop", help="stop it and keep its data")
    commands.add_parser("reset", help="stop it and remove its data")
    commands.add_parser("url", help="print its libpq URL")
    commands.add_parser("psql", help="open psql on it")
    options = parser.parse_args()
    if options.command == "start":
        start_development(options.profile, options.create_extension)
    elif options.command == "stop":
        development().stop_page()
        print("The server is stopped." if development().stop() else "The server was not running.")
    elif options.command == "reset":
        development().stop_page()
        development().remove_data()
    elif options.command == "url":
        print(development().url())
    else:
        server = development()
        if not server.running():
            raise SystemExit("The server does not run: make start")
        os.execve(server.bin / "psql", ["psql", server.url()], server.environment())


if __name__ == "__main__":
    main()
