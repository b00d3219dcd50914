"""Builds for ARM on another processor, with DOCSEARCH_MACHINE=aarch64.

Debian's cross compiler links, and qemu runs the programs that a build needs: pg_config, install-script and docsearch.
Without the variable this module changes nothing.
"""

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from commands import output, run

MACHINE = os.environ.get("DOCSEARCH_MACHINE") or platform.machine()
IS_CROSS = MACHINE != platform.machine()
# Debian's name of it.
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(MACHINE, MACHINE)
GNU = f"{MACHINE}-linux-gnu"
RUST = f"{MACHINE}-unknown-linux-gnu"
EMULATOR = f"qemu-{MACHINE}"
BUILT_FOR = "aarch64"
# Where Debian's cross compiler has the other processor's C library.
SYSROOT = Path("/usr") / GNU
# The same with a /proc/cpuinfo for ONNX Runtime: emulators before qemu 8 show this machine's.
EMULATED = Path(__file__).resolve().parent / MACHINE
# All features of qemu except slow ones (one SQL file in 123 s instead of 259). An older processor is not enough: pgvector
# of the test server was compiled for half-precision multiplication (FEAT_FHM).
PROCESSOR = "max,pauth=off,sve=off,sme=off"
# For pip, newest first: with a platform of its own it takes no other.
GLIBC = ("2_34", "2_28", "2_27", "2_17", "2014")
SUFFIX = f"-{MACHINE}" if IS_CROSS else ""


def require() -> None:
    """Ends the program with a message about what to install."""
    if MACHINE != BUILT_FOR:
        raise SystemExit(f"This machine builds for {platform.machine()} and {BUILT_FOR}, not for {MACHINE}.")
    needed = {tool("gcc"): f"gcc-{GNU}", EMULATOR: "qemu-user"}
    if missing := [package for tool, package in needed.items() if not shutil.which(tool)]:
        raise SystemExit(f"Building for {MACHINE} needs {' and '.join(missing)} (Debian's names).")
    library = subprocess.run(["rustc", "--print", "target-libdir", "--target", RUST], capture_output=True, text=True)
    if not Path(library.stdout.strip()).is_dir():
        raise SystemExit(f"Rust has no library for {RUST}: rustup target add {RUST}")


def runner() -> list[str]:
    """The prefix for running a built program."""
    return [EMULATOR, "-cpu", os.environ.get("QEMU_CPU") or PROCESSOR, "-L", str(EMULATED)] if IS_CROSS else []


def tool(name: str) -> str:
    """A tool for built files, such as strip."""
    return f"{GNU}-{name}" if IS_CROSS else name


def built(target: Path) -> Path:
    """The folder of cargo's output in a target directory."""
    return target / RUST if IS_CROSS else target


def pip_options() -> list[str]:
    """Options with which pip takes packages for the other processor."""
    if not IS_CROSS:
        return []
    require()
    names = [f"manylinux_{version}_{MACHINE}" if "_" in version else f"manylinux{version}_{MACHINE}"
             for version in GLIBC]
    return [part for name in names for part in ("--platform", name)]


def for_cargo(name: str) -> str:
    """The environment variable of a cargo setting for the target."""
    return f"CARGO_TARGET_{RUST.upper().replace('-', '_')}_{name}"


def for_c(name: str) -> str:
    """The environment variable that names a C tool of the target to build scripts."""
    return f"{name}_{RUST.replace('-', '_')}"


def environment() -> dict[str, str]:
    """The environment in which cargo and cc build for the target."""
    if not IS_CROSS:
        return {}
    require()
    return {"CARGO_BUILD_TARGET": RUST,
            for_cargo("LINKER"): tool("gcc"),
            for_cargo("RUNNER"): " ".join(runner()),
            for_c("CC"): tool("gcc"),
            for_c("AR"): tool("ar")}


def clang_arguments() -> list[str]:
    """Arguments for bindgen's clang, which has no headers of its own."""
    headers = output(tool("gcc"), "-print-file-name=include")
    other = [f"--target={GNU}", f"--sysroot={SYSROOT}", f"-I{SYSROOT}/include"] if IS_CROSS else []
    return [f"-I{headers.strip()}", *other]


def fetch_zlib(place: Path) -> None:
    """Fetches the library that PostgreSQL's packages expect and the cross compiler lacks."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "status").touch()
        for name in ("lists/partial", "cache/archives/partial"):
            (Path(scratch) / name).mkdir(parents=True)
        options = [f"APT::Architecture={ARCHITECTURE}", f"APT::Architectures={ARCHITECTURE}",
                   f"Dir::State::lists={scratch}/lists", f"Dir::State::status={scratch}/status",
                   f"Dir::Cache={scratch}/cache", "APT::Sandbox::User=root"]
        apt = ["apt-get", "-qq", *(part for option in options for part in ("-o", option))]
        for command in ([*apt, "update"], [*apt, "download", "zlib1g"]):
            run(*command, cwd=scratch)
        package = next(Path(scratch).glob("*.deb"))
        run("dpkg-deb", "--extract", package, f"{scratch}/package")
        shutil.copy(next(Path(scratch).glob("package/**/libz.so.1")), place)


def emulate(tree: Path) -> None:
    """Replaces the programs of a PostgreSQL by scripts that run them under qemu."""
    if not IS_CROSS:
        return
    fetch_zlib(tree / "lib")
    programs, scripts = tree / "programs", tree / "bin"
    scripts.rename(programs)
    scripts.mkdir()
    for program in programs.iterdir():
        emulate_program(scripts / program.name, f"../programs/{program.name}", SYSROOT, "../lib")


def emulate_program(script: Path, program: str, root: Path, libraries: str = ".") -> None:
    """Writes a script that runs a program under qemu. The program's path is relative to the script."""
    # A server's programs look for files beside the name they were called by.
    script.write_text(f'#!/bin/sh\nhere=$(dirname "$0")\nexec {EMULATOR} -cpu "${{QEMU_CPU:-{PROCESSOR}}}" -L {root} '
                      f'-0 "$0" -E LD_LIBRARY_PATH="$here/{libraries}" "$here/{program}" "$@"\n')
    script.chmod(0o755)
