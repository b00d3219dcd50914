#!/usr/bin/env python3
"""Tests the archive with an installer in a bare Debian: installs twice, searches, removes; root is needed."""

import subprocess
import sys

import debian_root
import toolchain
from commands import output
from debian_root import enter
from test_deb import BIN, FIRST, MAJOR, PAGE, SEARCH, System, require


def files(system: System) -> set[str]:
    """Everything in the system except files that running servers and packages leave."""
    kept = ("./var", "./tmp", "./root", "./run", "./proc")
    found = output("find", ".", "-xdev", cwd=system.root)
    return {path for path in found.splitlines() if not path.startswith(kept)}


def main() -> None:
    command = [sys.executable, toolchain.ROOT / "scripts" / "package.py", "tarball", "--pg", str(MAJOR),
               "--pg-config", debian_root.headers(MAJOR)]
    archive = output(*command).split()[-1]
    place = toolchain.target_directory() / "debian" / "test-tarball"
    output("rm", "-rf", "--one-file-system", place)
    base = debian_root.with_packages(f"pg{MAJOR}", [f"postgresql-{MAJOR}", f"postgresql-{MAJOR}-pgvector", "libstdc++6",
                                                    "libgcc-s1"])
    system = System(debian_root.unpack(base, place))
    output("tar", "--extract", f"--file={archive}", f"--directory={place / 'root'}", "--strip-components=1")
    before = files(system)
    install = ("/root/install.sh", "--prefix", "/usr/local", "--pg-config")
    other = subprocess.run(["chroot", place, *install, "/bin/ls"], capture_output=True, text=True)
    require(other.returncode == 1 and "is not a pg_config" in other.stderr, f"install.sh says {other.stderr!r}")
    for _ in range(2):
        enter(place, *install, f"{BIN}/pg_config")
    try:
        system.start()
        system.query(FIRST)
        require(system.query(SEARCH) == PAGE, "the search found something else")
        enter(place, "/usr/local/bin/docsearch", "status", "--url", "postgres:///postgres?host=/tmp&user=postgres")
    finally:
        system.stop()
    mine = place / f"usr/share/postgresql/{MAJOR}/pg_docsearch/models/mine"
    mine.mkdir()
    enter(place, *install, f"{BIN}/pg_config", "--uninstall")
    require(mine.is_dir(), "a model of the user's own is gone")
    for directory in (mine, mine.parent, mine.parent.parent):
        directory.rmdir()
    require(files(system) == before, f"left over or lost: {sorted(files(system) ^ before)}")
    print(f"passed: the archive on Debian {debian_root.RELEASE}, PostgreSQL {MAJOR}")


if __name__ == "__main__":
    main()
