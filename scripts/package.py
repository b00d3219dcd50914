#!/usr/bin/env python3
"""Packages of what make install stages: Debian's, RPMs, an archive with an installer, PGXN's archive of the sources.

They are built in a directory of their own, target/packages, stripped, and without the names of this machine's folders,
so that the same commit gives the same bytes elsewhere. What is staged is packaged by its place, whatever its name.
"""

import argparse
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cross
import install
import known_fault
import postgres
import program
import toolchain
from commands import output

PACKAGING = toolchain.ROOT / "packaging"
FINISHED = toolchain.ROOT / "target"
# What archives ask of the C library, as ONNX Runtime does: that of Red Hat Enterprise Linux 8.
OLDEST_GLIBC = "2.28"


@dataclass(frozen=True)
class Parts:
    """What goes into packages: the extension as `share` and `lib` of a server, and the program below its prefix."""

    major: int
    share: Path
    library: Path
    extension: Path
    program: Path


def last_commit(form: str) -> str:
    """Something about the last commit, in git's own notation."""
    return output("git", "log", "-1", f"--format={form}", cwd=toolchain.ROOT).strip()


def epoch() -> int:
    """The time that everything in a package has."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or last_commit("%ct"))


def maintainer() -> str:
    """Who a package says made it."""
    return os.environ.get("PACKAGER") or last_commit("%an <%ae>")


def prepare(glibc: str | None) -> None:
    """Sets the environment in which a build says nothing of this machine, and needs no newer C library than `glibc`."""
    target = FINISHED / (f"packages-glibc{glibc}" if glibc else "packages")
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    # The last that fits is taken, and the target directory is one of the sources' own.
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
    """Has zig compile C and link, which brings the symbols of every version of the C library."""
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
    """Builds the extension and the program, stripped; for any C library from `glibc` on, or for this machine's."""
    prepare(glibc)
    installation = install.Installation.find(pg_config)
    installation.check(build=True, live=False)
    # Nothing of the program needs a server, least of all a private one.
    os.environ["PGRX_PG_CONFIG_PATH"] = str(installation.pg_config)
    parts = Parts(installation.major, installation.share, installation.library,
                  install.build(installation, "release"), program.build("/usr"))
    # Not before: nothing that is compiled holds a time, and C would be compiled anew after every commit.
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    for file in (*parts.extension.rglob("*"), *parts.program.rglob("*")):
        if file.is_dir():
            file.chmod(0o755)
        elif is_elf(file):
            # NOTICE says that what others have built is unchanged.
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
    """Makes a folder, without what was in it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def archive(place: Path, finished: Path) -> Path:
    """Packs a folder: names in order, nobody's, all of one time."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = epoch()
        return member

    finished.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(finished, "w:xz", format=tarfile.GNU_FORMAT) as tar:
        tar.add(place, place.name, recursive=False, filter=plain)
        for path in sorted(place.rglob("*")):
            tar.add(path, str(path.relative_to(place.parent)), recursive=False, filter=plain)
    return finished


def tarball(parts: Parts) -> list[Path]:
    """An archive with an installer, for servers from anywhere."""
    name = f"pg_docsearch-{toolchain.version()}-pg{parts.major}-{cross.MACHINE}"
    place = empty(FINISHED / "tarball" / name)
    for part in ("share", "lib"):
        shutil.copytree(parts.extension / part, place / part)
    shutil.copytree(parts.program, place / "program")
    for file in ("LICENSE", "NOTICE", "README.md", "CHANGELOG.md"):
        shutil.copy(toolchain.ROOT / file, place)
    shutil.copytree(PACKAGING / "systemd", place / "systemd")
    installer = (PACKAGING / "install.sh").read_text()
    for key, value in (("major", str(parts.major)), ("machine", cross.MACHINE), ("glibc", glibc(parts)),
                       ("faults", faults(parts.major))):
        installer = installer.replace(f"@{key}@", value)
    (place / "install.sh").write_text(installer)
    (place / "install.sh").chmod(0o755)
    finished = archive(place, FINISHED / "tarball" / f"{name}.tar.xz")
    shutil.rmtree(place)
    return [finished]


def faults(major: int) -> str:
    """The known faults as install.sh reads them: a line for each that this major version can have."""
    lines = []
    for fault in known_fault.table():
        of = "0" if fault.product == known_fault.PGVECTOR else str(major)
        refused = "yes" if fault.refused else "no"
        lines.append(f"{fault.product} {fault.good_for(of)} {refused} {known_fault.safe(fault.product, of)} "
                     f"{fault.fault}: {fault.effect}")
    return "\n".join(lines)


