#!/usr/bin/env python3
"""Builds the extension and installs it, with its model and ONNX Runtime, into a PostgreSQL server.

The complete build is staged below the target directory first, so that another
user can copy it: install.py --copy-only --pg-config PATH.
"""

import argparse
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cross
import installed
import known_fault
import postgres
import toolchain

REQUIRED_EXTENSIONS = {
    "vector": "pgvector (Debian: postgresql-NN-pgvector)",
    "pg_trgm": "pg_trgm, part of contrib (Debian: in postgresql-NN; Fedora: postgresql-contrib)",
    "btree_gin": "btree_gin, part of contrib (Debian: in postgresql-NN; Fedora: postgresql-contrib)",
}


@dataclass(frozen=True)
class Installation:
    """A PostgreSQL installation, seen through its pg_config."""

    pg_config: Path
    version: str
    major: int
    share: Path
    library: Path
    headers: Path

    @classmethod
    def find(cls, pg_config: str) -> "Installation":
        """Reads a pg_config; `pg_config` may be a path or a name to look up in PATH."""
        found = shutil.which(pg_config)
        if found is None:
            raise SystemExit(f"{pg_config}: there is no such program. PG_CONFIG= takes the path "
                             "of the server's pg_config.")

        def ask(option: str) -> str:
            return subprocess.run([found, option], capture_output=True, text=True).stdout.strip()

        version = ask("--version")
        if (major := re.match(r"PostgreSQL (\d+)", version)) is None:
            raise SystemExit(f"{found} is not a pg_config: it prints no version of PostgreSQL.")
        return cls(Path(found).absolute(), version, int(major[1]), Path(ask("--sharedir")),
                   Path(ask("--pkglibdir")), Path(ask("--includedir-server")))

    def below(self, destination: str) -> "Installation":
        """The same folders below another root, such as DESTDIR."""
        return replace(self, share=Path(f"{destination}{self.share}"), library=Path(f"{destination}{self.library}"))

    def check(self, build: bool, live: bool = True) -> None:
        """Ends the program with a hint if the extension cannot be built or, if `live`, cannot work here."""
        if self.major not in postgres.SUPPORTED:
            raise SystemExit(f"{self.pg_config} belongs to PostgreSQL {self.major}; "
                             f"supported are {', '.join(map(str, postgres.SUPPORTED))}.")
        if build and not (self.headers / "postgres.h").is_file():
            raise SystemExit(f"{self.headers} has no server headers: install them first "
                             f"(Debian: postgresql-server-dev-{self.major}).")
        if live:
            self.check_extensions()

    def check_extensions(self) -> None:
        """Ends the program with a hint if an extension is missing that CREATE EXTENSION needs."""
        for name, package in REQUIRED_EXTENSIONS.items():
            if not (self.share / "extension" / f"{name}.control").is_file():
                raise SystemExit(f"PostgreSQL {self.major} in {self.share} lacks the extension {name}: "
                                 f"install {package.replace('NN', str(self.major))} first.")
        vector = self.default_version("vector")
        for fault in known_fault.faults(known_fault.PGVECTOR, vector):
            if fault.refused:
                raise SystemExit(f"PostgreSQL {self.major} in {self.share} has pgvector {vector}: {fault.effect}. "
                                 f"Install {known_fault.safe(known_fault.PGVECTOR, vector)} or newer first.")

    def known_faults(self) -> list[str]:
        """A line for each known fault of the server and of its pgvector."""
        versions = {known_fault.POSTGRESQL: self.version.removeprefix("PostgreSQL "),
                    known_fault.PGVECTOR: self.default_version("vector")}
        return [f"{product} {version} has a known fault, {fault.fault}: {fault.effect}. "
                f"Take {known_fault.safe(product, version)} or newer."
                for product, version in versions.items() for fault in known_fault.faults(product, version)]

    def default_version(self, extension: str) -> str:
        """The version of an extension that CREATE EXTENSION creates here, or an empty string."""
        control = (self.share / "extension" / f"{extension}.control").read_text()
        version = re.search(r"^\s*default_version\s*=\s*'([^']*)'", control, re.MULTILINE)
        return version[1] if version else ""


PROGRAM = "docsearch-inference"
# Built together: separately, cargo compiles shared crates twice, with different features.
CRATES = ("pg_docsearch", "pg_docsearch-loader")
# Cargo's lists of sources.
DEPENDENCIES = ("libpg_docsearch.d", "libpg_docsearch_loader.d", f"{PROGRAM}.d", "install-script.d")
# Prefixes of environment variables that builds read.
BUILD_VARIABLES = ("BINDGEN", "CARGO", "CC", "CFLAGS", "LIBCLANG", "PGRX", "RUST")
# The commit of each released version, oldest first.
RELEASES = toolchain.ROOT / "sql" / "releases" / "commits.json"
# The library's name for shared_preload_libraries, and its only name in the first version.
STABLE_NAME = "pg_docsearch"


