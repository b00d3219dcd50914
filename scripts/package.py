#!/usr/bin/env python3
"""Packages what make install stages: Debian packages, RPMs, an archive with an installer, PGXN's source archive.

The folder of a staged file decides its package, not its name.
"""

import argparse
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import cross
import deb
import install
import known_fault
import postgres
import toolchain
from commands import output
from parts import Parts, build, empty, epoch, glibc, maintainer, wanted

PACKAGING = toolchain.ROOT / "packaging"
FINISHED = toolchain.ROOT / "target"
# The C library that archives and ONNX Runtime need: that of Red Hat Enterprise Linux 8.
OLDEST_GLIBC = "2.28"


def archive(place: Path, finished: Path) -> Path:
    """Packs a folder reproducibly: sorted names, no owners, one time."""

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
    """An archive with an installer, for any server."""
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
    """The known faults of this major version for install.sh, one line each."""
    lines = []
    for fault in known_fault.table():
        of = "0" if fault.product == known_fault.PGVECTOR else str(major)
        refused = "yes" if fault.refused else "no"
        lines.append(f"{fault.product} {fault.good_for(of)} {refused} {known_fault.safe(fault.product, of)} "
                     f"{fault.fault}: {fault.effect}")
    return "\n".join(lines)


def rpm(parts: Parts) -> list[Path]:
    """Two packages for Fedora, RHEL and similar systems with PGDG's server of that major version."""
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
    """The sources with a META.json of this version, for PGXN."""
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


def debian(parts: Parts) -> list[Path]:
    """Three packages for Debian and its derivatives."""
    return deb.build(parts, FINISHED / "deb")


KINDS: dict[str, Callable[[Parts], list[Path]]] = {"deb": debian, "tarball": tarball, "rpm": rpm}


def pg_config_for(options: argparse.Namespace) -> str:
    """The pg_config of the server to build for."""
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
    # Archives change the environment, so they come last.
    for kind in sorted(kinds, key=lambda kind: kind == "tarball"):
        parts = build(pg_config_for(options), OLDEST_GLIBC if kind == "tarball" else None)
        finished += KINDS[kind](parts)
    for file in finished:
        print(f"{output('sha256sum', file).split()[0]}  {file.stat().st_size / 1e6:6.1f} MB  {file}")


if __name__ == "__main__":
    main()
