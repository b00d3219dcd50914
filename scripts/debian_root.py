#!/usr/bin/env python3
"""Bare Debian systems in folders, for testing packages: made by debootstrap, kept as archives in the cache.

`headers` prints the pg_config of a Debian release's PostgreSQL, to build against its headers with the compiler and the
C library of this machine: what is built needs no newer C library than that.
"""

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import toolchain
from commands import output

RELEASE = "trixie"
KEPT = toolchain.CACHE / "debian"
# The headers of the server and of what they include. postgresql-server-dev-NN would bring a compiler, 700 MB.
HEADERS = ("postgresql-server-dev-{major}", "postgresql-client-{major}", "libpq-dev", "libssl-dev", "libkrb5-dev",
           "krb5-multidev", "comerr-dev")
NO_SERVICES = "#!/bin/sh\nexit 101\n"
# pg_config runs with the C library of its own system, and prints paths of that system.
WRAPPER = """\
#!/bin/sh
root={root}
"$root"/lib64/ld-linux-* --library-path "$root/lib/{multiarch}:$root/usr/lib/{multiarch}" \\
    "$root/usr/lib/postgresql/{major}/bin/pg_config" "$@" |
case "$1" in
    --cppflags) sed "s,$, -I$root/usr/include -I$root/usr/include/{multiarch}," ;;
    *include*) cat ;;
    *) sed "s,^$root,," ;;
esac
"""


def architecture() -> str:
    """Debian's name of this machine's architecture."""
    return output("dpkg", "--print-architecture").strip()


def enter(root: Path, *command: str, **options) -> str:
    """Runs a program in the root, without the caller's environment."""
    clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
             "DEBIAN_FRONTEND": "noninteractive"}
    return output("chroot", root, *command, env=clean, **options)


def keep(archive: Path, fill) -> Path:
    """Makes an archive of a folder that `fill` fills, unless it exists."""
    if archive.is_file():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    place = archive.with_suffix(".partial")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    place.chmod(0o755)
    try:
        fill(place)
        output("tar", "--create", "--one-file-system", "--numeric-owner", f"--file={archive}.new",
               f"--directory={place}", ".")
        os.rename(f"{archive}.new", archive)
    finally:
        shutil.rmtree(place)
    return archive


def bare(release: str = RELEASE) -> Path:
    """The archive of a minimal system of a release, with apt's package lists."""

    def fill(place: Path) -> None:
        if shutil.which("debootstrap") is None or os.geteuid() != 0:
            raise SystemExit("a bare Debian needs root and debootstrap (apt install debootstrap)")
        output("debootstrap", "--variant=minbase", "--include=ca-certificates", release, place)
        policy = place / "usr/sbin/policy-rc.d"
        policy.write_text(NO_SERVICES)
        policy.chmod(0o755)
        enter(place, "apt-get", "update", "-qq")

    return keep(KEPT / f"{release}-{architecture()}.tar", fill)


def with_packages(name: str, packages: Sequence[str], release: str = RELEASE) -> Path:
    """The archive of a release with these packages, without recommended ones."""

    def fill(place: Path) -> None:
        unpack(bare(release), place)
        enter(place, "apt-get", "install", "-qq", "--no-install-recommends", *packages)
        enter(place, "apt-get", "clean")

    return keep(KEPT / f"{release}-{name}-{architecture()}.tar", fill)


def unpack(archive: Path, place: Path) -> Path:
    """Fills a folder from an archive."""
    place.mkdir(parents=True, exist_ok=True)
    output("tar", "--extract", "--numeric-owner", f"--file={archive}", f"--directory={place}")
    return place


def headers(major: int, release: str = RELEASE) -> Path:
    """A pg_config that names the headers of a release's PostgreSQL, and where that release installs extensions."""

    def fill(place: Path) -> None:
        unpack(bare(release), place)
        wanted = [name.format(major=major) for name in HEADERS]
        fetched = place / "var/cache/apt/headers"
        fetched.mkdir()
        download = f"apt-get -o APT::Sandbox::User=root download -qq {' '.join(wanted)}"
        enter(place, "sh", "-c", f"cd /var/cache/apt/headers && {download}")
        for package in sorted(fetched.glob("*.deb")):
            output("dpkg-deb", "--extract", package, place)

    place = toolchain.target_directory() / "debian" / f"{release}-pg{major}"
    pg_config = place / "pg_config"
    if not pg_config.is_file():
        shutil.rmtree(place, ignore_errors=True)
        unpack(keep(KEPT / f"{release}-headers-pg{major}-{architecture()}.tar", fill), place)
        multiarch = output("gcc", "-print-multiarch").strip()
        pg_config.write_text(WRAPPER.format(root=place, major=major, multiarch=multiarch))
        pg_config.chmod(0o755)
    return pg_config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    find = commands.add_parser("headers", help="print the pg_config of a release's PostgreSQL")
    find.add_argument("major", type=int, help="17 for trixie")
    find.add_argument("--release", default=RELEASE)
    options = parser.parse_args()
    print(headers(options.major, options.release))


if __name__ == "__main__":
    main()