@cache
def releases() -> dict[str, str]:
    """The commit of each released version."""
    return json.loads(RELEASES.read_text())


def library_name(version: str) -> str:
    """The file of a version's library, without `.so`."""
    return STABLE_NAME if version == "0.1.0" else f"{STABLE_NAME}-{version.rpartition('.')[0]}"


def staging_directory(major: int, profile: str, features: Sequence[str] = ()) -> Path:
    """The folder of a staged build: `share` and `lib` as they will be installed."""
    return toolchain.target_directory() / "package" / "-".join([f"pg{major}{cross.SUFFIX}", profile, *features])


def build(installation: Installation, profile: str, features: Sequence[str] = (),
          environment: dict[str, str] | None = None) -> Path:
    """Builds the extension and stages everything to install, unless the staged build is up to date.

    A build with further features is for tests and is staged separately.
    """
    environment = environment or toolchain.build_environment(installation.pg_config)
    major = f"pg{installation.major}"
    chosen = [f"{crate}/{major}" for crate in CRATES] + [f"pg_docsearch/{name}" for name in features]
    extension = [part for crate in CRATES for part in ("--package", crate)]
    packages = {"the extension": [*extension, "--lib", "--no-default-features", "--features", ",".join(chosen)],
                "docsearch-inference": ["--package", "docsearch-inference", "--package", "install-script"]}
    staged = staging_directory(installation.major, profile, features)
    stamp = Stamp(staged.with_name(f"{staged.name}.json"), environment, installation)
    if staged.is_dir() and stamp.holds():
        return staged
    started = time.time()
    for what, arguments in packages.items():
        command = ["cargo", "build", "--profile", profile, *arguments]
        if subprocess.run(command, cwd=toolchain.ROOT, env=environment).returncode != 0:
            raise SystemExit(f"{what} did not build")
    built = toolchain.built(profile)
    shutil.rmtree(staged, ignore_errors=True)
    gather(built, staged)
    stamp.write(built, started)
    return staged


class Stamp:
    """The inputs of a staged build.

    Cargo keeps one library of a name: it builds the extension again whenever the version of PostgreSQL or a feature
    differs from the last time, even if no source has changed. So each staged build is kept with its inputs.
    """

    def __init__(self, path: Path, environment: dict[str, str], installation: Installation):
        self.path = path
        version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, cwd=toolchain.ROOT).stdout
        variables = {name: value for name, value in environment.items() if name.startswith(BUILD_VARIABLES)}
        copied = [str(toolchain.onnxruntime()), str(toolchain.model())]
        of = [str(installation.pg_config), installation.version]
        self.circumstances = [str(toolchain.ROOT), version, variables, copied, *of]

    def holds(self) -> bool:
        """Whether a build would have the same result."""
        if not self.path.is_file():
            return False
        circumstances, files = json.loads(self.path.read_text())
        return circumstances == self.circumstances and files == digests(map(Path, files))

    def write(self, built: Path, started: float) -> None:
        """Records the sources that cargo names, unless one has changed since the build started."""
        names = {name for of in DEPENDENCIES for name in
                 re.split(r"(?<!\\) ", (built / of).read_text().strip().partition(": ")[2])}
        manifests = [*toolchain.ROOT.glob("Cargo.*"), *toolchain.ROOT.glob("crates/*/Cargo.toml"),
                     *toolchain.ROOT.glob("sql/upgrade/*"), *toolchain.ROOT.glob("sql/releases/*"), Path(__file__),
                     *(toolchain.ROOT / name for name in ("pg_docsearch.control", "LICENSE", "NOTICE"))]
        files = [*(Path(name.replace("\\ ", " ")) for name in names), *manifests]
        self.path.unlink(missing_ok=True)
        if all(file.stat().st_mtime < started for file in files):
            self.path.write_text(json.dumps([self.circumstances, digests(files)]))


def digests(files: Iterable[Path]) -> dict[str, str]:
    """The digest of each file that exists."""
    return {str(file): toolchain.digest(file) if file.is_file() else "" for file in files}


