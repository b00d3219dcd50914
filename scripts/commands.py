"""Runs programs that must succeed. If one fails, this program ends with its name and status."""

import subprocess
from pathlib import Path


def run(*command: str | Path, **options) -> None:
    """Runs a program and shows its output."""
    finish(command, subprocess.run(list(map(str, command)), **options))


def output(*command: str | Path, **options) -> str:
    """What a program prints."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        print(done.stdout, end="", flush=True)
    finish(command, done)
    return done.stdout


def finish(command: tuple[str | Path, ...], done: subprocess.CompletedProcess) -> None:
    """Ends this program if the other has failed."""
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {done.returncode}")
