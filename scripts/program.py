#!/usr/bin/env python3
"""Builds the program docsearch and installs it below a prefix, with manual pages, completions and systemd units."""

import argparse
import shutil
import subprocess
from pathlib import Path

import cross
import install
import installed
import toolchain
from commands import output

PROGRAM = "docsearch"
UNITS = toolchain.ROOT / "packaging" / "systemd"
COMPLETIONS = {"bash": "bash-completion/completions/docsearch", "zsh": "zsh/site-functions/_docsearch",
               "fish": "fish/vendor_completions.d/docsearch.fish"}


def build(prefix: str) -> Path:
    """Builds the program and stages its files below a prefix."""
    command = ["cargo", "build", "--release", "--package", "docsearch-cli"]
    if subprocess.run(command, cwd=toolchain.ROOT, env=toolchain.build_environment()).returncode != 0:
        raise SystemExit("docsearch did not build")
    staged = toolchain.target_directory() / "package" / f"program{cross.SUFFIX}-release"
    shutil.rmtree(staged, ignore_errors=True)
    gather(toolchain.built("release") / PROGRAM, staged, prefix)
    return staged


def gather(program: Path, staged: Path, prefix: str) -> None:
    """Stages the program, its manual pages and completions as they are installed."""
    share, units = staged / "share", staged / "lib" / "systemd" / "system"
    documentation = share / "doc" / PROGRAM
    pages = share / "man" / "man1"
    for directory in (staged / "bin", pages, units, documentation):
        directory.mkdir(parents=True)
    shutil.copy(program, staged / "bin")
    output(*cross.runner(), program, "man", pages)
    for shell, place in COMPLETIONS.items():
        (share / place).parent.mkdir(parents=True)
        (share / place).write_text(output(*cross.runner(), program, "completions", shell))
    unit = (UNITS / "docsearch.service").read_text()
    (units / "docsearch.service").write_text(unit.replace("@bindir@", f"{prefix}/bin"))
    for source in (UNITS / "serve.env.example", toolchain.ROOT / "LICENSE", toolchain.ROOT / "NOTICE"):
        shutil.copy(source, documentation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", default="/usr/local")
    parser.add_argument("--destdir", default="", help="install below this folder, for a package")
    parser.add_argument("--uninstall", action="store_true", help="remove what was installed")
    options = parser.parse_args()
    root = Path(f"{options.destdir}{options.prefix}")
    record = root / "share" / "doc" / PROGRAM / "installed"
    if options.uninstall:
        print(f"{installed.remove(record)} files of docsearch are removed from {root}.")
        return
    staged = build(options.prefix)
    targets = {source: root / source.relative_to(staged) for source in sorted(staged.rglob("*")) if source.is_file()}
    if not options.destdir:
        installed.note(record, targets.values())
    for source, target in targets.items():
        install.replace_file(source, target)
    print(f"docsearch is installed in {root / 'bin'}.")


if __name__ == "__main__":
    main()