def wanted(major: int) -> dict[str, str]:
    """The versions that packages ask for: those that are not refused, and those without a known fault."""
    return {"vector_least": known_fault.least(known_fault.PGVECTOR, "0"),
            "vector_safe": known_fault.safe(known_fault.PGVECTOR, "0"),
            "server_safe": known_fault.safe(known_fault.POSTGRESQL, str(major))}


def glibc(parts: Parts) -> str:
    """The newest version of the C library that something in a build asks for."""
    files = (file for place in (parts.extension, parts.program) for file in place.rglob("*") if is_elf(file))
    return ".".join(map(str, max(versions(file) for file in files)))


def versions(file: Path) -> tuple[int, ...]:
    """The newest version of the C library that a file asks for."""
    found = re.findall(r"GLIBC_(\d+(?:\.\d+)+)", output(cross.tool("objdump"), "-T", file))
    return max(tuple(int(number) for number in name.split(".")) for name in found)


def deb(parts: Parts) -> list[Path]:
    """Three packages for Debian and what comes from it."""
    import deb as debian
    return debian.build(parts, FINISHED / "deb")


def rpm(parts: Parts) -> list[Path]:
    """Two packages for Fedora, RHEL and the like, where PGDG's server of that major version is."""
    place = empty(FINISHED / "rpm")
    defined = {"_topdir": place / "build", "_rpmdir": place,
               "_rpmfilename": "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
               "_buildhost": "localhost", "use_source_date_epoch_as_buildtime": "1",
               "clamp_mtime_to_source_date_epoch": "1",
               "pgmajor": parts.major, "extension": parts.extension, "program": parts.program,
               "root": toolchain.ROOT, "upstream": toolchain.version(), "glibc": glibc(parts), **wanted(parts.major)}
    command = ["rpmbuild", "-bb", "--quiet", f"--target={cross.MACHINE}-linux", PACKAGING / "pg_docsearch.spec"]
    for name, value in defined.items():
        command += ["--define", f"{name} {value}"]
    output(*command)
    shutil.rmtree(place / "build", ignore_errors=True)
    return sorted(place.glob("*.rpm"))


def pgxn() -> list[Path]:
    """The sources with a META.json of this version, as PGXN takes them."""
    version = toolchain.version()
    name = f"pg_docsearch-{version}"
    finished = FINISHED / "pgxn" / f"{name}.zip"
    finished.parent.mkdir(parents=True, exist_ok=True)
    described = finished.with_name("META.json")
    meta = (PACKAGING / "META.json").read_text()
    for key, value in {"version": version, "maintainer": maintainer(), **wanted(postgres.NEWEST)}.items():
        meta = meta.replace(f"@{key}@", value)
    json.loads(meta)
    described.write_text(meta)
    output("git", "archive", "--format=zip", f"--prefix={name}/", f"--add-file={described}", f"--output={finished}",
           "HEAD", cwd=toolchain.ROOT)
    return [finished]


KINDS: dict[str, Callable[[Parts], list[Path]]] = {"deb": deb, "tarball": tarball, "rpm": rpm}


def pg_config_for(options: argparse.Namespace) -> str:
    """The server that is built for."""
    if not options.pg_config:
        return str(postgres.find(options.pg or postgres.NEWEST).pg_config)
    major = install.Installation.find(options.pg_config).major
    if options.pg not in (None, major):
        raise SystemExit(f"{options.pg_config} belongs to PostgreSQL {major}, not {options.pg}")
    return options.pg_config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="+", choices=[*KINDS, "pgxn"])
    parser.add_argument("--pg-config", help="the server to build for (default: the private PostgreSQL)")
    parser.add_argument("--pg", type=int, choices=postgres.SUPPORTED,
                        help=f"its major version (default: {postgres.NEWEST})")
    options = parser.parse_args()
    finished = pgxn() if "pgxn" in options.kinds else []
    kinds = [kind for kind in options.kinds if kind != "pgxn"]
    # What is set for archives stays set.
    for kind in sorted(kinds, key=lambda kind: kind == "tarball"):
        parts = build(pg_config_for(options), OLDEST_GLIBC if kind == "tarball" else None)
        finished += KINDS[kind](parts)
    for file in finished:
        print(f"{output('sha256sum', file).split()[0]}  {file.stat().st_size / 1e6:6.1f} MB  {file}")


if __name__ == "__main__":
    main()