def gather(built: Path, staged: Path) -> None:
    """Stages the built files, the model and ONNX Runtime as they are installed."""
    extension, library = staged / "share" / "extension", staged / "lib"
    extension.mkdir(parents=True)
    shutil.copytree(toolchain.onnxruntime(), library / "pg_docsearch")
    shutil.copytree(toolchain.model(),
                    staged / "share" / "pg_docsearch" / "models" / toolchain.MODEL_NAME)
    version = toolchain.version()
    versioned = library_name(version)
    for name in {STABLE_NAME, *map(library_name, releases())} - {versioned}:
        shutil.copy(built / "libpg_docsearch_loader.so", library / f"{name}.so")
    shutil.copy(built / "libpg_docsearch.so", library / f"{versioned}.so")
    shutil.copy(built / PROGRAM, library / "pg_docsearch" / PROGRAM)
    control = (toolchain.ROOT / "pg_docsearch.control").read_text()
    control = control.replace("@CARGO_VERSION@", version).replace("@LIBRARY@", versioned)
    (extension / "pg_docsearch.control").write_text(control)
    command = [*cross.runner(), built / "install-script", library / f"{versioned}.so",
               extension / "pg_docsearch.control", toolchain.ROOT / "sql" / "upgrade", extension]
    if subprocess.run([str(part) for part in command]).returncode != 0:
        raise SystemExit("the SQL scripts could not be written")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(toolchain.ROOT / name, staged / "share" / "pg_docsearch")


def replace_file(source: Path, target: Path) -> bool:
    """Makes `target` a copy of `source`; false if it is one already.

    The file is renamed into place, so that a server that has mapped the old one keeps it.
    """
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return False
    missing = [parent for parent in target.parents if not parent.exists()]
    for directory in reversed(missing):
        directory.mkdir()
        directory.chmod(0o755)
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    try:
        shutil.copyfile(source, partial)
        os.chmod(partial, 0o755 if ".so" in target.name or os.access(source, os.X_OK) else 0o644)
        os.rename(partial, target)
    except BaseException:
        os.unlink(partial)
        raise
    return True


def targets(staged: Path, installation: Installation) -> dict[Path, Path]:
    """The target of each file of a staged build."""
    return {source: destination / source.relative_to(staged / part)
            for part, destination in (("share", installation.share), ("lib", installation.library))
            for source in sorted(path for path in (staged / part).rglob("*") if path.is_file())}


def copy(staged: Path, installation: Installation) -> list[Path]:
    """Copies a staged build into an installation. Returns the changed files."""
    return [target for source, target in targets(staged, installation).items() if replace_file(source, target)]


def record(installation: Installation) -> Path:
    """The file that lists what was installed here."""
    return installation.share / "pg_docsearch" / "installed"


def writable(installation: Installation) -> bool:
    """Whether this user may install here."""
    return all(os.access(path, os.W_OK)
               for path in (installation.share / "extension", installation.library))


def put(options: argparse.Namespace, installation: Installation) -> None:
    """Builds, if necessary, and installs."""
    destdir, repeat = options.destdir, f" --destdir {options.destdir}" if options.destdir else ""
    installation.check(build=not options.copy_only, live=not destdir)
    staged = staging_directory(installation.major, options.profile)
    if not options.copy_only:
        build(installation, options.profile)
    elif not staged.is_dir():
        raise SystemExit(f"{staged} does not exist: run make install first, as the user who builds")
    if not destdir:
        for line in installation.known_faults():
            print(f"WARNING: {line}", file=sys.stderr)
    place = installation.below(destdir)
    if not destdir and not writable(place):
        raise SystemExit(f"Built, but you may not write to {place.library}. To finish:\n"
                         f"  sudo {sys.executable} {Path(__file__).resolve()} --copy-only "
                         f"--pg-config {installation.pg_config} --profile {options.profile}{repeat}")
    if not destdir:
        installed.note(record(place), targets(staged, place).values())
    changed = copy(staged, place)
    for path in changed:
        print(f"installed {path}")
    print(f"pg_docsearch is installed in PostgreSQL {installation.major} ({len(changed)} files changed)"
          + (f", below {destdir}." if destdir else
             ". In a database:\n  CREATE EXTENSION pg_docsearch CASCADE;"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pg-config", required=True, help="the server's pg_config")
    parser.add_argument("--profile", default="release", help="cargo profile (default: release)")
    parser.add_argument("--copy-only", action="store_true", help="install what was built before")
    parser.add_argument("--destdir", default="", help="install below this folder, for a package")
    parser.add_argument("--uninstall", action="store_true", help="remove what was installed")
    options = parser.parse_args()
    installation = Installation.find(options.pg_config)
    if options.uninstall:
        removed = installed.remove(record(installation))
        print(f"{removed} files of pg_docsearch are removed from PostgreSQL {installation.major}.")
    else:
        put(options, installation)


if __name__ == "__main__":
    main()
