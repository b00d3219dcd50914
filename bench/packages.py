"""Folders of packages that apt-get, npm and pip fetch into a cache folder, pinned by version and hash."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pg_docsearch" / "sources"
APT_SOURCES = Path("/etc/apt")


class Missing(Exception):
    """A package or a program is not available here."""


def run(command: list[str | Path], folder: Path, what: str) -> None:
    if not shutil.which(command[0]):
        raise Missing(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Missing(f"{what} cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")


def source_options(cache: Path) -> list[str]:
    """Options with which apt-get knows source packages too, in lists of their own."""
    lists = cache / "apt"
    options = ["-o", f"Dir::State::Lists={lists}/lists", "-o", f"Dir::Etc::SourceList={lists}/none.list",
               "-o", f"Dir::Etc::SourceParts={lists}/parts", "-o", "APT::Sandbox::User=root"]
    if not (lists / "parts").is_dir():
        (lists / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=lists))
        for file in [*APT_SOURCES.glob("*.list"), *APT_SOURCES.glob("sources.list.d/*")]:
            text = re.sub(r"(?m)^Types:.*", "Types: deb-src", file.read_text())
            (partial / file.name).write_text(re.sub(r"(?m)^deb ", "deb-src ", text))
        partial.rename(lists / "parts")
        run(["apt-get", *options, "update", "--quiet"], lists, "the list of source packages")
    return options


def fetch(source: dict, folder: Path, cache: Path) -> Path:
    """The archive with the right hash."""
    package, version = source["package"], source["version"]
    apt = ["apt-get", "-o", "APT::Sandbox::User=root"]
    command = {
        "apt": lambda: [*apt, "download", "--quiet", f"{package}={version}"],
        "apt-source": lambda: ["apt-get", *source_options(cache), "source", "--quiet", "--download-only", "--tar-only",
                               f"{package}={version}"],
        "npm": lambda: ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{package}@{version}"],
        "pip": lambda: [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--no-binary", package, "--dest", str(folder), f"{package}=={version}"],
    }[source["client"]]()
    run(command, folder, f"{package} {version}")
    archive, = folder.iterdir()
    if hashlib.sha256(archive.read_bytes()).hexdigest() != source["sha256"]:
        raise SystemExit(f"{archive.name} is not the archive that the list of sources names: its SHA-256 differs")
    return archive


@contextmanager
def opened(archive: Path) -> Iterator[tarfile.TarFile]:
    """The files of an archive. Those of Debian packages are in an inner archive."""
    if archive.suffix != ".deb":
        with tarfile.open(archive) as tar:
            yield tar
        return
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacking:
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
            yield tar
        unpacking.stdout.read()


def is_below(name: str, folder: str) -> bool:
    return name.removeprefix("./").startswith(f"{folder}/")


def is_part(name: str, source: dict) -> bool:
    """Whether a file of an archive belongs to a set: one below its folder, with the right ending if only that is wanted."""
    without = source.get("without")
    return is_below(name, source["docs"]) and not (without and is_below(name, without)) \
        and name.endswith(tuple(source.get("only", [""])))


def documentation(name: str, source: dict, cache: Path) -> Path:
    """The folder with the files of a set. Fetches it if necessary."""
    folder = cache / f"{name}-{source['version'].replace(':', '-')}"
    if not folder.is_dir():
        print(f"{name}: fetching {source['package']} {source['version']}", file=sys.stderr, flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=cache))
        try:
            (partial / "archive").mkdir()
            with opened(fetch(source, partial / "archive", cache)) as tar:
                # Pythons before 3.11.4 have no filters; the archive's hash is known anyway.
                tar.extraction_filter = getattr(tarfile, "data_filter", None)
                for member in tar:
                    if member.isfile() and is_part(member.name, source):
                        tar.extract(member, partial)
            (partial / source["docs"]).rename(folder)
        finally:
            shutil.rmtree(partial)
    return folder
