"""Builds the parts of packages, and finds what they need from the target machine.

Parts are built in a directory of their own, target/packages, stripped, and without the names of this machine's folders,
so that the same commit gives the same bytes elsewhere.
"""

import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cross
import install
import known_fault
import program
import toolchain
from commands import output


@dataclass(frozen=True)
class Parts:
    """The contents of packages: the extension as `share` and `lib` of a server, and the program below its prefix."""

    major: int
    share: Path
    library: Path
    extension: Path
    program: Path


def last_commit(form: str) -> str:
    """A property of the last commit, in git's format."""
    return output("git", "log", "-1", f"--format={form}", cwd=toolchain.ROOT).strip()


def epoch() -> int:
    """The time of every file in a package."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or last_commit("%ct"))


def maintainer() -> str:
    """The maintainer of packages."""
    return os.environ.get("PACKAGER") or last_commit("%an <%ae>")


def prepare(glibc: str | None) -> None:
    """Sets an environment for builds without paths of this machine that need no newer C library than `glibc`."""
    target = toolchain.ROOT / "target" / (f"packages-glibc{glibc}" if glibc else "packages")
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    # The last match wins, and the target directory is below the sources.
    names = {cargo: "/cargo", toolchain.ROOT: "/pg_docsearch", target: "/target"}
    os.environ["CARGO_TARGET_DIR"] = str(target)
    os.environ["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(
        f"--remap-path-prefix={path}={name}" for path, name in names.items())
    for variable in ("CFLAGS", "CXXFLAGS"):
        os.environ[variable] = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in names.items())
    os.environ |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    os.umask(0o022)
    if glibc:
        link_for(glibc, target)


def link_for(glibc: str, target: Path) -> None:
    """Makes zig compile C and link, since it has the symbols of every version of the C library."""
    packages = toolchain.zig()
    target.mkdir(parents=True, exist_ok=True)
    for variable, language in ((cross.for_cargo("LINKER"), "cc"), (cross.for_c("CC"), "cc"), (cross.for_c("CXX"), "c++")):
        script = target / f"zig-{language}-{cross.MACHINE}"
        script.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {packages}/bin/cargo-zigbuild zig {language} -- '
                          f'-target {cross.GNU}.{glibc} "$@"\n')
        script.chmod(0o755)
        os.environ[variable] = str(script)


@cache
def build(pg_config: str, glibc: str | None = None) -> Parts:
    """Builds and strips the extension and the program, for any C library from `glibc` on, or for this machine's."""
    prepare(glibc)
    installation = install.Installation.find(pg_config)
    installation.check(build=True, live=False)
    # The program needs no server.
    os.environ["PGRX_PG_CONFIG_PATH"] = str(installation.pg_config)
    parts = Parts(installation.major, installation.share, installation.library,
                  install.build(installation, "release"), program.build("/usr"))
    # Set only here: compiled code has no time, and C would be compiled again after every commit.
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    for file in (*parts.extension.rglob("*"), *parts.program.rglob("*")):
        if file.is_dir():
            file.chmod(0o755)
        elif is_elf(file):
            # NOTICE states that third-party binaries are unchanged.
            if not (toolchain.onnxruntime() / file.name).exists():
                output(cross.tool("strip"), "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", file)
            file.chmod(0o755)
        else:
            file.chmod(0o644)
    return parts


def is_elf(file: Path) -> bool:
    """Whether a file is a program or a library."""
    return file.is_file() and file.open("rb").read(4) == b"\x7fELF"


def empty(place: Path) -> Path:
    """Makes an empty folder."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def glibc(parts: Parts) -> str:
    """The newest version of the C library that a build needs."""
    files = (file for place in (parts.extension, parts.program) for file in place.rglob("*") if is_elf(file))
    return ".".join(map(str, max(versions(file) for file in files)))


def versions(file: Path) -> tuple[int, ...]:
    """The newest version of the C library that a file needs."""
    found = re.findall(r"GLIBC_(\d+(?:\.\d+)+)", output(cross.tool("objdump"), "-T", file))
    return max(tuple(int(number) for number in name.split(".")) for name in found)


def wanted(major: int) -> dict[str, str]:
    """The versions in packages' dependencies: the first supported one, and the first without a known fault."""
    return {"vector_least": known_fault.least(known_fault.PGVECTOR, "0"),
            "vector_safe": known_fault.safe(known_fault.PGVECTOR, "0"),
            "server_safe": known_fault.safe(known_fault.POSTGRESQL, str(major))}
