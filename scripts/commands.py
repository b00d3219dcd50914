"""Programs that have to succeed: this one ends with their name and status where they fail."""

import subprocess
from pathlib import Path


def run(*command: str | Path, **options) -> None:
    """Runs a program, whose output is shown."""
    finish(command, subprocess.run(list(map(str, command)), **options))


def output(*command: str | Path, **options) -> str:
    """What a program prints."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        print(done.stdout, end="", flush=True)
    finish(command, done)
    return done.stdout


def finish(command: tuple[str | Path, ...], done: subprocess.CompletedProcess) -> None:
    """Ends this program if that one has failed."""
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {done.returncode}")
